"""Verdicts that blame the parser, or the choice of it."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.checks.base import counted
from parsers.chunking import Chunking
from parsers.compare import ANY_ID, message_key
from parsers.events import Severity
from parsers.formats.model import builtin_formats
from parsers.replay import RAISED, raised_in
from parsers.search.found import Guess, OutcomeClass, Verdict, VerdictKind
from parsers.search.guess_markup import SHORT, listed, quoted
from parsers.search.verdict_case import CHUNKS, Evidence, good_calls
from parsers.search.verdict_words import harm, under
from parsers.trace import Finding, Proof
from parsers.types import Message

ADDED = ("sent", "claims")  # words by which a finding of A1 says that text is doubled and not lost
KINDS: Mapping[str, VerdictKind] = {
    **dict.fromkeys(("N1", "N2", "N4", "N5", "N6", "C3", "K1"), "broken_stream"),
    **dict.fromkeys(("J1", "J2", "J3"), "broken_arguments"),
    **dict.fromkeys(("A1", "A1w", "A2", "L6", "F1"), "text_lost"),
    **dict.fromkeys(("A3", "A4"), "text_added"),
    **dict.fromkeys(("L1", "L2", "L3", "L4", "L5"), "marker_leak"),
    **dict.fromkeys(("Y2", "Y3"), "types_changed"),
}
ORDER: tuple[VerdictKind, ...] = (
    "broken_arguments",
    "text_lost",
    "text_added",
    "broken_stream",
    "marker_leak",
    "types_changed",
    "parser_flawed",
)
BLAME: Mapping[VerdictKind, str] = {
    "broken_stream": "The deltas do not build the message",
    "broken_arguments": "The parser breaks the arguments of a call",
    "text_lost": "The parser loses text",
    "text_added": "The parser adds text that is not in the output, or sends it twice",
    "marker_leak": "The parser lets a marker through as text",
    "types_changed": "The parser changes a value",
    "parser_flawed": "The parser breaks a rule",
    "chunk_boundary": "The parser depends on chunk boundaries",
}


def parser_failed(evidence: Evidence) -> Verdict | None:
    """The parser raised, in the traced replay or under another chunking."""
    numbers = tuple(evidence.numbers("E1", severity="error"))
    said, messages = raised_in(evidence.trace), _messages(evidence, list(numbers))
    raised = [one for one in evidence.outcomes if one.raised is not None]
    if raised and len(raised) < len(evidence.outcomes):
        one = min(raised, key=_rank)
        words = f"The parser fails {under(one.smallest)}, with {_cause(one.raised or '')}."
        total, failing = (sum([each.count for each in group]) for group in (evidence.outcomes, raised))
        share = f"{failing} of {counted(total, 'chunking')} make it fail."
        proof = Proof(_json(one.smallest))
        return Verdict("parser_failed", "error", "parser", words, (share, *messages), numbers, proof)
    if said is not None:
        at = next(step for step in evidence.trace.steps if any(d.code == RAISED for d in step.diagnostics)).span.start
        lost = any(run.reason == "lost" for run in evidence.trace.partition)
        rest = f"; the output from character {at} on is lost" if lost else ""
        words = f"The parser fails at character {at} with {_cause(said)}{rest}."
        return Verdict("parser_failed", "error", "parser", words, messages, numbers)
    if not numbers:
        return None
    first = evidence.findings[numbers[0]]
    return Verdict("parser_failed", "error", "parser", first.message, messages[1:], numbers, first.proof)


def _cause(said: str) -> str:
    return said.partition(" (in ")[0].rstrip(".")


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
    said = (f"{best.title}: {'; '.join(best.evidence)}.", *_messages(evidence, evidence.numbers(*_LEAKS)))
    proof = Proof(context={"parser": best.name})
    severity: Severity = "error" if may_call(evidence) else "warning"
    return Verdict("wrong_parser", severity, "request", words, said, tuple(evidence.numbers(*_LEAKS)), proof)


DOUBT = 180  # a reading that loses more than this dropped text or left markup over: it does not fit either
_LEAKS = ("L1", "L2", "L3", "L5", "L6", "A1", "A2", "J1", "N3")


def _own_words(evidence: Evidence) -> str:
    name = quoted(evidence.trace.parser)
    reach = evidence.reach
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
    return not (evidence.left and mine is not None and best.leaves_at is None and mine.leaves_at is not None)


def _knows(evidence: Evidence, best: Guess) -> bool:
    """Whether a parser of an unknown grammar has all the markers of the guess that are in the output."""
    own = evidence.replayer.terminals.values()
    used = [text for text in builtin_formats()[best.name].terminals.values() if len(text) >= SHORT]
    return all(any(text in marker for marker in own) for text in used if text in evidence.text)


def chunk_boundary(evidence: Evidence) -> Verdict | None:
    """What comes out depends on how the output is cut, by more than white space."""
    numbers = evidence.numbers(*CHUNKS, severity="error")
    others = [one for one in evidence.outcomes[1:] if one.raised is None and one.grade in ("calls", "text")]
    if not others:
        return _by_finding(evidence, numbers)
    right = _right(evidence)
    wrong = [one for one in evidence.outcomes if message_key(one.message, ANY_ID) != message_key(right.message, ANY_ID)]
    worst = min(wrong or others, key=_rank)
    words = f"The parser depends on chunk boundaries: {under(worst.smallest)}, {harm(right.message, worst.message)}."
    total = sum([one.count for one in evidence.outcomes])
    said = [f"{worst.count} of {total} chunkings give this; {right.count} give the right message, e.g. {right.label}."]
    if not worst.honest and right.honest:
        said.append("Only cuts inside a token show it, which no server makes.")
    said += _messages(evidence, numbers)
    proof = Proof(_json(worst.smallest))
    return Verdict("chunk_boundary", "error", "parser", words, tuple(said), tuple(numbers), proof)


def _rank(one: OutcomeClass) -> tuple[bool, int, int]:
    cuts = len(one.smallest.cuts or ()) if one.smallest.by == "cuts" else 0 if one.smallest.by == "whole" else 99
    return one.grade == "whitespace", cuts, one.number


def _by_finding(evidence: Evidence, numbers: list[int]) -> Verdict | None:
    """Where only the finding is known: its own words."""
    if not numbers:
        return None
    first = evidence.findings[numbers[0]]
    words = f"The parser depends on chunk boundaries: {lowered(first.message)}"
    said = _messages(evidence, numbers[1:])
    return Verdict("chunk_boundary", "error", "parser", words, said, tuple(numbers), first.proof)


def _right(evidence: Evidence) -> OutcomeClass:
    """The outcome that is right: the grammar's own reading, else the one with most good calls, then most chunkings."""
    own = evidence.own
    reference: Message | None = None if own is None else own.message
    reading = None if reference is None else message_key(reference, ANY_ID)
    same = next((one for one in evidence.outcomes if message_key(one.message, ANY_ID) == reading), None)
    if same is not None and same.raised is None:
        return same
    return max(
        [one for one in evidence.outcomes if one.raised is None],
        key=lambda one: (good_calls(one.message, evidence.context), -len(one.message.content or ""), one.count),
    )


