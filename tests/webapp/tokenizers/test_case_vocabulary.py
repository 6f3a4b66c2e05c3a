"""The tokens of a case as its tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases.io import loads
from parsers.vocabulary.types import Piece, UsageError
from webapp.tokenizers import MarkerState, Token, get_tokenizer

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
    assert own.decode([1, 9], skip_special=True) == "a"
    assert own.pieces_of([77]) == (Piece("", 77, None, "unknown", recorded=True),)
    assert own.token(4) == Token("", b"\xe6\x9d", "partial")
    assert own.token(77).kind == "unknown"
    assert dict(own.marker_ids) == {"<tool_call>": 7, "</tool_call>": 8, "<|end|>": 9}
    assert own.stream().push(2) == "ab"


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
    assert [own.id_of(text) for text in ("abc", "z")] == [3, None]


def test_its_row_says_that_its_cut_is_approximate() -> None:
    own = get_tokenizer("case", case=CASE)
    assert own.label == "The case's own tokens, 8"
    assert (own.info["kind"], own.info["realism"], own.info["vocab_size"]) == ("case", "approximate", 8)
    assert own.info["fingerprint"] == own.fingerprint == get_tokenizer("case", case=CASE).fingerprint


def test_without_a_case_there_is_none() -> None:
    with pytest.raises(UsageError, match="'case' is that of a case with tokens"):
        get_tokenizer("case")
    empty = loads('{"schema": 1, "parser": {"name": "qwen3"}, "input": {"text": "a"}}')
    assert get_tokenizer("case", case=empty).vocab_size == 0
