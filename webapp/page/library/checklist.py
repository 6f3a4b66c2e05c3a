"""The list of all checks, as /checks shows it: what each holds, why it matters, and a replay that it blames."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from parsers.checks import CHECKS, Check, Subject, run_checks
from parsers.checks.examples import examples
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import Message, MessageDelta
from webapp.page.search.findings import MATTERS, WORDS


@dataclass(slots=True, frozen=True)
class _Entry:
    """One check. `finds` and `holds` are example replays in words, `blamed` is what it says of the first."""

    check: Check
    finds: str
    blamed: Finding
    holds: str

    @property
    def word(self) -> str:
        return WORDS[self.check.severity]

    @property
    def why(self) -> str:
        return MATTERS[self.check.id]

    @property
    def needs(self) -> str:
        return needs(self.check)

    @property
    def verdict(self) -> str:
        where = "" if self.blamed.step is None else f", at step {self.blamed.step}"
        return f"{WORDS[self.blamed.severity]}, about the {self.blamed.about}{where}"


@cache
def entries() -> tuple[_Entry, ...]:
    """Every check with its examples, the same as in docs/checks.md."""
    return tuple([_entry(check) for check in CHECKS.values()])


def _entry(check: Check) -> _Entry:
    example = examples()[check.name]
    blamed = run_checks(example.finds, [check.name]).findings[0]
    return _Entry(check, played(example.finds), blamed, played(example.holds))


# A replay in words: what was fed, what was sent for it, and what else a check looks at.


def played(subject: Subject) -> str:
    """A replay in words: a line for each delta fed with what was sent for it, then what else the check looks at."""
    trace = subject.trace
    lines = [f"{_fed(trace, step):<36} {_delta(step.delta)}".rstrip() for step in trace.steps]
    lines += [f"{label}: {_message(other.message)}" for label, other in subject.others]
    lines += [
        f"{one.label}: {f'fails with {one.raised}' if one.raised else _message(one.message)}"
        for one in subject.variants
    ]
    lines += [
        f"server's chunk {number}: {', '.join(filter(None, (_delta(chunk.delta), chunk.finish_reason)))}"
        for number, chunk in enumerate(subject.server.chunks or (), start=1)
    ]
    return "\n".join(lines)


def needs(check: Check) -> str:
    """Return where a check cannot run."""
    return " ".join([f"Skipped where {need.words}." for need in check.needs])


def _fed(trace: Trace, step: Step) -> str:
    return "(end)" if step.end else json.dumps(trace.text[step.span.start : step.span.end], ensure_ascii=False)


def _delta(delta: MessageDelta | None) -> str:
    return "" if delta is None else json.dumps(delta.to_openai(), ensure_ascii=False)


def _message(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    found = {"reasoning": message.reasoning, "content": message.content, "calls": calls}
    return json.dumps({key: value for key, value in found.items() if value}, ensure_ascii=False)
