"""Checks on what stands at the edge of a delta, and on the tokens that end a turn.

A leak at the edge is looked for delta by delta, not in the message: a parser that sends the beginning of a marker and
then reads the rest of it as one leaves a message in which no marker stands.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.checks.alignment import align
from parsers.checks.base import Subject, channel_words, check, span_of
from parsers.checks.leaks import markers_of
from parsers.compare import Channel
from parsers.trace import Finding
from parsers.types import Span

# Tokens that end a turn, begin a text or fill it up in the families whose formats are built in.
CONTROL = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "</s>",
    "<s>",
    "<eos>",
    "<bos>",
    "<pad>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<｜begin▁of▁sentence｜>",
)


@check(
    "no_early_leak",
    "L4",
    "No delta ends with the beginning of a marker that the next text completes.",
    needs=("raw",),
)
def no_early_leak(subject: Subject) -> list[Finding]:
    """The first such delta of content and of reasoning."""
    markers = [literal for literal in markers_of(subject) if len(literal) > 1]
    found = [next(_early(subject, name, markers), None) for name in ("reasoning", "content")]
    return [finding for finding in found if finding is not None]


def _early(subject: Subject, name: str, markers: list[str]) -> Iterator[Finding]:
    trace, sent = subject.trace, subject.streamed.get(name, Channel(""))
    longest = max(map(len, markers), default=0)
    for stretch, place in zip(sent.stretches, align(trace, sent).ends, strict=False):
        arrived = trace.steps[stretch.step - 1].span.end
        if place != arrived or arrived == len(trace.text):
            continue
        after = stretch.at + len(stretch.text)
        follows = sent.text[after : after + longest]
        for literal in markers:
            size = _begun(literal, stretch.text, trace.text, arrived)
            if size and not follows.startswith(literal[size:]):
                yield no_early_leak.finding(
                    f"`{literal[:size]}` is sent in {channel_words(name, [])}, then `{literal}` is read as a marker.",
                    step=stretch.step,
                    span=Span(arrived - size, arrived),
                    expected=stretch.text[:-size],
                    actual=stretch.text,
                )


def _begun(literal: str, sent: str, text: str, at: int) -> int:
    """How much of a marker that stands across `at` in the output has been sent; 0 where none does."""
    for size in range(min(len(literal) - 1, len(sent)), 0, -1):
        if sent.endswith(literal[:size]) and text.startswith(literal, at - size):
            return size
    return 0


@check("no_control_tokens", "L5", "No token that ends a turn, or begins or fills up a text, is sent as text.")
def no_control_tokens(subject: Subject) -> list[Finding]:
    """One finding per token and channel: an error where it is a token by its id, else the model may have written it."""
    recorded = {piece.text for piece in subject.pieces if piece.recorded and piece.kind == "special"}
    known = dict.fromkeys([*subject.end_tokens, *CONTROL])
    literals = [text for text in known if not subject.raw or text in subject.trace.text]
    findings = []
    for name, channel in subject.channels.items():
        for literal in literals:
            offset = -1 if name.endswith(".id") else channel.text.find(literal)
            if offset >= 0:
                place, where = channel.place(offset), channel_words(name, subject.trace.message.tool_calls)
                token = literal in recorded and literal in subject.end_tokens
                findings.append(
                    no_control_tokens.finding(
                        f"`{literal}` is sent in {where}.",
                        severity="error" if token else "info" if name.endswith(".arguments") else "warning",
                        about="parser" if token else "output",
                        step=place.step,
                        span=span_of(place, len(literal)),
                        actual=literal,
                    )
                )
    return findings
