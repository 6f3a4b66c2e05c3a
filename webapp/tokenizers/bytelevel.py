"""Byte-level BPE vocabularies (GPT-2 and its descendants) behind the adapter interface.

This is for vocabularies of our own making; those of others live in a process of their own (hosted.py).
"""

from __future__ import annotations

import os

# One text at a time gains nothing from its thread pool, and a pool that has run makes every later fork complain.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import Tokenizer

from parsers.decoding.policy import Decoder
from parsers.vocabulary.types import Piece
from webapp.tokenizers.base import (
    MarkerState,
    Origin,
    Realism,
    TokenizerInfo,
    info_of,
    require_encodable,
)
from webapp.tokenizers.detokenize import Entries, TokenTable


class ByteLevelTokenizer(TokenTable):
    """A loaded byte-level `Tokenizer` and the table of its tokens. `entries` holds every id the backend can give."""

    __slots__ = ("_backend", "_kind", "fingerprint", "label", "name", "realism")

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
        super().__init__(entries)
        self._backend = backend
        self._kind = kind
        self.name = name
        self.label = label
        self.realism = realism
        self.fingerprint = fingerprint

    @property
    def decoder(self) -> Decoder:
        return "byte_level"

    @property
    def info(self) -> TokenizerInfo:
        return info_of(self, self._kind)

    def encode(self, text: str) -> list[int]:
        require_encodable(text)
        # encode() would hold the GIL for the whole text; the batch call releases it.
        return self._backend.encode_batch([text], add_special_tokens=False)[0].ids

    def pieces(self, text: str) -> tuple[Piece, ...]:
        return self.pieces_of(self.encode(text), recorded=False)

    def id_of(self, marker: str) -> int | None:
        return self._marker_ids.get(marker)

    def marker_state(self, text: str) -> MarkerState:
        ids = tuple(self.encode(text))
        return MarkerState("one" if len(ids) == 1 else "several", ids)
