"""Checks that compare replays of one output: other chunkings, and the output in one piece."""

from __future__ import annotations

from parsers.checks.base import Check, Subject, channel_words, check, counted
from parsers.compare import Divergence, divergence, grade, message_key
from parsers.events import Severity
from parsers.trace import Finding, Trace
from parsers.types import Span


@check("chunking", "C1", "The message is the same however the output is cut into deltas.", needs=("compared",))
def chunking(subject: Subject) -> list[Finding]:
    """One finding per distinct other message, at the chunking with the fewest deltas that gives it."""
    ids = not subject.black_box
    outcomes: dict[object, list[tuple[str, Trace]]] = {}
    for label, trace in subject.compared:
        outcomes.setdefault(message_key(trace.message, ids=ids), []).append((label, trace))
    findings = []
    for replays in outcomes.values():
        label, trace = min(replays, key=lambda replay: len(replay[1].steps))
        parting = divergence(subject.trace, trace, ids=ids)
        if parting is not None and parting.channel != "finish_reason":
            share = f"; {len(replays)} of {counted(len(subject.compared), 'chunking')} give this message"
            words = _difference(subject.trace, trace, parting) + (share if len(replays) > 1 else "")
            findings.append(_finding(chunking, f'With the chunking "{label}", {words}.', parting, parting.step_a))
    return findings


@check(
    "whole_equals_streamed",
    "C2",
    "Read in one piece, the output gives the same message as read delta by delta.",
    needs=("whole",),
)
def whole_equals_streamed(subject: Subject) -> list[Finding]:
    """At most one finding: an error when calls or words differ, a warning when only whitespace does."""
    if subject.whole is None:
        return []
    ids = not subject.black_box
    parting = divergence(subject.whole, subject.trace, ids=ids)
    if parting is None or parting.channel == "finish_reason":
        return []
    blank = grade(subject.whole.message, subject.trace.message, ids=ids) == "whitespace"
    words = _difference(subject.whole, subject.trace, parting) + (", by whitespace only" if blank else "")
    level: Severity = "warning" if blank else "error"
    return [_finding(whole_equals_streamed, f"Read in one piece, {words}.", parting, parting.step_b, level)]


def _difference(a: Trace, b: Trace, parting: Divergence) -> str:
    calls = max(a.message.tool_calls, b.message.tool_calls, key=len)
    where = channel_words(parting.channel, calls)
    countable = parting.channel != "calls" and not parting.channel.endswith(".complete")
    return f"the message differs in {where}" + (f" from character {parting.offset} on" if countable else "")


def _finding(
    of: Check, message: str, parting: Divergence, step: int | None, severity: Severity | None = None
) -> Finding:
    return of.finding(
        message,
        severity=severity,
        step=step,
        span=None if parting.raw is None else Span(parting.raw, parting.raw),
        expected=parting.expected,
        actual=parting.actual,
    )
