"""No tokenizer: one piece per character (code point), and no ids.

For text whose tokens are not known and must not be guessed.
"""

from __future__ import annotations

import hashlib

from parsers.decoding.policy import Decoder
from parsers.vocabulary.types import Piece, UsageError
from webapp.tokenizers.base import (
    MarkerState,
    Realism,
    TokenizerInfo,
    info_of,
    require_encodable,
)
from webapp.tokenizers.detokenize import TokenTable

NAME = "characters"


class Characters(TokenTable):
    """Cuts text into characters. It has no vocabulary, so every id is unknown to it."""

    __slots__ = ()

    name = NAME
    label = "Characters, no ids"
    realism: Realism = "none"
    decoder: Decoder = "byte_level"
    fingerprint = hashlib.sha256(NAME.encode()).hexdigest()

    def __init__(self) -> None:
        super().__init__({})

    @property
    def info(self) -> TokenizerInfo:
        return info_of(self, "none")

    def encode(self, text: str) -> list[int]:
        """Always raises UsageError: an empty list would pass for the ids of an empty text."""
        raise UsageError("the tokenizer 'characters' has no ids; use its pieces, or choose another tokenizer")

    def pieces(self, text: str) -> tuple[Piece, ...]:
        require_encodable(text)
        return tuple([Piece(char, raw=char.encode()) for char in text])

    def id_of(self, marker: str) -> int | None:
        return None

    def marker_state(self, text: str) -> MarkerState:
        return MarkerState("absent", ())
