"""Conditions on steps, as somebody types them: where to stop, and which events to list.

`held > 20 state:TOOL_CALL -sent:content text:"</tool"`: every word has to hold, one with a minus must not; `gap > 60ms`
asks when the chunks of a recorded stream came. A word without a colon is looked for in what happened at the step. What
is no condition is said in one sentence and stops nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import eq, ge, gt, le, lt

from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Dropped,
    Event,
    ReasoningText,
)
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Step
from webapp.page.inspect.index import TraceIndex

Holds = Callable[[TraceIndex, Step], bool]

_STOPS_LISTED = 5_000
_SIGNS: Mapping[str, Callable[[float, int], bool]] = {">": gt, "<": lt, ">=": ge, "<=": le, "=": eq}
_SENT: Mapping[str, tuple[type[Event], ...]] = {
    "content": (ContentText,),
    "reasoning": (ReasoningText,),
    "name": (CallName,),
    "id": (CallId,),
    "args": (CallArguments,),
    "call": (CallStart, CallName, CallId, CallArguments, CallEnd),
}
_OfCall = CallStart | CallName | CallId | CallArguments | CallEnd
_TERM = re.compile(
    r'(-?)(?:(held|step|gap)\s*(>=|<=|>|<|=)\s*(\d{1,9})(?:ms)?(?!\S)|(\w+):(?:"([^"]*)"|(\S*))|"([^"]*)"|(\S+))'
)


@dataclass(slots=True)
class Stops:
    """The steps at which all conditions of `words` hold; `more` are not listed. `problem` says what is no condition."""

    words: str = ""
    steps: list[int] = field(default_factory=list)
    more: int = 0
    problem: str = ""


def stops(index: TraceIndex, words: str) -> Stops:
    """Every step of a trace at which the conditions hold; linear in the steps."""
    found = Stops(words)
    conditions, found.problem = read_conditions(words)
    if not conditions or found.problem:
        return found
    for number in range(1, index.total + 1):
        step = index.step(number)
        if all(holds(index, step) for holds in conditions):
            if len(found.steps) < _STOPS_LISTED:
                found.steps.append(number)
            else:
                found.more += 1
    return found


def read_conditions(words: str) -> tuple[list[Holds], str]:
    """The conditions that the words name, and in a sentence what is wrong with the first that is none."""
    conditions = []
    for term in _TERM.finditer(words):
        minus, number, sign, value, key, quoted, plain, phrase, word = term.groups()
        if number:
            holds = _compared(number, sign, int(value))
        elif key is None:
            holds = _mentioned(phrase if phrase is not None else word)
        elif (make := _KEYS.get(key)) is None:
            known = ", ".join(["held > 20", "step > 9", "gap > 60ms", *_KEYS])
            return [], f"There is no condition {key}: – there are {known} and words."
        else:
            holds = make(quoted if quoted is not None else plain)
        conditions.append(_but_not(holds) if minus else holds)
    return conditions, ""


def _but_not(holds: Holds) -> Holds:
    return lambda index, step: not holds(index, step)


def _compared(what: str, sign: str, value: int) -> Holds:
    compare = _SIGNS[sign]
    if what == "step":
        return lambda _, step: compare(step.index, value)
    if what == "gap":
        return lambda index, step: (gap := _gap(index, step)) is not None and compare(gap, value)
    return lambda _, step: compare(sum([hold.end - hold.start for hold in step.holds]), value)


def _gap(index: TraceIndex, step: Step) -> float | None:
    """How many milliseconds after the one before the chunk of a step came."""
    return index.gaps[step.index - 1] if step.index <= len(index.gaps) else None


def _mentioned(word: str) -> Holds:
    """In what happened at a step: its events, their texts, and why something is held."""
    wanted = word.lower()

    def holds(index: TraceIndex, step: Step) -> bool:
        events = [f"{event.kind} {getattr(event, 'text', '')} {getattr(event, 'code', '')}" for event in step.events]
        return wanted in " ".join([*events, *[hold.reason for hold in step.holds], step.state]).lower()

    return holds


def _in_state(value: str) -> Holds:
    return lambda _, step: step.state.lower() == value.lower()


def _sends(value: str) -> Holds:
    kinds = _SENT.get(value)
    if value == "nothing":
        return lambda _, step: step.delta is None
    if kinds is None:
        return lambda _, step: step.delta is not None
    return lambda _, step: any(isinstance(event, kinds) for event in step.events)


def _of_call(value: str) -> Holds:
    return lambda _, step: any(isinstance(event, _OfCall) and str(event.call) == value for event in step.events)


def _by_row(value: str) -> Holds:
    return lambda _, step: any(move.row == value for move in step.transitions)


def _with_text(value: str) -> Holds:
    """A text that comes to its end with a step."""

    def holds(index: TraceIndex, step: Step) -> bool:
        start = max(0, step.span.start - len(value) + 1)
        return bool(value) and index.trace.text.find(value, start, step.span.end) >= 0

    return holds


def _with_json(value: str) -> Holds:
    """Arguments that end with a step: `whole` is JSON, `broken` is not."""

    def holds(index: TraceIndex, step: Step) -> bool:
        ended = [event.call for event in step.events if isinstance(event, CallEnd)]
        texts = [call.arguments for at, call in enumerate(index.trace.message.tool_calls) if at in ended]
        return any(is_json(text) == (value != "broken") for text in texts)

    return holds


def _said(value: str) -> Holds:
    return lambda _, step: any(value in ("", event.severity, event.code) for event in step.diagnostics)


def _drops(value: str) -> Holds:
    return lambda _, step: any(isinstance(event, Dropped) and value in event.reason.words for event in step.events)


_KEYS: Mapping[str, Callable[[str], Holds]] = {
    "state": _in_state,
    "sent": _sends,
    "call": _of_call,
    "row": _by_row,
    "text": _with_text,
    "json": _with_json,
    "err": _said,
    "dropped": _drops,
}
CONDITIONS = (
    *("held > 20", "sent:args", "sent:content", "sent:nothing", "call:0", "row:r0", 'text:"</tool"', "json:broken"),
    *("err:", "dropped:", "step > 9"),
)
OF_CHUNKS = ("gap > 60ms", "sent:args", "sent:content", "sent:nothing", "call:0", "json:broken", "err:", "step > 9")
