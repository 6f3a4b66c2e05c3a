"""Edits of an output: the pieces that are left, and those of the text that is put in.

An edit is (start, end, text): characters [start, end) become `text`. Tokens that no edit touches stay what they are,
with their ids; what is left of a token that is cut is plain text. Text put in that the output has as several tokens is
those tokens again, so that it is streamed as it was. Other text put in is plain, but for the markers that the output
has as recorded tokens: such a marker is that token again, as it is when the model writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from parsers.vocabulary.types import Piece, UsageError

Edit = tuple[int, int, str]


def edited(
    pieces: Sequence[Piece], edits: Sequence[Edit], markers: Mapping[str, int] | None = None
) -> tuple[Piece, ...]:
    """The pieces of the changed output. `markers` are ids of markers by text, where ids are recorded.

    Raises UsageError for edits that overlap, do not ascend, or lie outside the output.
    """
    _refuse(edits, sum([len(piece.text) for piece in pieces]))
    known = _tokens(pieces, markers)
    out: list[Piece] = []
    at = 0
    for start, end, text in edits:
        out += kept(pieces, at, start)
        out += _again(pieces, text) or _written(text, known)
        at = end
    return (*out, *kept(pieces, at, None))


def edited_text(text: str, edits: Sequence[Edit]) -> str:
    """The changed text. Raises UsageError as `edited` does."""
    _refuse(edits, len(text))
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def kept(pieces: Sequence[Piece], start: int, end: int | None) -> Iterator[Piece]:
    """The pieces of characters [start, end), to the end of the output where `end` is None.

    A token without text belongs to the text before it.
    """
    at = 0
    for piece in pieces:
        stop = at + len(piece.text)
        inside = (at >= start if piece.text else at > start or start == 0) and (end is None or stop <= end)
        if inside:
            yield piece
        elif stop > start and (end is None or at < end) and piece.text:
            yield Piece(piece.text[max(start - at, 0) : None if end is None else end - at])
        at = stop


def _again(pieces: Sequence[Piece], text: str) -> list[Piece]:
    """The tokens of the output that say this, whatever space is before it; none where fewer than two do."""
    said = text.lstrip()
    at = "".join([piece.text for piece in pieces]).find(said) if said else -1
    found = [] if at < 0 else [*kept(pieces, at, at + len(said))]
    space = text[: len(text) - len(said)]
    return [*([Piece(space)] if space else []), *found] if sum([bool(piece.text) for piece in found]) > 1 else []


def _refuse(edits: Sequence[Edit], length: int) -> None:
    before = 0
    for start, end, _ in edits:
        if not before <= start <= end <= length:
            rule = f"edits ascend, do not overlap, and stay inside the output of {length} characters"
            raise UsageError(f"the edit of characters {start} to {end} does not fit: {rule}")
        before = end


def _tokens(pieces: Sequence[Piece], markers: Mapping[str, int] | None) -> dict[str, Piece]:
    """Return what each marker is as a token; nothing where the output has no recorded ones."""
    if not any(piece.recorded for piece in pieces):
        return {}
    known = {text: Piece(text, token, text.encode(), "added", True) for text, token in (markers or {}).items() if text}
    return known | {p.text: p for p in pieces if p.recorded and p.text and p.kind in ("special", "added")}


def _written(text: str, known: Mapping[str, Piece]) -> list[Piece]:
    if not text or not known:
        return [Piece(text)] if text else []
    longest = sorted(known, key=len, reverse=True)
    parts = re.split(f"({'|'.join([re.escape(marker) for marker in longest])})", text)
    return [known.get(part) or Piece(part) for part in parts if part]
