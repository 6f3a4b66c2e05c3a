"""What the verdict says of a text that is no output of a model, and of one that may be none.

Nothing is judged then: no parser reads what no model wrote, and no search looks for chunkings of it.
"""

from __future__ import annotations

from parsers.checks.known import Fact
from parsers.checks.leaks import CONTROL
from parsers.formats.model import Format
from parsers.replays.replayer import Replayer
from parsers.search.found import Detail, Found, Verdict, Why
from parsers.search.guess import guesses
from parsers.search.markup import is_marked
from parsers.search.pasted import look, pasted_as
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_outputs import quoted_in
from parsers.search.pasted_quotes import blocks_in
from parsers.search.verdict_evidence import Evidence
from parsers.vocabulary.trace import Proof, Topic
from parsers.vocabulary.types import Context
from parsers.vocabulary.words import quoted

_PROMPTED = (Pasted.PROMPT, Pasted.CONVERSATION)
# People and models write these in sentences: a form that is of words alone takes nothing away from a pass. A report
# that shows what a program sent is more than words.
_WORDED = frozenset((Pasted.REPORT, Pasted.ERROR, Pasted.CONVERSATION))


def no_output(evidence: Evidence) -> Verdict | None:
    """What was given is no output of a model: a traceback, a list of packages, a script, a message without anything."""
    if evidence.known.parser or evidence.known.raw:  # an empty answer to an output that is known is the server's
        written = is_written(evidence.replayer)
        return None if written else no_output_in(evidence.text, evidence.context, evidence.fmt)
    message = evidence.message
    texts = ((message.reasoning or "").strip(), (message.content or "").strip())
    short = any(found.id == "K3" and found.topic in (Topic.LOSS, Topic.CUT) for found in evidence.findings)
    ended = short or bool(evidence.trace.finish_reason)  # it is all of an answer, and others say what that lacks
    empty = not ended and not (message.tool_calls or any(texts))
    return _said(Pasted.EMPTY_MESSAGE, Fact.STREAM) if empty else None


def is_written(replayer: Replayer) -> bool:
    """Return whether more than its words shows that a model wrote a text: it was recorded as it came, or with the
    reason why it ended, or one token ends it that stands nowhere else in it, nor any marker.

    A prompt may be recorded with what was written to it.
    """
    text = replayer.text.rstrip()
    if pasted_as(text) in _PROMPTED:
        return False
    recorded = replayer.server is not None or replayer.sent is not None or any(one.recorded for one in replayer.pieces)
    if recorded or replayer.context.finish_reason is not None:
        return True
    ends = (*CONTROL, *(() if replayer.format is None else replayer.format.end_tokens))
    end = next((one for one in ends if text.endswith(one)), None)
    return end is not None and text.find(end) == len(text) - len(end) and not is_marked(text[: -len(end)])


def no_output_in(text: str, context: Context, fmt: Format | None) -> Verdict | None:
    """The same of a raw text, which needs no replay. `fmt` is the format to read what the text quotes with, where no
    format finds a call in that."""
    found = pasted_as(text)
    if found is None:
        return None
    said = _said(found, Fact.RAW)
    quote = quoted_in(text, found)
    if quote is not None:
        _offer(said, quote, (0, len(text)), context, fmt)
    return said


def _said(found: Pasted, fact: Fact) -> Verdict:
    words = f"This is no output of a model: it looks like {found.words}."
    advice = (Detail(found.advice),)
    return Verdict("no_output", "warning", "request", words, advice, why=Why.NO_OUTPUT, facts=frozenset((fact,)))


def _offer(said: Verdict, quote: str, span: tuple[int, int], context: Context, fmt: Format | None) -> None:
    """Offer what a text quotes for replay, with the parser that reads it."""
    best = next((guess.name for guess in guesses(quote, context) if guess.good), None)
    name = best or (fmt.name if fmt is not None else None)
    said.offer = quote
    if name is not None:
        said.proof = Proof({"by": "token"}, ((*span, quote),), parser=name)
        said.details += (Detail(f"The part that it quotes can be replayed with {quoted(name)}."),)


def looks_pasted(evidence: Evidence) -> tuple[Detail, ...]:
    """Say that an output looks like something else, where a model may have written it as well."""
    found = None if is_written(evidence.replayer) else look(evidence.text)
    if found is None:
        return ()
    words = f"It looks like {found.kind.words}. If a model wrote it, the verdict stands; if not: {found.kind.advice}"
    return (Detail(words, facts=frozenset((Fact.RAW,))),)


def perhaps_no_output(evidence: Evidence) -> Verdict | None:
    """Nothing is wrong, and what was given has the form of something else from its first line to its last: who wrote it
    nobody can say."""
    message, found = evidence.message, look(evidence.text)
    if found is None or message.tool_calls or message.reasoning or is_written(evidence.replayer):
        return None
    shows = found.kind is Pasted.REPORT and next(blocks_in(evidence.text), None) is not None
    if found.kind in _WORDED and not shows:
        return None
    words = f"This may be no output of a model: it looks like {found.kind.words}."
    advice = Detail(f"If a model wrote it, all checks hold; if not: {found.kind.advice}")
    return Verdict("perhaps_no_output", "info", "request", words, (advice,))


def nothing_judged(replayer: Replayer) -> Found | None:
    """What a search finds of a text that is no output: the verdict alone. None where there is something to judge."""
    text = replayer.text
    said = None if is_written(replayer) else no_output_in(text, replayer.context, replayer.format)
    return None if said is None else Found(text, [], [], [], [], [], [], said)
