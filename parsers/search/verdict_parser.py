"""Verdicts that blame the parser, or the choice of it. Each rule answers for one cause, or None."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.compare.divergence import ANY_ID, Rules, message_key
from parsers.formats.model import builtin_formats
from parsers.replays.chunking import Chunking
from parsers.search.evidence import Evidence, good_calls, harm, under
from parsers.search.found import Detail, Guess, OutcomeClass, Verdict, VerdictKind
from parsers.search.markup import SHORT
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Raised, Severity
from parsers.vocabulary.trace import Finding, Proof, Topic
from parsers.vocabulary.types import Message
from parsers.vocabulary.words import counted, listed, quoted

CAUSES = ("N4", "N1", "N2", "N5", "N6")  # a name sent twice is why the deltas depart from the message
HOSTILE = "Only cuts inside a token show it, which no server makes."
CHANCE = "Chance decides, or what another instance left behind; what is said of chunkings may come of that."
FEW_CUTS = 4  # so many cuts can be said one by one
DOUBT = 180  # a reading that loses more than this dropped text or left markup over: it does not fit either
# What the kind of verdict is that a finding alone would be, by what it is about; the first kinds come first.
KINDS: Mapping[Topic, VerdictKind] = {
    Topic.FAILURE: "parser_failed",
    Topic.STREAM: "broken_stream",
    Topic.ARGUMENTS: "broken_arguments",
    Topic.LOSS: "text_lost",
    Topic.ADDITION: "text_added",
    Topic.LEAK: "marker_leak",
    Topic.VALUE: "types_changed",
}
BLAME: Mapping[VerdictKind, str] = {
    "parser_failed": "The parser fails",
    "broken_stream": "The deltas do not build the message",
    "broken_arguments": "The parser breaks the arguments of a call",
    "text_lost": "The parser loses text",
    "text_added": "The parser adds text that is not in the output, or sends it twice",
    "marker_leak": "The parser lets a marker through as text",
    "types_changed": "The parser changes a value",
    "parser_flawed": "The parser breaks a rule",
    "chunk_boundary": "The parser depends on chunk boundaries",
}
# What follows from a wrong parser.
_MISREAD = frozenset((
    "no_terminal_leak", "no_reasoning_leak", "no_argument_leak", "no_control_tokens", "tool_call_dropped",
    "spans_cover_input", "all_output_lost", "arguments_json", "known_tool",
))  # fmt: skip


def unsteady(evidence: Evidence) -> Verdict | None:
    """The same chunking gave two messages: what is said of chunkings may be chance, and nothing else counts."""
    number = next(iter(evidence.numbers(Topic.CHANCE)), None)
    if number is None:
        return None
    found = evidence.findings[number]
    words = f"The parser does not read the same output alike every time: {lowered(found.message)}"
    return Verdict("parser_flawed", "error", "parser", words, (Detail(CHANCE),), (number,), found.proof)


def parser_failed(evidence: Evidence) -> Verdict | None:
    """The parser raised, in the traced replay or under another chunking. (On a changed output: see `parser_fault`.)"""
    numbers = evidence.numbers(Topic.FAILURE, severity="error")
    numbers.sort(key=lambda number: is_changed(evidence.findings[number]))
    own, messages = evidence.trace.failure, evidence.messages(numbers)
    raised = [(one, one.raised) for one in evidence.outcomes if one.raised is not None]
    if raised and len(raised) < len(evidence.outcomes):
        one, failure = min(raised, key=lambda pair: _rank(pair[0]))
        cause = failure.words.rstrip(".")
        words = f"The parser fails {under(one.smallest, len(evidence.text))}, with {cause}."
        total, failing = sum([each.count for each in evidence.outcomes]), sum([each.count for each, _ in raised])
        share = Detail(f"{failing:,} of {counted(total, 'chunking')} make it fail.")
        proof = Proof(_json(one.smallest))
        return Verdict("parser_failed", "error", "parser", words, (share, *messages), tuple(numbers), proof)
    if own is not None:
        steps = evidence.trace.steps
        at = next(step for step in steps if any(isinstance(event, Raised) for event in step.events)).span.start
        lost = any(run.reason == LOST for run in evidence.trace.partition)
        rest = f"; the output from character {at} on is lost" if lost else ""
        words = f"The parser fails at character {at} with {own.words.rstrip('.')}{rest}."
        return Verdict("parser_failed", "error", "parser", words, messages, tuple(numbers))
    if not numbers or is_changed(first := evidence.findings[numbers[0]]):
        return None
    return Verdict("parser_failed", "error", "parser", first.message, messages[1:], tuple(numbers), first.proof)


def is_changed(finding: Finding) -> bool:
    """Whether a finding is about a changed output or request, and not about the output as it stands."""
    return finding.proof is not None and bool(finding.proof.edits or finding.proof.context)


def changed_words(evidence: Evidence, finding: Finding) -> str | None:
    """The sentence for a finding about a changed output: it says that the output as it stands is not the trouble."""
    if not is_changed(finding):
        return None
    own = evidence.own
    loose = Rules(arguments="json", whitespace="soft", ids=False)
    right = own is not None and message_key(own.message, loose) == message_key(evidence.message, loose)
    always = "" if len(evidence.outcomes) > 1 else " under every chunking"
    how = ("rightly" if right else "alike" if always else "") + always
    proof = finding.proof
    path = proof is not None and evidence.replayer.one_shot is not None and (proof.chunking or {}).get("by") == "whole"
    which = " by the code path for whole outputs" if path else ""
    but = f"This output itself is read {how}; a changed one is not" if how else "A changed output shows a fault"
    return f"{but}{which}: {lowered(finding.message)}"


def wrong_parser(evidence: Evidence) -> Verdict | None:
    """Another format reads what this parser's own grammar cannot."""
    if not evidence.doubtful:
        return None
    best = next((guess for guess in evidence.guesses if guess.good), None)
    if best is None or best.score < 1000 * best.good - DOUBT or _fits(evidence, best):
        return None
    if evidence.attempt is None and not evidence.proven(best):
        return None
    calls = "call" if best.good == 1 else "calls"
    found = f"{best.good} complete {calls}" if best.good > evidence.reach else f"the {calls} and leaves nothing over"
    also = f" (so {'does' if len(best.same) == 1 else 'do'} {listed([quoted(name) for name in best.same])})"
    whose = f"{quoted(best.name)} reads {found} in this output{also if best.same else ''}"
    words = f"Wrong parser: {whose}, {_own_words(evidence)}."
    numbers = [number for number, one in enumerate(evidence.findings) if one.check in _MISREAD and one.policy is None]
    details = (Detail(f"{best.title}: {'; '.join(best.evidence)}."), *evidence.messages(numbers))
    proof = Proof(parser=best.name)
    severity: Severity = "error" if may_call(evidence) else "warning"
    return Verdict("wrong_parser", severity, "request", words, details, tuple(numbers), proof)


