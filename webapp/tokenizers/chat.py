"""Chat templates: what the model's own template makes of the calls that a parser read.

The template is the one that stands in the configuration of a case's tokenizer. It is no part of a case: a case replays
without. It runs in a child with hard limits, started for one question and gone with the answer.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parsers.replays.replayer import Rendering, Rerender
from parsers.vocabulary.types import Context, Tool, ToolCall
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.program import Program
from webapp.tokenizers.chat_program import LIMITS, MOST_TEMPLATE
from webapp.vocabularies.files import TEMPLATE_TOKENS

PROGRAM = Program(str(Path(__file__).with_name("chat_program.py")), limits=LIMITS, sealed=True, patience=6)
DEADLINE = 5.0
MOST_RENDERED = 24

# How the system ends a process for its processor time: SIGKILL where both limits are one.
_OUT_OF_TIME = (-getattr(signal, "SIGXCPU", 24), -getattr(signal, "SIGKILL", 9))

Renderings = tuple[Rendering, ...]


def _problem(words: str) -> Renderings:
    """A problem with the template itself, whatever it is given."""
    return (Rendering("object", problem=words),)


TOO_LONG = _problem(f"the template has more than {MOST_TEMPLATE:,} characters.")
TOO_LATE = _problem("the template does not come to an end.")
ENDED = _problem("the template ended the process that ran it: it needs too much time or memory.")


def rerender_of(
    template: str,
    write: Callable[[Mapping[str, Any]], Renderings] | None = None,
    tokens: Mapping[str, str] | None = None,
) -> Rerender:
    """Return how a template writes calls again; `write` answers a question (`renderings`), `tokens` are the special
    tokens of its tokenizer.

    A search makes outputs smaller and asks again and again: after MOST_RENDERED different questions there is no answer,
    and a template that did not come to an end is not run again.
    """
    ask = write or renderings
    known: dict[Any, Renderings] = {}
    hopeless: list[Renderings] = []

    def rerender(calls: Sequence[ToolCall], context: Context, ends: Sequence[str]) -> Sequence[Rendering]:
        key = tuple([(call.name, call.arguments) for call in calls])
        if key not in known:
            if len(known) >= MOST_RENDERED:
                return ()
            known[key] = hopeless[0] if hopeless else ask(question(template, calls, context, ends, tokens))
            if known[key] in (TOO_LATE, ENDED):
                hopeless.append(known[key])
        return known[key]

    return rerender


def renderings(asked: Mapping[str, Any], seconds: float = DEADLINE) -> Renderings:
    """Return what a template writes for each spelling of the arguments; never raises for what a template does."""
    if len(asked["template"]) > MOST_TEMPLATE:
        return TOO_LONG
    try:
        with Child(PROGRAM) as child:
            answer = child.ask("write", asked, seconds=seconds)
    except ChildError as error:
        late = error.ending is Ending.LATE or error.code in _OUT_OF_TIME
        return TOO_LATE if late else ENDED
    first, second = Rendering("object", **answer["object"]), Rendering("string", **answer["string"])
    same = (first.text, first.problem) == (second.text, second.problem)
    return (first,) if same else (first, second)


def question(
    template: str,
    calls: Sequence[ToolCall],
    context: Context,
    ends: Sequence[str],
    tokens: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what the process that runs the template is asked."""
    return {
        "template": template,
        "tokens": {**dict.fromkeys(TEMPLATE_TOKENS, ""), **(tokens or {})},
        "kwargs": {key: value for key, value in context.template_kwargs.items() if key.isidentifier()},
        "tools": [_tool(tool) for tool in context.tools],
        "calls": [{"name": call.name, "arguments": call.arguments} for call in calls],
        "ends": list(ends),
    }


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = dict(tool.parameters) if tool.parameters else {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": tool.name, "description": "", "parameters": parameters}}
