"""What is known of single tokens: what the silent ones wait for, what a decode policy took, which are the same.

Everything about one token is found in constant time; `Repeats` is made once per output, in O(n).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from parsers.decoding import TokenFacts
from parsers.decoding.utf8 import Utf8Decoder
from parsers.vocabulary.types import Piece, UsageError
from webapp.page.glyphs import count, shorten, show, spell
from webapp.tokenizers.adapter import TokenizerAdapter

KINDS = {"text": "ordinary", "special": "special", "added": "added, not special", "partial": "part of a character",
         "unknown": "not in the vocabulary"}  # fmt: skip
COLOURS = 8
LOOK = 64  # tokens to look ahead for the end of a character: it has four bytes, but unknown ids may stand between
LONGEST = 4  # bytes of a character


@dataclass(slots=True, frozen=True)
class Chip:
    """What stands for a token without text. `kind`: pending, lost, skipped, stopped, unknown or silent."""

    kind: str
    text: str
    words: str

    @property
    def html(self) -> Markup:
        """The text; what cannot be seen of a marker as glyphs."""
        return show(self.text) if self.kind in ("skipped", "stopped") else escape(self.text)

    @property
    def label(self) -> str:
        """What a screen reader says for it."""
        return f"{spell(self.text) if self.kind in ('skipped', 'stopped') else self.text}, {self.words}"


@dataclass(slots=True, frozen=True)
class Row:
    """One line about the token under the cursor. `step` is where its link leads, where it has one."""

    name: str
    value: str
    note: str = ""
    step: int | None = None
    code: bool = False


class Repeats:
    """Which tokens are equal: the same id, or the same bytes where there are no ids."""

    __slots__ = ("_keys", "_numbers", "_places")

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._keys: list[Hashable] = [_key(piece) for piece in pieces]
        self._places: dict[Hashable, list[int]] = {}
        for at, key in enumerate(self._keys):
            self._places.setdefault(key, []).append(at)
        repeated = (key for key, places in self._places.items() if len(places) > 1)
        self._numbers = {key: number for number, key in enumerate(repeated, 1)}

    def number(self, at: int) -> int:
        """The number of the group of equal tokens that token `at` belongs to; 0 where it occurs only once."""
        return self._numbers.get(self._keys[at], 0)

    def place(self, at: int) -> tuple[int, int, int | None, int | None]:
        """Which occurrence token `at` is, of how many, and the ones before and after it."""
        places = self._places[self._keys[at]]
        rank = bisect_left(places, at)
        before = places[rank - 1] if rank else None
        return rank + 1, len(places), before, places[rank + 1] if rank + 1 < len(places) else None


def _key(piece: Piece) -> Hashable:
    return piece.token_id if piece.token_id is not None else (piece.raw or piece.text.encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class Tokens:
    """The tokens of an output, what a decode policy made of them, and the vocabulary they are of, where it is known.

    `exact`: the tokens as the model gave them, before a decode policy.
    """

    pieces: Sequence[Piece]
    fates: Sequence[TokenFacts] | None = None
    vocabulary: TokenizerAdapter | None = None
    repeats: Repeats | None = None
    exact: Sequence[Piece] = ()

    def pending(self, at: int) -> bytes:
        """The bytes that wait after token `at` for the rest of their character."""
        if self.fates is not None:
            return self.fates[at].pending
        decoder = Utf8Decoder()
        for piece in self.pieces[max(0, at + 1 - LONGEST) : at + 1]:
            decoder.feed(piece.raw or b"")
        return decoder.pending

    def completion(self, at: int) -> int | None:
        """The next token that has text: where the character that token `at` is a part of comes out."""
        ahead = range(at + 1, min(len(self.pieces), at + 1 + LOOK))
        return next((later for later in ahead if self.pieces[later].text), None)

    def chip(self, at: int) -> Chip | None:
        """What stands for token `at`, where it gives no text of its own or loses some of it."""
        piece, fate = self.pieces[at], self.fates[at] if self.fates is not None else None
        if fate is not None and fate.skipped:
            return Chip("skipped", _spelled(piece), "id only, no text")
        if fate is not None and fate.stopped and not piece.text:
            return Chip("stopped", _spelled(piece), "no text: at or after the stop string")
        if fate is not None and fate.lost:
            return Chip("lost", hexed(fate.lost), "lost by server policy")
        pending = self.pending(at) if not piece.text or piece.kind == "partial" else b""
        if piece.text and not pending:
            return None
        if not piece.raw:
            return _without_bytes(piece)
        return Chip("pending", f"{hexed(pending or piece.raw)} …", f"no text yet, {self._completes(at)}")

    def _completes(self, at: int) -> str:
        done = self.completion(at)
        return "nothing completes it" if done is None else f"completes at token {done + 1:,}"

    def rows(self, at: int) -> list[Row]:
        """Everything about token `at`, a line each."""
        piece = self.pieces[at]
        rows = [Row("Token", f"{at + 1:,}", f"of {len(self.pieces):,}"), _id(piece)]
        if (string := self._string(piece)) is not None:
            rows.append(Row("String", string, code=True))
        raw = piece.raw if piece.raw is not None else piece.text.encode("utf-8", "surrogatepass")
        rows += [Row("Bytes", hexed(raw, 24) or "none", code=bool(raw)), Row("Kind", KINDS[piece.kind])]
        return [*rows, *self._waiting(at), *self._fate(at)]

    def _string(self, piece: Piece) -> str | None:
        if self.vocabulary is None or piece.token_id is None:
            return None
        try:
            return shorten(self.vocabulary.token(piece.token_id).string, 80) or None
        except UsageError:  # the tokenizer is gone, or took too long
            return None

    def _waiting(self, at: int) -> list[Row]:
        pending = self.pending(at)
        if not pending:
            return []
        return [Row("Pending", hexed(pending), self._completes(at), code=True)]

    def _fate(self, at: int) -> list[Row]:
        if self.fates is None:
            return []
        fate, rows = self.fates[at], []
        if fate.skipped:
            rows.append(Row("Text", "none", "id only: left out by the decode options"))
        if fate.stopped:
            rows.append(Row("Text", "none", "at or after the stop string"))
        if fate.lost:
            rows.append(Row("Lost", hexed(fate.lost, 24), "by server policy", code=True))
        if fate.late:
            rows.append(Row("Late", count(fate.late, "token"), "its text comes out so much later"))
        if fate.revised:
            rows.append(Row("Revised", "the decoder took back what it had made of these bytes"))
        return rows


def _without_bytes(piece: Piece) -> Chip:
    if piece.kind == "unknown":
        return Chip("unknown", f"id {piece.token_id}", "no text, not in the vocabulary")
    return Chip("silent", "no text", "no text of its own")


def _id(piece: Piece) -> Row:
    if piece.token_id is None:
        return Row("Id", "none")
    return Row("Id", str(piece.token_id), "recorded" if piece.recorded else "assumed", code=True)


def _spelled(piece: Piece) -> str:
    return (piece.raw or b"").decode("utf-8", "replace") or piece.text or "no text"


def hexed(raw: bytes, limit: int = 16) -> str:
    """Bytes as people write them; of many only the first."""
    return raw.hex(" ").upper() if len(raw) <= limit else f"{raw[:limit].hex(' ').upper()} … {len(raw):,} in all"
