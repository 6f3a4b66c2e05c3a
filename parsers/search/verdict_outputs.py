"""Rules of the verdict for the output and its request: where no parser is at fault, what the model wrote wrongly."""

from __future__ import annotations

from dataclasses import replace

from parsers.checks.json_text import JsonPrefix
from parsers.compare.divergence import ANY_ID, same_message
from parsers.formats.layers import FORCED
from parsers.replays.chunking import WHOLE
from parsers.search.found import Detail, Guess, Verdict
from parsers.search.guess import guess_of
from parsers.search.markup import BODY
from parsers.search.reading import Reading
from parsers.search.verdict_evidence import GUESSED, Evidence
from parsers.search.verdict_formats import may_call
from parsers.search.verdict_phrases import harm, summary
from parsers.selection.claims import CALL_NAME
from parsers.vocabulary.events import Diagnostic, Severity
from parsers.vocabulary.trace import Proof, Topic
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted, quoted

# What a flaw is by what its finding says, whatever check it is of.
TOLD = {
    Topic.BAD_SCHEMA: "The request is at fault",
    Topic.HALF_MARKER: "Broken off",
    Topic.GRAMMAR: "Parsers may read this output in their own ways",
}


def prompt_state(evidence: Evidence) -> Verdict | None:
    """Nobody knows whether the prompt left reasoning open, and the message is another one if it did than if not."""
    context = evidence.context
    doubted = evidence.numbers(Topic.START, severity="warning")
    if doubted:
        first, rest = evidence.findings[doubted[0]], evidence.messages(doubted[1:])
        return Verdict("prompt_state_unknown", "warning", "request", first.message, rest, tuple(doubted), first.proof)
    found = evidence.numbers(Topic.START) or evidence.numbers(Topic.UNANSWERED, about="request")
    if evidence.known.start or not (found or _orphan(evidence) or _all_reasoning(evidence)):
        return None
    if evidence.message.reasoning and not context.reasoning_open:
        return None  # the output itself says where its reasoning begins
    flipped = not context.reasoning_open
    other = evidence.replayer.with_context(replace(context, reasoning_open=flipped)).outcome(WHOLE)
    if other.raised is not None or same_message(other.message, evidence.message, ANY_ID):
        return None
    words = (
        f"Where the output begins is not known: read as {_begun(flipped)}, {harm(evidence.message, other.message)}; "
        "say with reasoning_open or prompt_tail how the prompt ends."
    )
    details = (
        Detail(f"Read as {_begun(not flipped)}: {summary(evidence.message)}."),
        Detail(f"As {_begun(flipped)}: {summary(other.message)}."),
    )
    proof = Proof(context={"reasoning_open": flipped})
    return Verdict("prompt_state_unknown", "warning", "request", words, details, tuple(found), proof)


def _orphan(evidence: Evidence) -> bool:
    if evidence.context.reasoning_open or evidence.message.reasoning:
        return False
    notes = (event for _, event in evidence.trace.events() if isinstance(event, Diagnostic))
    return any(note.code == "orphan_reasoning_end" for note in notes)


def _all_reasoning(evidence: Evidence) -> bool:
    """Reasoning was taken to be open and never ends, though a call seems to stand in it."""
    message = evidence.message
    silent = message.content is None and not message.tool_calls
    return evidence.context.reasoning_open and silent and BODY.search(message.reasoning or "") is not None


def _begun(reasoning: bool) -> str:
    return "reasoning from the start" if reasoning else "content from the start"


def incomplete(evidence: Evidence) -> Verdict | None:
    """A call was meant, and no format finds a whole one."""
    if not evidence.doubtful or evidence.good or not may_call(evidence):
        return None
    nearest = _nearest(evidence)
    if nearest is None or nearest.leaves is None or nearest.good or not _is_begun(evidence, nearest):
        return None
    leave, size = nearest.leaves, len(evidence.text.rstrip())
    if leave.missing is None and not nearest.calls and leave.at >= size:
        return None  # a whole object that is no call, and so is data
    if leave.misspelled and any(one < leave.at for one in _flaws_at(evidence)):
        return None  # what is wrong before it comes first
    limited = evidence.context.finish_reason == "length"
    cut = limited and leave.at >= size
    grammar = "the guided JSON" if _guided(evidence) is not None else f"the grammar of {quoted(nearest.name)}"
    place = f"it ends inside {grammar}" if leave.at >= size else f"it leaves {grammar} at character {leave.at}"
    none = "no call that a tool could have" if leave.misnamed else "no complete call"
    words = f"The output holds {none}{', cut off by its length limit' if cut else ''}: {place}"
    words += f", where {leave.clause}." if leave.missing else "."
    details: tuple[Detail, ...] = (Detail(f"{nearest.title}: {'; '.join(nearest.evidence)}."),)
    details += (Detail("Its end is missing, too: the length limit cut it off."),) if limited and not cut else ()
    numbers = [n for n, one in enumerate(evidence.findings) if one.about == "output" and one.severity != "info"]
    severity: Severity = "info" if cut else "warning"
    span = Span(leave.at, min(leave.at + 1, len(evidence.text)))
    return Verdict("no_complete_call", severity, "output", words, details, tuple(numbers), span=span)


