"""Which finding a search makes small, and what is said of the small form.

The finding that the verdict rests on is taken, at the chunking that the verdict names. Where no replay can show that
one, the worst one is: a failure before a difference between chunkings, a difference before what a single replay
shows, errors before warnings. Of the chunkings that differ the one with the worst difference is taken, then an honest
one, then the one with the fewest cuts.

A difference has two sides. The other side is a chunking that says the same of every smaller output (all in one delta,
so many characters at a time), best one whose message is what the format itself reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from parsers.checks import CHECKS, run_checks
from parsers.compare.divergence import Rules, grade, message_key
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.replayer import Replayer
from parsers.search.found import Minimized, Verdict
from parsers.search.outcomes import Outcomes, Seen, compared
from parsers.search.shrink import Form, form_of, plain
from parsers.search.subject import subject_of
from parsers.search.sweep import cut_at, one_delta
from parsers.search.targets import Differs, Finds, Misreads, Raises, Target, own_reading
from parsers.search.variants import needed
from parsers.search.variants.planted import AROUND
from parsers.search.verdict_case import harm
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message, Piece

COMPARING = ("chunking", "whole_equals_streamed")
CHANGED = ("recovers", "neighbours", "escapes", "truncation")  # the changed output itself is made small
RAISING = ("parser_raised", "changed_output_raised")  # the changed output is one that the parser fails on
FIRST = ("parser_raised", *COMPARING)
GRADES = ("calls", "text", "whitespace", None)
SIZES = (1, 2, 3)
AGREEING = 40  # so many chunkings are tried for one that agrees with the whole output


@dataclass(slots=True)
class Start:
    """Where shrinking begins: the finding, the output and chunking that show it, and what must stay true."""

    finding: Finding
    form: Form
    target: Target
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
            if target is not None:
                return Start(finding, _joined(changed, form_of(changed, chunking)), target, changed)
    return None


def minimized(replayer: Replayer, start: Start, form: Form, rules: Rules, replays: int) -> Minimized | None:
    """What is said of the small form: the finding as a run of it shows it."""
    small = start.replayer.with_pieces(form.pieces)
    chunking = plain(small, form.chunking)
    small, target = _fewer_tools(small, chunking, start.target), start.target
    if isinstance(target, Misreads):
        return _misread(start, small, chunking, replays)
    beside: tuple[Chunking, ...] = ()
    right: Message | None = None
    if isinstance(target, Differs):
        beside, right = _beside(small, chunking, target, rules)
    if small.one_shot is not None and chunking == WHOLE and beside:  # the path that streams is told of first
        chunking, beside = beside[0], (WHOLE, *beside[1:])
    trace = small.trace(chunking)
    others = [compared(small, other, trace, rules) for other in beside]
    check = CHECKS.get(start.finding.check)
    made = () if check is None else needed(check, small, trace)
    found = run_checks(subject_of(small, trace, small.trace(WHOLE), others, rules=rules, variants=made)).findings
    names = next((group for group in (COMPARING, RAISING) if start.finding.check in group), (start.finding.check,))
    shown = next((one for one in found if one.check == start.finding.check), None)
    shown = shown or next((one for one in found if one.check in names), None)
    if shown is None:
        return None
    return Minimized(shown.check, shown, form.pieces, chunking, small.context, replays, beside, right)


def _misread(start: Start, small: Replayer, chunking: Chunking, replays: int) -> Minimized:
    """A changed output, made small: what the format reads in it stands as right, so that a run shows the difference."""
    own = own_reading(small)
    assert own is not None  # it was read before
    words = f"{start.finding.message} Here {harm(own.message, small.outcome(chunking).message)}."
    shown = replace(start.finding, message=words, step=None, span=None, proof=None)
    return Minimized(start.finding.check, shown, small.pieces, chunking, small.context, replays, (), own.message)


def _worst_first(findings: Sequence[Finding], said: Verdict | None) -> list[Finding]:
    """One finding for each check that has one about the parser; that of the verdict before all others."""
    mine = [one for one in findings if one.about == "parser" and one.severity != "info"]
    order = {name: place for place, name in enumerate(FIRST)}
    leads = [findings[number] for number in (said.findings[:1] if said is not None else ())]
    first = {one.check: one for one in leads if one.about == "parser"}
    for one in sorted(mine, key=lambda one: (one.severity != "error", order.get(one.check, len(order)))):
        first.setdefault(one.check, one)
    return list(first.values())


def _shown_by(
    finding: Finding, replayer: Replayer, traced: Chunking, outcomes: Outcomes, said: Verdict | None
) -> Iterator[tuple[Replayer, Chunking]]:
    """Outputs and chunkings that may show a finding."""
    proof = finding.proof
    if proof is not None and proof.edits and finding.check in CHANGED:
        yield replayer.changed(proof.edits, proof.context), Chunking.model_validate(proof.chunking)
    if said is not None and said.proof is not None and said.proof.chunking and not said.proof.edits:
        yield replayer, Chunking.model_validate(said.proof.chunking)
    whole = outcomes.number(replayer.outcome(WHOLE))
    for seen in sorted(outcomes.seen, key=lambda one: _rank(one, outcomes, replayer)):
        raised = seen.outcome.raised is not None
        if raised == (finding.check == "parser_raised") and (raised or seen.number != whole):
            yield replayer, seen.smallest
    if proof is not None and proof.edits:
        changed = replayer.changed(proof.edits)
        yield changed, traced
        yield changed, WHOLE
    yield replayer, traced


def _rank(seen: Seen, outcomes: Outcomes, replayer: Replayer) -> tuple[int, bool, bool, int]:
    level = grade(seen.outcome.message, replayer.outcome(WHOLE).message, outcomes.rules)
    return GRADES.index(level), *seen.rank


def _target(
    finding: Finding, replayer: Replayer, original: Replayer, chunking: Chunking, rules: Rules
) -> Target | None:
    if finding.check in RAISING:
        return Raises.at(replayer.outcome(chunking), rules)
    if finding.check in CHANGED and replayer.pieces != original.pieces:
        misread = Misreads.at(replayer, chunking, rules, _plant(finding))
        return misread if misread is not None and misread.holds(replayer, chunking) else None
    if finding.check in COMPARING:
        return _differing(replayer, chunking, rules)
    return Finds.at(replayer, chunking, finding, rules)


def _plant(finding: Finding) -> str:
    """What was planted into an argument, as it is written there."""
    if finding.check != "escapes" or finding.proof is None:
        return ""
    written = finding.proof.edits[0][2]
    return written[written.index(AROUND[0]) + 1 : written.rindex(AROUND[1])]


def _differing(replayer: Replayer, chunking: Chunking, rules: Rules) -> Differs | None:
    """The difference to a chunking that a smaller output can have as well, the one that is read rightly where there is
    one. A second code path for whole outputs is the other side only where no streamed replay is."""
    streamed = [one_delta(replayer.one_shot is not None), *(Chunking(by="char", size=size) for size in SIZES)]
    others = [*streamed, WHOLE] if replayer.one_shot is not None else streamed
    found = [Differs.at(replayer, chunking, rules, other) for other in others if other != chunking]
    differing = [target for target in found if target is not None]
    return max(differing, key=lambda target: target.sound[2], default=None)


def _joined(replayer: Replayer, form: Form) -> Form:
    """The output as one piece where tokens make no difference."""
    if replayer.mode == "ids" or replayer.black_box or form.fixed is not None:
        return form
    return replace(form, pieces=(Piece(form.text),))


def _fewer_tools(replayer: Replayer, chunking: Chunking, target: Target) -> Replayer:
    """Without the declared tools that the output does not name, where the finding stays."""
    context, text = replayer.context, replayer.text
    kept = tuple([tool for tool in context.tools if tool.name in text or tool.name == context.named_tool])
    fewer = replayer.with_context(replace(context, tools=kept))
    return fewer if kept != context.tools and target.holds(fewer, chunking) else replayer


def _beside(
    replayer: Replayer, chunking: Chunking, target: Differs, rules: Rules
) -> tuple[tuple[Chunking, ...], Message | None]:
    """The other side, and a chunking that agrees with it, where there is one; then its message stands as right."""
    other = replayer.outcome(target.other)
    key = message_key(other.message, rules)
    sizes = [Chunking(by="char", size=size) for size in SIZES]
    cuts = [cut_at((cut,)) for cut in range(1, min(len(replayer.text), AGREEING))]

    def agrees(third: Chunking) -> bool:
        outcome = replayer.outcome(third)
        return outcome.raised is None and outcome.deltas > 1 and message_key(outcome.message, rules) == key

    thirds = [one for one in (*sizes, *cuts) if one not in (chunking, target.other)]
    third = next((one for one in thirds if agrees(one)), None)
    right = other.message if target.sound[2] else None
    failing = replayer.outcome(chunking).message
    others = (target.other,) if third is None else (target.other, third)
    return others, right if third is None else _right(target, other.message, failing)


def _right(target: Differs, other: Message, failing: Message) -> Message | None:
    """The other message where it stands as right: it is what the format reads, or gives more than the failing one."""
    return other if target.sound[2] or _richer(other, failing) else None


def _richer(whole: Message, other: Message) -> bool:
    """Whether the whole output gives more than a chunking does. Where it gives less, nobody can say who is right."""
    a, b = [(sum([is_json(call.arguments) for call in one.tool_calls]), _size(one)) for one in (whole, other)]
    return a > b


def _size(message: Message) -> int:
    return len(message.content or "") + len(message.reasoning or "")
