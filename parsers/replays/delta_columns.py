"""The deltas of a replay as columns: the pieces, and where each delta ends; a delta is made when it is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from parsers.machine.lexer import MARKED
from parsers.replays.lazy import Lazy
from parsers.vocabulary.types import Delta, Piece, joined


class Deltas(Lazy[Delta]):
    """The deltas of an output: its pieces in order, and how many of them have come by the end of each delta.

    Without `stops` every piece is a delta. `ids` are those that come with each delta where text is late.
    """

    __slots__ = ("_ids", "_pieces", "_stops")

    def __init__(
        self,
        pieces: Sequence[Piece],
        stops: Sequence[int] | None = None,
        ids: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self._pieces = pieces
        self._stops = stops
        self._ids = ids

    def __len__(self) -> int:
        return len(self._pieces if self._stops is None else self._stops)

    @property
    def texts(self) -> list[str]:
        """The text of every delta."""
        if self._stops is None:
            return [piece.text for piece in self._pieces]
        return ["".join([piece.text for piece in parts]) for parts in map(self._parts, range(len(self)))]

    @property
    def keys(self) -> list[Hashable]:
        """See keys_of."""
        if self._stops is None:
            return [_key_of((piece,)) if piece.kind in MARKED else piece.text for piece in self._pieces]
        return [_key_of(self._parts(index)) for index in range(len(self))]

    def _parts(self, index: int) -> tuple[Piece, ...]:
        if self._stops is None:
            return (self._pieces[index],)
        return tuple(self._pieces[self._stops[index - 1] if index else 0 : self._stops[index]])

    def _make(self, index: int) -> Delta:
        return Delta(index + 1, self._parts(index), None if self._ids is None else self._ids[index])


def texts_of(deltas: Sequence[Delta]) -> list[str]:
    """The text of every delta."""
    return deltas.texts if isinstance(deltas, Deltas) else [delta.text for delta in deltas]


def keys_of(deltas: Sequence[Delta]) -> list[Hashable]:
    """What a parser that reads ids makes a difference by, of every delta: its text, where no piece may be a marker."""
    return deltas.keys if isinstance(deltas, Deltas) else [_key_of(delta.pieces) for delta in deltas]


def _key_of(pieces: Iterable[Piece]) -> Hashable:
    parts = tuple(pieces)
    if MARKED.isdisjoint([piece.kind for piece in parts]):
        return joined(parts)
    return tuple([(piece.text, piece.kind, piece.recorded) for piece in parts])
