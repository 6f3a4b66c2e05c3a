"""Rules of the verdict for what depends on how an output is cut: which chunking shows it, which reading is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from parsers.checks.prose import TAG
from parsers.compare.divergence import ANY_ID, HARMFUL, message_key
from parsers.compare.divergence import grade as grade_of
from parsers.compare.nearness import distance
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.search.found import Detail, OutcomeClass, Verdict
from parsers.search.markup import marker_in
from parsers.search.sweep import json_of
from parsers.search.verdict_blame import BLAME, led
from parsers.search.verdict_evidence import Evidence, good_calls
from parsers.search.verdict_phrases import harm, lowered, parting, rank, under
from parsers.vocabulary.trace import Finding, Proof, Topic
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted

BY_ONE_SHOT = "read by the one for whole outputs"
_SENTENCE = re.compile(r"\s*[\"'(]?\w+[.,;:!?]?\s")  # its first word
IN_PARTS = "as soon as the output comes in more than one delta"


def chunk_boundary(evidence: Evidence) -> Verdict | None:
    """What comes out depends on how a server cuts the output, by more than white space or how arguments are written."""
    numbers = evidence.numbers(Topic.CHUNKS, severity="error")
    others = _differing(evidence, CutGrade.HONEST)
    if not others:
        if not numbers:
            return None
        words = f"{BLAME['chunk_boundary']}: {lowered(evidence.findings[numbers[0]].message)}"
        return led(evidence, "chunk_boundary", words, numbers)
    right = _right(evidence)
    sure = [one for one in evidence.outcomes if one.cuts is CutGrade.HONEST]
    blamed = [one for one in sure if one.allowed is None]
    streamed = [one for one in sure if one.raised is None and not evidence.is_one_shot(one)]
    own = evidence.own  # the format's own reading is meant where no chunking gives as many of its calls
    more = own is not None and own.good > good_calls(right.message, evidence.context)
    meant = own.message if own is not None and more else None
    among = meant if meant is not None and len(streamed) == 1 else right.message
    wrong = [one for one in blamed if grade_of(among, one.message, ANY_ID) in HARMFUL]
    worst = min(wrong or others, key=lambda one: (evidence.is_one_shot(one), *rank(one)))
    always = "" if meant is None else harm(meant, right.message)  # what no cut brings about
    if len(streamed) == 1 and meant is not None and meant.tool_calls and _find_no_call(sure):
        return None  # no cut brings it about, and no code path: the finding that says so leads
    shot = evidence.is_one_shot(worst)
    whole_only = not shot and _is_one_delta(right) and not evidence.is_one_shot(right)  # of a stream
    when = IN_PARTS if whole_only else _when(evidence, worst)
    damage = harm(meant or right.message, worst.message)
    if damage == always and right is not worst:
        meant, damage = None, harm(right.message, worst.message)
    if shot or len(streamed) == 1:
        words, cause = (
            _of_paths(when if shot else "streamed, in whatever deltas", damage, _also(evidence, meant, worst)),
            "",
        )
    else:
        words, cause = f"{BLAME['chunk_boundary']}: {when}, {damage}.", f"{when[:1].upper()}{when[1:]}, {damage}."
    details = (
        Detail(_shares(evidence, worst, None if meant else right)),
        *([Detail(f"However it is cut, {always}.")] if always and meant is None else []),
        *evidence.messages(numbers),
    )
    proof = Proof(json_of(worst.smallest))
    beside = right.smallest if right is not worst else None
    return Verdict(
        "chunk_boundary", "error", "parser", words, details, tuple(numbers), proof, cause=cause, right=beside
    )


def _find_no_call(outcomes: Sequence[OutcomeClass]) -> bool:
    """Return whether all of these read the output and give no call, whatever else they differ in."""
    return not any(one.raised is not None or one.message.tool_calls for one in outcomes)


def _when(evidence: Evidence, one: OutcomeClass) -> str:
    """The condition under which an outcome comes, as a part of a sentence."""
    return BY_ONE_SHOT if evidence.is_one_shot(one) else under(one.smallest, len(evidence.text))


def _of_paths(when: str, damage: str, also: str) -> str:
    """What is said of two code paths, of which the other one does what `also` says."""
    if also == damage:
        return f"Both code paths of the parser go wrong: {damage}, streamed, in whatever deltas, and read whole."
    return f"The parser's two code paths disagree: {when}, {damage}{f'; {BY_ONE_SHOT}, {also}' if also else ''}."


def _also(evidence: Evidence, meant: Message | None, told: OutcomeClass) -> str:
    """What the code path for whole outputs does, where the one that streams is told of and neither reads it rightly."""
    shot = next((one for one in evidence.outcomes if evidence.is_one_shot(one) and one is not told), None)
    return harm(meant, shot.message) if meant is not None and shot is not None and shot.raised is None else ""


def assumed_boundary(evidence: Evidence) -> Verdict | None:
    """What comes out depends on cuts that a server makes if the model's tokens are as they are assumed."""
    others = _differing(evidence, CutGrade.ASSUMED)
    if not others:
        return None
    right = _right(evidence)
    wrong = [one for one in [evidence.outcomes[0], *others] if one.number != right.number]
    worst = min(wrong, key=rank)
    shown = next((one for one in (worst, right) if one.cuts is CutGrade.ASSUMED), worst)
    supposed = Grader(evidence.replayer).supposed(shown.smallest)
    when, damage = _when(evidence, worst), harm(right.message, worst.message)
    # Where the worst is sure and that anything else ever comes is not, the condition stands behind.
    unless = f", but not if {supposed}" * bool(supposed)
    said = f"if {supposed}, {damage}" if supposed and shown is worst else f"{when}, {damage}{unless}"
    words = f"The parser may depend on chunk boundaries: {said}."
    numbers = evidence.numbers(Topic.CHUNKS, severity="warning")
    details = (Detail(_shares(evidence, worst, right)), *evidence.messages(numbers))
    return Verdict(
        "chunk_boundary", "warning", "parser", words, details, tuple(numbers), Proof(json_of(worst.smallest))
    )


