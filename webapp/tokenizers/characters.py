"""No tokenizer: one piece per character (code point), and no ids.

For text whose tokens are not known and must not be guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from parsers.decoding.model import Decoder
from parsers.types import Piece, UsageError
from webapp.tokenizers.base import (
    DecodePolicy,
    MarkerState,
    Realism,
    Token,
    TokenizerInfo,
    TokenStream,
    require_encodable,
)
from webapp.tokenizers.detokenize import UNKNOWN, open_stream, pieces_of

NAME = "characters"


class Characters:
    """Cuts text into characters. It has no vocabulary, so every id is unknown to it."""

    __slots__ = ()

    name = NAME
    label = "Characters, no ids"
    realism: Realism = "none"
    decoder: Decoder = "byte_level"
    vocab_size = 0
    fingerprint = hashlib.sha256(NAME.encode()).hexdigest()
    marker_ids: Mapping[str, int] = MappingProxyType({})

    @property
    def info(self) -> TokenizerInfo:
        return TokenizerInfo(
            name=self.name,
            kind="none",
            vocab_size=self.vocab_size,
            label=self.label,
            realism=self.realism,
            decoder=self.decoder,
            fingerprint=self.fingerprint,
        )

    def encode(self, text: str) -> list[int]:
        """Always raises UsageError: an empty list would pass for the ids of an empty text."""
        raise UsageError("the tokenizer 'characters' has no ids; use its pieces, or choose another tokenizer")

    def pieces(self, text: str) -> tuple[Piece, ...]:
        require_encodable(text)
        return tuple([Piece(char, raw=char.encode()) for char in text])

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        return pieces_of({}, ids, recorded)

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        return ""

    def token(self, token_id: int) -> Token:
        return UNKNOWN

    def id_of(self, marker: str) -> int | None:
        return None

    def marker_state(self, text: str) -> MarkerState:
        return MarkerState("absent", ())

    def stream(self, policy: DecodePolicy = "exact", skip_special: bool = False) -> TokenStream:
        return open_stream({}, policy, skip_special)
