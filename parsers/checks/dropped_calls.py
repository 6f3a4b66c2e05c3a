"""Check that calls the output holds are found.

What a parser that shows its work rejects, it says; a black box is held against the built-in parser of its format, and
only where that one finds a whole call to a declared tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from parsers.checks.base import LIMIT, Subject, any_of, check
from parsers.checks.leaks import is_marker
from parsers.checks.made_up import is_sound
from parsers.compare import channels, step_at
from parsers.trace import Finding, RejectedCall, Trace
from parsers.types import Span

_CHOSEN = {"not one JSON object": "invalid_call", "cuts the call off": "truncated_call", "declared": "unknown_tool"}


@check(
    "tool_call_dropped",
    "L6",
    "A call that the output begins with a marker of the format is found.",
    severity="warning",
    about="output",
    needs=("tools", "finished", "raw"),
    word="tool_call_dropped",
)
def tool_call_dropped(subject: Subject) -> list[Finding]:
    """Errors for whole calls that a black box misses; warnings for outputs whose only calls cannot be read."""
    if subject.context.tool_choice == "none":
        return []
    if subject.reference is not None:
        return list(islice(_missed(subject, subject.reference), LIMIT))
    if subject.trace.message.tool_calls:
        return []
    markers = tuple(literal for literal in subject.terminals.values() if is_marker(literal))
    begun = [call for call in subject.trace.rejected_calls if subject.trace.text.startswith(markers, call.start)]
    return [_unread(subject, call) for call in begun[:1]]


def _unread(subject: Subject, call: RejectedCall) -> Finding:
    key = next((key for words, key in _CHOSEN.items() if words in call.reason), None)
    if call.end == len(subject.trace.text):
        key = "truncated_call"
    policy = f"{key}={subject.policy[key]}" if key is not None and key in subject.policy else None
    return tool_call_dropped.finding(
        f"A call begins at {call.start}, but the output has no call that can be read: {call.reason}.",
        severity="info" if policy else "warning",
        step=step_at(subject.trace, call.start),
        span=Span(call.start, call.end),
        actual=subject.trace.text[call.start : call.end],
        policy=policy,
    )


def _is_shown(subject: Subject, raw: int | None) -> bool:
    """Whether a call stands in a block of code, where it may be an example, or in reasoning, where it may be a plan."""
    text, place = subject.trace.text, raw or 0
    if text.count("```", 0, place) % 2:
        return True
    closer = any_of(subject.closers).search(text, place)
    opener = any_of(subject.openers).search(text, place)
    return closer is not None and (opener is None or closer.start() < opener.start())


def _missed(subject: Subject, reference: Trace) -> Iterator[Finding]:
    """Calls of declared tools that the built-in parser finds whole and this one does not find at all."""
    left = Counter(call.name for call in subject.trace.message.tool_calls)
    places = channels(reference)
    for index, call in enumerate(reference.message.tool_calls):
        left[call.name] -= 1
        raw = places[f"tool_calls[{index}].name"].place(0).raw
        if left[call.name] >= 0 or not is_sound(subject, call) or _is_shown(subject, raw):
            continue
        yield tool_call_dropped.finding(
            f"The call to `{call.name}` is not found; the built-in parser `{reference.parser}` reads it whole.",
            severity="error",
            about="parser",
            step=None if raw is None else step_at(subject.trace, raw),
            span=None if raw is None else Span(raw, raw + len(call.name)),
            expected=call.arguments,
        )
