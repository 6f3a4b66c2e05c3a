"""Checks on characters and tokens: none is damaged or cut in two on its way, and ids and text belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise

from parsers.checks.check import Need, check
from parsers.checks.subject import Subject
from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.channels import ChannelText, delta_texts
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Span
from parsers.vocabulary.words import counted

REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
# An escape as far as it goes; the two halves of a surrogate pair are one character.
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(rf"\\(?:u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|u{_HEX}{{0,4}}|.)?", re.DOTALL)


@check("U1", "No character is damaged, and no delta ends inside one.")
def _utf8_clean(subject: Subject) -> Iterator[Finding]:
    """Errors for damaged characters the parser made, a warning for cut escapes, a note for damage in the output."""
    yield from islice(_undecodable_sent(subject), 1)
    trace, start = subject.trace, subject.trace.text.find(REPLACEMENT)
    if start >= 0:
        count = counted(trace.text.count(REPLACEMENT), "character")
        message, span = f"The output itself has {count} that could not be decoded (U+FFFD).", Span(start, start + 1)
        yield _utf8_clean.finding(message, severity="info", about="output", step=trace.step_at(start), span=span)
    yield from _half_characters(subject)
    yield from _cut_escapes(subject)


def _undecodable_sent(subject: Subject) -> Iterator[Finding]:
    """U+FFFD that was sent before the output had as many. Where the raw output is not known, it may be the model's
    bytes or the server's way of decoding them."""
    trace, ends, arrived, sent, last = subject.trace, subject.trace.ends, 0, 0, 0
    what = "A character that could not be decoded (U+FFFD) is sent"
    for step, until, _, delta in trace.columns.delta_runs():
        arrived += trace.text.count(REPLACEMENT, last, ends[until - 1])
        last = ends[until - 1]
        sent += sum([text.count(REPLACEMENT) for channel, text in delta_texts(delta) if channel.part != "id"])
        if sent and not subject.raw:
            message = f"{what}; whether the output has it is not known."
            yield _utf8_clean.finding(message, severity="warning", step=step)
        elif sent > arrived:
            yield _utf8_clean.finding(f"{what}, which the output does not have.", step=step)


def _half_characters(subject: Subject) -> Iterator[Finding]:
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
    """The first delta of each call's arguments that ends inside a backslash escape, where more text follows.

    Tokens end there too, and no server promises more than text that adds up: only the built-in parsers wait.
    """
    for channel, text in subject.streamed.items():
        cuts = _cuts_in_escapes(text) if channel.part == "arguments" else []
        if cuts:
            times = f" (and {len(cuts) - 1} more)" if len(cuts) > 1 else ""
            yield _utf8_clean.finding(
                f"A delta ends inside an escape of {channel.words(subject.calls)}{times}.",
                severity="info" if subject.black_box else "warning",
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
def _decodes_alike(subject: Subject) -> Iterator[Finding]:
    trace = subject.trace
    text = b"".join([piece.raw or b"" for piece in subject.tokens.pieces]).decode("utf-8", "replace")
    if text != trace.text:
        start = shared_prefix(text, trace.text)
        yield _decodes_alike.finding(
            f"From character {start} of the output on, the text is not what its tokens decode to.",
            step=trace.step_at(start),
            span=Span(start, start),
            expected=text[start:],
            actual=trace.text[start:],
        )


@check(
    "A5",
    "Every token id arrives once and in order, with its text or so much earlier as the chunking says.",
    about="output",
    needs=(Need.TOKEN_IDS,),
)
def _ids_with_text(subject: Subject) -> Iterator[Finding]:
    trace, every = subject.trace, subject.tokens.pieces
    pieces = [piece for piece in every if piece.token_id is not None]
    delay, longest = int(trace.chunking.get("text_delay", 0)), max([len(piece.text) for piece in pieces], default=0)
    allowed = int(trace.chunking.get("holdback_chars", 0)) + (delay + 1) * longest + subject.tokens.behind
    ends, arrived = [0, *accumulate(len(piece.text) for piece in pieces)], 0
    for number, (ids, fed) in enumerate(zip(trace.columns.ids(), trace.ends, strict=True), 1):
        wanted = tuple([piece.token_id for piece in pieces[arrived : arrived + len(ids)]])
        if ids != wanted:
            message = "The ids of this delta are not the next ones of the output."
            expected, actual = (str(list(texts)) for texts in (wanted, ids))
            yield _ids_with_text.finding(message, step=number, expected=expected, actual=actual)
            return
        arrived += len(ids)
        missing, early = ends[max(arrived - 1, 0)] - fed, fed - ends[arrived]
        words = f"{early} characters of text arrive before their ids" if early > 0 else ""
        if missing > allowed and not trace.steps[number - 1].end:
            words = f"{missing} characters of text are missing for the ids that have arrived"
        if words and len(pieces) == len(every):
            yield _ids_with_text.finding(f"Ids and text are out of step: {words}.", severity="warning", step=number)
            return
    if arrived < len(pieces) and trace.steps:
        yield _ids_with_text.finding(f"{len(pieces) - arrived} ids of the output never arrive in a delta.")