def shown_first(findings: Sequence[Finding], said: Verdict) -> list[Finding]:
    """The findings, with that which has the chunking of the verdict in the place of the one that it stands under: a
    reader is told of one chunking."""
    found = [*findings]
    for number in said.findings[:1] if said.kind == "chunk_boundary" else ():
        first = found[number]
        alike = [one for one in first.follows if (one.check, one.severity) == (first.check, first.severity)]
        shown = next((one for one in alike if one.proof == said.proof and first.proof != said.proof), None)
        if shown is not None:
            others = [one for one in first.follows if one is not shown]
            found[number] = replace(shown, follows=(replace(first, follows=()), *others))
    return found


def _differing(evidence: Evidence, grade: CutGrade) -> list[OutcomeClass]:
    """The outcomes that differ from another one by more than white space or how arguments are written, all under cuts
    of this grade or better."""
    heard = [one for one in evidence.outcomes if one.raised is None and one.allowed is None]
    sure = [one for one in heard if one.cuts.rank <= grade.rank]
    if sure and not sure[0].number:
        return [one for one in sure[1:] if one.grade in HARMFUL]
    return [one for one in sure[1:] if grade_of(sure[0].message, one.message, ANY_ID) in HARMFUL]


def _is_one_delta(one: OutcomeClass) -> bool:
    """Return whether an outcome comes in one delta, and in no more but for empty ones. What an empty delta is needed
    for comes in more than one."""
    return not one.parted and not one.smallest.cuts


def _shares(evidence: Evidence, worst: OutcomeClass, right: OutcomeClass | None) -> str:
    total = sum([one.count for one in evidence.outcomes])
    given = f"{worst.count:,} of {counted(total, 'chunking')} {'gives' if worst.count == 1 else 'give'} this"
    if right is None:
        return f"{given}; none gives what the format reads."
    proven = _is_proven(evidence, right)
    none = "" if proven or evidence.own is None else "; none gives what the format reads"
    what = f"the {'right' if proven else 'fullest'} message"
    if evidence.is_one_shot(right):
        return f"{given}; the code path for whole outputs gives {what}{none}."
    verb = "gives" if right.count == 1 else "give"
    return f"{given}; {right.count:,} {verb} {what}, e.g. {right.label}{none}."


def _is_proven(evidence: Evidence, one: OutcomeClass) -> bool:
    """Return whether an outcome is what the format reads, or what the contract lets a parser read."""
    own, allowed = evidence.own, one.allowed if one.number else evidence.allowed
    if own is None:
        return False
    return allowed is not None or message_key(own.message, ANY_ID) == message_key(one.message, ANY_ID)


def _right(evidence: Evidence) -> OutcomeClass:
    """The outcome that is right: the grammar's own reading, else the one with most good calls, then with the texts
    nearest to those that the grammar reads, then with the least content, or the most of an answer, then of most
    chunkings."""
    read = [one for one in evidence.outcomes if one.raised is None]
    own = None if evidence.own is None else message_key(evidence.own.message, ANY_ID)
    same = next((one for one in evidence.outcomes if message_key(one.message, ANY_ID) == own), None)
    if same is not None and same.raised is None:
        return same
    answer = all(_is_answer(one.message, evidence.text) for one in read) or _part_in_prose(read, evidence)

    def worth(one: OutcomeClass) -> tuple[int, int, int, int, int]:
        content = one.message.content or ""
        fullest = len(content) if answer else -len(content)
        _, lost, more = (0, 0, 0) if evidence.own is None else distance(evidence.own.message, one.message)
        return good_calls(one.message, evidence.context), -lost, -more, fullest, one.count

    return max(read, key=worth)


def _is_answer(message: Message, text: str) -> bool:
    """Return whether a message has nothing but text of the output, in its order, none of which looks like markup."""
    content = message.content or ""
    if message.tool_calls or message.reasoning or marker_in(content) >= 0 or TAG.search(content):
        return False
    return _is_part(content, text)


def _part_in_prose(read: Sequence[OutcomeClass], evidence: Evidence) -> bool:
    """Return whether, where no grammar is known, those with most good calls part in how much they have of sentences:
    the longest has text of the output more than the shortest that begins with a word and names no call, and all have
    parts of it. A marker that was left over does not begin so."""
    if evidence.own is not None:
        return False
    good = max([good_calls(one.message, evidence.context) for one in read])
    among = [one.message for one in read if good_calls(one.message, evidence.context) == good]
    texts = sorted([message.content or "" for message in among], key=len)
    more = parting(texts[-1], texts[0])[1]
    names = {call.name for message in among for call in message.tool_calls}
    told = more in evidence.text and _SENTENCE.match(more) is not None and not any(name in more for name in names)
    return told and all(_is_part(text, texts[-1]) for text in texts)


def _is_part(text: str, whole: str) -> bool:
    """Return whether a text is another one, with some of it left out."""
    characters = iter(whole)
    return all(char in characters for char in text)
