"""The vocabulary of a case itself: the tokens it holds, and the markers it gives ids.

It decodes the ids of the case's own model, as far as they occur in it. Text is cut greedily, the longest known token
first, which is not what the model's tokenizer does; so the cut is approximate, and characters that no token spells
have no id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from parsers.decoding.policy import Decoder
from parsers.vocabulary.types import Piece, UsageError
from webapp.tokenizers.base import (
    MarkerState,
    Realism,
    TokenizerInfo,
    info_of,
    require_encodable,
)
from webapp.tokenizers.detokenize import Entry, TokenTable, entry

if TYPE_CHECKING:
    from parsers.cases.model import Case

NAME = "case"
MAX_CHARS = 64  # longer tokens are decoded, and not looked for in a text


class CaseVocabulary(TokenTable):
    """The tokens of a case. Where one id stands with different bytes, the first is taken."""

    name = NAME
    realism: Realism = "approximate"

    def __init__(self, case: Case) -> None:
        entries = _entries(case)
        super().__init__(entries)
        self.decoder: Decoder = case.decoder
        self._ids = {e.text: i for i, e in reversed(entries.items()) if e.text}
        self._lengths = sorted({len(text) for text in self._ids if len(text) <= MAX_CHARS}, reverse=True)

    @property
    def label(self) -> str:
        return f"The case's own tokens, {self.vocab_size:,}"

    @property
    def fingerprint(self) -> str:
        rows = [(i, e.raw.hex(), e.kind) for i, e in sorted(self._entries.items())]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    @property
    def info(self) -> TokenizerInfo:
        return info_of(self, "case")

    def encode(self, text: str) -> list[int]:
        found = []
        for at, length, token_id in self._cut(text):
            if token_id is None:
                raise UsageError(
                    f"no token of the case spells {text[at : at + length]!r} (character {at}); choose the tokenizer of"
                    " the model"
                )
            found.append(token_id)
        return found

    def pieces(self, text: str) -> tuple[Piece, ...]:
        return tuple([self._piece(text[at : at + length], token_id) for at, length, token_id in self._cut(text)])

    def id_of(self, marker: str) -> int | None:
        return self._ids.get(marker)

    def marker_state(self, text: str) -> MarkerState:
        ids = [token_id for _, _, token_id in self._cut(text)]
        known = tuple([token_id for token_id in ids if token_id is not None])
        if len(known) < len(ids) or not ids:
            return MarkerState("absent", known)
        return MarkerState("one" if len(ids) == 1 else "several", known)

    def _piece(self, text: str, token_id: int | None) -> Piece:
        kind = "text" if token_id is None else self._entries[token_id].kind
        return Piece(text, token_id, text.encode(), kind)

    def _cut(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        """Where each token begins, how long it is, and its id."""
        require_encodable(text)
        at = 0
        while at < len(text):
            fits = (n for n in self._lengths if text[at : at + n] in self._ids and at + n <= len(text))
            length = next(fits, 0)
            yield at, length or 1, self._ids[text[at : at + length]] if length else None
            at += length or 1


def _entries(case: Case) -> dict[int, Entry]:
    """The tokens of a case by id: its markers, then what it holds, in the order of the output."""
    found: dict[int, Entry] = {}
    for piece in case.pieces() or ():
        if piece.token_id is not None and piece.raw:
            marker = piece.kind if piece.kind in ("special", "added") else None
            found.setdefault(piece.token_id, entry(piece.text, piece.raw, marker))
    vocab = (case.tokenizer.vocab if case.tokenizer else None) or {}
    for text, token_id in vocab.items():
        found.setdefault(token_id, entry(text, text.encode(), "added"))
    return found