def _own_words(evidence: Evidence) -> str:
    name, reach = quoted(evidence.trace.parser), evidence.reach
    if reach:
        return f"{name} reads {reach}" + (" and leaves markup in the content" if evidence.left else "")
    return f"{name} reads none"


def may_call(evidence: Evidence) -> bool:
    """Whether calls are to be expected: the format has them, or tools are declared."""
    fmt = evidence.fmt
    calls = fmt is None or any("CallStart" in row.emit for state in fmt.states.values() for row in state.rows)
    return calls or bool(evidence.context.tools)


def _fits(evidence: Evidence, best: Guess) -> bool:
    """Whether the parser's own grammar reads the output as well as the best guess does."""
    own = evidence.fmt
    if own is None:
        return best.good <= evidence.reach or _knows(evidence, best)
    mine = next((guess for guess in evidence.guesses if guess.name == own.name), None)
    reach = max(evidence.reach, 0 if mine is None else mine.good)
    if best.name == own.name or (own.name in best.same and best.good <= reach):
        return True
    if best.good > reach:
        return False
    return not (evidence.left and mine is not None and best.leaves is None and mine.leaves is not None)


def _knows(evidence: Evidence, best: Guess) -> bool:
    """Whether a parser of an unknown grammar has all the markers of the guess that are in the output."""
    own = evidence.replayer.terminals.values()
    used = [text for text in builtin_formats()[best.name].terminals.values() if len(text) >= SHORT]
    return all(any(text in marker for marker in own) for text in used if text in evidence.text)


def chunk_boundary(evidence: Evidence) -> Verdict | None:
    """What comes out depends on how the output is cut, by more than white space."""
    numbers = evidence.numbers(Topic.CHUNKS, severity="error")
    others = [one for one in evidence.outcomes[1:] if one.raised is None and one.grade in ("calls", "text")]
    if not others:
        return _by_finding(evidence, numbers)
    right = _right(evidence)
    wrong = [one for one in evidence.outcomes if message_key(one.message, ANY_ID) != message_key(right.message, ANY_ID)]
    streamed = [one for one in evidence.outcomes if one.raised is None and not evidence.is_one_shot(one)]
    worst = min(wrong or others, key=lambda one: (evidence.is_one_shot(one), *_rank(one)))
    meant = _meant(evidence, right)
    when, damage = under(worst.smallest, len(evidence.text)), harm(meant or right.message, worst.message)
    if len(streamed) == 1:
        when = "read by the one for whole outputs" if evidence.is_one_shot(worst) else "streamed, in whatever deltas"
        words = f"The parser's two code paths disagree: {when}, {damage}."
    else:
        words = f"{BLAME['chunk_boundary']}: {when}, {damage}."
    hostile = right.honest and not any(one.honest for one in wrong)
    details = [Detail(_shares(evidence, worst, None if meant else right)), *([Detail(HOSTILE)] if hostile else [])]
    details += evidence.messages(numbers)
    proof = Proof(_json(worst.smallest))
    return Verdict("chunk_boundary", "error", "parser", words, tuple(details), tuple(numbers), proof)


