"""The table of a normal form that SentencePiece keeps: a trie of byte strings, and what stands in their place.

Four bytes say how large the trie is, its units of four bytes follow (s-yata/darts-clone, as google/sentencepiece 0.2.3
has it in third_party), then the texts, each ended by a zero byte. A unit leads to another by an offset and a byte; the
value of a string is where its text begins.
"""

from __future__ import annotations

import base64
from array import array
from binascii import Error

from webapp.vocabularies.plain_json import VocabularyError

MAX_CHARSMAP = 4_000_000  # that of NFKC has some 240,000 bytes
_BROKEN = "the table of the normal form is broken; fetch the file again"
_LEAF = 1 << 31


class DoubleArray:
    """The trie, with every step kept inside it. Raises VocabularyError for a table whose parts do not fit."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:4], "little")
        if len(data) < 8 or size % 4 or not 4 <= size <= len(data) - 4:
            raise VocabularyError(_BROKEN)
        self._units = array("I", data[4 : 4 + size])
        self._texts = data[4 + size :]
        if self._texts[-1:] not in (b"", b"\0"):
            raise VocabularyError(_BROKEN)

    def longest(self, text: bytes, at: int) -> tuple[str, int] | None:
        """What stands in the place of the longest string of the trie at a place, and how many bytes that has."""
        units, size = self._units, len(self._units)
        node, found = _offset(units[0]), None
        for end in range(at, len(text)):
            node ^= text[end]
            unit = units[node] if node < size else 0
            if unit & (_LEAF | 0xFF) != text[end]:
                break
            node ^= _offset(unit)
            if unit >> 8 & 1 and node < size:
                found = units[node] & (_LEAF - 1), end + 1 - at
        return None if found is None else (self._text(found[0]), found[1])

    def _text(self, start: int) -> str:
        end = self._texts.find(b"\0", start)
        return self._texts[start : max(end, start)].decode("utf-8", "replace")


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 512) >> 6)


def require_charsmap(charsmap: str) -> bytes:
    """The table of a normal form. Raises VocabularyError where a place in it leads outside."""
    try:
        data = base64.b64decode(charsmap, validate=True)
    except (Error, ValueError):
        raise VocabularyError("the table of the normal form is not base64; fetch the file again") from None
    if len(data) > MAX_CHARSMAP:
        raise VocabularyError(f"the table of the normal form has {len(data):,} bytes; at most {MAX_CHARSMAP:,}")
    if data:
        DoubleArray(data)
    return data
