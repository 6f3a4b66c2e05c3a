"""Byte-level BPE vocabularies (GPT-2 and its descendants) behind the adapter interface.

This is for vocabularies of our own making; those of others live in a process of their own (hosted.py).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

# One text at a time gains nothing from its thread pool, and a pool that has run makes every later fork complain.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import Tokenizer

from parsers.decoding.model import Decoder
from parsers.types import Piece
from webapp.tokenizers.base import (
    DecodePolicy,
    MarkerState,
    Origin,
    Realism,
    Token,
    TokenizerInfo,
    TokenStream,
    require_encodable,
)
from webapp.tokenizers.detokenize import UNKNOWN, Entries, decode, open_stream, pieces_of


class ByteLevelTokenizer:
    """A loaded byte-level `Tokenizer` and the table of its tokens. `entries` holds every id the backend can give."""

    __slots__ = ("_backend", "_entries", "_kind", "_marker_ids", "fingerprint", "label", "name", "realism")

    def __init__(
        self,
        backend: Tokenizer,
        entries: Entries,
        *,
        name: str,
        label: str,
        kind: Origin,
        realism: Realism,
        fingerprint: str,
    ) -> None:
        self._backend = backend
        self._entries = entries
        self._kind = kind
        self._marker_ids = {e.string: i for i, e in entries.items() if e.kind in ("special", "added")}
        self.name = name
        self.label = label
        self.realism = realism
        self.fingerprint = fingerprint

    @property
    def decoder(self) -> Decoder:
        return "byte_level"

    @property
    def vocab_size(self) -> int:
        return len(self._entries)

    @property
    def marker_ids(self) -> Mapping[str, int]:
        return MappingProxyType(self._marker_ids)

    @property
    def info(self) -> TokenizerInfo:
        return TokenizerInfo(
            name=self.name,
            kind=self._kind,
            vocab_size=self.vocab_size,
            label=self.label,
            realism=self.realism,
            decoder=self.decoder,
            fingerprint=self.fingerprint,
        )

    def encode(self, text: str) -> list[int]:
        require_encodable(text)
        # encode() would hold the GIL for the whole text; the batch call releases it.
        return self._backend.encode_batch([text], add_special_tokens=False)[0].ids

    def pieces(self, text: str) -> tuple[Piece, ...]:
        return self.pieces_of(self.encode(text), recorded=False)

    def pieces_of(self, ids: Sequence[int], recorded: bool = True) -> tuple[Piece, ...]:
        return pieces_of(self._entries, ids, recorded)

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        return decode(self._entries, ids, skip_special)

    def token(self, token_id: int) -> Token:
        known = self._entries.get(token_id)
        return UNKNOWN if known is None else Token(known.string, known.raw, known.kind)

    def id_of(self, marker: str) -> int | None:
        return self._marker_ids.get(marker)

    def marker_state(self, text: str) -> MarkerState:
        ids = tuple(self.encode(text))
        return MarkerState("one" if len(ids) == 1 else "several", ids)

    def stream(self, policy: DecodePolicy = "exact", skip_special: bool = False) -> TokenStream:
        return open_stream(self._entries, policy, skip_special)