def _meant(evidence: Evidence, right: OutcomeClass) -> Message | None:
    """What the format itself reads, where no chunking gives as many of its calls."""
    own = evidence.own
    more = own is not None and own.good > good_calls(right.message, evidence.context)
    return own.message if own is not None and more else None


def _shares(evidence: Evidence, worst: OutcomeClass, right: OutcomeClass | None) -> str:
    """How many chunkings give what."""
    total = sum([one.count for one in evidence.outcomes])
    given = f"{worst.count:,} of {counted(total, 'chunking')} {'gives' if worst.count == 1 else 'give'} this"
    if right is None:
        return f"{given}; none gives what the format reads."
    if evidence.is_one_shot(right):
        return f"{given}; the code path for whole outputs gives the right message."
    verb = "gives" if right.count == 1 else "give"
    return f"{given}; {right.count:,} {verb} the right message, e.g. {right.label}."


def _rank(one: OutcomeClass) -> tuple[bool, bool, int, int]:
    """What is told of first: what a server can send and a person can say, then the fewest cuts."""
    cuts = len({*(one.smallest.cuts or ())}) if one.smallest.by == "cuts" else 0 if one.smallest.by == "whole" else 99
    plain = cuts <= FEW_CUTS or one.smallest.by == "token"
    return one.grade == "whitespace", not (one.honest and plain), cuts, one.number


def _by_finding(evidence: Evidence, numbers: list[int]) -> Verdict | None:
    """Where only the finding is known: its own words."""
    if not numbers:
        return None
    first = evidence.findings[numbers[0]]
    words, details = f"{BLAME['chunk_boundary']}: {lowered(first.message)}", evidence.messages(numbers[1:])
    return Verdict("chunk_boundary", "error", "parser", words, details, tuple(numbers), first.proof)


def _right(evidence: Evidence) -> OutcomeClass:
    """The outcome that is right: the grammar's own reading, else the one with most good calls, then most chunkings."""
    read = [one for one in evidence.outcomes if one.raised is None]
    own = None if evidence.own is None else message_key(evidence.own.message, ANY_ID)
    same = next((one for one in evidence.outcomes if message_key(one.message, ANY_ID) == own), None)
    if same is not None and same.raised is None:
        return same
    return max(
        read,
        key=lambda one: (good_calls(one.message, evidence.context), -len(one.message.content or ""), one.count),
    )


def parser_fault(evidence: Evidence) -> Verdict | None:
    """An error that the parser is to blame for under every chunking."""
    numbers = [
        number
        for number, one in enumerate(evidence.findings)
        if one.severity == "error" and one.about == "parser" and one.policy is None
    ]
    if not numbers:
        return None
    numbers.sort(key=lambda number: _fault_rank(evidence.findings[number]))
    first = evidence.findings[numbers[0]]
    kind = kind_of(first)
    words = changed_words(evidence, first) or f"{BLAME[kind]}: {lowered(first.message)}"
    own, details = evidence.own, evidence.messages(numbers[1:])
    if own is not None and message_key(own.message, ANY_ID) != message_key(evidence.message, ANY_ID):
        beside = f"Beside the built-in {own.fmt.name}, {harm(own.message, evidence.message)}."
        details = (Detail(beside), *details)
    return Verdict(kind, "error", "parser", words, details, tuple(numbers), first.proof)


def _fault_rank(finding: Finding) -> tuple[bool, int, int]:
    """The output as it stands before changed ones, then by kind, then the cause before what follows from it."""
    kinds = list(KINDS)
    place = kinds.index(finding.topic) if finding.topic in KINDS else len(kinds)
    return is_changed(finding), place, CAUSES.index(finding.id) if finding.id in CAUSES else len(CAUSES)


def kind_of(finding: Finding) -> VerdictKind:
    """The kind of verdict that a finding alone would be."""
    return KINDS.get(finding.topic, "parser_flawed")


def lowered(sentence: str) -> str:
    """A sentence after a colon: its first letter small, where that begins an ordinary word."""
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


def _json(chunking: Chunking) -> dict[str, object]:
    return chunking.model_dump(mode="json", exclude_defaults=True) | {"by": chunking.by}
