"""Check on characters: none is damaged, invented or cut in two on its way to the client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from parsers.checks.check import Subject, channel_words, check, counted
from parsers.compare.divergence import Channel, step_at
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import Span

REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
# An escape as far as it goes; the two halves of a surrogate pair are one character.
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(rf"\\(?:u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|u{_HEX}{{0,4}}|.)?", re.DOTALL)


@check("utf8_clean", "U1", "No character is damaged, and no delta ends inside one.")
def utf8_clean(subject: Subject) -> list[Finding]:
    """Errors for damaged characters the parser made, a warning for cut escapes, a note for damage in the output."""
    trace = subject.trace
    made = _made_up(trace) if subject.raw else _of_unknown_origin(subject)
    return [*made, *_from_the_model(trace), *_halves(subject), *_cut_escapes(subject)]


def _of_unknown_origin(subject: Subject) -> Iterator[Finding]:
    """U+FFFD in a stream whose raw output is not known: the model's bytes, or the server's way of decoding them."""
    step = next((step for step in subject.trace.steps if _sent(step)), None)
    if step is not None:
        message = "A character that could not be decoded (U+FFFD) is sent; whether the output has it is not known."
        yield utf8_clean.finding(message, severity="warning", step=step.index)


def _made_up(trace: Trace) -> Iterator[Finding]:
    """U+FFFD that was sent before the output had as many."""
    arrived = sent = 0
    for step in trace.steps:
        arrived += trace.text.count(REPLACEMENT, step.span.start, step.span.end)
        sent += _sent(step)
        if sent > arrived:
            message = "A character that could not be decoded (U+FFFD) is sent, which the output does not have."
            yield utf8_clean.finding(message, step=step.index)
            return


def _sent(step: Step) -> int:
    if step.delta is None:
        return 0
    texts = [step.delta.content, step.delta.reasoning]
    texts += [text for call in step.delta.tool_calls for text in (call.name, call.arguments)]
    return sum([text.count(REPLACEMENT) for text in texts if text])


def _from_the_model(trace: Trace) -> Iterator[Finding]:
    count = trace.text.count(REPLACEMENT)
    if count:
        at = trace.text.index(REPLACEMENT)
        yield utf8_clean.finding(
            f"The output itself has {counted(count, 'character')} that could not be decoded (U+FFFD).",
            severity="info",
            about="output",
            step=step_at(trace, at),
            span=Span(at, at + 1),
        )


def _halves(subject: Subject) -> Iterator[Finding]:
    """Lone surrogates, which no UTF-8 stream can carry."""
    written = _SURROGATE.search(subject.trace.text) is not None
    calls = subject.trace.message.tool_calls
    for name, channel in (subject.channels | subject.streamed).items():
        match = _SURROGATE.search(channel.text)
        if match:
            yield utf8_clean.finding(
                f"Half a character (a lone surrogate) is sent in {channel_words(name, calls)}.",
                severity="warning" if written else "error",
                about="output" if written else "parser",
                step=channel.place(match.start()).step,
            )


def _cut_escapes(subject: Subject) -> Iterator[Finding]:
    """The first delta of each call's arguments that ends inside a backslash escape, where more text follows."""
    calls = subject.trace.message.tool_calls
    for name, channel in subject.streamed.items():
        cuts = _cuts(channel) if name.endswith(".arguments") else []
        if cuts:
            times = f" (and {len(cuts) - 1} more)" if len(cuts) > 1 else ""
            yield utf8_clean.finding(
                f"A delta ends inside an escape of {channel_words(name, calls)}{times}.",
                severity="warning",
                step=channel.place(cuts[0] - 1).step,
                actual=channel.text[max(0, cuts[0] - 12) : cuts[0]],
            )


def _cuts(channel: Channel) -> list[int]:
    """Offsets where a stretch ends inside an escape. Escapes and stretches are walked side by side."""
    escapes = [match.span() for match in _ESCAPE.finditer(channel.text)]
    cuts, index = [], 0
    for _, after in pairwise(channel.stretches):
        while index < len(escapes) and escapes[index][1] <= after.at:
            index += 1
        if index < len(escapes) and escapes[index][0] < after.at:
            cuts.append(after.at)
    return cuts
