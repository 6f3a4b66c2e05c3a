"""Rules of the verdict that blame a parser: it fails, it breaks a rule under every chunking, or it finds no call.

Of a stream that is played back no parser was run: the same rules blame the server then, in words of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parsers.checks.ill_formed import first_flaw
from parsers.checks.metamorphic_request import SAME_CALLS
from parsers.checks.running import fed_at
from parsers.checks.spaces import squeezed
from parsers.compare.divergence import same_message
from parsers.replays.cut_grades import CutGrade
from parsers.search.found import Detail, Verdict, VerdictKind
from parsers.search.reading import Reading
from parsers.search.sweep import json_of
from parsers.search.verdict_evidence import BESIDE, Evidence
from parsers.search.verdict_outputs import TOLD
from parsers.search.verdict_phrases import harm, lowered, rank, under
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import CallEnd, CallStart, Raised, Severity
from parsers.vocabulary.trace import Finding, Proof, Topic, Trace
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted, quoted

_BY_CHANCE = "Chance decides, or what another instance left behind; what is said of chunkings may come of that."
_CAUSES = ("N4", "N1", "N2", "N5", "N6")  # a name sent twice is why the deltas depart from the message
# What the kind of verdict is that a finding alone would be, by what it is about; the first kinds come first.
_KINDS: Mapping[Topic, VerdictKind] = {
    Topic.FAILURE: "parser_failed",
    Topic.STREAM: "broken_stream",
    Topic.ARGUMENTS: "broken_arguments",
    Topic.LOSS: "text_lost",
    Topic.ADDITION: "text_added",
    Topic.LEAK: "marker_leak",
    Topic.CHANNEL: "wrong_channel",
    Topic.CHANGE: "text_changed",
    Topic.VALUE: "types_changed",
    Topic.UNANSWERED: "no_answer",
}
BLAME: Mapping[VerdictKind, str] = {
    "parser_failed": "The parser fails",
    "broken_stream": "The deltas do not build the message",
    "broken_arguments": "The parser breaks the arguments of a call",
    "text_lost": "The parser loses text",
    "text_added": "The parser adds text that is not in the output, or sends it twice",
    "marker_leak": "The parser lets a marker through as text",
    "wrong_channel": "The parser sends text as what it is not",
    "text_changed": "The parser changes what the output says",
    "types_changed": "The parser changes a value",
    "parser_flawed": "The parser breaks a rule",
    "chunk_boundary": "The parser depends on chunk boundaries",
}
# The same of a stream that is played back: no parser was run, and what it shows is what the server sent.
_SERVER_BLAME: Mapping[VerdictKind, str] = {
    "broken_stream": "The server's deltas do not build the message",
    "broken_arguments": "The server sent broken arguments",
    "text_lost": "The server lost text",
    "text_added": "The server sent text that is not in the output, or sent it twice",
    "marker_leak": "The server left markup in the message",
    "wrong_channel": "The server sent text as what it is not",
    "text_changed": "The server changed what the output says",
    "types_changed": "The server changed a value",
    "parser_flawed": "The server's stream breaks a rule",
}
_NO_CALL = "The parser misses a call"  # its text may be there, as content
_AGAIN = "The server sent text twice"  # all that can be said where nobody knows the output


def led(
    evidence: Evidence, kind: VerdictKind, words: str, numbers: Sequence[int], *, severity: Severity = "error"
) -> Verdict:
    """A verdict that blames the parser and rests on these findings, the first of which proves it."""
    first = evidence.findings[numbers[0]]
    return Verdict(kind, severity, "parser", words, evidence.messages(numbers[1:]), tuple(numbers), first.proof)


def unsteady(evidence: Evidence) -> Verdict | None:
    """The same chunking gave two messages: what is said of chunkings may be chance, and nothing else counts."""
    number = next(iter(evidence.numbers(Topic.CHANCE)), None)
    if number is None:
        return None
    found = evidence.findings[number]
    words = f"The parser does not read the same output alike every time: {lowered(found.message)}"
    return Verdict("parser_flawed", "error", "parser", words, (Detail(_BY_CHANCE),), (number,), found.proof)


def parser_failed(evidence: Evidence) -> Verdict | None:
    """The parser raised, in the traced replay or under another chunking."""
    numbers = evidence.numbers(Topic.FAILURE, severity="error")
    own, messages = evidence.trace.failure, evidence.messages(numbers)
    if own is not None and own.uninstalled:
        words = f"The parser cannot run here, for something it needs is missing: {own.words.rstrip('.')}."
        return Verdict("parser_failed", "error", "request", words, messages, tuple(numbers))
    found = _failing_cuts(evidence, numbers) or _own_failure(evidence)
    if found is not None or not numbers:
        return found
    first = evidence.findings[numbers[0]]
    return Verdict("parser_failed", "error", "parser", first.message, messages[1:], tuple(numbers), first.proof)


def _failing_cuts(evidence: Evidence, numbers: Sequence[int]) -> Verdict | None:
    """Some chunkings that a server can send make the parser raise, others do not."""
    failed = [(one, one.raised) for one in evidence.outcomes if one.raised is not None]
    raised = [(one, failure) for one, failure in failed if failure.slow or one.cuts is CutGrade.HONEST]
    if not raised or len(raised) == len(evidence.outcomes):
        return None
    one, failure = min(raised, key=lambda pair: rank(pair[0]))
    where = "" if failure.slow else _fed(evidence.replayer.trace(one.smallest))
    who = f"The parser fails {under(one.smallest, len(evidence.text))}{where}"
    who = "The parser's code path for whole outputs fails" if evidence.is_one_shot(one) else who
    words = f"{who}, with {failure.words.rstrip('.')}."
    total, failing = sum([each.count for each in evidence.outcomes]), sum([each.count for each, _ in raised])
    verb = "makes" if failing == 1 else "make"
    share = Detail(f"{failing:,} of {counted(total, 'chunking')} {verb} it fail.")
    proof, details = Proof(json_of(one.smallest)), (share, *evidence.messages(numbers))
    return Verdict("parser_failed", "error", "parser", words, details, tuple(numbers), proof)


def _fed(trace: Trace) -> str:
    """What a parser was fed when it raised, as the end of a clause; nothing where a second replay did not raise, or was
    not made."""
    raised = ((step, event.failure) for step, event in trace.events() if isinstance(event, Raised))
    step = next((step for step, failure in raised if not failure.unasked), None)
    return "" if step is None else f", {fed_at(trace, step)}"


def _own_failure(evidence: Evidence) -> Verdict | None:
    """The parser raised in the traced replay: nothing else can be said of that, whatever its cuts are worth."""
    trace, own = evidence.trace, evidence.trace.failure
    if own is None:
        return None
    step, at = next((step, event.start) for step, event in trace.events() if isinstance(event, Raised))
    numbers = [number for number in evidence.numbers(Topic.FAILURE) if evidence.findings[number].proof is None]
    first = evidence.findings[numbers[0]] if numbers else None
    lost = not own.unplaced and any(run.reason == LOST for run in trace.partition)
    rest = f"; the output from character {at} on is lost" if lost else ""
    if first is not None and first.severity != "error":
        return Verdict("parser_failed", "warning", "parser", first.message, (), tuple(numbers))
    place = "" if own.before or own.unplaced else f"at character {at} of the output, "
    words = f"The parser fails {place}{fed_at(trace, step)}, with {own.words.rstrip('.')}{rest}."
    span = None if own.unplaced else Span(at, at + 1)
    return Verdict("parser_failed", "error", "parser", words, evidence.messages(numbers), tuple(numbers), span=span)


def parser_fault(evidence: Evidence) -> Verdict | None:
    """An error that the parser is to blame for under every chunking."""
    numbers = evidence.numbers(severity="error", about="parser")
    if not numbers:
        return None
    numbers.sort(key=lambda number: _fault_rank(evidence.findings[number]))
    first = evidence.findings[numbers[0]]
    kind = kind_of(first)
    blame = (BLAME if evidence.known.parser else _SERVER_BLAME)[kind]
    blame = _NO_CALL if evidence.known.parser and first.check == "tool_call_dropped" else blame
    blame = _AGAIN if kind == "text_added" and not evidence.known.raw else blame
    found, own = led(evidence, kind, f"{blame}: {lowered(first.message)}", numbers), evidence.own
    if own is not None and not same_message(own.message, evidence.message, SAME_CALLS):
        beside = f"Beside the built-in {own.fmt.name}, {harm(own.message, evidence.message)}."
        found.details = (Detail(beside, facts=BESIDE), *found.details)
    return found


def _fault_rank(finding: Finding) -> tuple[int, int]:
    """By kind, then the cause before what follows from it."""
    kinds = list(_KINDS)
    place = kinds.index(finding.topic) if finding.topic in _KINDS else len(kinds)
    return place, _CAUSES.index(finding.id) if finding.id in _CAUSES else len(_CAUSES)


def kind_of(finding: Finding) -> VerdictKind:
    """Return the kind of verdict that a finding alone would be."""
    return _KINDS.get(finding.topic, "parser_flawed")


def lesser_faults(evidence: Evidence) -> Verdict | None:
    """Warnings that the parser is to blame for: white space that depends on cuts, text held too long."""
    found = evidence.numbers(severity="warning", about="parser")
    found = [number for number in found if evidence.findings[number].topic != Topic.TEMPLATE]
    if not found:
        return None
    first = evidence.findings[found[0]]
    kind = "chunk_boundary" if first.topic is Topic.CHUNKS else kind_of(first)
    return led(evidence, kind, first.message, found, severity="warning")


def _passes_calls_on(evidence: Evidence, own: Reading) -> bool:
    """Return whether all that the format reads as calls stands in the content: who reads none on purpose takes nothing
    away."""
    places = [event for event in own.events if isinstance(event, (CallStart, CallEnd))]
    calls = evidence.text[places[0].start : places[-1].end] if places else ""
    return squeezed(calls) in squeezed(evidence.message.content)


def missed_calls(evidence: Evidence) -> Verdict | None:
    """Only the built-in parser of the format finds calls."""
    own = evidence.own
    if not evidence.replayer.black_box or own is None or evidence.message.tool_calls or not own.good or own.dropped:
        return None
    if evidence.context.tool_choice == "none" or evidence.allowed is not None:
        return None
    found = f"the built-in {quoted(own.fmt.name)} reads {counted(own.good, 'complete call')}"
    words = f"The parser finds no call in this output, while {found}"
    may_be = not evidence.context.tools and _passes_calls_on(evidence, own)
    words += "; no tools are declared, so that may be meant." if may_be else "."
    beside = Detail(f"Beside it, {harm(own.message, evidence.message)}.", facts=BESIDE)
    if first_flaw(own.events) is not None:
        words = f"{TOLD[Topic.GRAMMAR]}: {lowered(words)}"
        return Verdict("output_flawed", "warning", "output", words, (beside,))
    return Verdict("text_lost", "warning", "parser", words, (beside,))
