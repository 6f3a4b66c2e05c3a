"""Ids into pieces, text and streams, over a vocabulary small enough to read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.vocabulary.types import UsageError
from webapp.tokenizers.base import DecodePolicy
from webapp.tokenizers.detokenize import decode, entry, open_stream, pieces_of

EAST = "東".encode()
TABLE = {
    1: entry("a", b"a"),
    2: entry("first byte", EAST[:1]),
    3: entry("middle byte", EAST[1:2]),
    4: entry("last byte", EAST[2:]),
    5: entry("<x>", b"<x>", "added"),
    6: entry("<|end|>", b"<|end|>", "special"),
    7: entry("blank and first byte", b" " + EAST[:1]),
    8: entry("last byte and first two", EAST[2:] + EAST[:2]),
    9: entry("no UTF-8", b"\xff"),
}
UNKNOWN = 99
IDS = st.lists(st.sampled_from([*TABLE, UNKNOWN]), max_size=14)


def seen(ids: list[int]) -> list[tuple[str, str]]:
    return [(piece.text, piece.kind) for piece in pieces_of(TABLE, ids, recorded=True)]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([], []),
        ([1, 5, 6], [("a", "text"), ("<x>", "added"), ("<|end|>", "special")]),
        ([2, 3, 4, 1], [("", "partial"), ("", "partial"), ("東", "text"), ("a", "text")]),
        ([7, 3, 8, 4], [(" ", "partial"), ("", "partial"), ("東", "partial"), ("東", "text")]),
        ([2, 3], [("", "partial"), ("\ufffd", "partial")]),
        ([7], [(" \ufffd", "partial")]),
        ([2, 1], [("", "partial"), ("\ufffda", "text")]),
        ([2, 3, 6], [("", "partial"), ("\ufffd", "partial"), ("<|end|>", "special")]),
        ([2, 5, 3], [("\ufffd", "partial"), ("<x>", "added"), ("\ufffd", "text")]),
        ([2, 2, 1], [("", "partial"), ("\ufffd", "partial"), ("\ufffda", "text")]),
        ([4, 9, 1], [("\ufffd", "text"), ("\ufffd", "text"), ("a", "text")]),
        ([UNKNOWN, 1], [("", "unknown"), ("a", "text")]),
        ([2, UNKNOWN, 3, 4], [("", "partial"), ("", "unknown"), ("", "partial"), ("東", "text")]),
        ([2, UNKNOWN], [("\ufffd", "partial"), ("", "unknown")]),
    ],
)
def test_pieces_of_ids(ids: list[int], expected: list[tuple[str, str]]) -> None:
    assert seen(ids) == expected


@given(IDS)
def test_pieces_join_to_the_decode_and_keep_ids_and_bytes(ids: list[int]) -> None:
    pieces = pieces_of(TABLE, ids, recorded=True)
    assert "".join([p.text for p in pieces]) == decode(TABLE, ids, skip_special=False)
    assert [p.token_id for p in pieces] == ids
    assert [p.raw for p in pieces] == [TABLE[i].raw if i in TABLE else None for i in ids]
    assert all(p.recorded for p in pieces)


@given(IDS)
def test_markers_are_never_changed_by_their_neighbours(ids: list[int]) -> None:
    for piece in pieces_of(TABLE, ids, recorded=False):
        if piece.kind in ("special", "added"):
            assert piece.text.encode() == piece.raw


@given(IDS, st.booleans())
def test_a_stream_gives_the_whole_decode(ids: list[int], skip_special: bool) -> None:
    stream = open_stream(TABLE, "exact", skip_special)
    streamed = "".join([stream.push(i) for i in ids]) + stream.finish()
    assert streamed == decode(TABLE, ids, skip_special)


def test_a_stream_shows_what_it_waits_for_and_loses_nothing_at_the_end() -> None:
    stream = open_stream(TABLE, "exact", skip_special=False)
    assert [(stream.push(i), stream.pending) for i in (1, 2, 3)] == [("a", b""), ("", EAST[:1]), ("", EAST[:2])]
    assert stream.finish() == "\ufffd"
    assert stream.finish() == ""


def test_skipping_special_tokens_keeps_the_other_markers() -> None:
    assert decode(TABLE, [1, 5, 6, 1], skip_special=True) == "a<x>a"
    assert decode(TABLE, [2, 3, 6, 4], skip_special=True) == "東"


def test_an_unknown_policy_is_refused_with_the_valid_ones() -> None:
    policy: DecodePolicy = "guess"  # type: ignore[assignment]
    with pytest.raises(UsageError, match="no decode policy 'guess'; choose one of: exact"):
        open_stream(TABLE, policy, skip_special=False)


def test_entries_know_their_text_and_kind() -> None:
    assert entry("Ġa", b" a") == (" a", b" a", "text", "Ġa")
    assert entry("x", EAST[:2]) == (None, EAST[:2], "partial", "x")
    assert TABLE[5].kind == "added"
