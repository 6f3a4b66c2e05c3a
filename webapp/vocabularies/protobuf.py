"""Protocol buffers read as data: the fields of a message, one after the other, each within its bounds.

Wire types: 0 varint, 1 eight bytes, 2 a length and so many bytes, 5 four bytes; groups are not known (protobuf.dev,
encoding). Nothing is copied but the bytes of a field.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from

from webapp.vocabularies.plain_json import VocabularyError

CUT_OFF = "the file is not whole: a part of it ends too early; fetch it again"
_SIZES = {1: 8, 5: 4}

Field = tuple[int, int | bytes]


def fields(data: bytes) -> Iterator[Field]:
    """The number and value of every field; four and eight bytes as they stand. Raises VocabularyError."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        size, at = _varint(data, at) if kind == 2 else (_SIZES.get(kind, end), at)
        if size > end - at:
            raise VocabularyError(CUT_OFF)
        yield key >> 3, data[at : at + size]
        at += size


def as_float(value: int | bytes) -> float:
    """The number in four bytes. Raises VocabularyError for a field of another kind."""
    if not isinstance(value, bytes) or len(value) != 4:
        raise VocabularyError("a score of the model is no number; fetch the file again")
    found: float = unpack_from("<f", value)[0]
    return found


def as_text(value: int | bytes) -> str:
    """The text of a field. Raises VocabularyError for a field of another kind, or one that is no UTF-8."""
    try:
        if isinstance(value, bytes):
            return value.decode()
    except UnicodeDecodeError:
        pass
    raise VocabularyError("a piece of the model is no text; fetch the file again")


def as_bytes(value: int | bytes) -> bytes:
    """The bytes of a field. Raises VocabularyError for a number."""
    if isinstance(value, int):
        raise VocabularyError("a part of the model is a number where a message stands; fetch the file again")
    return value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise VocabularyError(CUT_OFF)
