"""What depends on cuts is told of the chunking that the verdict tells of: nobody has to compare two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from parsers.checks.chunkings import told_between
from parsers.checks.subject import Subject, chunking_of
from parsers.replays.chunking import Chunking
from parsers.search.found import OutcomeClass, Verdict
from parsers.search.sweep import json_of
from parsers.vocabulary.trace import Finding, Topic, Trace
from parsers.vocabulary.words import counted


def retold(
    findings: Sequence[Finding],
    said: Verdict,
    outcomes: Sequence[OutcomeClass],
    subject: Subject,
    trace_of: Callable[[Chunking], Trace],
) -> list[Finding]:
    """The findings, the first of the verdict told of its two chunkings. What it told of before stands under it, unless
    that is the same difference."""
    found = [*findings]
    wrong = next((one for one in outcomes if said.proof and json_of(one.smallest) == said.proof.chunking), None)
    right = next((one for one in outcomes if one.smallest == said.right), None)
    if wrong is None or right is None or not said.findings:
        return found
    first = found[said.findings[0]]
    if first.topic is not Topic.CHUNKS:
        return found
    good, bad = [subject.trace if not one.number else trace_of(one.smallest) for one in (right, wrong)]
    share = f"; {wrong.count:,} of {counted(sum([one.count for one in outcomes]), 'chunking')}"
    share += " gives this message" if wrong.count == 1 else " give this message"
    of_paths = subject.replays.one_shot and not said.cause
    told = told_between(subject, good, bad, wrong.smallest, share if wrong.count else "", of_paths=of_paths)
    traced = not wrong.number and Chunking.model_validate(chunking_of(subject.trace)) == wrong.smallest
    same = told is not None and _parts(first) == _parts(told)
    if told is None:
        return found
    if same and first.proof == said.proof:  # what the sure cuts of both show may weigh more than what all cuts do
        found[said.findings[0]] = replace(first, severity=told.severity)
        return found
    if same and traced:  # it is shown by the chunking that fails, not by the other one
        found[said.findings[0]] = replace(first, proof=said.proof)
        return found
    under = first.follows if {*_parts(first)} == {*_parts(told)} else (replace(first, follows=()), *first.follows)
    found[said.findings[0]] = led = replace(told, severity=first.severity, follows=under)
    return [one for one in found if one is led or (one.check, *_parts(one)) != (led.check, *_parts(led))]


def _parts(finding: Finding) -> tuple[object, ...]:
    """What differs, by which two findings tell of one thing: where nobody knows what is right, the sentence has it."""
    parts = finding.expected, finding.actual
    return parts if parts != (None, None) else (finding.message,)
