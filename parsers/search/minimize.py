"""Which finding a search makes small, and what is said of the small form.

The worst finding about the parser is taken: a failure before a difference between chunkings, a difference before what
a single replay shows, errors before warnings. Of the chunkings that differ the one with the worst difference is taken,
then an honest one, then the one with the fewest cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from parsers.checks import CHECKS, run_checks
from parsers.chunking import WHOLE, Chunking
from parsers.compare import Rules, grade, message_key
from parsers.edit import edited
from parsers.replayer import Replayer
from parsers.search.compared import compared
from parsers.search.found import Minimized
from parsers.search.outcomes import Outcomes, Seen
from parsers.search.shrink import Form, form_of, plain
from parsers.search.subject import subject_of
from parsers.search.sweep import cut_at
from parsers.search.targets import Differs, Finds, Raises, Target, is_json
from parsers.search.variants import needed
from parsers.trace import Finding
from parsers.types import Message, Piece

COMPARING = ("chunking", "whole_equals_streamed")
RAISING = ("parser_raised", "changed_output_raised")  # the changed output is one that the parser fails on
FIRST = ("parser_raised", *COMPARING)
GRADES = ("calls", "text", "whitespace", None)
AGREEING = 40  # so many chunkings are tried for one that agrees with the whole output


@dataclass(slots=True)
class Start:
    """Where shrinking begins: the finding, the output and chunking that show it, and what must stay true."""

    finding: Finding
    form: Form
    target: Target


def start_of(
    replayer: Replayer, traced: Chunking, outcomes: Outcomes, findings: Sequence[Finding], rules: Rules
) -> Start | None:
    """The first finding about the parser, worst first, that a replay shows by itself."""
    for finding in _worst_first(findings):
        for pieces, chunking in _shown_by(finding, replayer, traced, outcomes):
            changed = replayer.with_pieces(pieces)
            target = _target(finding, changed, chunking, rules)
            if target is not None:
                return Start(finding, _joined(changed, form_of(changed, chunking)), target)
    return None


def minimized(replayer: Replayer, start: Start, form: Form, rules: Rules, replays: int) -> Minimized | None:
    """What is said of the small form: the finding as a run of it shows it."""
    small = replayer.with_pieces(form.pieces)
    chunking = plain(small, form.chunking)
    small = _fewer_tools(small, chunking, start.target)
    beside: tuple[Chunking, ...] = ()
    right: Message | None = None
    if isinstance(start.target, Differs):
        beside, right = _beside(small, chunking, rules)
    trace = small.trace(chunking)
    others = [compared(small, other, trace, rules) for other in beside]
    check = CHECKS.get(start.finding.check)
    made = () if check is None else needed(check, small, trace)
    found = run_checks(subject_of(small, trace, small.trace(WHOLE), others, rules=rules, variants=made)).findings
    names = next((group for group in (COMPARING, RAISING) if start.finding.check in group), (start.finding.check,))
    shown = next((one for one in found if one.check in names), None)
    if shown is None:
        return None
    return Minimized(shown.check, shown, form.pieces, chunking, small.context, replays, beside, right)


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """One finding for each check that has one about the parser."""
    mine = [one for one in findings if one.about == "parser" and one.severity != "info"]
    order = {name: place for place, name in enumerate(FIRST)}
    first: dict[str, Finding] = {}
    for one in sorted(mine, key=lambda one: (one.severity != "error", order.get(one.check, len(order)))):
        first.setdefault(one.check, one)
    return list(first.values())


def _shown_by(
    finding: Finding, replayer: Replayer, traced: Chunking, outcomes: Outcomes
) -> Iterator[tuple[tuple[Piece, ...], Chunking]]:
    """Outputs and chunkings that may show a finding."""
    whole = outcomes.number(replayer.outcome(WHOLE))
    for seen in sorted(outcomes.seen, key=lambda one: _rank(one, outcomes, replayer)):
        raised = seen.outcome.raised is not None
        if raised == (finding.check == "parser_raised") and (raised or seen.number != whole):
            yield replayer.pieces, seen.smallest
    if finding.proof is not None and finding.proof.edits:
        changed = edited(replayer.pieces, finding.proof.edits, replayer.markers)
        yield changed, traced
        yield changed, WHOLE
    yield replayer.pieces, traced


def _rank(seen: Seen, outcomes: Outcomes, replayer: Replayer) -> tuple[int, bool, int]:
    level = grade(seen.outcome.message, replayer.outcome(WHOLE).message, outcomes.rules)
    return GRADES.index(level), *seen.rank


def _target(finding: Finding, replayer: Replayer, chunking: Chunking, rules: Rules) -> Target | None:
    if finding.check in RAISING:
        return Raises.at(replayer.outcome(chunking), rules)
    if finding.check in COMPARING:
        return Differs.at(replayer, chunking, rules)
    return Finds.at(replayer, chunking, finding, rules)


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


def _beside(replayer: Replayer, chunking: Chunking, rules: Rules) -> tuple[tuple[Chunking, ...], Message | None]:
    """The whole output, and a chunking that agrees with it, where there is one; then its message stands as right."""
    whole = replayer.outcome(WHOLE)
    key = message_key(whole.message, rules)
    sizes = [Chunking(by="char", size=size) for size in (1, 2, 3)]
    for other in [*sizes, *(cut_at((cut,)) for cut in range(1, min(len(replayer.text), AGREEING)))]:
        outcome = replayer.outcome(other)
        agrees = outcome.raised is None and outcome.deltas > 1 and message_key(outcome.message, rules) == key
        if agrees and other != chunking:
            return (WHOLE, other), whole.message if _richer(whole.message, replayer.outcome(chunking).message) else None
    return (WHOLE,), None


def _richer(whole: Message, other: Message) -> bool:
    """Whether the whole output gives more than a chunking does. Where it gives less, nobody can say who is right."""
    a, b = [(sum([is_json(call.arguments) for call in one.tool_calls]), _size(one)) for one in (whole, other)]
    return a > b


def _size(message: Message) -> int:
    return len(message.content or "") + len(message.reasoning or "")
