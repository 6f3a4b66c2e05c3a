"""Text through the embedded tokenizer and back: pieces tile it exactly, markers are single ids."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from parsers.vocabulary.types import Piece, UsageError
from tests.webapp.tokenizers.train import CORPUS
from webapp.tokenizers import TokenizerAdapter, embedded, get_tokenizer
from webapp.tokenizers.adapter import TooManyTokensError
from webapp.tokenizers.embedded import model

QWEN = {"<tool_call>": False, "</tool_call>": False, "<think>": False, "</think>": False, "<|im_end|>": True}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SEAMED = {"a {": False, "1\n": True}
MIXED = st.lists(TEXT | st.sampled_from([*QWEN, "<tool", "_call>", "</", "\r\n", "🙂", '{"name": "'])).map("".join)


@pytest.fixture(scope="module")
def qwen() -> TokenizerAdapter:
    return get_tokenizer(markers=QWEN)


def require_tiling(tokenizer: TokenizerAdapter, text: str) -> tuple[Piece, ...]:
    pieces = tokenizer.pieces(text)
    assert "".join([piece.text for piece in pieces]) == text
    assert b"".join([piece.raw or b"" for piece in pieces]) == text.encode()
    assert [piece.token_id for piece in pieces] == tokenizer.encode(text)
    return pieces


@given(MIXED)
def test_pieces_tile_any_text(text: str) -> None:
    tokenizer = get_tokenizer(markers=QWEN)
    pieces = require_tiling(tokenizer, text)
    for piece, following in itertools.pairwise(pieces):
        assert piece.kind in ("text", "partial", "special", "added")
        assert (piece.kind == "partial") == (following.raw is not None and following.raw[0] & 0xC0 == 0x80)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "a\x00b\x00\x00",
        "\r",
        "\r\n\r\n",
        "\n",
        "\n\n\n",
        "\ufefftext\ufeff",
        "\u202eright to left\u202c \u200f\u2066x\u2069",
        "\U0010ffff\U00010000",
        "👩‍💻 🇩🇪 👍🏽",
        "e\u0301 a\u0308\u0323",
        "\ufffd",
        " ",
        "   x   ",
        "\u00a0\u2028\u2029\u0085",
        "a\tb\x0b\x0c",
        "<tool_call>",
        "Ġthe Ċ Ā",
    ],
    ids=repr,
)
def test_awkward_text_is_tiled(qwen: TokenizerAdapter, text: str) -> None:
    require_tiling(qwen, text)


@pytest.mark.replays
@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        " " * 199_999 + "x",
        " \n" * 100_000,
        "東🙂" * 30_000,
        "<tool_cal" * 22_000,
        "<tool_call>{}</tool_call>\n" * 7_600,
    ],
    ids=["letters", "blanks", "lines", "wide", "almost markers", "markers"],
)
def test_a_long_text_is_tiled(qwen: TokenizerAdapter, text: str) -> None:
    require_tiling(qwen, text)


def test_the_training_text_is_tiled_and_compressed(qwen: TokenizerAdapter) -> None:
    text = CORPUS.read_text(encoding="utf-8")
    assert len(require_tiling(qwen, text)) < len(text) / 2.5


def test_a_character_of_several_tokens_is_silent_until_its_last(qwen: TokenizerAdapter) -> None:
    pieces = qwen.pieces("a🦜b")
    seen = [(p.text, p.kind) for p in pieces]
    assert (seen[0], *seen[-2:]) == (("a", "text"), ("🦜", "text"), ("b", "text"))
    silent = pieces[1:-2]
    assert silent
    assert all((p.text, p.kind) == ("", "partial") for p in silent)


def test_markers_inside_text_are_single_ids_of_their_kind(qwen: TokenizerAdapter) -> None:
    pieces = qwen.pieces('ok<tool_call>\n{"a": "<think>"}</tool_call><|im_end|>')
    marked = [(p.text, p.token_id, p.kind) for p in pieces if p.kind != "text"]
    assert marked == [
        ("<tool_call>", qwen.marker_ids["<tool_call>"], "added"),
        ("<think>", qwen.marker_ids["<think>"], "added"),
        ("</tool_call>", qwen.marker_ids["</tool_call>"], "added"),
        ("<|im_end|>", qwen.marker_ids["<|im_end|>"], "special"),
    ]


def test_the_longest_marker_wins_and_blanks_around_it_stay() -> None:
    tokenizer = get_tokenizer(markers={"<a>": False, "<a><b>": False})
    assert [p.text for p in tokenizer.pieces(" <a><b> <<a>> ") if p.kind == "added"] == ["<a><b>", "<a>"]


@pytest.mark.parametrize("text", ["<Tool_call>", "<tool_ call>", "< tool_call>", "<tool_call"])
def test_what_is_not_exactly_a_marker_is_text(qwen: TokenizerAdapter, text: str) -> None:
    assert all(piece.kind == "text" for piece in qwen.pieces(text))


def test_another_familys_marker_is_ordinary_text(qwen: TokenizerAdapter) -> None:
    assert "<|python_tag|>" not in qwen.marker_ids
    assert len(qwen.encode("<|python_tag|>")) > 1


@pytest.mark.parametrize("text", ["\ud800", "ok \udfff", "\udc00\ud800"])
def test_lone_surrogates_are_refused_with_their_place(qwen: TokenizerAdapter, text: str) -> None:
    with pytest.raises(UsageError, match=r"lone surrogate \(U\+D[0-9A-F]{3}\) at character \d"):
        qwen.pieces(text)


def test_tokens_tell_their_spelling_bytes_and_kind(qwen: TokenizerAdapter) -> None:
    (the,) = qwen.encode(" the")
    assert qwen.token(the) == ("Ġthe", b" the", "text", " the")
    assert qwen.token(qwen.marker_ids["<|im_end|>"]) == ("<|im_end|>", b"<|im_end|>", "special", "<|im_end|>")
    assert qwen.token(qwen.marker_ids["<think>"]) == ("<think>", b"<think>", "added", "<think>")
    assert qwen.token(qwen.encode("🦜")[0]).kind == "partial"
    assert qwen.token(-1) == qwen.token(2**40) == ("", b"", "unknown", None)


def test_the_ids_of_a_text_decode_to_the_text(qwen: TokenizerAdapter) -> None:
    text = "<think>東京 🦜</think> ok<|im_end|>"
    assert qwen.decode(qwen.encode(text)) == text


def test_no_two_tokens_share_their_bytes(qwen: TokenizerAdapter) -> None:
    assert len({qwen.token(i).raw for i in range(qwen.info["vocab_size"])}) == qwen.info["vocab_size"]


def test_decoding_any_ids_agrees_with_the_library() -> None:
    tokenizer = get_tokenizer()
    library = Tokenizer.from_buffer(model())
    rng = random.Random(7)
    for _ in range(300):
        ids = [rng.randrange(2048) if rng.random() < 0.5 else rng.randrange(94, 256) for _ in range(rng.randrange(20))]
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)


SEAMS = st.lists(
    TEXT | st.sampled_from([*QWEN, "a ", "1\n", "b  c", "Zürich ", "x\n\n y", "9 {", "q \u0301", " ", "\r\n"])
)


@given(SEAMS.map("".join))
def test_a_text_that_is_cut_in_slices_has_the_same_tokens(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        whole = [get_tokenizer(markers=markers).encode(text) for markers in (QWEN, SEAMED)]
        patch.setattr(embedded, "_SLICE", 1)
        assert [get_tokenizer(markers=markers).encode(text) for markers in (QWEN, SEAMED)] == whole


def test_what_has_too_many_tokens_is_not_cut_to_its_end(
    qwen: TokenizerAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "_SLICE", 100)
    assert len(qwen.pieces("word " * 100, 102)) == 102
    for text, count in (("word " * 101, 103), ("word " * 1_000, None)):
        with pytest.raises(TooManyTokensError, match="at most 102 are taken") as caught:
            qwen.pieces(text, 102)
        assert caught.value.count == count