def parser_fault(evidence: Evidence) -> Verdict | None:
    """An error that the parser is to blame for under every chunking."""
    found: dict[VerdictKind, list[int]] = {}
    for number, finding in enumerate(evidence.findings):
        if finding.severity == "error" and finding.about == "parser" and finding.policy is None:
            found.setdefault(kind_of(finding), []).append(number)
    kind = next((kind for kind in ORDER if kind in found), None)
    if kind is None:
        return None
    numbers = [number for one in ORDER for number in found.get(one, ())]
    first = evidence.findings[found[kind][0]]
    words = f"{BLAME[kind]}: {lowered(first.message)}"
    own = evidence.own
    said = list(_messages(evidence, [number for number in numbers if number != found[kind][0]]))
    if own is not None and message_key(own.message, ANY_ID) != message_key(evidence.message, ANY_ID):
        said.insert(0, f"Beside the built-in {own.fmt.name}, {harm(own.message, evidence.message)}.")
    return Verdict(kind, "error", "parser", words, tuple(said), tuple(numbers), first.proof)


def kind_of(finding: Finding) -> VerdictKind:
    """The kind of verdict that a finding alone would be."""
    if finding.id == "A1" and any(word in finding.message for word in ADDED):
        return "text_added"
    return KINDS.get(finding.id, "parser_flawed")


def _messages(evidence: Evidence, numbers: list[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([evidence.findings[number].message for number in numbers]))[:4]


def lowered(sentence: str) -> str:
    """A sentence after a colon: its first letter small, where that begins an ordinary word."""
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


def _json(chunking: Chunking) -> dict[str, object]:
    return chunking.model_dump(mode="json", exclude_defaults=True) | {"by": chunking.by}
