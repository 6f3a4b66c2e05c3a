"""SentencePiece's two ways to cut a text, so that the ids are those of SentencePiece itself.

The library that loads every other tokenizer cuts such vocabularies nearly so: blanks in a row, and blanks at the start,
come out otherwise. Pieces that stand for a marker (`<s>`) are found in the text first, for an output shows them as
text; what is between them is cut as SentencePiece does. A blank is put before the first part only.

=========  ==========================================================================================================
bpe        of all neighbours that are a piece together, those of the best score are joined; the leftmost of equals
unigram    the way through the text whose scores add up to the most, in single precision
=========  ==========================================================================================================

google/sentencepiece 0.2.3: src/normalizer.cc, src/bpe_model.cc, src/unigram_model.cc (EncodeOptimized),
src/sentencepiece_processor.cc. Both take O(n log n) steps, and the length of the longest piece for a Unigram.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from webapp.vocabularies.components import Part
from webapp.vocabularies.double_array import DoubleArray, require_charsmap
from webapp.vocabularies.piece_table import (
    BLANK,
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
)

_UNKNOWN_PENALTY = 10.0
_LEAST = 2.0**-126  # where it begins to look for the best score, so that one below zero never is


@dataclass(slots=True)
class Cut:
    """The ids of a text, and where each begins and ends in it, in code points."""

    ids: list[int] = field(default_factory=list)
    offsets: list[tuple[int, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)


class PieceTokenizer:
    """A table of pieces that is asked as a tokenizer of the library is."""

    def __init__(self, table: Part) -> None:
        rows: list[tuple[str, float, int]] = table["pieces"]
        self._strings = [text for text, _, _ in rows]
        self._all = {text: at for at, text in enumerate(self._strings)}
        self._unknown = unknown = int(table["unknown"])
        inside = (NORMAL, USER_DEFINED, UNUSED)
        pieces = {text: at for at, (text, _, kind) in enumerate(rows) if kind in inside}
        markers = [text for text, _, kind in rows if kind in (CONTROL, UNKNOWN)]
        own = [text for text, _, kind in rows if kind == USER_DEFINED]
        bytes_ = {text: at for at, (text, _, kind) in enumerate(rows) if kind == BYTE}
        self._bytes: list[int] = [bytes_.get(f"<0x{byte:02X}>", unknown) for byte in range(256)]
        self._fallback = bool(table["byte_fallback"])
        self._markers = _Texts(markers)
        self._normalizer = Normalizer(table, own)
        model = _Bpe if table["sentencepiece"] == "bpe" else _Unigram
        self._model = model(rows, pieces, own, self._unknown)

    def encode_batch(self, texts: Sequence[str], add_special_tokens: bool = False) -> list[Cut]:
        """The ids of each text; nothing is ever added."""
        return [self._encode(text) for text in texts]

    def id_to_token(self, token_id: int) -> str | None:
        """The piece of an id."""
        return self._strings[token_id] if 0 <= token_id < len(self._strings) else None

    def token_to_id(self, text: str) -> int | None:
        """The id of a piece."""
        return self._all.get(text)

    def get_vocab_size(self) -> int:
        """How many pieces there are."""
        return len(self._strings)

    def _encode(self, text: str) -> Cut:
        cut, at = Cut(), 0
        for marker, start in self._markers.found_in(text):
            self._part(cut, text, at, start)
            at = start + len(marker)
            cut.ids.append(self._all[marker])
            cut.offsets.append((start, at))
        self._part(cut, text, at, len(text))
        return cut

    def _part(self, cut: Cut, text: str, start: int, end: int) -> None:
        if start == end:
            return
        normal, places = self._normalizer.normal(text[start:end], first=not start)
        at, unknown = 0, False
        for piece, token_id in self._model.cut(normal):
            span = start + places[at], start + places[at + len(piece)]
            at += len(piece)
            if token_id != self._unknown:
                cut.ids.append(token_id)
                cut.offsets.append(span)
            elif self._fallback:
                found = [self._bytes[byte] for byte in piece.encode("utf-8", "replace")]
                cut.ids += found
                cut.offsets += [span] * len(found)
            elif not unknown:  # unknown pieces in a row are one
                cut.ids.append(token_id)
                cut.offsets.append(span)
            unknown = token_id == self._unknown


class Normalizer:
    """What SentencePiece makes of a text before it is cut. `own`: pieces that are never changed."""

    def __init__(self, table: Part, own: Sequence[str]) -> None:
        data = require_charsmap(table["charsmap"])
        self._trie = DoubleArray(data) if data else None
        self._prefix, self._suffix = table["prefix"], table["suffix"]
        self._fewer = table["fewer_blanks"]
        self._blank = BLANK if table["escapes"] else " "
        self._own = _Texts(own)

    def normal(self, text: str, *, first: bool) -> tuple[str, list[int]]:
        """The text as it is cut, and the place in the given one of each of its characters, and of its end."""
        blank, fewer = self._blank, self._fewer
        out: list[str] = []
        places: list[int] = []
        before = fewer and first
        for part, start in self._parts(text):
            shown = part.lstrip(" ") if before else part
            if shown:
                out += shown.replace(" ", blank)
                places += [start] * len(shown)
                before = fewer and shown[-1] == " "
        while fewer and out and out[-1] == blank:
            out.pop()
            places.pop()
        if out and first and self._prefix:
            at = len(out) if self._suffix else 0
            out.insert(at, blank)
            places.insert(at, len(text) if self._suffix else 0)
        return "".join(out), [*places, len(text)]

    def _parts(self, text: str) -> list[tuple[str, int]]:
        """What stands in the place of each part of a text, and where the part begins."""
        if self._trie is None:
            return [(char, at) for at, char in enumerate(text)]
        return self._mapped(text, self._trie)

    def _mapped(self, text: str, trie: DoubleArray) -> list[tuple[str, int]]:
        raw, found = text.encode("utf-8", "replace"), list[tuple[str, int]]()
        at = byte = 0
        while at < len(text):
            own = self._own.at(text, at)
            mapped = None if own else trie.longest(raw, byte)
            if mapped is None:
                part = own or text[at]
                found.append((part, at))
                size = len(part.encode("utf-8", "replace"))
                at += len(part)
            else:
                found.append((mapped[0], at))
                size = mapped[1]
                at += len(raw[byte : byte + size].decode("utf-8", "replace"))
            byte += size
        return found


class _Bpe:
    """Neighbours are joined, the best score first."""

    def __init__(
        self, rows: Sequence[tuple[str, float, int]], pieces: dict[str, int], own: Sequence[str], unknown: int
    ) -> None:
        self._scores = {text: -rows[at][1] for text, at in pieces.items()}
        self._pieces = pieces
        self._unused = {text for text, _, kind in rows if kind == UNUSED}
        self._known = {text: at for at, (text, _, _) in enumerate(rows)}
        self._unknown = unknown
        self._own = _Texts(own)

    def cut(self, text: str) -> list[tuple[str, int]]:
        """The pieces of a text and their ids."""
        if not text:
            return []
        symbols, frozen = list[str](), list[bool]()
        end = 0
        for piece, at in self._own.found_in(text):
            symbols += [*text[end:at], piece]
            frozen += [*[False] * (at - end), True]
            end = at + len(piece)
        symbols += text[end:]
        joined = self._joined(symbols, [*frozen, *[False] * (len(text) - end)])
        known, unknown = self._known, self._unknown
        return [
            (piece, known.get(piece, unknown)) for symbol in symbols if symbol for piece in _taken_apart(symbol, joined)
        ]

    def _joined(self, symbols: list[str], frozen: list[bool]) -> dict[str, tuple[str, str]]:
        """Join the symbols in their place; the unused pieces that came about, and of which two."""
        size, scores, unused = len(symbols), self._scores, self._unused
        before, after = [*range(-1, size - 1)], [*range(1, size), -1]
        apart: dict[str, tuple[str, str]] = {}
        agenda: list[tuple[float, int, int, int]] = []

        def add(left: int, right: int, put: Any = heappush) -> None:
            if left < 0 or right < 0 or frozen[left] or frozen[right]:
                return
            piece = symbols[left] + symbols[right]
            score = scores.get(piece)
            if score is not None:
                put(agenda, (score, left, right, len(piece)))
                if piece in unused:
                    apart[piece] = symbols[left], symbols[right]

        for left in range(size - 1):
            add(left, left + 1, list.append)
        heapify(agenda)
        while agenda:
            _, left, right, length = heappop(agenda)
            one, other = symbols[left], symbols[right]
            if not one or not other or len(one) + len(other) != length:
                continue
            symbols[left], symbols[right] = one + other, ""
            after[left] = after[right]
            if after[right] >= 0:
                before[after[right]] = left
            add(before[left], left)
            add(left, after[left])
        return apart


def _taken_apart(piece: str, apart: dict[str, tuple[str, str]]) -> list[str]:
    """The pieces of a piece that is not used; itself where it is."""
    found, todo = list[str](), [piece]
    while todo:
        one = todo.pop()
        if one in apart:
            todo += reversed(apart[one])
        else:
            found.append(one)
    return found


class _Unigram:
    """The way of the most likely pieces."""

    def __init__(
        self, rows: Sequence[tuple[str, float, int]], pieces: dict[str, int], own: Sequence[str], unknown: int
    ) -> None:
        normal = [score for _, score, kind in rows if kind == NORMAL]
        best, self._penalty = max([_LEAST, *normal]), _single(min(normal, default=0.0) - _UNKNOWN_PENALTY)
        self._pieces = {
            text: (at, _single(len(text.encode()) * best - 0.1) if rows[at][2] == USER_DEFINED else rows[at][1])
            for text, at in pieces.items()
            if rows[at][2] != UNUSED
        }
        lengths: dict[str, set[int]] = {}
        for text in self._pieces:
            lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {char: sorted(found) for char, found in lengths.items()}
        self._unknown = unknown

    def cut(self, text: str) -> list[tuple[str, int]]:
        """The pieces of a text and their ids."""
        size, pieces, lengths, single = len(text), self._pieces, self._lengths, array("f", [0.0])
        best = array("f", bytes(4 * (size + 1)))
        begins, ids = [-1] * (size + 1), [self._unknown] * (size + 1)
        for at in range(size):
            here, whole = best[at], False
            for length in lengths.get(text[at], ()):
                end = at + length
                found = pieces.get(text[at:end]) if end <= size else None
                if found is None:
                    continue
                whole = whole or length == 1
                single[0] = found[1] + here
                if begins[end] < 0 or single[0] > best[end]:
                    best[end], begins[end], ids[end] = single[0], at, found[0]
            single[0] = self._penalty + here
            if not whole and (begins[at + 1] < 0 or single[0] > best[at + 1]):
                best[at + 1], begins[at + 1], ids[at + 1] = single[0], at, self._unknown
        way, end = list[tuple[str, int]](), size
        while end > 0:
            way.append((text[begins[end] : end], ids[end]))
            end = begins[end]
        return way[::-1]


def _single(number: float) -> float:
    """The nearest number of single precision."""
    return array("f", [number])[0]


class _Texts:
    """Texts that are found in another one; of two that begin alike the longer one.

    Keeps them by their first characters; a place costs as many looks as there are lengths of those that begin with its
    character, however many texts there are: a model of AI21's has 26,092.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = {*texts}
        lengths: dict[str, set[int]] = {}
        for text in texts:
            lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {char: sorted(found, reverse=True) for char, found in lengths.items()}
        self._begins = re.compile(f"[{re.escape(''.join(lengths))}]" if lengths else "(?!)")

    def at(self, text: str, at: int) -> str | None:
        """Return the one that stands at a place of a text."""
        parts = (text[at : at + length] for length in self._lengths.get(text[at], ()))
        return next((part for part in parts if part in self._texts), None)

    def found_in(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield those in a text, in order, with their places; none begins inside another."""
        end = 0
        for place in self._begins.finditer(text):
            part = self.at(text, place.start()) if place.start() >= end else None
            if part is not None:
                yield part, place.start()
                end = place.start() + len(part)
