"""Compressed bytes: what they hold, whole, in parts, cut off and broken."""

from __future__ import annotations

import gzip
import random
import zlib
from io import BytesIO

import pytest

from parsers.intake.packing import Packing, opened, packing_of, unpacked, zstd

TEXT = random.Random(1).randbytes(100_000).hex().encode()  # longer than a part, also packed
PACKED = {Packing.GZIP: gzip.compress(TEXT), Packing.ZLIB: zlib.compress(TEXT), Packing.ZSTD: zstd.compress(TEXT)}
SKIPPED = b"\x51\x2a\x4d\x18\x03\x00\x00\x00abc"  # a frame of zstd that holds nothing of the data


@pytest.mark.parametrize("packing", Packing)
def test_what_is_packed_is_unpacked(packing: Packing) -> None:
    assert packing_of(PACKED[packing]) is packing
    assert unpacked(PACKED[packing], packing, len(TEXT)) == TEXT


@pytest.mark.parametrize("packing", Packing)
def test_more_than_is_wanted_is_nothing(packing: Packing) -> None:
    assert unpacked(PACKED[packing], packing, len(TEXT) - 1) is None


@pytest.mark.parametrize("packing", Packing)
def test_what_was_cut_off_is_read_as_far_as_it_goes(packing: Packing) -> None:
    found = unpacked(PACKED[packing][:-2_000], packing, len(TEXT))
    assert found is not None
    assert len(TEXT) > len(found) > len(TEXT) // 2
    assert TEXT.startswith(found)


@pytest.mark.parametrize("packing", Packing)
def test_what_only_begins_like_it_holds_nothing(packing: Packing) -> None:
    assert unpacked(PACKED[packing][:4] + b"no archive", packing, len(TEXT)) is None


MEMBERS = [
    (gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0), Packing.GZIP),
    (zstd.compress(b"a") + zstd.compress(b"b"), Packing.ZSTD),
    (SKIPPED + zstd.compress(b"a") + SKIPPED + zstd.compress(b"b"), Packing.ZSTD),
]


@pytest.mark.parametrize(("data", "packing"), MEMBERS, ids=["gzip", "zstd", "zstd with skipped frames"])
def test_members_follow_one_another(data: bytes, packing: Packing) -> None:
    assert packing_of(data) is packing
    assert unpacked(data, packing, 2) == b"ab"
    with opened(BytesIO(data), packing) as file:
        assert file.read() == b"ab"


def test_a_text_is_not_packed() -> None:
    assert packing_of(b'{"choices": []}') is None
