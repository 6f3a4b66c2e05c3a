"""Rules of the verdict for what depends on how an output is cut: which chunking shows it, which reading is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsers.checks.fuller import Kept, has_more_prose, is_less, is_part, kept
from parsers.checks.known import declared_of
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
from parsers.search.verdict_phrases import harm, lowered, rank, under
from parsers.vocabulary.trace import Finding, Proof, Topic
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted

BY_ONE_SHOT = "read by the one for whole outputs"
_READ = Kept(0, 0, 0, 0)  # of no account beside the grammar's own reading
ALWAYS, IN_TOKENS = "streamed, in whatever deltas", "streamed, in whatever deltas of whole tokens"
IN_PARTS = "as soon as the output comes in more than one delta"


def chunk_boundary(evidence: Evidence) -> Verdict | None:
    """What comes out depends on how a server cuts the output, or on which code path reads it, by more than white space
    or how arguments are written. Streams that a server can send go before the path for whole outputs."""
    numbers = evidence.numbers(Topic.CHUNKS, severity="error")
    others = _differing(evidence, CutGrade.HONEST) or _other_path(evidence) or _surely_less(evidence)
    if not others:
        if not numbers:
            return None
        words = f"{BLAME['chunk_boundary']}: {lowered(evidence.findings[numbers[0]].message)}"
        return led(evidence, "chunk_boundary", words, numbers)
    told = _told(evidence, others)
    if told is None:
        return None
    proof, numbers = Proof(json_of(told.worst.smallest)), numbers or evidence.numbers(Topic.CHUNKS, severity="warning")
    details = (
        Detail(_shares(evidence, told.worst, None if told.meant else told.right)),
        *([Detail(f"However it is cut, {told.always}.")] if told.always and told.meant is None else []),
        *evidence.messages(numbers),
    )
    beside = told.right.smallest if told.right is not told.worst else None
    said = Verdict("chunk_boundary", "error", "parser", "", details, tuple(numbers), proof, right=beside)
    if _is_path(evidence, told.worst):
        said.headline = _of_paths(told.when, told.damage, _also(evidence, told.meant, told.worst))
        return said
    said.headline = f"{BLAME['chunk_boundary']}: {told.when}, {told.damage}."
    said.cause = f"{told.when[:1].upper()}{told.when[1:]}, {told.damage}."
    return said


@dataclass(frozen=True)
class _Told:
    """What a headline tells: the worst outcome and the right one, when it comes and what it does to that. `meant`: the
    format's own reading, where no chunking gives it; `always`: what no cut brings about."""

    worst: OutcomeClass
    right: OutcomeClass
    when: str
    damage: str
    meant: Message | None
    always: str


def _told(evidence: Evidence, others: Sequence[OutcomeClass]) -> _Told | None:
    """What to tell; None where no cut brings it about, and no code path: the finding that says so leads."""
    right, own = _right(evidence), evidence.own
    # The format's own reading is meant where no chunking gives as many of its calls.
    more = own is not None and own.good > good_calls(right.message, evidence.context)
    meant = own.message if own is not None and more else None
    streams = _streams(evidence, CutGrade.HONEST)
    among = meant if meant is not None and len(streams) == 1 else right.message
    blamed = [*streams, *_paths(evidence)]
    wrong = [one for one in blamed if one.allowed is None and grade_of(among, one.message, ANY_ID) in HARMFUL]
    worst = min(wrong or others, key=lambda one: (evidence.is_one_shot(one), *rank(one)))
    if len(streams) == 1 and meant is not None and meant.tool_calls and _find_no_call(evidence):
        return None
    always = "" if meant is None else harm(meant, right.message)
    damage = harm(meant or right.message, worst.message)
    if damage == always and right is not worst:
        meant, damage = None, harm(right.message, worst.message)
    return _Told(worst, right, _when(evidence, worst, right), damage, meant, always)


def _find_no_call(evidence: Evidence) -> bool:
    """Return whether all that comes of sure cuts reads the output and gives no call, whatever else it differs in."""
    sure = [one for one in evidence.outcomes if one.cuts is CutGrade.HONEST]
    return not any(one.raised is not None or one.message.tool_calls for one in sure)


def _streams(evidence: Evidence, grade: CutGrade) -> list[OutcomeClass]:
    """The outcomes of streams whose cuts are of this grade or better, the parser's failures left out."""
    return [
        one
        for one in evidence.outcomes
        if one.raised is None and one.streamed is not None and one.streamed.rank <= grade.rank
    ]


def _paths(evidence: Evidence) -> list[OutcomeClass]:
    """What the parser's code path for whole outputs gives."""
    return [one for one in evidence.outcomes if one.one_shot and one.raised is None]


def _other_path(evidence: Evidence) -> list[OutcomeClass]:
    """What that path gives, where it differs from what streams do, and the contract does not allow both."""
    sure = _streams(evidence, CutGrade.HONEST)
    shot = [one for one in _paths(evidence) if one.allowed is None and one not in sure]
    return [one for one in shot if any(grade_of(each.message, one.message, ANY_ID) in HARMFUL for each in sure)]


def _is_path(evidence: Evidence, worst: OutcomeClass) -> bool:
    """Return whether the code path makes the difference, and not the cuts: the worst is that of the path for whole
    outputs, or that of all streams in whole tokens, as far as these are known."""
    return evidence.is_one_shot(worst) or len(_streams(evidence, CutGrade.ASSUMED)) == 1


