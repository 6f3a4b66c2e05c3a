"""Checks that compare replays of one output: other chunkings, and the output in one piece.

One cause, one finding: a parser that fails in one of the replays is told of by parser_raised alone, and what other
chunkings give as well is told of by `chunking`, not again by `whole_equals_streamed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parsers.checks.check import Check, Subject, channel_words, check, chunking_of, counted
from parsers.compare.divergence import Divergence, Key, Rules, divergence, grade, message_key, same_message
from parsers.replays.chunking import Chunking
from parsers.replays.chunking import label as label_of
from parsers.replays.replay import raised_in
from parsers.vocabulary.events import Severity
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Span

FEW = 3  # so many outcomes are told one by one

Replays = list[tuple[str, Trace]]


@check("chunking", "C1", "The message is the same however the output is cut into deltas.", needs=("compared",))
def chunking(subject: Subject) -> list[Finding]:
    """One finding for each of the first few other messages, at the smallest chunking that gives it."""
    whole, trace, rules = _one_delta(subject), subject.trace, _rules(subject)
    outcomes = {} if raised_in(trace) else _outcomes(subject, rules)
    outcomes.pop(message_key(trace.message, rules), None)
    if not subject.one_shot and whole is not None:
        key = message_key(whole.message, rules)
        if _is_single(subject, outcomes.get(key, ())):
            outcomes.pop(key, None)
    told = sorted(outcomes.values(), key=lambda replays: -_share(subject, replays))
    findings = [_outcome(subject, replays, rules) for replays in told[:FEW]]
    if len(told) > FEW:
        findings[-1].message += f" {counted(len(told) - FEW, 'more message')} came of other chunkings."
    return findings


@check(
    "whole_equals_streamed",
    "C2",
    "Read in one piece, the output gives the same message as read delta by delta.",
    needs=("whole",),
)
def whole_equals_streamed(subject: Subject) -> list[Finding]:
    """At most one finding: an error when calls or words differ, a warning when only whitespace does."""
    whole, trace, rules = subject.whole, subject.trace, _rules(subject)
    if whole is None or raised_in(whole) or raised_in(trace):
        return []
    key = message_key(whole.message, rules)
    told = _outcomes(subject, rules).get(key, ())
    if key == message_key(trace.message, rules) or (told if subject.one_shot else not _is_single(subject, told)):
        return []
    when = "Read by the code path for whole outputs" if subject.one_shot else "Read in one piece"
    found = _finding(whole_equals_streamed, when, whole, trace, rules, first=False)
    found.proof = Proof(chunking_of(whole))
    return [found]


def _rules(subject: Subject) -> Rules:
    """The rules in force: a black box makes up its ids, so they never count."""
    return replace(subject.rules, ids=False) if subject.black_box else subject.rules


def _outcomes(subject: Subject, rules: Rules) -> dict[Key, Replays]:
    """The other streamed replays by their message, without those in which the parser failed."""
    outcomes: dict[Key, Replays] = {}
    for label, trace in subject.compared:
        if not raised_in(trace) and not _is_one_shot(subject, trace):
            outcomes.setdefault(message_key(trace.message, rules), []).append((label, trace))
    return outcomes


def _is_one_shot(subject: Subject, trace: Trace) -> bool:
    return subject.one_shot and trace.chunking.get("by") == "whole"


def _one_delta(subject: Subject) -> Trace | None:
    """The output streamed in one delta."""
    if not subject.one_shot:
        return subject.whole
    one = [trace for _, trace in subject.compared if trace.chunking.get("by") == "cuts" and not trace.chunking["cuts"]]
    return one[0] if one else None


def _is_single(subject: Subject, replays: Sequence[tuple[str, Trace]]) -> bool:
    """Whether only replays in one delta gave this message."""
    return all(len(trace.steps) <= 2 and subject.shares.get(label, 1) == 1 for label, trace in replays)


def _share(subject: Subject, replays: Replays) -> int:
    return sum([subject.shares.get(label, 1) for label, _ in replays])


def _outcome(subject: Subject, replays: Replays, rules: Rules) -> Finding:
    """One other message. Where the whole output gives it too, the traced chunking is the odd one."""
    label, trace = min(replays, key=lambda replay: len(replay[1].steps))
    base, whole = subject.trace, _one_delta(subject)
    share, every = _share(subject, replays), sum(subject.shares.values()) or len(subject.compared)
    agrees = whole is not None and message_key(whole.message, rules) == message_key(trace.message, rules)
    if whole is not None and agrees and not _is_right(subject, base):
        when = f'With the chunking "{_label(base)}"'
        found = _finding(chunking, when, whole, base, rules, first=False)
        found.proof = Proof(chunking_of(whole))
        which = "that in one delta" if subject.one_shot else "the whole output"
        words = f"; {share} of {every} other chunkings agree with {which}"
    else:
        found = _finding(chunking, f'With the chunking "{label}"', base, trace, rules, first=True)
        words = f"; {share} of {counted(every, 'chunking')} give this message" if share > 1 else ""
        if share == every > 1:  # all others agree
            found = _finding(chunking, f'With the chunking "{_label(base)}"', trace, base, rules, first=False)
            words = f"; {share} other chunkings agree with one another"
        found.proof = Proof(chunking_of(trace))
    found.message = found.message[:-1] + words + "."
    return found


def _is_right(subject: Subject, trace: Trace) -> bool:
    """Whether the grammar reads the output as this replay does."""
    return subject.reading is not None and same_message(
        subject.reading, trace.message, replace(subject.rules, ids=False)
    )


def _label(trace: Trace) -> str:
    return label_of(Chunking.model_validate(chunking_of(trace)))


def _finding(of: Check, when: str, right: Trace, other: Trace, rules: Rules, *, first: bool) -> Finding:
    """Where two messages part. `first`: whether the traced replay, whose steps are named, is the first of them."""
    parting = divergence(right, other, rules)
    assert parting is not None  # their messages differ
    level = grade(right.message, other.message, rules)
    severity: Severity = "warning" if level == "whitespace" else "error"
    blank = ", by whitespace only" if level == "whitespace" else ""
    loose = f" ({rules.words()})" if rules.words() else ""
    return of.finding(
        f"{when}, {_difference(right, other, parting)}{blank}{loose}.",
        severity=severity,
        step=parting.step_a if first else parting.step_b,
        span=None if parting.raw is None else Span(parting.raw, parting.raw),
        expected=parting.expected,
        actual=parting.actual,
        grade=level,
    )


def _difference(a: Trace, b: Trace, parting: Divergence) -> str:
    calls = max(a.message.tool_calls, b.message.tool_calls, key=len)
    where = channel_words(parting.channel, calls)
    countable = parting.channel != "calls" and not parting.channel.endswith(".complete")
    return f"the message differs in {where}" + (f" from character {parting.offset} on" if countable else "")
