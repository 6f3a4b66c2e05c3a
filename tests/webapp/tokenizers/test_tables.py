"""Ids into pieces, over a vocabulary small enough to read; the tokens of a case as its tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.io import loads
from parsers.vocabulary.types import Piece, UsageError
from webapp.tokenizers import MarkerState, Token, get_tokenizer
from webapp.tokenizers.adapter import TooManyTokensError
from webapp.tokenizers.tables import pieces_of, token_of

EAST = "東".encode()
TABLE = {
    1: token_of("a", b"a"),
    2: token_of("first byte", EAST[:1]),
    3: token_of("middle byte", EAST[1:2]),
    4: token_of("last byte", EAST[2:]),
    5: token_of("<x>", b"<x>", "added"),
    6: token_of("<|end|>", b"<|end|>", "special"),
    7: token_of("blank and first byte", b" " + EAST[:1]),
    8: token_of("last byte and first two", EAST[2:] + EAST[:2]),
    9: token_of("no UTF-8", b"\xff"),
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


def test_equal_parts_of_characters_are_one_piece_but_for_those_that_are_cut_off() -> None:
    first, _, _, second, _, _, last = pieces_of(TABLE, [2, 3, 4, 2, 3, 4, 2], recorded=True)
    assert first is second
    assert (first.text, last.text) == ("", "\ufffd")


@given(IDS)
def test_pieces_join_to_the_decode_and_keep_ids_and_bytes(ids: list[int]) -> None:
    pieces = pieces_of(TABLE, ids, recorded=True)
    known = b"".join([TABLE[i].raw for i in ids if i in TABLE])
    assert "".join([p.text for p in pieces]) == known.decode("utf-8", "replace")
    assert [p.token_id for p in pieces] == ids
    assert [p.raw for p in pieces] == [TABLE[i].raw if i in TABLE else None for i in ids]
    assert all(p.recorded for p in pieces)


@given(IDS)
def test_markers_are_never_changed_by_their_neighbours(ids: list[int]) -> None:
    for piece in pieces_of(TABLE, ids, recorded=False):
        if piece.kind in ("special", "added"):
            assert piece.text.encode() == piece.raw


def test_tokens_know_their_text_and_kind() -> None:
    assert token_of("Ġa", b" a") == ("Ġa", b" a", "text", " a")
    assert token_of("x", EAST[:2]) == ("x", EAST[:2], "partial", None)
    assert TABLE[5].kind == "added"


CASE = loads(
    """
    {"schema": 1, "parser": {"name": "qwen3"},
     "source": {"kind": "token_ids"},
     "tokenizer": {"vocab": {"<tool_call>": 7, "</tool_call>": 8}},
     "input": {"tokens": [[1, "a"], [2, "ab"], [3, "abc"], [7, "<tool_call>"],
                          [4, "", {"hex": "e69d", "kind": "partial"}],
                          [5, "東", {"hex": "b1"}], [9, "<|end|>", {"kind": "special"}], [null, "z"], [1, "a"]]}}
    """
)


def test_it_decodes_the_ids_of_the_case() -> None:
    own = get_tokenizer("case", case=CASE)
    assert own.decode([3, 7, 4, 5, 9, 77]) == "abc<tool_call>東<|end|>"
    assert own.pieces_of([77]) == (Piece("", 77, None, "unknown", recorded=True),)
    assert own.token(4) == Token("", b"\xe6\x9d", "partial")
    assert own.token(77).kind == "unknown"
    assert dict(own.marker_ids) == {"<tool_call>": 7, "</tool_call>": 8, "<|end|>": 9}


def test_it_cuts_text_by_its_longest_tokens() -> None:
    own = get_tokenizer("case", case=CASE)
    assert own.encode("abcaab<tool_call></tool_call>") == [3, 1, 2, 7, 8]
    assert [(p.text, p.token_id, p.kind) for p in own.pieces("az<|end|>")] == [
        ("a", 1, "text"),
        ("z", None, "text"),
        ("<|end|>", 9, "special"),
    ]
    with pytest.raises(UsageError, match=r"no token of the case spells 'z' \(character 1\); choose the tokenizer"):
        own.encode("az")


@pytest.mark.parametrize("name", ["case", "characters"])
def test_only_so_many_pieces_are_made(name: str) -> None:
    tokenizer = get_tokenizer(name, case=CASE)
    assert len(tokenizer.pieces("aab" if name == "case" else "ab", 2)) == 2
    with pytest.raises(TooManyTokensError) as caught:
        tokenizer.pieces("zzz", 2)
    assert caught.value.count == 3


@given(st.text("abcz<>東"))
def test_its_pieces_tile_any_text(text: str) -> None:
    pieces = get_tokenizer("case", case=CASE).pieces(text)
    assert "".join([piece.text for piece in pieces]) == text


def test_markers_are_one_token_several_or_none() -> None:
    own = get_tokenizer("case", case=CASE)
    assert own.marker_state("<tool_call>") == MarkerState("one", (7,))
    assert own.marker_state("aab") == MarkerState("several", (1, 2))
    assert own.marker_state("az") == MarkerState("absent", (1,))
    assert own.marker_state("") == MarkerState("absent", ())


def test_its_row_says_that_its_cut_is_approximate() -> None:
    own = get_tokenizer("case", case=CASE)
    assert own.label == "The case's own tokens, 8"
    assert (own.info["kind"], own.info["realism"], own.info["vocab_size"]) == ("case", "approximate", 8)
    assert own.info["fingerprint"] == own.fingerprint == get_tokenizer("case", case=CASE).fingerprint


def test_without_a_case_there_is_none() -> None:
    with pytest.raises(UsageError, match="'case' is that of a case with tokens"):
        get_tokenizer("case")
    empty = loads('{"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": "a"}}')
    assert get_tokenizer("case", case=empty).info["vocab_size"] == 0
