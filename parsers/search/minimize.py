"""Which finding a search makes small, what must stay true of it, and what is said of the small form.

The finding that the verdict rests on is taken, at the chunking that the verdict names. Where no replay can show that
one, the worst one is: a failure before a difference between chunkings, a difference before what a single replay
shows, errors before warnings. Of the chunkings that differ the one with the worst difference is taken, then an honest
one, then the one with the fewest cuts. The other side of a difference is a chunking that says the same of every smaller
output (all in one delta, so many characters at a time), best one whose message is what the format itself reads.

What must stay true of a smaller form is in `parsers.search.targets`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from parsers.checks import CHECKS, run_checks
from parsers.checks.fuller import has_more_prose, is_less, kept, markers_of
from parsers.checks.known import declared_of
from parsers.checks.subject import subject_of
from parsers.compare.beside import compare_chunking
from parsers.compare.divergence import ANY_ID, GRADES, HARMFUL, Rules, grade, message_key, same_message
from parsers.compare.nearness import distance
from parsers.replays.chunking import WHOLE, Chunking, by_tokens
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replayer import Replayer
from parsers.search.found import Minimized, Verdict
from parsers.search.harms import LOOSE, kind_of, of_calls
from parsers.search.outcomes import Outcomes, outcome_key
from parsers.search.own_reading import is_called, is_sound, own_reading
from parsers.search.shrink import Form, Target, form_of, plain
from parsers.search.small_request import small_request
from parsers.search.sweep import cut_at, one_delta
from parsers.search.taken_back import Misreads, OfChange, Planted, change_of
from parsers.search.targets import (
    Differs,
    Finds,
    Kept,
    Raises,
    every_chunking,
    is_allowed,
    plain_chunkings,
    rightly_read,
)
from parsers.search.variants import needed
from parsers.search.verdict_phrases import harm, under
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Finding, Topic
from parsers.vocabulary.types import Message

COMPARING = ("chunking", "whole_equals_streamed")
CHANGED = ("recovers", "neighbours", "escapes", "truncation")  # the changed output itself is made small
RAISING = ("parser_raised", "changed_output_raised")  # the changed output is one that the parser fails on
FIRST = ("parser_raised", *COMPARING)
LONG = ("no_length_cap",)  # a form as long as that is none that anybody would call small
LOSING = ("all_output_lost", "tool_call_dropped")  # what is lost must stay a call
SIZES = (1, 2, 3)
AGREEING = 40  # so many chunkings are tried for one that agrees with the whole output


@dataclass(slots=True)
class Start:
    """Says where shrinking begins: the finding, the output and chunking that show it, and what must stay true."""

    finding: Finding
    form: Form
    target: Kept
    replayer: Replayer


def start_of(
    replayer: Replayer,
    traced: Chunking,
    outcomes: Outcomes,
    findings: Sequence[Finding],
    rules: Rules,
    said: Verdict | None = None,
) -> Start | None:
    """The first finding about the parser, those of the verdict first, then worst first, that a replay shows."""
    for finding in _worst_first(findings, said):
        for changed, chunking in _shown_by(finding, replayer, traced, outcomes, said):
            target = _target(finding, changed, replayer, chunking, rules)
            if isinstance(target, Differs):
                target, chunking = _turned(target, changed, chunking)
            if target is not None:
                known = [one.smallest for one in outcomes.seen] if changed is replayer else []
                return Start(finding, form_of(changed, chunking), Kept.of(target, changed, chunking, known), changed)
    return None


def minimized(replayer: Replayer, start: Start, form: Form, rules: Rules, replays: int) -> Minimized | None:
    """Return what is said of the small form: the finding as a run of it shows it."""
    small = start.replayer.with_pieces(form.pieces)
    chunking, name, target = plain(small, form.chunking), start.finding.check, start.target.target
    small = small_request(small, chunking, start.target, start.replayer)
    never = _is_never_read(small, chunking, lenient=True)
    as_allowed = not never and _is_never_read(small, chunking)
    before = target.unchanged(small) if isinstance(target, OfChange) else None
    read = before is not None and not _is_never_read(before, WHOLE)
    if isinstance(target, OfChange) and isinstance(target.target, Misreads):
        said = _misread(start, small, chunking, replays)
        return _with_messages(replace(said, never_read=never, read_as_allowed=as_allowed, read_unchanged=read), small)
    beside, right = _beside(small, chunking, target, rules) if isinstance(target, Differs) else ((), None)
    if small.one_shot is not None and chunking == WHOLE and beside:  # the path that streams is told of first
        chunking, beside = beside[0], (WHOLE, *beside[1:])
    trace = small.trace(chunking)
    others = [compare_chunking(small, other, trace, rules) for other in beside]
    made = needed(CHECKS[name], small, trace)
    found = run_checks(subject_of(small, trace, small.trace(WHOLE), others, rules=rules, variants=made)).findings
    names = next((group for group in (COMPARING, RAISING) if name in group), (name,))
    names = (*names, *COMPARING) if start.finding.topic is Topic.CHUNKS else names
    alike = [one for one in found if one.check in names]
    alike.sort(key=lambda one: (_is_of_another(one, (chunking, *beside[:1])), one.check != name))
    if not alike:
        return None
    shown, context = _with_harm(alike[0], small, chunking, beside), small.context
    if not isinstance(target, OfChange):  # before what another chunking gives, which may be wrong in its own way
        right = _given_somewhere(small, (chunking, *beside)) or right
    said = Minimized(
        shown.check, shown, form.pieces, chunking, context, replays, beside, right, never, as_allowed, read
    )
    return _with_messages(replace(said, soft=_is_blank_apart(said, small)), small)


def _is_blank_apart(said: Minimized, small: Replayer) -> bool:
    """Return whether white space is all that a chunking beside gives otherwise than is right, and the failing one does
    worse."""
    if said.right is None:
        return False
    worst, *others = [grade(said.right, small.outcome(one).message, ANY_ID) for one in (said.chunking, *said.beside)]
    return worst in HARMFUL and "whitespace" in others


def _given_somewhere(small: Replayer, shown: Sequence[Chunking]) -> Message | None:
    """What the format reads, where one of the chunkings shown gives something else and another one, or the code path
    for whole outputs, that: the parser can, so that it is right under all of them."""
    own = own_reading(small)
    if own is None:
        return None

    def gives(one: Chunking) -> bool:
        outcome = small.outcome(one)
        return outcome.raised is None and same_message(outcome.message, own.message, ANY_ID)

    wrong = any(not gives(one) for one in shown)
    return own.message if wrong and any(map(gives, [*shown, WHOLE, *every_chunking(small)])) else None


def _is_of_another(one: Finding, pair: Sequence[Chunking]) -> bool:
    """Return whether a finding that compares speaks of a chunking that is neither of these."""
    named = () if one.proof is None else (one.proof.chunking, one.proof.wrong)
    return any(Chunking.model_validate(given) not in pair for given in named if given is not None)


def _with_harm(shown: Finding, small: Replayer, chunking: Chunking, beside: Sequence[Chunking]) -> Finding:
    """A difference that is first seen in a text, with what becomes of the calls, which is what the verdict names."""
    if not beside or shown.check not in COMPARING:
        return shown
    gives, other = small.outcome(chunking).message, small.outcome(beside[0]).message
    if other.content == gives.content and other.reasoning == gives.reasoning:
        return shown
    own = own_reading(small)
    if own is None and _has_more(small, gives, other):
        return shown
    read = own is not None and not same_message(own.message, gives, LOOSE)
    right = own.message if own is not None and read else other
    if not of_calls(kind_of(gives, right, LOOSE)):
        return shown
    return replace(shown, message=f"{_sentence(small, chunking, harm(right, gives))} {shown.message}")


def _with_messages(said: Minimized, small: Replayer) -> Minimized:
    """It with what comes of it and what should: of what stands as right and what the format reads that which is nearer
    to it, so that what the contract allows is no part of the difference, else what comes beside it."""
    own, gives = own_reading(small), small.outcome(said.chunking).message

    def others(*known: Message | None) -> list[Message]:
        given = [one for one in known if one is not None]
        return [one for one in given if message_key(one, ANY_ID) != message_key(gives, ANY_ID)]

    right = others(said.right, None if own is None else own.message)
    meant = min(right, key=lambda one: (distance(one, gives), _texts(one) != _texts(gives)), default=None)
    beside = next(iter(others(*[small.outcome(one).message for one in said.beside[:1]])), None)
    if beside is not None and own is None and _has_more(small, gives, beside):
        beside = None
    return replace(said, gives=gives, meant=meant or beside, unsure=meant is None and own is None)


def _has_more(small: Replayer, one: Message, other: Message) -> bool:
    """Return whether a message has more of the output read than another one, where its grammar is not known."""
    markers = markers_of(small.text, declared_of(small), (one, other))
    mine, yours = (kept(each, small.text, markers) for each in (one, other))
    longer = len(one.content or "") > len(other.content or "")
    return mine > yours or (mine == yours and longer and has_more_prose((one, other), small.text))


def _texts(message: Message) -> tuple[str, str]:
    return message.content or "", message.reasoning or ""


def _is_never_read(small: Replayer, chunking: Chunking, *, lenient: bool = False) -> bool:
    """Return whether what the format reads in the small output is known, and the parser gives under no chunking that a
    server can send that, or, leniently, what the contract allows in its place."""
    own, grader = own_reading(small), Grader(small)
    among = [one for one in every_chunking(small) if grader.chunking(one) is not CutGrade.HOSTILE]
    return own is not None and rightly_read(small, own, [*among, chunking], lenient=lenient) is None


def _sentence(small: Replayer, chunking: Chunking, phrase: str) -> str:
    """A phrase of what happens under a chunking, as a sentence."""
    apart = small.one_shot is not None and chunking == WHOLE
    when = "read by the code path for whole outputs" if apart else under(chunking, len(small.text))
    return f"{when[:1].upper()}{when[1:]}, {phrase}."


def _misread(start: Start, small: Replayer, chunking: Chunking, replays: int) -> Minimized:
    """A changed output, made small: what the format reads in it stands as right, so that a run shows the difference."""
    own = own_reading(small)
    assert own is not None  # it was read before
    here = _sentence(small, chunking, harm(own.message, small.outcome(chunking).message))
    words = f"{here} It is the smallest form of this: {start.finding.message}"
    shown = replace(start.finding, message=words, step=None, span=None, proof=None)
    return Minimized(start.finding.check, shown, small.pieces, chunking, small.context, replays, (), own.message)


def _worst_first(findings: Sequence[Finding], said: Verdict | None) -> list[Finding]:
    """One finding for each check that has one about the parser; that of the verdict before all others. What took too
    long takes as long in every form that is tried; what only a long output shows has no small form."""
    mine = [one for one in findings if one.about == "parser" and one.severity != "info" and one.topic is not Topic.SLOW]
    mine = [one for one in mine if one.check not in LONG]
    order = {name: place for place, name in enumerate(FIRST)}
    leads = [findings[number] for number in (said.findings[:1] if said is not None else ())]
    if said is not None and said.kind == "chunk_boundary" and not leads:  # the outcomes tell of it, and these checks
        leads = [one for one in mine if one.check in COMPARING][:1]
    first = {one.check: one for one in leads if one.about == "parser" and one.check not in LONG}
    for one in sorted(mine, key=lambda one: (one.severity != "error", order.get(one.check, len(order)))):
        first.setdefault(one.check, one)
    return list(first.values())


def _shown_by(
    finding: Finding, replayer: Replayer, traced: Chunking, outcomes: Outcomes, said: Verdict | None
) -> Iterator[tuple[Replayer, Chunking]]:
    proof = finding.proof
    if proof is not None and proof.edits and finding.check in CHANGED:
        yield replayer.changed(proof.edits, proof.context), Chunking.model_validate(proof.chunking)
    if said is not None and said.proof is not None and said.proof.chunking and not said.proof.edits:
        yield replayer, Chunking.model_validate(said.proof.chunking)
    outcome = replayer.outcome(WHOLE)
    whole = outcomes.number(outcome)
    levels = [GRADES.index(grade(one.outcome.message, outcome.message, outcomes.rules)) for one in outcomes.seen]
    for seen in sorted(outcomes.seen, key=lambda one: (levels[one.number], *one.rank)):
        raised = seen.outcome.raised is not None
        if raised == (finding.check == "parser_raised") and (raised or seen.number != whole):
            yield replayer, seen.smallest
    if proof is not None and proof.edits:
        changed = replayer.changed(proof.edits)
        yield changed, traced
        yield changed, WHOLE
    yield replayer, traced


def _target(
    finding: Finding, replayer: Replayer, original: Replayer, chunking: Chunking, rules: Rules
) -> Target | None:
    if finding.check in RAISING:
        outcome = replayer.outcome(chunking)
        # What took too long takes as long in every form that is tried.
        if outcome.raised is None or outcome.raised.slow:
            return None
        failing = Raises(outcome_key(outcome, rules), rules)
        if replayer.pieces == original.pieces:
            return failing
        return OfChange.bound(failing, change_of(finding.proof, original), rules, replayer, chunking)
    if finding.check in CHANGED and replayer.pieces != original.pieces:
        return _misreading(finding, replayer, original, chunking, rules)
    if finding.check in COMPARING or finding.topic is Topic.CHUNKS:
        return _differing(finding, replayer, chunking, rules)
    sound = is_sound(replayer.outcome(chunking).message, replayer.context)
    target = Finds(finding, rules, sound, finding.check in LOSING and is_called(replayer))
    return target if target.holds(replayer, chunking) else None


def _misreading(
    finding: Finding, replayer: Replayer, original: Replayer, chunking: Chunking, rules: Rules
) -> Target | None:
    """What the parser reads wrongly in a changed output, by the change alone where it reads it rightly without."""
    found, change = Misreads.at(replayer, chunking, rules), change_of(finding.proof, original)
    bound = OfChange.bound(found, change, rules, replayer, chunking) if found is not None else None
    return None if bound is not None and isinstance(change, Planted) and not bound.is_bound else bound


def _differing(finding: Finding, replayer: Replayer, chunking: Chunking, rules: Rules) -> Differs | None:
    """The difference to a chunking that a smaller output can have as well, the one that is read rightly where there is
    one. A second code path for whole outputs is the other side only where no streamed replay is. Where white space or
    the order of keys is all that was found, it is all that differs."""
    others = plain_chunkings(replayer)
    found = [Differs.at(replayer, chunking, rules, other) for other in others if other != chunking]
    differing = [target for target in found if target is not None]
    if finding.grade is not None and finding.grade not in HARMFUL:
        differing = [target for target in differing if finding.grade in target.kind]
    return max(differing, key=lambda target: target.worth, default=None)


def _turned(target: Differs, replayer: Replayer, chunking: Chunking) -> tuple[Differs, Chunking]:
    """The difference seen from its other side, where that is in deltas of several characters or tokens, and neither
    side is known to be right: of cuts that are places those go that do not matter, and the text between them; a grid
    would have to meet the same place again after every step."""
    other = target.other
    if target.sound[2] or other.by == "whole" or other.cuts is not None or other.size == 1:
        return target, chunking
    is_free = chunking == one_delta(replayer.one_shot is not None) and form_of(replayer, other).fixed is None
    turned = Differs.at(replayer, other, target.rules, chunking) if is_free else None
    return (target, chunking) if turned is None else (turned, other)


def _beside(
    replayer: Replayer, chunking: Chunking, target: Differs, rules: Rules
) -> tuple[tuple[Chunking, ...], Message | None]:
    """The other side, and a chunking that agrees with it, where there is one; then its message stands as right."""
    other = replayer.outcome(target.other)
    sizes = [Chunking(by="char", size=size) for size in SIZES]
    cuts = [cut_at((cut,)) for cut in range(1, min(len(replayer.text), AGREEING))]

    def agrees(third: Chunking) -> bool:
        outcome = replayer.outcome(third)
        return outcome.raised is None and outcome.deltas > 1 and same_message(outcome.message, other.message, rules)

    thirds = [one for one in (*sizes, *cuts) if one not in (chunking, target.other)]
    third = next((one for one in thirds if agrees(one)), None)
    # It is right where it is what the format reads, perhaps only of the small case, or, where that is not known, agrees
    # with a third and has calls that the failing one lacks, or none of the declared markers which that leaves.
    small = Differs.at(replayer, chunking, rules, target.other)
    richer = third is not None and _richness(other.message) > _richness(replayer.outcome(chunking).message)
    richer = richer and _may_be_right(replayer, other.message, replayer.outcome(chunking).message)
    others = [target.other] if third is None else [target.other, third]
    if third is None and target.other == WHOLE and replayer.one_shot is not None:  # a stream differs in this way, too
        others += [
            one
            for one in plain_chunkings(replayer)
            if one not in (chunking, WHOLE) and _is_alike(replayer, chunking, one, target, rules)
        ][:1]
    return tuple([_lasting(replayer, one) for one in others]), other.message if richer or (
        small is not None and small.sound[2]
    ) else None


def _may_be_right(replayer: Replayer, message: Message, beside: Message) -> bool:
    """Return whether nothing says that a message is wrong: where it is known what the format reads, another one is;
    where only markers are declared, one that has no more read than that beside it may be."""
    own, declared = own_reading(replayer), declared_of(replayer)
    if own is None:
        return bool(declared) and is_less(beside, message, replayer.text, declared)
    return same_message(message, own.message, LOOSE) or is_allowed(replayer, own, message)


def _is_alike(replayer: Replayer, chunking: Chunking, other: Chunking, target: Differs, rules: Rules) -> bool:
    """Return whether the calls differ from another chunking's as they do from the target's."""
    found = Differs.at(replayer, chunking, rules, other)
    return found is not None and bool(of_calls(found.kind)) and of_calls(found.kind) == of_calls(target.kind)


def _lasting(replayer: Replayer, chunking: Chunking) -> Chunking:
    """A chunking as cuts where whoever reads the small case may have other tokens."""
    return form_of(replayer, chunking).chunking if by_tokens(chunking) and replayer.mode == "text" else chunking


def _richness(message: Message) -> tuple[int, int]:
    """Return how much a message gives: calls with JSON for arguments, then characters."""
    calls = sum([is_json(call.arguments) for call in message.tool_calls])
    return calls, len(message.content or "") + len(message.reasoning or "")
