"""What the strings of a vocabulary stand for: the ways in which vocabularies spell bytes.

=============  =====================================================================================================
byte_level     every byte is a visible character (GPT-2 and most models since)
byte_fallback  text with U+2581 for a blank, and `<0xE6>` for a byte that no token spells (SentencePiece)
word_piece     words; what begins with `##` goes on with the word before (BERT)
=============  =====================================================================================================

Visible characters are the printable ones of Latin-1 for themselves; U+0100 and up stand for the other 68 bytes, in
order (openai/gpt-2, src/encoder.py). Byte string and id are one-to-one there.

A blank that the second kind puts before a text is taken away again at the start of an output: `strip` blanks by the
decoder Strip, or every one in the first token (`first`) by the decoder Metaspace.

WordPiece keeps no blanks: one stands before each word but the first, and `cleanup` takes it away again before
punctuation and English endings (huggingface/tokenizers 0.23.3, tokenizers/src/decoders/wordpiece.rs).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webapp.vocabularies.components import Part, leaves
from webapp.vocabularies.plain_json import VocabularyError

if TYPE_CHECKING:
    from parsers.decoding.policy import Decoder

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SHOWN = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_HIDDEN = tuple(sorted(set(range(0x100)) - set(_SHOWN)))
BYTE_OF = {chr(byte): byte for byte in _SHOWN} | {chr(256 + i): b for i, b in enumerate(_HIDDEN)}
CHAR_OF = {byte: char for char, byte in BYTE_OF.items()}


# What the clean-up of WordPiece replaces in each token, in this order.
_CLEANUP = (
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    *((ending, ending[1:]) for ending in (" 's", " 've", " 're")),
)


def bytes_of(string: str) -> bytes:
    """The bytes a byte-level string stands for; its characters must all be keys of BYTE_OF."""
    return bytes([BYTE_OF[char] for char in string])


@dataclass(slots=True, frozen=True)
class Spelling:
    """Says how a vocabulary is read. `replace` are texts and what they stand for; `fallback`: `<0xHH>` is a byte;
    `prefix` begins what goes on with a word, of WordPiece only; `unknown`: a piece, and the text that SentencePiece
    gives for it."""

    decoder: Decoder
    replace: tuple[tuple[str, str], ...] = ()
    fallback: bool = False
    strip: int = 0
    first: bool = False
    prefix: str | None = None
    cleanup: bool = False
    unknown: tuple[str, str] | None = None

    def raw(self, string: str) -> bytes:
        """The bytes of a token. A string that is no spelling at all stands for itself, as in the library."""
        if self.decoder == "byte_level":
            known = all(char in BYTE_OF for char in string)
            return bytes_of(string) if known else string.encode("utf-8", "replace")
        if self.prefix is not None:
            goes_on = string.startswith(self.prefix)
            return self._clean(string[len(self.prefix) :] if goes_on else f" {string}")
        if self.unknown is not None and string == self.unknown[0]:
            return self.unknown[1].encode()
        byte = _BYTE.fullmatch(string) if self.fallback else None
        if byte:
            return bytes.fromhex(byte[1])
        for old, new in self.replace:
            string = string.replace(old, new)
        return string.encode("utf-8", "replace")

    def begins(self, string: str) -> bytes:
        """The bytes of a WordPiece token at the beginning of an output, where even `##` is text."""
        return self._clean(string)

    def _clean(self, text: str) -> bytes:
        for old, new in _CLEANUP if self.cleanup else ():
            text = text.replace(old, new)
        return text.encode("utf-8", "replace")


def spelling_of(decoder: Part | None, pre_tokenizer: Part | None) -> Spelling:
    """The spelling that a decoder undoes. Raises VocabularyError for one that would not give exact bytes."""
    parts = leaves(decoder)
    kinds = [part["type"] for part in parts]
    if "ByteLevel" in kinds or (not parts and any(part["type"] == "ByteLevel" for part in leaves(pre_tokenizer))):
        if len(parts) > 1 and set(kinds) - {"ByteLevel", "Fuse"}:
            raise VocabularyError(
                "ByteLevel stands beside parts that change its bytes; only ByteLevel alone is read", "/decoder"
            )
        return Spelling("byte_level")
    if not parts:
        raise VocabularyError(
            "there is no decoder, so the text of a token is not known; take one with a decoder", "/decoder"
        )
    if "WordPiece" in kinds:
        if set(kinds) - {"WordPiece", "Fuse"} or kinds.count("WordPiece") > 1:
            raise VocabularyError("WordPiece stands beside other parts; only WordPiece alone is read", "/decoder")
        (part,) = (part for part in parts if part["type"] == "WordPiece")
        return Spelling("word_piece", prefix=part["prefix"], cleanup=part["cleanup"])
    _require_order(kinds)
    replace = [_replacement(part) for part in parts if part["type"] in ("Replace", "Metaspace")]
    strips = [part for part in parts if part["type"] == "Strip"]
    if any(part.get("content", " ") != " " or part.get("stop") for part in strips):
        raise VocabularyError("Strip may take blanks from the start of an output, nothing else", "/decoder")
    first = any(part["type"] == "Metaspace" and part.get("prepend_scheme", "always") != "never" for part in parts)
    taken = sum(part.get("start", 0) for part in strips)
    return Spelling("byte_fallback", tuple(replace), "ByteFallback" in kinds, taken, first)


def _replacement(part: Part) -> tuple[str, str]:
    if part["type"] == "Metaspace":
        return part.get("replacement", "▁"), " "
    return part["pattern"]["String"], part.get("content", "")


def _require_order(kinds: Sequence[str]) -> None:
    if "Strip" in kinds and "Fuse" not in kinds[: kinds.index("Strip")]:
        raise VocabularyError("Strip stands before Fuse and would take blanks from every token", "/decoder")


def of_data(data: dict[str, Any]) -> Spelling:
    """The spelling that was written as a dictionary (`asdict`) in JSON."""
    unknown = data.get("unknown")  # not in what was kept by older versions
    pairs = {"replace": tuple((old, new) for old, new in data["replace"]), "unknown": unknown and (*unknown,)}
    return Spelling(**{**data, **pairs})
