"""A SentencePiece vocabulary as it is kept: a table of pieces, checked, with all that its tokenizer needs to know.

It is what `piece_tokenizer` works with, and JSON like a rebuilt tokenizer.json, from which HEAD tells it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from webapp.vocabularies.components import Part
from webapp.vocabularies.double_array import require_charsmap
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import MAX_TOKEN_CHARS, MAX_VOCAB
from webapp.vocabularies.spelling import Spelling

Algorithm = Literal["bpe", "unigram"]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
BLANK = "▁"
HEAD = b'{"sentencepiece":'


def piece_table(
    algorithm: Algorithm,
    rows: Sequence[tuple[str, float, int]],
    *,
    byte_fallback: bool = False,
    suffix: bool = False,
    charsmap: str = "",
    prefix: bool = True,
    fewer_blanks: bool = True,
    escapes: bool = True,
    surface: str | None = None,
) -> Part:
    """The table, checked. Raises VocabularyError naming the piece that is wrong.

    `prefix`: a blank is put before a text, or behind it with `suffix`; `fewer_blanks`: blanks in a row are one, and
    those around a text are gone; `escapes`: a blank is U+2581; `charsmap`: the table of the normal form, in base64;
    `surface`: the text that stands for what is unknown, None where it is the piece itself.
    """
    if not 0 < len(rows) <= MAX_VOCAB:
        raise VocabularyError(f"the model has {len(rows):,} pieces; from 1 to {MAX_VOCAB:,} are taken")
    _require_rows(rows)
    require_charsmap(charsmap)
    unknown = next((at for at, row in enumerate(rows) if row[2] == UNKNOWN), None)
    if unknown is None:
        raise VocabularyError("no piece of the model stands for what is unknown; fetch the file again")
    return {
        "sentencepiece": algorithm,
        "unknown": unknown,
        "byte_fallback": byte_fallback,
        "suffix": suffix,
        "charsmap": charsmap,
        "prefix": prefix,
        "fewer_blanks": fewer_blanks,
        "escapes": escapes,
        **({} if surface is None else {"surface": surface}),
        "pieces": [list(row) for row in rows],
    }


def _require_rows(rows: Sequence[tuple[str, float, int]]) -> None:
    seen: dict[str, int] = {}
    for at, (text, score, kind) in enumerate(rows):
        if not text or len(text) > MAX_TOKEN_CHARS:
            raise VocabularyError(f"piece {at} has {len(text):,} characters; from 1 to {MAX_TOKEN_CHARS:,} are taken")
        if text in seen:
            raise VocabularyError(f"the pieces {seen[text]} and {at} are both {text[:40]!r}; ids must be unique")
        if not math.isfinite(score) or not NORMAL <= kind <= BYTE:
            raise VocabularyError(f"piece {at} has no score or no kind; fetch the file again")
        seen[text] = at


def spelling_of_table(table: Part) -> Spelling:
    """How the pieces are spelled: U+2581 for a blank, and one blank less at the start where one was put there."""
    strips = int((table["prefix"] or table["fewer_blanks"]) and not table["suffix"])
    replace = ((BLANK, " "),) if table["escapes"] else ()
    unknown = (table["pieces"][table["unknown"]][0], table["surface"]) if "surface" in table else None
    return Spelling("byte_fallback", replace, table["byte_fallback"], strips, unknown=unknown)


def added_of_table(table: Part) -> list[dict[str, Any]]:
    """The pieces that are tokens by themselves, as added tokens."""
    kinds = (UNKNOWN, CONTROL, USER_DEFINED)
    return [
        {"id": at, "content": text, "special": kind != USER_DEFINED}
        for at, (text, _, kind) in enumerate(table["pieces"])
        if kind in kinds
    ]
