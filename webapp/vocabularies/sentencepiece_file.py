"""A SentencePiece model read as data: its pieces with their scores, and how it changes a text before it cuts it.

Field numbers, kinds of pieces and defaults: google/sentencepiece 0.2.3, src/sentencepiece_model.proto.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from webapp.vocabularies.components import Part
from webapp.vocabularies.piece_table import NORMAL, Algorithm, piece_table
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.protobuf import as_bytes, as_float, as_text, fields

_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_ALGORITHMS: Mapping[int, Algorithm] = {1: "unigram", 2: "bpe"}
_SURFACE = " \u2047 ".encode()  # what the library gives for an unknown piece, where the model says nothing
_OTHER_ALGORITHMS = {3: "words", 4: "single characters"}


def is_sentencepiece(data: bytes) -> bool:
    """Return whether a file begins as a model does: with a piece that holds a text, a score and perhaps a kind."""
    if len(data) < 8 or data[0] != 0x0A or data[2] != 0x0A:
        return False
    size, text = data[1], data[3]
    return 2 + size <= len(data) and data[4 + text : 5 + text] in (b"\x15", b"\x18") and text + 2 <= size


def sentencepiece_pieces(data: bytes) -> Part:
    """The table of pieces of a model. Raises VocabularyError."""
    rows: list[tuple[str, float, int]] = []
    trainer: dict[int, Any] = {}
    normalizer: dict[int, Any] = {}
    for number, value in fields(data):
        if number == _PIECES:
            rows.append(_piece(as_bytes(value)))
        elif number == _TRAINER:
            trainer = dict(fields(as_bytes(value)))
        elif number == _NORMALIZER:
            normalizer = dict(fields(as_bytes(value)))
    kind = trainer.get(3, 1)
    if kind not in _ALGORITHMS:
        words = _OTHER_ALGORITHMS.get(kind, "an unknown way")
        raise VocabularyError(f"the SentencePiece model cuts by {words}; BPE and Unigram are read")
    return piece_table(
        _ALGORITHMS[kind],
        rows,
        byte_fallback=bool(trainer.get(35, 0)),
        suffix=bool(trainer.get(24, 0)),
        charsmap=base64.b64encode(as_bytes(normalizer.get(2, b""))).decode(),
        prefix=bool(normalizer.get(3, 1)),
        fewer_blanks=bool(normalizer.get(4, 1)),
        escapes=bool(normalizer.get(5, 1)),
        surface=as_text(trainer.get(44, _SURFACE)),
    )


def _piece(data: bytes) -> tuple[str, float, int]:
    text, score, kind = "", 0.0, NORMAL
    for number, value in fields(data):
        if number == 1:
            text = as_text(value)
        elif number == 2:
            score = as_float(value)
        elif number == 3 and isinstance(value, int):
            kind = value
    return text, score, kind
