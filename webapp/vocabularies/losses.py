"""What the ids of a vocabulary do not keep of a text, told from its parts before any text is cut.

A text that somebody pasted is the truth and stays whole; this is what is gone where only ids were recorded, and where
the model itself never saw it. What a part does: huggingface/tokenizers 0.23.3, tokenizers/src/normalizers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from webapp.vocabularies.components import Part, leaves
from webapp.vocabularies.spelling import Spelling

Loss = Literal["blanks", "case", "accents", "controls", "forms", "unknown"]

# In the order in which they are told; the words are for people.
LOSSES: Mapping[Loss, str] = {
    "blanks": "which blanks and line ends stand between words, and how many",
    "case": "upper case",
    "accents": "accents",
    "controls": "control characters",
    "forms": "other forms of a character",
    "unknown": "what the vocabulary has no token for",
}
_OF_NORMALIZERS: Mapping[str, Loss] = {
    "Lowercase": "case",
    "StripAccents": "accents",
    "Strip": "blanks",
    "NFKC": "forms",
    "NFKD": "forms",
    "Nmt": "forms",
    "Precompiled": "forms",
}


def losses(tokenizer: Part, spelling: Spelling) -> list[Loss]:
    """What is lost by a rebuilt tokenizer.json or a table of pieces."""
    found = {*(_of_table(tokenizer) if "sentencepiece" in tokenizer else _of_parts(tokenizer, spelling))}
    return [loss for loss in LOSSES if loss in found]


def lost_words(found: Iterable[Loss]) -> list[str]:
    """What is lost, in words."""
    return [LOSSES[loss] for loss in found]


def _of_table(table: Part) -> Iterator[Loss]:
    if table["fewer_blanks"]:
        yield "blanks"
    if table["charsmap"]:
        yield "forms"
    if not table["byte_fallback"]:
        yield "unknown"


def _of_parts(tokenizer: Part, spelling: Spelling) -> Iterator[Loss]:
    if spelling.decoder == "word_piece":
        yield "blanks"
    if spelling.decoder != "byte_level" and not tokenizer["model"].get("byte_fallback"):
        yield "unknown"
    for part in leaves(tokenizer["normalizer"]):
        if part["type"] == "BertNormalizer":
            yield from _of_bert(part)
        elif part["type"] in _OF_NORMALIZERS:
            yield _OF_NORMALIZERS[part["type"]]


def _of_bert(part: Part) -> Iterator[Loss]:
    accents = part.get("strip_accents")
    if part["clean_text"]:
        yield "controls"
    if part["lowercase"]:
        yield "case"
    if part["lowercase"] if accents is None else accents:
        yield "accents"
