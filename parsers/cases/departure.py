"""Where a replay departs from what its case expects: the first difference, as a tile, a verdict and a report tell it.

The comparison is that of `check` (`trace_differences`): of what a server answered where its stream is played back, else
of the parser's message. It is no finding of a check, for it is the case that says what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from parsers.cases.case import Case, Expect
from parsers.cases.engines import RECORDED, engine_of
from parsers.cases.expect import Difference, trace_differences
from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.words import counted, quoted, shortened

_WORST: tuple[Severity, ...] = ("error", "warning", "info")
_AROUND, _LONGEST = 12, 44  # characters shown before the first that is wrong, and in all
_MOST = 6  # places that are named
_PARTS = {"events": "Order"}  # where the name of a field is no word for it


@dataclass(slots=True, frozen=True)
class Departure:
    """Says in which part a message departs, what came and what is right; `step` (the chunk of a recording) shows it.

    Without a part both are words; else they are text of that part, which may be empty, and `shared` characters at the
    beginning of both are the same. `parsed`: it is the message of a parser and no server's answer. `severity`: no error
    where the case leaves what comes out to whoever parses. `differences` are all there are.
    """

    part: str
    came: str
    right: str
    step: int
    shared: int = 0
    parsed: bool = False
    severity: Severity = "error"
    differences: tuple[Difference, ...] = field(default=(), compare=False)

    def leads(self, severity: Severity | Literal["pass"]) -> bool:
        """Return whether it comes before what checks say of that severity: that may be the cause of it."""
        return severity == "pass" or _WORST.index(self.severity) < _WORST.index(severity)

    @property
    def headline(self) -> str:
        """The same as a sentence."""
        came, right = _lower(self.came), self.right
        if self.part:
            came, right = [quoted(text) if text else "nothing" for text in (self.came, self.right)]
        if self.parsed:
            part = f", in {_lower(self.part)}" if self.part else ""
            return f"Not as the case expects{part}: {came} came, right is {right}."
        wrong = f"wrong {_lower(self.part)}" if self.part else "a wrong answer"
        return f"The server sent {wrong}: {came} came, right is {right}."

    @property
    def places(self) -> str:
        """All that is not as expected, as a sentence; "" where that is one thing."""
        names = [quoted(one.field) for one in self.differences]
        more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
        return f"Not as expected in all: {', '.join(names[:_MOST])}{more}." if len(names) > 1 else ""


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def departure(case: Case, answer: Trace) -> Departure | None:
    """The first difference that the expectation shows, the number of calls before anything else, and white space behind
    it; None where it shows none."""
    expect = case.known.expect
    found = trace_differences(expect, answer, case.compare)
    if expect is None or not found:
        return None
    plays = engine_of(case) == RECORDED
    lax = case.known.verdict == "implementation_defined"
    told = _first(case, expect, found, answer, plays=plays)
    return replace(told, parsed=not plays, severity="info" if lax else "error", differences=tuple(found))


def _first(case: Case, expect: Expect, found: Sequence[Difference], answer: Trace, *, plays: bool) -> Departure:
    right = _named([call.name for call in expect.tool_calls or ()])
    if plays and _failed(case.input.stream or ()):
        return Departure("", "An error", right, _last(answer))
    if any(one.field == "tool_calls" for one in found):
        came = _named([call.name or "one without a name" for call in answer.message.tool_calls])
        return Departure("", came, right, _last(answer))
    return _told(next((one for one in found if not _is_blank_apart(one)), found[0]), answer)


def _is_blank_apart(found: Difference) -> bool:
    """Return whether white space is all that differs."""
    return found.expected.split() == found.actual.split()


def _failed(stream: Sequence[Any]) -> bool:
    return any(isinstance(chunk, dict) and "error" in chunk for chunk in stream)


def _named(names: Sequence[str]) -> str:
    return counted(len(names), "call") + (f": {', '.join(names)}" if names else "")


def _told(found: Difference, answer: Trace) -> Departure:
    call, _, name = found.field.rpartition(".")
    part = _PARTS.get(name) or name.capitalize().replace("_", " ")
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
    return ("…" if start else "") + shortened(text[start:], _LONGEST)
