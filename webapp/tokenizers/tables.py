"""Tokenizers that are a table of their tokens and nothing else, and the way from ids to text that all tokenizers share.

==================  ===============================================================================================
tiling              the pieces' texts joined are the UTF-8 decode ("replace") of the tokens' bytes joined
silent tokens       a token that completes no character is a piece with text ''; the one that completes it has it
whole markers       a marker's piece has exactly the marker's text: a character it cuts off ends, as U+FFFD, in the
                    piece that began it
cut off at the end  the same: U+FFFD belongs to the last piece with bytes, nothing is lost
unknown ids         they have no bytes, so a character may go on behind them
==================  ===============================================================================================
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from parsers.decoding.utf8 import Utf8Decoder
from parsers.vocabulary.types import Piece, PieceKind, UsageError
from webapp.tokenizers.adapter import (
    MarkerState,
    Token,
    TokenizerAdapter,
    TokenizerInfo,
    require_encodable,
    require_few,
)

if TYPE_CHECKING:
    from parsers.cases.case import Case

CHARACTERS = "characters"
CASE = "case"
MARKER_KINDS = ("special", "added")
UNKNOWN = Token("", b"", "unknown")

_MAX_CHARS = 64  # longer tokens of a case are decoded, and not looked for in a text


def token_of(string: str, raw: bytes, marker: PieceKind | None = None) -> Token:
    """The token for some bytes; `marker` is special or added for a marker."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return Token(string, raw, "partial")
    return Token(string, raw, marker or "text", text)


def pieces_of(tokens: Mapping[int, Token], ids: Sequence[int], recorded: bool) -> tuple[Piece, ...]:
    """One piece per id. Equal tokens with equal texts are one piece."""
    whole: dict[int, Piece] = {}
    for token_id in dict.fromkeys(ids):
        known = tokens.get(token_id)
        if known is None:
            whole[token_id] = Piece("", token_id, None, "unknown", recorded)
        elif known.text is not None:
            whole[token_id] = Piece(known.text, token_id, known.raw, known.kind, recorded)
    decoder, partial = Utf8Decoder(), dict[tuple[int, str, bytes], Piece]()
    pieces: list[Piece] = []
    begun = -1  # the place of the piece in which a character has begun
    for at, token_id in enumerate(ids):
        piece = whole.get(token_id)
        if begun >= 0 and piece is not None and piece.kind in MARKER_KINDS:
            pieces[begun] = _cut_off(pieces[begun], decoder)
            begun = -1
        if piece is None or (begun >= 0 and piece.kind != "unknown"):
            raw = tokens[token_id].raw
            key = token_id, decoder.feed(raw), decoder.pending
            piece = partial.get(key)
            if piece is None:
                kind: PieceKind = "partial" if decoder.pending else "text"
                piece = partial[key] = Piece(key[1], token_id, raw, kind, recorded)
            begun = at if decoder.pending else -1
        pieces.append(piece)
    if begun >= 0:
        pieces[begun] = _cut_off(pieces[begun], decoder)
    return tuple(pieces)


def _cut_off(piece: Piece, decoder: Utf8Decoder) -> Piece:
    """The piece in which a character has begun that is never whole."""
    return replace(piece, text=piece.text + decoder.finish())


class TokenTable(TokenizerAdapter):
    """Holds what a tokenizer answers from the table of its tokens alone. `tokens` holds every id it can give."""

    def __init__(self, info: TokenizerInfo, tokens: Mapping[int, Token]) -> None:
        super().__init__(info, {token.string: i for i, token in tokens.items() if token.kind in MARKER_KINDS})
        self._tokens = tokens

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        return pieces_of(self._tokens, ids, recorded)

    def token(self, token_id: int) -> Token:
        return self._tokens.get(token_id, UNKNOWN)


class Characters(TokenTable):
    """No tokenizer: one piece per character (code point), and no ids, so every id is unknown.

    For text whose tokens are not known and must not be guessed.
    """

    def __init__(self) -> None:
        info = TokenizerInfo(
            name=CHARACTERS,
            kind="none",
            vocab_size=0,
            label="Characters, no ids",
            realism="none",
            decoder="byte_level",
            fingerprint=hashlib.sha256(CHARACTERS.encode()).hexdigest(),
            loses=[],
        )
        super().__init__(info, {})

    def encode(self, text: str) -> list[int]:
        """Always raises UsageError: an empty list would pass for the ids of an empty text."""
        raise UsageError("the tokenizer 'characters' has no ids; use its pieces, or choose another tokenizer")

    def pieces(self, text: str, most: int | None = None) -> tuple[Piece, ...]:
        require_encodable(text)
        require_few(len(text), most)
        return tuple([Piece(char, raw=char.encode()) for char in text])

    def marker_state(self, text: str) -> MarkerState:
        return MarkerState("absent", ())


class CaseVocabulary(TokenTable):
    """The tokens that a case holds, and the markers it gives ids.

    It decodes the ids of the case's own model, as far as they occur in it. Text is cut greedily, the longest known
    token first, which is not what the model's tokenizer does; so the cut is approximate, and characters that no token
    spells have no id.
    """

    def __init__(self, case: Case) -> None:
        tokens = _tokens_of(case)
        rows = [(i, token.raw.hex(), token.kind) for i, token in sorted(tokens.items())]
        info = TokenizerInfo(
            name=CASE,
            kind="case",
            vocab_size=len(tokens),
            label=f"The case's own tokens, {len(tokens):,}",
            realism="approximate",
            decoder=case.decoder,
            fingerprint=hashlib.sha256(json.dumps(rows).encode()).hexdigest(),
            loses=[],
        )
        super().__init__(info, tokens)
        self._ids = {token.text: i for i, token in reversed(tokens.items()) if token.text}
        self._lengths = sorted({len(text) for text in self._ids if len(text) <= _MAX_CHARS}, reverse=True)

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

    def pieces(self, text: str, most: int | None = None) -> tuple[Piece, ...]:
        found = list(self._cut(text))
        require_few(len(found), most)
        return tuple([self._piece(text[at : at + length], token_id) for at, length, token_id in found])

    def marker_state(self, text: str) -> MarkerState:
        ids = [token_id for _, _, token_id in self._cut(text)]
        known = tuple([token_id for token_id in ids if token_id is not None])
        if len(known) < len(ids) or not ids:
            return MarkerState("absent", known)
        return MarkerState("one" if len(ids) == 1 else "several", known)

    def _piece(self, text: str, token_id: int | None) -> Piece:
        kind = "text" if token_id is None else self._tokens[token_id].kind
        return Piece(text, token_id, text.encode(), kind)

    def _cut(self, text: str) -> Iterator[tuple[int, int, int | None]]:
        require_encodable(text)
        at = 0
        while at < len(text):
            fits = (n for n in self._lengths if text[at : at + n] in self._ids and at + n <= len(text))
            length = next(fits, 0)
            yield at, length or 1, self._ids[text[at : at + length]] if length else None
            at += length or 1


def _tokens_of(case: Case) -> dict[int, Token]:
    """The tokens of a case by id: those of its output, then its markers. Where one id stands with different bytes, the
    first is taken."""
    found: dict[int, Token] = {}
    for piece in case.pieces() or ():
        if piece.token_id is not None and piece.raw:
            marker = piece.kind if piece.kind in MARKER_KINDS else None
            found.setdefault(piece.token_id, token_of(piece.text, piece.raw, marker))
    vocab = (case.tokenizer.vocab if case.tokenizer else None) or {}
    for text, token_id in vocab.items():
        found.setdefault(token_id, token_of(text, text.encode(), "added"))
    return found
