"""Checks that compare replays of one output: other chunkings, and the output in one piece.

One cause, one finding: a parser that fails in one of the replays is told of by parser_raised alone, and what other
chunkings give as well is told of by `chunking`, not again by `whole_equals_streamed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from parsers.checks.check import Check, Need, check
from parsers.checks.fuller import has_more_prose, is_less, kept, markers_of
from parsers.checks.known import Origin
from parsers.checks.prose import TAG
from parsers.checks.spaces import Spaced, change_words, joined_words, squeezed
from parsers.checks.subject import Subject, chunking_of
from parsers.compare.argument_spelling import spelling_words
from parsers.compare.divergence import (
    HARMFUL,
    Divergence,
    Grade,
    Key,
    by_value,
    divergence,
    grade,
    message_key,
    same_message,
)
from parsers.compare.nearness import distance
from parsers.replays.chunking import Chunking
from parsers.replays.chunking import label as label_of
from parsers.replays.cut_grades import CutGrade, worst
from parsers.vocabulary.channels import CONTENT, REASONING, message_texts
from parsers.vocabulary.events import Severity
from parsers.vocabulary.stretches import Place
from parsers.vocabulary.trace import Finding, Proof, Trace
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted, quoted

FULLER = "a message that has more of the output read"
# What is said instead of what was expected, where no grammar and no declared markers tell: of a pair of which one
# message has more of the output read, and of one of which neither has.
HINTS = (
    " The grammar is not known: the message that has more of the output read has {there}, the other one {here}.",
    " The grammar is not known, nor which message is right: one has {there}, the other one {here}.",
)
FEW = 3  # so many outcomes are told one by one

Replays = list[tuple[str, Trace]]
# What differs by no more than that is no error, but where two words become one.
_WEIGHTS: Mapping[Grade | None, Severity] = {"key_order": "warning", "whitespace": "warning", "spelling": "info"}


@check("C1", "The message is the same however the output is cut into deltas.", needs=(Need.COMPARED,))
def _chunking(subject: Subject) -> Iterator[Finding]:
    whole, trace, rules = _one_delta(subject), subject.trace, subject.rules
    outcomes = {} if trace.failure else _outcomes(subject)
    outcomes.pop(message_key(trace.message, rules), None)
    if not subject.replays.one_shot and whole is not None:
        key = message_key(whole.message, rules)
        if _is_single(subject, outcomes.get(key, ())):
            outcomes.pop(key, None)
    grades = {key: _contradicted(subject, key) for key in outcomes}
    ranked = sorted(outcomes.items(), key=lambda pair: (grades[pair[0]].rank, -_share(subject, pair[1])))
    more = f" {counted(len(ranked) - FEW, 'more message')} came of other chunkings." if len(ranked) > FEW else ""
    for number, (key, replays) in enumerate(ranked[:FEW], 1):
        yield _outcome(subject, replays, more if number == FEW else "", grades[key])


def told_between(
    subject: Subject, right: Trace, wrong: Trace, chunking: Chunking, share: str, *, of_paths: bool
) -> Finding | None:
    """The finding for two replays: how the message of the wrong one differs, which `chunking` gives, and how many give
    it. It is one of `chunking`, or of `whole_equals_streamed` where two code paths differ (`of_paths`) and that for
    whole outputs is right. None where the rules let that pass."""
    if same_message(right.message, wrong.message, subject.rules):
        return None
    apart = of_paths and right.chunking.get("by") == "whole"
    when = (
        f'With the chunking "{label_of(chunking)}"' if not apart else "Streamed, beside the code path for whole outputs"
    )
    of = _whole_equals_streamed if apart else _chunking
    found = _finding(of, subject, when, f"{share}.", right=right, wrong=wrong, shown=wrong, cuts=CutGrade.HONEST)
    proof = Proof(chunking.model_dump(mode="json", exclude_defaults=True))
    return replace(found, proof=proof, step=found.step if subject.trace in (right, wrong) else None)


@check("C2", "Read in one piece, the output gives the same message as read delta by delta.", needs=(Need.WHOLE,))
def _whole_equals_streamed(subject: Subject) -> Iterator[Finding]:
    """At most one finding: an error when calls or words differ, a warning when only whitespace or the order of keys
    does, a note when the same arguments are written otherwise."""
    whole, trace, one_shot = subject.replays.whole, subject.trace, subject.replays.one_shot
    if whole is None or whole.failure or trace.failure:
        return
    key = message_key(whole.message, subject.rules)
    others = _outcomes(subject).get(key, ())
    sure = any(subject.replays.grade(label) is CutGrade.HONEST for label, _ in others)
    told = sure if one_shot else not _is_single(subject, others)
    if not told and key != message_key(trace.message, subject.rules):
        when = "Read by the code path for whole outputs" if one_shot else "Read in one piece"
        grade = CutGrade.HONEST if one_shot else _contradicted(subject, key)
        rest = f"{_supposing(subject, '', trace)}."
        nearer = _fuller(subject, trace, whole) if subject.builtin.message is None else _nearer(subject, whole)
        right, wrong = (trace, whole) if nearer is trace else (whole, trace)
        found = _finding(_whole_equals_streamed, subject, when, rest, right=right, wrong=wrong, shown=whole, cuts=grade)
        yield _by_contract(found, subject, whole) if one_shot else found


def _by_contract(found: Finding, subject: Subject, whole: Trace) -> Finding:
    """The finding where a contract allows what both code paths of an engine make: a second path is no cut, and there
    servers leave out text around calls that they stream. Text that one path loses behind a marker which begins no call
    is a warning: that is seldom meant."""
    allowed = subject.allowed_beside(whole.message, strictly=True)
    if allowed is not None:
        return replace(found, severity="info", policy=allowed)
    lesser = found.severity == "error" and subject.allowed_beside(whole.message, strictly=False) is not None
    return replace(found, severity="warning") if lesser else found


def _contradicted(subject: Subject, key: Key) -> CutGrade:
    """The grade of the surest cuts under which this message and another one come: that of the worse of the two."""
    best = _surest(subject)
    others = [grade for one, grade in best.items() if one != key]
    if _is_surely_less(subject, key, best):
        return CutGrade.HONEST
    return worst((best[key], min(others, key=lambda one: one.rank))) if others else CutGrade.HONEST


def _is_surely_less(subject: Subject, key: Key, best: Mapping[Key, CutGrade]) -> bool:
    """Return whether sure cuts lose a call, or leave declared markers, which this message or another shows to be read
    under cuts that are not sure, where nobody knows what the format reads."""
    if subject.builtin.message is not None or not subject.raw or best[key] is CutGrade.HOSTILE:
        return False
    traces = [subject.trace, *[trace for _, trace in _streamed(subject)]]
    messages = {message_key(trace.message, subject.rules): trace.message for trace in traces}
    others = [(best[one], message) for one, message in messages.items() if best[one] is not CutGrade.HOSTILE]
    mine, text, declared = messages[key], subject.trace.text, subject.grammar.declared
    if best[key] is CutGrade.HONEST:
        return any(is_less(mine, other, text, declared) for _, other in others)
    return any(is_less(other, mine, text, declared) for grade, other in others if grade is CutGrade.HONEST)


def _surest(subject: Subject) -> dict[Key, CutGrade]:
    """The grade of the surest cuts under which each message comes."""
    best = {message_key(subject.trace.message, subject.rules): subject.replays.grade("")}
    for label, trace in _streamed(subject):
        grade, one = subject.replays.grade(label), message_key(trace.message, subject.rules)
        best[one] = min(best.get(one, grade), grade, key=lambda one: one.rank)
    return best


def _streamed(subject: Subject) -> Replays:
    """The other replays that did not fail, the whole output first where it is a chunking among others."""
    whole = None if subject.replays.one_shot else subject.replays.whole
    replays = [*([] if whole is None else [("whole", whole)]), *subject.replays.compared]
    return [(label, trace) for label, trace in replays if not trace.failure]


def _outcomes(subject: Subject) -> dict[Key, Replays]:
    outcomes: dict[Key, Replays] = {}
    for label, trace in subject.replays.compared:
        apart = subject.replays.one_shot and trace.chunking.get("by") == "whole"
        if not apart and not trace.failure:
            outcomes.setdefault(message_key(trace.message, subject.rules), []).append((label, trace))
    return outcomes


def _one_delta(subject: Subject) -> Trace | None:
    if not subject.replays.one_shot:
        return subject.replays.whole
    cut = [trace for _, trace in subject.replays.compared if trace.chunking.get("by") == "cuts"]
    return next((trace for trace in cut if not trace.chunking["cuts"]), None)


def _is_single(subject: Subject, replays: Sequence[tuple[str, Trace]]) -> bool:
    shares = subject.replays.shares
    return all(len(trace.steps) <= 2 and shares.get(label, 1) == 1 for label, trace in replays)


def _share(subject: Subject, replays: Replays) -> int:
    return sum([subject.replays.shares.get(label, 1) for label, _ in replays])


def _outcome(subject: Subject, replays: Replays, more: str, cuts: CutGrade) -> Finding:
    """One other message. Where the whole output gives it too, the traced chunking is the odd one, and so it is where
    the other message is nearer to what the format reads."""
    label, trace = min(replays, key=lambda replay: (subject.replays.grade(replay[0]).rank, len(replay[1].steps)))
    base, whole, rules = subject.trace, _one_delta(subject), subject.rules
    share, every = _share(subject, replays), sum(subject.replays.shares.values()) or len(subject.replays.compared)
    own = f'With the chunking "{label_of(Chunking.model_validate(chunking_of(base)))}"'
    nearer = _nearer(subject, trace, most=2 * share > every)
    single = every == 1
    others = f"{_supposing(subject, '', base)}; " + (
        "the other chunking" if single else f"{share:,} of {every:,} other chunkings"
    )
    if nearer is not base and whole is not None and same_message(whole.message, trace.message, rules):
        which = "that in one delta" if subject.replays.one_shot else "the whole output"
        rest = f"{others} {'agrees' if single else 'agree'} with {which}.{more}"
        return _finding(_chunking, subject, own, rest, right=whole, wrong=base, shown=whole, cuts=cuts)
    if nearer is not base and share == every > 1:
        rest = f"{_supposing(subject, '', base)}; {share:,} other chunkings agree with one another.{more}"
        return _finding(_chunking, subject, own, rest, right=trace, wrong=base, shown=trace, cuts=cuts)
    if nearer is trace:
        known = subject.builtin.message is not None
        which = "the message that is nearer to what the format reads" if known else FULLER
        rest = f"{others} {'gives' if single else 'give'} {which}.{more}"
        return _finding(_chunking, subject, own, rest, right=trace, wrong=base, shown=trace, cuts=cuts)
    give = f"; {share:,} of {counted(every, 'chunking')} give this message" if share > 1 else ""
    when, rest = f'With the chunking "{label}"', f"{_supposing(subject, label, trace)}{give}.{more}"
    return _finding(_chunking, subject, when, rest, right=base, wrong=trace, shown=trace, cuts=cuts)


def _nearer(subject: Subject, other: Trace, *, most: bool = False) -> Trace | None:
    """The traced replay or the other one: whose message is nearer to what the format reads; None where nobody knows.

    White space that a server may leave out or not, and how arguments are written, prove nothing: there the message is
    right that `most` replays give.
    """
    reading, base, rules = subject.builtin.message, subject.trace, subject.rules
    if reading is None:
        return _with_more(subject, base, other)
    mine, yours = distance(reading, base.message), distance(reading, other.message)
    if mine != yours:
        return base if mine < yours else other
    if most and grade(base.message, other.message, rules) not in HARMFUL:
        return other
    return base if same_message(reading, base.message, replace(rules, ids=False)) else None


def _with_more(subject: Subject, one: Trace, other: Trace) -> Trace | None:
    """The replay that has more of the output read; None where both have as much, and where the output is not known."""
    text = subject.trace.text if subject.raw else ""
    markers = markers_of(text, subject.grammar.declared, [one.message, other.message])
    mine, yours = kept(one.message, text, markers), kept(other.message, text, markers)
    return None if mine == yours or not text else one if mine > yours else other


def _fuller(subject: Subject, one: Trace, other: Trace) -> Trace:
    """The same, else the replay that has more of a plain answer, or less of what looks like markup. Nobody knows what
    is right."""
    plain = not any(each.message.tool_calls or TAG.search(each.message.content or "") for each in (one, other))
    plain = plain or (subject.raw and has_more_prose([one.message, other.message], subject.trace.text))

    def worth(trace: Trace) -> tuple[int, int]:
        content = trace.message.content or ""
        return len(trace.message.tool_calls), len(content) if plain else -len(squeezed(content))

    return _with_more(subject, one, other) or (one if worth(one) > worth(other) else other)


def _is_hint(subject: Subject, right: Trace, wrong: Trace) -> bool:
    """Return whether nobody knows which of two messages is right, nor do declared markers tell."""
    if not subject.black_box or not subject.raw or subject.builtin.message is not None:
        return False
    known = subject.known.grammar
    told = known is Origin.DECLARED and is_less(
        wrong.message, right.message, subject.trace.text, subject.grammar.declared
    )
    return not (known is Origin.BUILTIN or told)


def _supposing(subject: Subject, label: str, trace: Trace) -> str:
    """What it takes for a replay to have its cuts, where its message comes under no cuts that take nothing."""
    sure = _surest(subject)[message_key(trace.message, subject.rules)] is CutGrade.HONEST
    return "" if sure else subject.replays.supposing(label)


def _place(parting: Divergence) -> str:
    return Place(parting.raw, None).words(parting.offset, "it")


def _joins(subject: Subject, right: Trace, wrong: Trace) -> bool:
    """Return whether two words are one in the wrong message that stand apart in the output, in one text: no contract is
    about that."""
    texts = [message_texts(one.message) for one in (right, wrong)]
    pairs = [[Spaced(text.get(channel)) for text in texts] for channel in (REASONING, CONTENT)]
    joined = chain.from_iterable([joined_words(one, other, one.differing(other)) for one, other in pairs])
    return subject.known.raw and any(before in subject.trace.text for before in joined)


def _finding(
    of: Check, subject: Subject, when: str, rest: str, *, right: Trace, wrong: Trace, shown: Trace, cuts: CutGrade
) -> Finding:
    """Return where two messages part, between the words `when` and `rest`. The step is one of the traced replay; the
    chunking of `shown` is the proof. `cuts`: how far a server can make the chunkings that show it."""
    rules, level = subject.rules, grade(right.message, wrong.message, subject.rules)
    # What is told is the worst that differs, and not that the same arguments are written otherwise before it.
    told = by_value(rules) if level in ("calls", "text", "whitespace") else rules
    parting = divergence(right, wrong, told)
    assert parting is not None  # their messages differ
    hint = _is_hint(subject, right, wrong)
    rest += _hint(subject, right, wrong, parting) if hint else ""
    return of.finding(
        f"{when}, {_difference(of, subject, right, wrong, parting, level)}{rest}",
        severity=cuts.weigh("error" if _joins(subject, right, wrong) else _WEIGHTS.get(level, "error")),
        step=parting.step_a if right is subject.trace else parting.step_b,
        span=None if parting.raw is None else Span(parting.raw, parting.raw),
        expected=None if hint else parting.expected,
        actual=None if hint else parting.actual,
        grade=level,
        policy=subject.allowed_between(right.message, wrong.message),
        proof=Proof(chunking_of(shown), wrong=None if wrong is shown else chunking_of(wrong)),
    )


def _hint(subject: Subject, right: Trace, wrong: Trace, parting: Divergence) -> str:
    """How two messages part of which nobody knows which one is right."""
    there, here = (quoted(text) if text else "nothing" for text in (parting.expected, parting.actual))
    more = _with_more(subject, right, wrong)
    here, there = (there, here) if more is wrong else (here, there)
    return HINTS[more is None].format(there=there, here=here)


def _difference(
    of: Check, subject: Subject, right: Trace, wrong: Trace, parting: Divergence, level: Grade | None
) -> str:
    """How the messages part, as a clause."""
    calls = max(right.message.tool_calls, wrong.message.tool_calls, key=len)
    channel = parting.channel
    if level in ("key_order", "spelling") and channel.part == "arguments":
        spelled = spelling_words(*[one.message.tool_calls[channel.call or 0].arguments for one in (right, wrong)])
        cause = ", which depends on the cut" if level == "key_order" and of is _chunking else ""
        return f"{channel.words(calls)} {spelled}{cause}"
    place = "" if channel.part in ("calls", "complete") else f", from {_place(parting)} on"
    only = ", by whitespace only" if level == "whitespace" else ""
    texts = [message_texts(one.message).get(channel) for one in (right, wrong)] if only else []
    change = change_words(*texts) if texts else None
    only += f": {change}" if change is not None else ""
    loose = f" ({subject.rules.words()})" if subject.rules.words() else ""
    also = ", and in its calls" if level == "calls" and channel in (CONTENT, REASONING) else ""
    return f"the message differs in {channel.words(calls)}{place}{only}{also}{loose}"
