"""The incremental UTF-8 decoder against CPython's one-shot decoder."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.decoding.utf8 import Utf8Decoder

TRICKY = [
    b"plain",
    "déjà, 東京, Привет, 🙂".encode(),
    b"\xef\xbb\xbfBOM",
    b"\x00\r\n",
    b"\xc0\xaf",  # overlong /
    b"\xe0\x80\xaf",
    b"\xf0\x80\x80\xaf",
    b"\xed\xa0\x80",  # surrogate
    b"\xed\xa0\x80\xed\xb0\x80",
    b"\xed\xa0",
    b"\xed\x9f\xbf",  # last character before the surrogates
    b"\xf4\x90\x80\x80",  # above U+10FFFF
    b"\xf5\xff\xfe",
    b"\x80\xbf",
    b"\xe6\x9d",  # cut inside a character
    b"\xf0\x9f\x99",
    b"\xf0\x9f\x99a",
    b"\xf0\x9f\xe6\x9d\xb1",
    b"a\xc3",
]
BYTES = st.binary(max_size=24) | st.lists(
    st.sampled_from(
        [b"\xed", b"\xa0", b"\x80", b"\xf0", b"\x9f", b"\xe6\x9d", b"\xb1", b"\xc3", b"a", b"\xf4", b"\x90"]
    ),
    max_size=12,
).map(b"".join)


def decoded(portions: list[bytes]) -> str:
    decoder = Utf8Decoder()
    return "".join([decoder.feed(portion) for portion in portions]) + decoder.finish()


@pytest.mark.parametrize("data", TRICKY, ids=lambda data: data.hex())
def test_every_split_gives_the_text_of_the_whole(data: bytes) -> None:
    whole = data.decode("utf-8", errors="replace")
    for count in range(min(len(data), 4)):
        for cuts in itertools.combinations(range(1, len(data)), count):
            edges = [0, *cuts, len(data)]
            assert decoded([data[a:b] for a, b in itertools.pairwise(edges)]) == whole


@pytest.mark.replays
@given(st.lists(BYTES, max_size=12))
def test_any_portions_give_the_text_of_the_whole(portions: list[bytes]) -> None:
    assert decoded(portions) == b"".join(portions).decode("utf-8", errors="replace")


@given(BYTES)
def test_byte_by_byte_gives_the_text_of_the_whole(data: bytes) -> None:
    assert decoded([data[i : i + 1] for i in range(len(data))]) == data.decode("utf-8", errors="replace")


@given(BYTES)
def test_what_is_pending_can_still_become_a_character(data: bytes) -> None:
    decoder = Utf8Decoder()
    decoder.feed(data)
    pending = decoder.pending
    assert data.endswith(pending)
    assert len(pending) <= 3
    assert not pending or can_become_a_character(pending)


def can_become_a_character(prefix: bytes) -> bool:
    """Whether `prefix` is a proper prefix of a valid UTF-8 character, by trying the extreme continuations."""
    tails = itertools.chain.from_iterable(itertools.product((0x80, 0x90, 0xA0, 0xBF), repeat=n) for n in (1, 2, 3))
    return any(is_one_character(prefix + bytes(tail)) for tail in tails)


def is_one_character(data: bytes) -> bool:
    try:
        return len(data.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def test_a_begun_character_is_pending_until_its_last_byte() -> None:
    decoder = Utf8Decoder()
    seen = [(decoder.feed(bytes([byte])), decoder.pending) for byte in "🙂".encode()]
    assert seen == [("", b"\xf0"), ("", b"\xf0\x9f"), ("", b"\xf0\x9f\x99"), ("🙂", b"")]


def test_the_first_two_bytes_of_a_surrogate_are_not_held() -> None:
    decoder = Utf8Decoder()
    assert decoder.feed(b"\xed") == ""
    assert decoder.feed(b"\xa0") == "\ufffd\ufffd"
    assert decoder.pending == b""


def test_finish_shows_a_cut_character_once_and_starts_anew() -> None:
    decoder = Utf8Decoder()
    assert decoder.feed(b"ok \xe6\x9d") == "ok "
    assert decoder.finish() == "\ufffd"
    assert decoder.finish() == ""
    assert decoder.feed(b"again") == "again"


@pytest.mark.replays
def test_a_megabyte_in_single_bytes_is_decoded() -> None:
    text = "x東🙂é" * 100_000
    data = text.encode()
    decoder = Utf8Decoder()
    assert "".join([decoder.feed(data[i : i + 1]) for i in range(len(data))]) == text
