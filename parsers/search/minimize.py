"""Which finding a search makes small, what must stay true of it, and what is said of the small form.

The finding that the verdict rests on is taken, at the chunking that the verdict names. Where no replay can show that
one, the worst one is: a failure before a difference between chunkings, a difference before what a single replay
shows, errors before warnings. Of the chunkings that differ the one with the worst difference is taken, then an honest
one, then the one with the fewest cuts. The other side of a difference is a chunking that says the same of every smaller
output (all in one delta, so many characters at a time), best one whose message is what the format itself reads.

An output that was well formed stays so: where all calls of a message were complete, with JSON for arguments and names
that are declared, those of a smaller output are. Otherwise one flaw would turn into another on the way.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from parsers.checks import CHECKS, run_checks
from parsers.checks.subject import subject_of
from parsers.compare.beside import compare_chunking
from parsers.compare.divergence import ANY_ID, Rules, grade, message_key, same_message
from parsers.replays.chunking import WHOLE, Chunking, apply
from parsers.replays.replayer import Replayer
from parsers.search.found import Minimized, Verdict
from parsers.search.outcomes import Outcomes, outcome_key
from parsers.search.shrink import Form, Target, form_of, plain
from parsers.search.sweep import cut_at, one_delta
from parsers.search.variants import needed
from parsers.search.variants.planted import AROUND
from parsers.search.verdict_evidence import harm
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.json_values import is_json
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Message, Piece
from parsers.wire.assemble import Assembler

COMPARING = ("chunking", "whole_equals_streamed")
CHANGED = ("recovers", "neighbours", "escapes", "truncation")  # the changed output itself is made small
RAISING = ("parser_raised", "changed_output_raised")  # the changed output is one that the parser fails on
FIRST = ("parser_raised", *COMPARING)
GRADES = ("calls", "text", "whitespace", None)
SIZES = (1, 2, 3)
AGREEING = 40  # so many chunkings are tried for one that agrees with the whole output

LOSING = ("all_output_lost", "tool_call_dropped")  # what is lost must stay a call
PLAIN = "w"
CHEAPER = 8  # so many changed outputs, of which only the message is asked, count as one replay


@dataclass(slots=True)
class Start:
    """Says where shrinking begins: the finding, the output and chunking that show it, and what must stay true."""

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
    """Return what is said of the small form: the finding as a run of it shows it."""
    small = start.replayer.with_pieces(form.pieces)
    chunking, name, target = plain(small, form.chunking), start.finding.check, start.target
    small = _fewer_tools(small, chunking, target)
    if isinstance(target, _Misreads):
        return _misread(start, small, chunking, replays)
    beside, right = _beside(small, chunking, target, rules) if isinstance(target, _Differs) else ((), None)
    if small.one_shot is not None and chunking == WHOLE and beside:  # the path that streams is told of first
        chunking, beside = beside[0], (WHOLE, *beside[1:])
    trace = small.trace(chunking)
    others = [compare_chunking(small, other, trace, rules) for other in beside]
    made = needed(CHECKS[name], small, trace)
    found = run_checks(subject_of(small, trace, small.trace(WHOLE), others, rules=rules, variants=made)).findings
    names = next((group for group in (COMPARING, RAISING) if name in group), (name,))
    alike = sorted([one for one in found if one.check in names], key=lambda one: one.check != name)
    if not alike:
        return None
    return Minimized(alike[0].check, alike[0], form.pieces, chunking, small.context, replays, beside, right)


def _misread(start: Start, small: Replayer, chunking: Chunking, replays: int) -> Minimized:
    """A changed output, made small: what the format reads in it stands as right, so that a run shows the difference."""
    own = _own_reading(small)
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
        return None if outcome.raised is None else _Raises(outcome_key(outcome, rules), rules)
    if finding.check in CHANGED and replayer.pieces != original.pieces:
        misread = _Misreads.at(replayer, chunking, rules, _plant(finding))
        return misread if misread is not None and misread.holds(replayer, chunking) else None
    if finding.check in COMPARING:
        return _differing(replayer, chunking, rules)
    sound = _is_sound(replayer.outcome(chunking).message, replayer.context)
    target = _Finds(finding, rules, sound, finding.check in LOSING and _is_called(replayer))
    return target if target.holds(replayer, chunking) else None


def _plant(finding: Finding) -> str:
    if finding.check != "escapes" or finding.proof is None:
        return ""
    written = finding.proof.edits[0][2]
    return written[written.index(AROUND[0]) + 1 : written.rindex(AROUND[1])]


def _differing(replayer: Replayer, chunking: Chunking, rules: Rules) -> _Differs | None:
    """The difference to a chunking that a smaller output can have as well, the one that is read rightly where there is
    one. A second code path for whole outputs is the other side only where no streamed replay is."""
    streamed = [one_delta(replayer.one_shot is not None), *(Chunking(by="char", size=size) for size in SIZES)]
    others = [*streamed, WHOLE] if replayer.one_shot is not None else streamed
    found = [_Differs.at(replayer, chunking, rules, other) for other in others if other != chunking]
    differing = [target for target in found if target is not None]
    return max(differing, key=lambda target: target.sound[2], default=None)


def _joined(replayer: Replayer, form: Form) -> Form:
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
    replayer: Replayer, chunking: Chunking, target: _Differs, rules: Rules
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
    # It is right where it is what the format reads, or agrees with a third and gives more than the failing one.
    richer = third is not None and _richness(other.message) > _richness(replayer.outcome(chunking).message)
    others = (target.other,) if third is None else (target.other, third)
    return others, other.message if target.sound[2] or richer else None


def _richness(message: Message) -> tuple[int, int]:
    """Return how much a message gives: calls with JSON for arguments, then characters."""
    calls = sum([is_json(call.arguments) for call in message.tool_calls])
    return calls, len(message.content or "") + len(message.reasoning or "")


# What must stay true of an output while it is made smaller: the targets.


@dataclass(slots=True)
class _Differs:
    """A chunking gives another message than `other` does, in the same way.

    `sound`: whether the calls of both are whole, whether the other one's message is what the format itself reads, and,
    where calls differ, whether that reads calls without a flaw.
    """

    rules: Rules
    kind: Hashable
    sound: tuple[bool, bool, bool, bool]
    other: Chunking = WHOLE
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules, other: Chunking = WHOLE) -> _Differs | None:
        """The difference at this chunking, or None where there is none."""
        one, beside = replayer.outcome(chunking), replayer.outcome(other)
        if one.raised or beside.raised or same_message(one.message, beside.message, rules):
            return None
        sound = _is_sound(one.message, replayer.context), _is_sound(beside.message, replayer.context)
        kind, own = _kind(one.message, beside.message, rules), _own_reading(replayer)
        read = own is not None and own.clean and same_message(own.message, beside.message, ANY_ID)
        return cls(rules, kind, (*sound, read, isinstance(kind, tuple) and _is_called(replayer)), other)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        self.replays += 2
        found = _Differs.at(replayer, chunking, self.rules, self.other)
        return found is not None and found.kind == self.kind and all(map(operator.ge, found.sound, self.sound))


@dataclass(slots=True)
class _Misreads:
    """The parser gives another message than the format itself reads, in the same way.

    `shape`: the kind of difference, whether there are calls, and whether these are sound and their names known.
    `plant`: what must stand in the output; with a plain word in its place the parser reads the output rightly.
    """

    rules: Rules
    shape: Hashable
    plant: str = ""
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules, plant: str = "") -> _Misreads | None:
        """Return what is read wrongly under this chunking, or None."""
        read, outcome = _own_reading(replayer), replayer.outcome(chunking)
        if read is None or outcome.raised:
            return None
        own, loose = read.message, replace(rules, arguments="json", whitespace="soft", ids=False)
        if same_message(outcome.message, own, loose):
            return None
        context = replayer.context
        sound = _is_sound(own, replace(context, tools=())), _is_sound(own, context)
        return cls(rules, (_kind(outcome.message, own, loose), bool(own.tool_calls), *sound, read.clean), plant)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        self.replays += 2
        found = _Misreads.at(replayer, chunking, self.rules)
        return found is not None and found.shape == self.shape and self._plain(replayer, chunking)

    def _plain(self, replayer: Replayer, chunking: Chunking) -> bool:
        if not self.plant:
            return True
        at = replayer.text.find(self.plant)
        if at < 0:
            return False
        without = replayer.changed(((at, at + len(self.plant), PLAIN),))
        by = chunking if chunking == WHOLE or chunking.by == "token" else cut_at(())
        return _Misreads.at(without, by, self.rules) is None


@dataclass(slots=True)
class _Raises:
    key: Hashable
    rules: Rules
    replays: int = 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        self.replays += 1
        outcome = replayer.outcome(chunking)
        return outcome.raised is not None and outcome_key(outcome, self.rules) == self.key


@dataclass(slots=True)
class _Finds:
    """A check of one replay finds the same. `called`: the format itself reads whole calls, and no flaw."""

    finding: Finding
    rules: Rules
    sound: bool
    called: bool = False
    replays: int = 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        trace, check = replayer.trace(chunking), CHECKS.get(self.finding.check)
        unsound = self.sound > _is_sound(trace.message, replayer.context)
        if check is None or unsound or (self.called and not _is_called(replayer)):
            return False
        made = needed(check, replayer, trace)
        self.replays += len(made) // CHEAPER
        subject = subject_of(replayer, trace, replayer.trace(WHOLE), [], rules=self.rules, variants=made)
        return any(_sort(one) == _sort(self.finding) for one in run_checks(subject, [check.name]).findings)


def _sort(one: Finding) -> tuple[object, ...]:
    return one.topic, one.severity, one.about, one.grade, one.policy


def _is_sound(message: Message, context: Context) -> bool:
    """Return whether all its calls are complete, their arguments JSON and their names declared."""
    known = {tool.name for tool in context.tools}
    return all(
        call.complete and is_json(call.arguments) and (not known or call.name in known) for call in message.tool_calls
    )


def _is_called(replayer: Replayer) -> bool:
    """Return whether the format itself reads whole calls in the output, and nothing wrong with it."""
    own = _own_reading(replayer)
    return own is not None and own.clean and bool(own.message.tool_calls) and _is_sound(own.message, replayer.context)


@dataclass(slots=True, frozen=True)
class _Own:
    """Holds what the format itself reads in an output. `clean`: it found nothing wrong with it."""

    message: Message
    clean: bool


def _own_reading(replayer: Replayer) -> _Own | None:
    """Return what the format itself reads in the output, None where it is not known."""
    grammar = replayer.by_format()
    if grammar is None:
        return None
    parser, assembler = grammar.make(), Assembler()
    parser.begin(replayer.context, mode=replayer.mode, markers=replayer.markers)
    events = [event for delta in apply(WHOLE, replayer.pieces, replayer.mode) for event in parser.feed(delta)]
    events += parser.finish(replayer.context.finish_reason)
    assembler.absorb(events)
    clean = not any(isinstance(event, Diagnostic) and event.severity != "info" for event in events)
    return _Own(assembler.message(), clean)


def _kind(a: Message, b: Message, rules: Rules) -> Hashable:
    """Return what differs: the grade, more or fewer calls, and else the first part of a call that does."""
    level = grade(a, b, rules)
    (ones, a_order), (others, b_order) = message_key(a, rules)[2], message_key(b, rules)[2]
    if level != "calls":
        return level
    if len(ones) != len(others):
        return level, "number", (len(ones) > len(others)) - (len(ones) < len(others)), bool(ones), bool(others)
    if ones == others:
        return level, (a_order, b_order)
    a_call, b_call = next(pair for pair in zip(ones, others, strict=True) if pair[0] != pair[1])
    return level, "part", list(map(operator.ne, a_call, b_call)).index(True)
