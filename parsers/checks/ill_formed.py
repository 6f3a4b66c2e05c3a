"""What an output that leaves its own grammar says of a parser: less than a well-formed one.

The built-in parser mends such an output and notes what it mended. No grammar says how another parser has to mend it, so
where the two differ from there on, the output is to blame, and the difference is a warning at most. What stands before
the call in which the grammar is left is well-formed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from parsers.checks.subject import Subject
from parsers.vocabulary.events import CallStart, Diagnostic, Event
from parsers.vocabulary.trace import Finding, Topic

MENDED = ("missing_", "malformed_")  # notes on what the parser put right: the grammar was left all the same
# Warnings that say nothing of the grammar, or that a call was cut off or was none.
_NO_FLAWS = frozenset((
    "unknown_tool", "marker_by_text", "orphan_reasoning_end", "double_encoded", "fallback_budget", "rejected_call",
    "truncated_call",
))  # fmt: skip
# What parsers may make of such an output in their own ways. That they fail, or contradict themselves, is no mending.
_MENDING = frozenset((
    Topic.LOSS, Topic.ADDITION, Topic.ARGUMENTS, Topic.LEAK, Topic.CHANNEL, Topic.CHANGE, Topic.VALUE, Topic.SCHEMA,
))  # fmt: skip


def first_flaw(events: Iterable[Event]) -> Diagnostic | None:
    """The first place where an output leaves its grammar, by the events of its reading; None where it never does."""
    flaws = [event for event in events if isinstance(event, Diagnostic) and _is_flaw(event)]
    return min(flaws, key=lambda flaw: flaw.start, default=None)


def _is_flaw(note: Diagnostic) -> bool:
    return note.code.startswith(MENDED) or (note.severity != "info" and note.code not in _NO_FLAWS)


def blamed_on_output(subject: Subject, findings: Iterable[Finding]) -> list[Finding]:
    """The findings, where those that only differ in how an ill-formed output is mended are about the output."""
    found, reference = list(findings), subject.builtin.trace
    if reference is None or not any(_is_mending(finding) for finding in found):
        return found
    events = [event for _, event in reference.events()]
    flaw = first_flaw(events)
    if flaw is None:
        return found
    starts = [event.start for event in events if isinstance(event, CallStart)]
    start = max([at for at in starts if at < flaw.start], default=flaw.start)
    return [
        _of_output(finding, flaw) if _is_mending(finding) and _is_after(finding, start) else finding
        for finding in found
    ]


def _is_mending(finding: Finding) -> bool:
    return finding.about == "parser" and finding.policy is None and finding.topic in _MENDING


def _is_after(finding: Finding, start: int) -> bool:
    return finding.span is None or finding.span.end > start


def _of_output(finding: Finding, flaw: Diagnostic) -> Finding:
    message = f"{finding.message} The output leaves its grammar at character {flaw.start}: {flaw.message}"
    severity = "warning" if finding.severity == "error" else finding.severity
    return replace(finding, message=message, severity=severity, about="output", topic=Topic.GRAMMAR)