def _flaws_at(evidence: Evidence) -> list[int]:
    """Where the output has faults, by its checks."""
    return [
        one.span.start
        for one in evidence.findings
        if one.about == "output" and one.severity != "info" and one.policy is None and one.span is not None
    ]


def unfinished_json(evidence: Evidence) -> Verdict | None:
    """All of the answer is one JSON object, and that is not whole."""
    text = (evidence.message.content or "").strip()
    if evidence.message.tool_calls or not text.startswith("{") or '"' not in text or len(text) > GUESSED:
        return None
    prefix = JsonPrefix()
    if prefix.feed(text) is not None or prefix.done:
        return None
    cut = evidence.context.finish_reason == "length"
    words = f"The answer is a JSON object that ends before it is whole: {prefix.awaits} is missing"
    words += ", for its length limit cut it off." if cut else "."
    return Verdict("output_flawed", "info" if cut else "warning", "output", words)


def cut_call(evidence: Evidence) -> Verdict | None:
    """The output ends inside a call behind whole ones, which the contract lets the parser pass on as far as it came."""
    calls = evidence.message.tool_calls
    if not calls or calls[-1].complete or not evidence.good:
        return None
    *before, last = calls
    reason = evidence.context.finish_reason
    meant = reason not in (None, "length")  # the model ended there by itself
    cut = " by its length limit" if reason == "length" else ""
    ends = f"ends with the finish reason {quoted(str(reason))}" if meant else f"is cut off{cut}"
    nearest = _nearest(evidence)
    leave = None if nearest is None else nearest.leaves
    where = f", where {leave.clause}" if leave is not None and leave.missing else ""
    words = f"The output {ends} inside call {len(before)} ({quoted(last.name)}){where}"
    whole = counted(sum([call.complete for call in before]), "complete call")
    numbers = [n for n, one in enumerate(evidence.findings) if one.about == "output"]
    size = len(evidence.text)
    details = (Detail(f"{whole[:1].upper()}{whole[1:]} before it."),)
    severity: Severity = "warning" if meant else "info"
    return Verdict("call_cut_off", severity, "output", f"{words}.", details, tuple(numbers), span=Span(size, size))


def _is_begun(evidence: Evidence, nearest: Guess) -> bool:
    calls, rejected = evidence.message.tool_calls, evidence.trace.rejected_calls
    if calls:
        return not any(call.complete and CALL_NAME.fullmatch(call.name) for call in calls)
    named = any(call.name for call in rejected)
    return named or (evidence.attempt is not None and (bool(rejected) or nearest.calls > 0))


def _guided(evidence: Evidence) -> Reading | None:
    """The reading of an output that begins a call without any marker, as a server guides it where one is forced."""
    own = evidence.own
    forced = own is not None and own.context.tool_choice in FORCED
    return own if own is not None and forced and own.message.tool_calls and not own.markers else None


def _nearest(evidence: Evidence) -> Guess | None:
    guided = _guided(evidence)
    if guided is not None:
        return guess_of(guided)
    best = evidence.guesses[0] if evidence.guesses else None
    own = None if evidence.fmt is None else evidence.fmt.name
    mine = next((guess for guess in evidence.guesses if guess.name == own and guess.leaves is not None), None)
    if best is None or mine is None or best.good:
        return mine
    return mine if best.score - mine.score < 200 else best


def unanswered(evidence: Evidence) -> Verdict | None:
    """Only reasoning came, or nothing, or not the call that the request asks for. That is nobody's fault where it was
    cut off."""
    numbers = evidence.numbers(Topic.UNANSWERED)
    if not numbers:
        return _empty(evidence)
    first = evidence.findings[numbers[0]]
    return Verdict(
        "no_answer", first.severity, first.about, first.message, evidence.messages(numbers[1:]), tuple(numbers)
    )


def _empty(evidence: Evidence) -> Verdict | None:
    """A server ended its answer, and nothing is in it: what the model wrote nobody knows."""
    known, message = evidence.known, evidence.message
    said = "".join([message.reasoning or "", message.content or ""]).strip()
    if known.raw or not known.whole or said or message.tool_calls:
        return None
    words = "The server sent no text and no call: without the raw output nobody knows whether there was any."
    return Verdict("no_answer", "warning", "request", words)
