"""One cause, one finding: findings that follow from another one stand under it.

What follows is told by checks, places and whose fault it is, never by words: a call that begins with number 1 is never
added up rightly by anybody, a call that is not found leaves its markers and words behind, and after a failure nothing
can be right. Findings of one check about the parser have one cause; those about the output are faults of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import Span

# By the number of a check, the checks whose findings follow from one of it.
_EXPLAINS: Mapping[str, frozenset[str]] = {
    "A2": frozenset(("L6", "A1", "R2")),
    "L6": frozenset(("A1", "L1", "L2")),
    "N4": frozenset(("N1", "N5", "N6", "C3", "K1", "J1", "J2", "J3")),
    "N2": frozenset(("N1",)),
    "N1": frozenset(("N5", "N6", "C3", "K1", "J1", "J2", "J3", "L6", "N7")),
    "N5": frozenset(("K1",)),
    "C3": frozenset(("K1",)),
    "J2": frozenset(("J1", "J3")),
    "J3": frozenset(("J1",)),
    "J1": frozenset(("F3",)),
    "C1": frozenset(("C2",)),
    "K4": frozenset(("J1", "J2", "J3", "N1", "N5")),
    "N8": frozenset(("J1", "J3", "A1", "L6")),
    "R3": frozenset(("R4", "R2")),
    "R4": frozenset(("R2", "R1")),
}
# What the path for whole outputs does not lose at the place where a stream does is no loss of its own.
_OF_PATHS = frozenset(("A1", "A2", "L6"))
# What is about chunks where other chunkings read it rightly.
_OF_CHUNKS = frozenset(("L6",))
# What ends early where a server fails.
_OF_ERROR = (Topic.CUT, Topic.UNENDED, Topic.ARGUMENTS, Topic.UNANSWERED)
# What may come of it that a replay depends on those before it.
_OF_CHANCE = (Topic.CHUNKS, Topic.STREAM)
# The same where they are about what stands inside its place.
_WITHIN: Mapping[str, frozenset[str]] = {"Y4": frozenset(("A1",))}
_RANK = {"error": 0, "warning": 1, "info": 2}


def by_cause(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that follow from no other one, in the given order, each with those that follow from it."""
    flat = flattened(findings)
    causes = [_cause(flat, number) for number in range(len(flat))]
    follows: dict[int, list[Finding]] = {}
    for number, cause in enumerate(causes):
        if cause is not None:
            while (above := causes[cause]) is not None:
                cause = above
            follows.setdefault(cause, []).append(flat[number])
    roots = [number for number, cause in enumerate(causes) if cause is None]
    return [replace(flat[number], follows=tuple(follows.get(number, ()))) for number in roots]


def flattened(findings: Iterable[Finding]) -> list[Finding]:
    """All findings, those that stand under others behind them."""
    found: list[Finding] = []
    for finding in findings:
        found += [replace(finding, follows=()), *finding.follows]
    return found


def _cause(findings: Sequence[Finding], number: int) -> int | None:
    """The number of the first finding that explains this one."""
    this = findings[number]
    if this.policy is not None:
        return None
    others = (other for other, one in enumerate(findings) if one is not this and _explains(one, this, other < number))
    return next(others, None)


def _explains(cause: Finding, this: Finding, is_earlier: bool) -> bool:
    if cause.topic in (Topic.CUT, Topic.GRAMMAR):
        return is_earlier and this.topic is cause.topic
    if cause.topic is Topic.SERVER_ERROR:
        return this is not cause and this.topic in _OF_ERROR
    if cause.topic is Topic.CHANCE:
        return this.about == "parser" and this.topic in _OF_CHANCE
    if cause.topic is Topic.START and cause.id == "R4":
        return this.id in _EXPLAINS["R4"]
    if cause.policy is not None or cause.about != "parser" or _RANK[cause.severity] > _RANK[this.severity]:
        return False
    if cause.id == "K3" and cause.topic is Topic.LOSS:  # the deltas stop short of what the server has whole
        return this.topic is Topic.ARGUMENTS
    if cause.check == this.check:
        return is_earlier and this.about == "parser" and cause.topic is this.topic
    if cause.severity == "info":
        return False
    if this.topic is Topic.CHUNKS and this.id in _OF_CHUNKS:
        return cause.id == "C1"
    if cause.topic is Topic.FAILURE and cause.proof is None:
        return this.about == "parser" and this.topic is not Topic.FAILURE and _is_before(cause, this)
    if cause.id == "C2" and this.id == "C1":  # what no server's cuts bring about is not beside what a path does
        return this.severity == "info"
    if cause.id == "C2" and this.id in _OF_PATHS:
        return cause.span is None or this.span is None or _is_within(cause.span, this.span)
    if this.id in _WITHIN.get(cause.id, ()):
        return _is_within(this.span, cause.span)
    return this.id in _EXPLAINS.get(cause.id, ())


def _is_within(one: Span | None, other: Span | None) -> bool:
    return one is not None and other is not None and other.start <= one.start and one.end <= other.end


def _is_before(cause: Finding, this: Finding) -> bool:
    return cause.step is None or this.step is None or cause.step <= this.step
