"""SentencePiece models and GGUF files as bytes, written field by field."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[tuple[str, float, int]]
KINDS = {bool: 7, str: 8, list: 9, int: 4, float: 6}


def varint(number: int) -> bytes:
    head = b""
    while number > 127:
        head += bytes([number & 127 | 128])
        number >>= 7
    return head + bytes([number])


def member(number: int, value: bytes | str | int | float) -> bytes:
    """A field of a protocol buffer."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def sentencepiece(
    rows: Rows, trainer: Mapping[int, Any] | None = None, normalizer: Mapping[int, Any] | None = None
) -> bytes:
    """A model of these pieces; `trainer` and `normalizer` by the numbers of their fields."""
    pieces = [member(1, member(1, text) + member(2, score) + member(3, kind)) for text, score, kind in rows]
    specs = [(2, trainer or {}), (3, normalizer or {})]
    parts = [member(at, b"".join([member(number, value) for number, value in spec.items()])) for at, spec in specs]
    return b"".join([*pieces, *parts])


def gguf(values: Mapping[str, Any], *, version: int = 3, count: int | None = None) -> bytes:
    """A GGUF file with this header and no tensor."""
    head = struct.pack("<4sIQQ", b"GGUF", version, 0, len(values) if count is None else count)
    return head + b"".join(
        [text(key) + struct.pack("<I", KINDS[type(one)]) + value(one) for key, one in values.items()]
    )


def text(words: str) -> bytes:
    raw = words.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(one: Any) -> bytes:
    if isinstance(one, str):
        return text(one)
    if isinstance(one, bool):
        return struct.pack("<?", one)
    if isinstance(one, list):
        kind = KINDS[type(one[0])] if one else 4
        return struct.pack("<IQ", kind, len(one)) + b"".join([value(inner) for inner in one])
    return struct.pack("<f" if isinstance(one, float) else "<I", one)


def written(table: Mapping[str, Any], **more: Any) -> bytes:
    """A GGUF file whose tokenizer section has this."""
    keys = {"general.name": "toy", "general.tags": ["a", "b"], "general.sizes": [1, 2], "toy.layers": 3}
    return gguf({**keys, **{f"tokenizer.{key}": one for key, one in table.items()}}, **more)
