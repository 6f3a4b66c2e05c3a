"""Where what a server answered departs from what its case expects: the first difference, as a tile and a verdict tell
it. Only a stream that is played back has an answer of its own; any other replay is judged by its parser's message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parsers.cases.case import Case
from parsers.cases.expect import Difference, trace_differences
from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.words import quoted
from webapp.glyphs import count, shorten

_AROUND, _LONGEST = 12, 44  # characters shown before the first that is wrong, and in all
_PARTS = {"events": "Order"}  # where the name of a field is no word for it


@dataclass(slots=True, frozen=True)
class Departure:
    """Says in which part an answer departs, what came and what is right; chunk `step` shows it.

    Without a part both are words; else they are text of that part, which may be empty, and `shared` characters at the
    beginning of both are the same.
    """

    part: str
    came: str
    right: str
    step: int
    shared: int = 0

    @property
    def headline(self) -> str:
        """The same as a sentence."""
        if not self.part:
            return f"The server sent a wrong answer: {_lower(self.came)} came, right is {self.right}."
        came, right = [quoted(text) if text else "nothing" for text in (self.came, self.right)]
        return f"The server sent wrong {_lower(self.part)}: {came} came, right is {right}."


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def departure(case: Case, answer: Trace) -> Departure | None:
    """The first difference that the expectation shows, the number of calls before anything else; None where it shows
    none."""
    expect = case.known.expect
    found = trace_differences(expect, answer, case.compare)
    if expect is None or not found:
        return None
    right = _counted([call.name for call in expect.tool_calls or ()])
    if _failed(case.input.stream or ()):
        return Departure("", "An error", right, _last(answer))
    if any(one.field == "tool_calls" for one in found):
        came = _counted([call.name or "one without a name" for call in answer.message.tool_calls])
        return Departure("", came, right, _last(answer))
    return _told(found[0], answer)


def _failed(stream: Sequence[Any]) -> bool:
    return any(isinstance(chunk, dict) and "error" in chunk for chunk in stream)


def _counted(names: Sequence[str]) -> str:
    return count(len(names), "call") + (f": {', '.join(names)}" if names else "")


def _told(found: Difference, answer: Trace) -> Departure:
    call, _, field = found.field.rpartition(".")
    part = _PARTS.get(field) or field.capitalize().replace("_", " ")
    words = f"{part} of call {call.removeprefix('tool_calls[').removesuffix(']')}"
    shared = shared_prefix(found.expected, found.actual)
    start = max(0, shared - _AROUND)
    came, right = [_excerpt(text, start) for text in (found.actual, found.expected)]
    step = _step(found, answer, shared)
    return Departure(words if call else part, came, right, step, shared_prefix(came, right))


def _step(found: Difference, answer: Trace, shared: int) -> int:
    """The chunk that sent the first character that is wrong, or the last one before what is missing."""
    channel = next((one for name, one in answer.channels.items() if str(name) == found.field), None)
    return (channel.place(shared).step if channel is not None else None) or _last(answer)


def _last(answer: Trace) -> int:
    """The last chunk, before the end of the stream."""
    return max(1, len(answer.steps) - 1)


def _excerpt(text: str, start: int) -> str:
    return ("…" if start else "") + shorten(text[start:], _LONGEST)
