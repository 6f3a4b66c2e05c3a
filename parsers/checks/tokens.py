"""Checks on the tokens of an output: do they decode to its text, and do ids and text arrive together?"""

from __future__ import annotations

from itertools import accumulate

from parsers.checks.base import Subject, check
from parsers.compare import shared_prefix, step_at
from parsers.trace import Finding, Trace
from parsers.types import Piece, Span


@check(
    "decodes_alike",
    "C5",
    "Decoded token by token, the output reads as when it is decoded at once.",
    about="output",
    needs=("bytes",),
)
def decodes_alike(subject: Subject) -> list[Finding]:
    """At most one finding: the first character that differs."""
    pieces = [piece for piece in subject.pieces if piece.raw is not None]
    once = b"".join([piece.raw or b"" for piece in pieces]).decode("utf-8", "replace")
    text = subject.trace.text
    if once == text:
        return []
    at = shared_prefix(once, text)
    return [
        decodes_alike.finding(
            f"From character {at} on, the text is not what its tokens decode to.",
            step=step_at(subject.trace, at),
            span=Span(at, at),
            expected=once[at:],
            actual=text[at:],
        )
    ]


@check(
    "ids_with_text",
    "A5",
    "Every token id arrives once and in order, with its text or so much earlier as the chunking says.",
    about="output",
    needs=("token_ids",),
)
def ids_with_text(subject: Subject) -> list[Finding]:
    """At most one finding: the first id that is not the next one, or the first text out of step with its ids."""
    trace, pieces = subject.trace, [piece for piece in subject.pieces if piece.token_id is not None]
    arrived = 0
    ends = [0, *accumulate(len(piece.text) for piece in pieces)]
    whole, allowed = len(pieces) == len(subject.pieces), _allowed(trace, pieces) + subject.behind
    for step in trace.steps:
        wanted = tuple([piece.token_id for piece in pieces[arrived : arrived + len(step.ids)]])
        if step.ids != wanted:
            return [_wrong_ids(step.index, wanted, step.ids)]
        arrived += len(step.ids)
        if whole and not step.end and (late := ends[max(arrived - 1, 0)] - step.span.end) > allowed:
            return [_late(step.index, f"{late} characters of text are missing for the ids that have arrived")]
        if whole and step.span.end > ends[arrived]:
            return [_late(step.index, f"{step.span.end - ends[arrived]} characters of text arrive before their ids")]
    return [_missing(len(pieces) - arrived)] if arrived < len(pieces) and trace.steps else []


def _allowed(trace: Trace, pieces: list[Piece]) -> int:
    """How many characters may come later than their ids."""
    delay = int(trace.chunking.get("text_delay", 0))
    longest = max([len(piece.text) for piece in pieces], default=0)
    return int(trace.chunking.get("holdback_chars", 0)) + (delay + 1) * longest


def _wrong_ids(step: int, wanted: tuple[int | None, ...], ids: tuple[int, ...]) -> Finding:
    message = "The ids of this delta are not the next ones of the output."
    return ids_with_text.finding(message, step=step, expected=str(list(wanted)), actual=str(list(ids)))


def _late(step: int, words: str) -> Finding:
    return ids_with_text.finding(f"Ids and text are out of step: {words}.", severity="warning", step=step)


def _missing(count: int) -> Finding:
    return ids_with_text.finding(f"{count} ids of the output never arrive in a delta.")
