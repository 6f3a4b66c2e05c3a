"""Compressed bytes: how they begin, what they hold, and a file of them as it is read.

    gzip  1f 8b 08                           RFC 1952, any number of members
    zlib  78, and one of 01 5e 9c da         RFC 1950
    zstd  28 b5 2f fd, or 5x 2a 4d 18 first  RFC 8878, any number of frames

What was cut off in the middle is read as far as it goes. (zstd is in the standard library from Python 3.14 on; before,
it is its backport.)
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from enum import Enum
from io import BytesIO
from typing import BinaryIO, cast

try:  # pragma: no cover
    from compression import zstd as zstd  # type: ignore[import-not-found, unused-ignore]
except ModuleNotFoundError:
    from backports import zstd as zstd

DAMAGED = (EOFError, OSError, zlib.error, zstd.ZstdError)  # what reading raises where the rest is missing or broken
_PART = 1 << 16  # bytes read at a time


class Packing(Enum):
    """A compression."""

    GZIP = "gzip"
    ZLIB = "zlib"
    ZSTD = "zstd"


_BEGINNINGS = (
    (b"\x1f\x8b\x08", Packing.GZIP),
    *((b"\x78" + level, Packing.ZLIB) for level in (b"\x01", b"\x5e", b"\x9c", b"\xda")),
    (b"\x28\xb5\x2f\xfd", Packing.ZSTD),
    *((bytes([0x50 + number]) + b"\x2a\x4d\x18", Packing.ZSTD) for number in range(16)),  # a frame that is skipped
)


def packing_of(data: bytes) -> Packing | None:
    """The compression that bytes begin like."""
    return next((packing for beginning, packing in _BEGINNINGS if data.startswith(beginning)), None)


def opened(file: BinaryIO, packing: Packing) -> BinaryIO:
    """A file of gzip or zstd, unpacked as it is read: that raises one of DAMAGED where it is cut off or broken."""
    return cast(BinaryIO, gzip.GzipFile(fileobj=file) if packing is Packing.GZIP else zstd.ZstdFile(file))


def unpacked(data: bytes, packing: Packing, most: int) -> bytes | None:
    """What bytes hold, up to where they are cut off or broken; None if that is nothing, or more than `most` bytes."""
    parts: list[bytes] = []
    size = 0
    try:
        for part in _parts(data, packing, most):
            size += len(part)
            if size > most:
                return None
            parts.append(part)
    except DAMAGED:
        pass  # what came before it is whole
    return b"".join(parts) or None


def _parts(data: bytes, packing: Packing, most: int) -> Iterator[bytes]:
    if packing is Packing.ZLIB:
        yield zlib.decompressobj().decompress(data, most + 1)
        return
    with opened(BytesIO(data), packing) as file:
        while part := cast(gzip.GzipFile, file).read1(_PART):
            yield part