def _when(evidence: Evidence, one: OutcomeClass, right: OutcomeClass) -> str:
    """The condition under which an outcome comes, as a part of a sentence."""
    if evidence.is_one_shot(one):
        return BY_ONE_SHOT
    if len(_streams(evidence, CutGrade.ASSUMED)) == 1 and _paths(evidence):
        return ALWAYS if len(_streams(evidence, CutGrade.HOSTILE)) == 1 else IN_TOKENS
    if _is_one_delta(right) and not evidence.is_one_shot(right):
        return IN_PARTS
    return under(one.smallest, len(evidence.text))


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
    shown = next((one for one in (worst, right) if one.streamed is CutGrade.ASSUMED), worst)
    supposed = Grader(evidence.replayer).supposed(shown.smallest)
    when, damage = under(worst.smallest, len(evidence.text)), harm(right.message, worst.message)
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
    """The outcomes of streams that differ from another one by more than white space or how arguments are written, all
    under cuts of this grade or better."""
    sure = [one for one in _streams(evidence, grade) if one.allowed is None]
    if sure and not sure[0].number:
        return [one for one in sure[1:] if one.grade in HARMFUL]
    return [one for one in sure[1:] if grade_of(sure[0].message, one.message, ANY_ID) in HARMFUL]


def _surely_less(evidence: Evidence) -> list[OutcomeClass]:
    """Where no grammar is known, the outcomes of sure cuts that lack a call, or have declared markers left, that the
    fullest message has not, however unsure the cuts are that show it: it shows what the parser can read."""
    if evidence.own is not None or all(one.raised is not None for one in evidence.outcomes):
        return []
    full, declared = _right(evidence), declared_of(evidence.replayer)
    sure = [] if full.streamed in (None, CutGrade.HOSTILE) else _streams(evidence, CutGrade.HONEST)
    return [one for one in sure if is_less(one.message, full.message, evidence.text, declared)]


def _is_one_delta(one: OutcomeClass) -> bool:
    """Return whether an outcome comes in one delta, and in no more but for empty ones. What an empty delta is needed
    for comes in more than one."""
    return not one.parted and not one.smallest.cuts


def _shares(evidence: Evidence, worst: OutcomeClass, right: OutcomeClass | None) -> str:
    total = sum([one.count for one in evidence.outcomes])
    given = f"{worst.count:,} of {counted(total, 'chunking')} {'gives' if worst.count == 1 else 'give'} this"
    given = "The code path for whole outputs gives this" if evidence.is_one_shot(worst) else given
    if right is None:
        return f"{given}; none gives what the format reads."
    proven = _is_proven(evidence, right)
    none = "" if proven or evidence.own is None else "; none gives what the format reads"
    what = f"the {'right' if proven else 'fullest'} message"
    if evidence.is_one_shot(right):
        return f"{given}; the code path for whole outputs gives {what}{none}."
    verb = "gives" if right.count == 1 else "give"
    many = f"{right.count:,} of {counted(total, 'chunking')}" if evidence.is_one_shot(worst) else f"{right.count:,}"
    return f"{given}; {many} {verb} {what}, e.g. {right.label}{none}."


def _is_proven(evidence: Evidence, one: OutcomeClass) -> bool:
    """Return whether an outcome is what the format reads, or what the contract lets a parser read."""
    own, allowed = evidence.own, one.allowed if one.number else evidence.allowed
    if own is None:
        return False
    return allowed is not None or message_key(own.message, ANY_ID) == message_key(one.message, ANY_ID)


def _right(evidence: Evidence) -> OutcomeClass:
    """The outcome that is right: the grammar's own reading, else of those that a server's cuts lead to, where there are
    such, the one that has most of the output read where no grammar is known, then with most good calls, then with the
    texts nearest to those that the grammar reads, then with the least content, or the most of an answer, then of most
    chunkings."""
    read = [one for one in evidence.outcomes if one.raised is None]
    own = None if evidence.own is None else message_key(evidence.own.message, ANY_ID)
    same = next((one for one in evidence.outcomes if message_key(one.message, ANY_ID) == own), None)
    if same is not None and same.raised is None:
        return same
    read = [one for one in read if one.cuts is not CutGrade.HOSTILE] or read
    answer = all(_is_answer(one.message, evidence.text) for one in read) or _part_in_prose(read, evidence)

    def worth(one: OutcomeClass) -> tuple[Kept, int, int, int, int, int]:
        content = one.message.content or ""
        fullest = len(content) if answer else -len(content)
        _, lost, more = (0, 0, 0) if evidence.own is None else distance(evidence.own.message, one.message)
        full = kept(one.message, evidence.text, evidence.markers) if evidence.own is None else _READ
        return full, good_calls(one.message, evidence.context), -lost, -more, fullest, one.count

    return max(read, key=worth)


def _is_answer(message: Message, text: str) -> bool:
    """Return whether a message has nothing but text of the output, in its order, none of which looks like markup."""
    content = message.content or ""
    if message.tool_calls or message.reasoning or marker_in(content) >= 0 or TAG.search(content):
        return False
    return is_part(content, text)


def _part_in_prose(read: Sequence[OutcomeClass], evidence: Evidence) -> bool:
    """Return whether, where no grammar is known, those with most good calls part in how much they have of sentences."""
    if evidence.own is not None:
        return False
    good = max([good_calls(one.message, evidence.context) for one in read])
    among = [one.message for one in read if good_calls(one.message, evidence.context) == good]
    return has_more_prose(among, evidence.text)
