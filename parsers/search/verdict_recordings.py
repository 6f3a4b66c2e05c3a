"""Rules of the verdict for recorded streams.

Of a stream without the raw output nobody can say what the model wrote. A marker in its texts is the server's to answer
for; what leaked there may be put together to an output, which a parser can then read.
"""

from __future__ import annotations

from dataclasses import replace

from parsers.checks.mentions import is_shown
from parsers.formats.model import Format
from parsers.search.found import Detail, Verdict
from parsers.search.guess import guesses
from parsers.search.markup import LEFT_OVER
from parsers.search.reading import read
from parsers.search.verdict_blame import kind_of
from parsers.search.verdict_evidence import GUESSED, Evidence
from parsers.search.verdict_phrases import lowered
from parsers.selection.registry import Evidence as Selectable
from parsers.selection.registry import get_format, select
from parsers.vocabulary.events import CallStart
from parsers.vocabulary.trace import Proof, Topic
from parsers.vocabulary.types import Context
from parsers.vocabulary.words import counted, listed, quoted


def server_failed(evidence: Evidence) -> Verdict | None:
    """The stream ends with an error of the server: nothing that is missing then has another cause."""
    numbers = evidence.numbers(Topic.SERVER_ERROR)
    if not numbers:
        return None
    first = evidence.findings[numbers[0]]
    return Verdict("server_failed", "error", "parser", first.message, evidence.messages(numbers[1:]), tuple(numbers))


def left_markup(evidence: Evidence) -> Verdict | None:
    """The server left markers in a text, and broke nothing but rules besides: one such as that on the finish reason
    costs less than the call that is missing."""
    errors = evidence.numbers(severity="error", about="parser")
    if any(kind_of(evidence.findings[number]) != "parser_flawed" for number in errors):
        return None
    found = _left_markup(evidence)
    if found is not None and errors:
        found.severity, found.findings = "error", (*found.findings, *errors)
        found.details += evidence.messages(errors)
    return found


def _left_markup(evidence: Evidence) -> Verdict | None:
    """What they make up may be replayed where the raw output is unknown."""
    if evidence.known.raw:
        left = evidence.numbers(Topic.LEFT)
        details = evidence.messages(evidence.numbers(Topic.START))
        words = evidence.findings[left[0]].message if left else ""
        return Verdict("marker_leak", "warning", "parser", words, details, tuple(left)) if left else None
    leaks = evidence.numbers(Topic.LEAK, about="parser")
    numbers = [number for number in leaks if evidence.findings[number].severity != "info"]
    if not numbers:
        return _left_call(evidence)
    first = evidence.findings[numbers[0]]
    words = f"The server left markup in what it sent: {lowered(first.message)}"
    found = Verdict("marker_leak", "warning", "parser", words, evidence.messages(numbers[1:]), tuple(numbers))
    fits = None if evidence.message.reasoning else _fitting(evidence)
    if fits is not None:
        (name, read, opened, called), text = fits, evidence.message.content or ""
        offer = Detail(f"The content can be replayed as a raw output: {quoted(name)} reads {read}.")
        found.details, found.offer = (offer, *found.details), text
        if called:
            found.severity, found.cause = "error", f"The server left a call to {quoted(called)} in the content."
        found.proof = Proof({"by": "token"}, ((0, 0, text),), {"reasoning_open": True} if opened else {}, name)
    return found


def _left_call(evidence: Evidence) -> Verdict | None:
    """The content is a call of a declared tool, in a format whose calls need no marker, and the server sent none."""
    text, context = evidence.message.content or "", evidence.context
    if evidence.message.tool_calls or not context.tools or context.tool_choice == "none" or len(text) > GUESSED:
        return None
    reading = read(_format_of(text, context), text, context)
    start = next((event.start for event in reading.events if isinstance(event, CallStart)), 0)
    if not reading.good or is_shown(text, start):
        return None
    name, many = reading.fmt.name, counted(reading.good, "complete call")
    words = f"The server left a call in the content: {quoted(name)} reads {many} in it."
    proof = Proof({"by": "token"}, ((0, 0, text),), {}, name)
    return Verdict("marker_leak", "warning", "parser", words, proof=proof, offer=text)


def _format_of(text: str, context: Context) -> Format:
    """The format that `auto` would read a text with."""
    tools = [tool.name for tool in context.tools]
    return get_format(select(Selectable(model_id=context.model, text=text, tools=tools)).name)


def _fitting(evidence: Evidence) -> tuple[str, str, bool, str] | None:
    """The format that reads what the server left in the content, what it reads there, whether the prompt must have
    opened reasoning for that, which tool is called first, if any; None where no format does."""
    text, context = evidence.message.content or "", evidence.context
    best = next((guess for guess in guesses(text, context) if guess.good), None)
    if best is not None:
        calls = read(get_format(best.name), text, context).message.tool_calls
        also = f" (so {'does' if len(best.same) == 1 else 'do'} {listed([quoted(one) for one in best.same])})"
        return (
            best.name,
            f"{counted(best.good, 'complete call')} in it{also if best.same else ''}",
            False,
            calls[0].name,
        )
    fmt = _format_of(text, context)
    for opened, where in ((False, ""), (True, ", which the prompt opened,")):
        said = read(fmt, text, replace(context, reasoning_open=opened)).message
        if said.reasoning and said.content and not LEFT_OVER.search(said.content):
            return fmt.name, f"reasoning{where} in it", opened, ""
    return None


def recording_cut(evidence: Evidence) -> Verdict | None:
    """What was recorded ends early, or has gaps: nobody is to blame for what is missing then."""
    return _ends_early(evidence, Topic.CUT)


def recording_unended(evidence: Evidence) -> Verdict | None:
    """Nothing is wrong in what was recorded, and no finish reason tells that it is all of the output."""
    return _ends_early(evidence, Topic.UNENDED)


def _ends_early(evidence: Evidence, topic: Topic) -> Verdict | None:
    numbers = evidence.numbers(topic)
    if not numbers:
        return None
    details, words = evidence.messages(numbers[1:]), evidence.findings[numbers[0]].message
    return Verdict("recording_cut", "warning", "request", words, details, tuple(numbers))


def recording_torn(evidence: Evidence) -> Verdict | None:
    """What was recorded is not all of it, and in what is there nothing is wrong: nobody knows of the rest."""
    if evidence.known.whole:
        return None
    words = "Parts of what was recorded are missing, a chunk or an end: nothing is wrong in what is there."
    return Verdict("recording_cut", "warning", "request", words)
