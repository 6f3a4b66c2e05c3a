"""Checks on characters and tokens: none is damaged or cut in two on its way, and ids and text belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise

from parsers.checks.check import Need, check
from parsers.checks.subject import Subject
from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.channels import ChannelText, delta_texts
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import Piece, Span
from parsers.vocabulary.words import counted

REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
# An escape as far as it goes; the two halves of a surrogate pair are one character.
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(rf"\\(?:u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|u{_HEX}{{0,4}}|.)?", re.DOTALL)


@check("U1", "No character is damaged, and no delta ends inside one.")
def _utf8_clean(subject: Subject) -> list[Finding]:
    """Errors for damaged characters the parser made, a warning for cut escapes, a note for damage in the output."""
    made = _undecodable_made(subject) if subject.raw else _undecodable_sent(subject)
    return [*made, *_undecodable_output(subject.trace), *_half_characters(subject), *_cut_escapes(subject)]


def _undecodable_sent(subject: Subject) -> Iterator[Finding]:
    """U+FFFD in a stream whose raw output is not known: the model's bytes, or the server's way of decoding them."""
    step = next((step for step in subject.trace.steps if _undecodable_in(step)), None)
    if step is not None:
        message = "A character that could not be decoded (U+FFFD) is sent; whether the output has it is not known."
        yield _utf8_clean.finding(message, severity="warning", step=step.index)


def _undecodable_made(subject: Subject) -> Iterator[Finding]:
    """U+FFFD that was sent before the output had as many."""
    arrived = sent = 0
    for step in subject.trace.steps:
        arrived += subject.trace.text.count(REPLACEMENT, step.span.start, step.span.end)
        sent += _undecodable_in(step)
        if sent > arrived:
            message = "A character that could not be decoded (U+FFFD) is sent, which the output does not have."
            yield _utf8_clean.finding(message, step=step.index)
            return


def _undecodable_in(step: Step) -> int:
    texts = [] if step.delta is None else delta_texts(step.delta)
    return sum([text.count(REPLACEMENT) for channel, text in texts if channel.part != "id"])


def _undecodable_output(trace: Trace) -> Iterator[Finding]:
    count = trace.text.count(REPLACEMENT)
    if count:
        start = trace.text.index(REPLACEMENT)
        yield _utf8_clean.finding(
            f"The output itself has {counted(count, 'character')} that could not be decoded (U+FFFD).",
            severity="info",
            about="output",
            step=trace.step_at(start),
            span=Span(start, start + 1),
        )


def _half_characters(subject: Subject) -> Iterator[Finding]:
    """Lone surrogates, which no UTF-8 stream can carry."""
    written = _SURROGATE.search(subject.trace.text) is not None
    for channel, text in (subject.trace.channels | subject.streamed).items():
        match = _SURROGATE.search(text.text)
        if match:
            yield _utf8_clean.finding(
                f"Half a character (a lone surrogate) is sent in {channel.words(subject.calls)}.",
                severity="warning" if written else "error",
                about="output" if written else "parser",
                step=text.place(match.start()).step,
            )


def _cut_escapes(subject: Subject) -> Iterator[Finding]:
    """The first delta of each call's arguments that ends inside a backslash escape, where more text follows."""
    for channel, text in subject.streamed.items():
        cuts = _cuts_in_escapes(text) if channel.part == "arguments" else []
        if cuts:
            times = f" (and {len(cuts) - 1} more)" if len(cuts) > 1 else ""
            yield _utf8_clean.finding(
                f"A delta ends inside an escape of {channel.words(subject.calls)}{times}.",
                severity="warning",
                step=text.place(cuts[0] - 1).step,
                actual=text.text[max(0, cuts[0] - 12) : cuts[0]],
            )


def _cuts_in_escapes(text: ChannelText) -> list[int]:
    """Offsets where a stretch ends inside an escape. Escapes and stretches are walked side by side."""
    escapes = [match.span() for match in _ESCAPE.finditer(text.text)]
    cuts, index = [], 0
    for _, after in pairwise(text.stretches):
        while index < len(escapes) and escapes[index][1] <= after.at:
            index += 1
        if index < len(escapes) and escapes[index][0] < after.at:
            cuts.append(after.at)
    return cuts


@check(
    "C5",
    "Decoded token by token, the output reads as when it is decoded at once.",
    about="output",
    needs=(Need.BYTES,),
)
def _decodes_alike(subject: Subject) -> list[Finding]:
    """At most one finding: the first character that differs."""
    trace = subject.trace
    text = b"".join([piece.raw or b"" for piece in subject.tokens.pieces]).decode("utf-8", "replace")
    if text == trace.text:
        return []
    start = shared_prefix(text, trace.text)
    return [
        _decodes_alike.finding(
            f"From character {start} on, the text is not what its tokens decode to.",
            step=trace.step_at(start),
            span=Span(start, start),
            expected=text[start:],
            actual=trace.text[start:],
        )
    ]


@check(
    "A5",
    "Every token id arrives once and in order, with its text or so much earlier as the chunking says.",
    about="output",
    needs=(Need.TOKEN_IDS,),
)
def _ids_with_text(subject: Subject) -> list[Finding]:
    """At most one finding: the first id that is not the next one, or the first text out of step with its ids."""
    trace, every = subject.trace, subject.tokens.pieces
    pieces = [piece for piece in every if piece.token_id is not None]
    arrived = 0
    ends = [0, *accumulate(len(piece.text) for piece in pieces)]
    whole, allowed = len(pieces) == len(every), _allowed_delay(trace, pieces) + subject.tokens.behind
    for step in trace.steps:
        wanted = tuple([piece.token_id for piece in pieces[arrived : arrived + len(step.ids)]])
        if step.ids != wanted:
            message, texts = "The ids of this delta are not the next ones of the output.", (wanted, step.ids)
            expected, actual = (str(list(ids)) for ids in texts)
            return [_ids_with_text.finding(message, step=step.index, expected=expected, actual=actual)]
        arrived += len(step.ids)
        if whole and not step.end and (late := ends[max(arrived - 1, 0)] - step.span.end) > allowed:
            return [_out_of_step(step, f"{late} characters of text are missing for the ids that have arrived")]
        if whole and step.span.end > ends[arrived]:
            return [_out_of_step(step, f"{step.span.end - ends[arrived]} characters of text arrive before their ids")]
    message = f"{len(pieces) - arrived} ids of the output never arrive in a delta."
    return [_ids_with_text.finding(message)] if arrived < len(pieces) and trace.steps else []


def _allowed_delay(trace: Trace, pieces: list[Piece]) -> int:
    """How many characters may come later than their ids."""
    delay = int(trace.chunking.get("text_delay", 0))
    longest = max([len(piece.text) for piece in pieces], default=0)
    return int(trace.chunking.get("holdback_chars", 0)) + (delay + 1) * longest


def _out_of_step(step: Step, words: str) -> Finding:
    return _ids_with_text.finding(f"Ids and text are out of step: {words}.", severity="warning", step=step.index)
