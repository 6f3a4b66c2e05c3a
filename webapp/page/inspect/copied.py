"""What the copy buttons of a run take: a value whole and exact, whatever its pane folds or leaves out.

The message at a step and the step are JSON as `replay --json` prints them, the machine is its Mermaid text. Of a stream
that is played back a step is the chunk that the server sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from parsers.cases.jsontext import plain
from parsers.cases.run import step_json
from parsers.formats.diagram import mermaid
from parsers.wire.assemble import Assembler
from webapp.runs.runner import Run


def _message(run: Run, step: int) -> str:
    assembler = Assembler()
    for one in run.trace.steps[:step]:
        assembler.absorb(one.events)
    return _json(assembler.message().to_json())


def _step(run: Run, step: int) -> str:
    sent = run.case.input.stream if run.choice.plays else None
    return _json(sent[step - 1] if sent and step <= len(sent) else step_json(run.trace, run.trace.steps[step - 1]))


def _machine(run: Run, step: int) -> str:
    return mermaid(run.format)


def _json(value: Any) -> str:
    return plain(value, indent=2)


COPIED: Mapping[str, Callable[[Run, int], str]] = {"message": _message, "step": _step, "machine": _machine}


def copied(run: Run, what: str, step: int | None) -> str:
    """The text of one of COPIED at a step of a run, the last one where none is named."""
    most = len(run.trace.steps)
    return COPIED[what](run, most if step is None else max(1, min(step, most)))
