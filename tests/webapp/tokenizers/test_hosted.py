"""Tokenizers in children behind the adapter: exact bytes, tiling whatever the vocabulary does to the text, markers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Tokenizer

from parsers.vocabulary.types import Piece, UsageError
from tests.webapp.vocabularies.models import sentencepiece
from tests.webapp.vocabularies.toys import added
from webapp.tokenizers import MarkerState, Token, TokenizerAdapter
from webapp.tokenizers import hosted as hosted_module
from webapp.tokenizers.adapter import TooManyTokensError
from webapp.tokenizers.library import TokenizerLibrary
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import sanitize, tokenizer_text
from webapp.vocabularies.spelling import spelling_of

Data = dict[str, Any]
Make = Callable[[Data], TokenizerAdapter]
MARKERS = {"<think>": False, "<tool_call>": False, "<|end|>": True, "<other>": False, "{": False}


@pytest.fixture
def adapter(make_library: Callable[..., TokenizerLibrary], encoded: Callable[[Data], bytes]) -> Make:
    library = make_library()

    def make(data: Data) -> TokenizerAdapter:
        return library.get(library.add_upload("toy.json", encoded(data))["name"], MARKERS)

    return make


def require_tiling(tokenizer: TokenizerAdapter, text: str) -> tuple[Piece, ...]:
    pieces = tokenizer.pieces(text)
    assert "".join([piece.text for piece in pieces]) == text
    assert [piece.token_id for piece in pieces] == tokenizer.encode(text)
    assert not any(piece.recorded for piece in pieces)
    return pieces


def test_only_so_many_pieces_are_made(adapter: Make, toy: Data) -> None:
    tokenizer = adapter(toy)
    assert len(tokenizer.pieces("hello hello", 3)) <= 3
    with pytest.raises(TooManyTokensError):
        tokenizer.pieces("hello hello", 1)


TEXTS = [
    "",
    "hello wor",
    " hello",
    "a  b ",
    "東京 🙂é",
    "<think>he</think><|end|>\n",
    "\ufffd",
    "\x00\r\n",
    "he<tool_call>",
]


def test_a_byte_level_vocabulary_has_exact_bytes(adapter: Make, toy: Data) -> None:
    tokenizer = adapter(toy)
    for text in TEXTS:
        pieces = require_tiling(tokenizer, text)
        assert b"".join([piece.raw or b"" for piece in pieces]) == text.encode()
        assert tokenizer.decode(tokenizer.encode(text)) == text
    marked = [(p.text, p.token_id, p.kind) for p in tokenizer.pieces("he<tool_call><|end|>") if p.kind != "text"]
    assert marked == [("<tool_call>", 300, "added"), ("<|end|>", 264, "special")]
    assert [(p.text, p.kind) for p in tokenizer.pieces("東")] == [("", "partial"), ("東", "text")]
    assert tokenizer.decode([261]) == "\ufffd"
    with pytest.raises(UsageError, match="lone surrogate"):
        tokenizer.encode("\ud800")


def test_tokens_tell_what_the_vocabulary_says(adapter: Make, toy: Data) -> None:
    tokenizer = adapter(toy)
    assert tokenizer.token(263) == Token("Ġwor", b" wor", "text", " wor")
    assert tokenizer.token(264) == Token("<|end|>", b"<|end|>", "special", "<|end|>")
    assert tokenizer.token(261).kind == "partial"
    for unknown in (-1, 270, 2**22, 2**40):
        assert tokenizer.token(unknown) == Token("", b"", "unknown")
    assert tokenizer.pieces_of([259, 270]) == (
        Piece("hello", 259, b"hello", "text", recorded=True),
        Piece("", 270, None, "unknown", recorded=True),
    )


def test_markers_are_looked_up_and_never_added(adapter: Make, toy: Data) -> None:
    tokenizer = adapter(toy)
    assert dict(tokenizer.marker_ids) == {"<think>": 265, "<tool_call>": 300, "<|end|>": 264}
    assert tokenizer.marker_state("<think>") == MarkerState("one", (265,))
    assert tokenizer.marker_state("{") == MarkerState("one", (ord("{"),))
    assert tokenizer.marker_state("hello{") == MarkerState("several", (259, ord("{")))
    assert tokenizer.marker_state("<other>").state == "several"
    assert tokenizer.marker_state("hello") == MarkerState("one", (259,))
    with pytest.raises(TypeError):
        tokenizer.marker_ids["<new>"] = 1  # type: ignore[index]


def test_its_row_says_where_it_comes_from(adapter: Make, toy: Data) -> None:
    tokenizer = adapter(toy)
    row = tokenizer.info
    assert (tokenizer.name, tokenizer.label) == (f"upload:{tokenizer.fingerprint[:16]}", "toy.json, 267")
    assert (row["kind"], row["realism"], row["decoder"]) == ("upload", tokenizer.realism, tokenizer.decoder)
    assert (tokenizer.realism, tokenizer.decoder, row["vocab_size"]) == ("real", "byte_level", 267)


def test_a_blank_before_the_text_is_no_part_of_it(adapter: Make, spm: Data) -> None:
    tokenizer = adapter(spm)
    library = Tokenizer.from_buffer(tokenizer_text(sanitize(spm)))
    assert (tokenizer.realism, tokenizer.decoder) == ("approximate", "byte_fallback")
    for text in TEXTS:
        require_tiling(tokenizer, text)
    rng = random.Random(5)
    for _ in range(200):
        ids = [rng.choice([1, *range(259, 290)]) for _ in range(rng.randrange(1, 8))]
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)
    assert [(p.text, p.raw) for p in tokenizer.pieces_of([261 - 2, 260])] == [("", b""), ("a", b"a")]
    assert tokenizer.token(3 + 0xE6) == Token("<0xE6>", b"\xe6", "partial")


def test_a_metaspace_decoder_drops_all_blanks_of_the_first_token(adapter: Make, metaspace: Data) -> None:
    tokenizer = adapter(metaspace)
    library = Tokenizer.from_buffer(tokenizer_text(sanitize(metaspace)))
    for ids in ([2, 3], [1, 2, 3], [1, 1, 3], [3, 2], [0, 2], [2]):
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)
    require_tiling(tokenizer, "hello hello")
    assert tokenizer.marker_state("x").state == "absent"


def test_a_normalizer_that_changes_text_leaves_it_whole(adapter: Make, toy: Data) -> None:
    toy["normalizer"] = {"type": "NFKC"}
    toy["pre_tokenizer"]["add_prefix_space"] = True
    tokenizer = adapter(toy)
    for text in ("ﬁ hello", "Å①東", "hello", "e\u0301<think>x"):
        pieces = require_tiling(tokenizer, text)
        assert b"".join([piece.raw or b"" for piece in pieces]) == text.encode()
    assert [p.kind for p in tokenizer.pieces("ﬁ<think>") if p.text == "<think>"] == ["added"]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("vocabulary", "normalizer"),
    [({"h": 0, "e": 1, "l": 2}, None), (None, {"type": "Replace", "pattern": {"Regex": ".*"}, "content": ""})],
)
def test_a_text_of_which_no_token_is_made_is_one_piece_without_an_id(
    adapter: Make, toy: Data, vocabulary: Data | None, normalizer: Data | None
) -> None:
    toy["normalizer"] = normalizer
    if vocabulary is not None:
        toy["model"] |= {"vocab": vocabulary, "merges": []}
        toy["pre_tokenizer"] = None
        toy["decoder"] = {"type": "Fuse"}
        toy["added_tokens"] = []
    assert [(piece.text, piece.token_id) for piece in adapter(toy).pieces("xyz")] == [("xyz", None)]
    assert adapter(toy).pieces("") == ()


def test_entries_are_fetched_in_batches_and_forgotten_when_they_are_many(
    adapter: Make, toy: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_module, "BATCH", 3)
    monkeypatch.setattr(hosted_module, "MOST_TOKENS", 10)
    tokenizer = adapter(toy)
    assert tokenizer.decode(range(97, 123)) == "abcdefghijklmnopqrstuvwxyz"
    assert tokenizer.decode(range(65, 91)) == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


SPELLINGS: list[tuple[list[Data], str]] = [
    ([], "there is no decoder"),
    ([{"type": "Strip", "content": " ", "start": 1}, {"type": "Fuse"}], "Strip stands before Fuse"),
    ([{"type": "Fuse"}, {"type": "Strip", "content": "x", "start": 1}], "blanks from the start of an output"),
    ([{"type": "Fuse"}, {"type": "Strip", "content": " ", "stop": 1}], "blanks from the start of an output"),
    ([{"type": "ByteLevel"}, {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}], "only ByteLevel alone"),
]


@pytest.mark.parametrize(("decoders", "message"), SPELLINGS)
def test_a_decoder_without_exact_bytes_is_refused(decoders: list[Data], message: str) -> None:
    with pytest.raises(VocabularyError, match=f"^/decoder: .*{message}"):
        spelling_of({"type": "Sequence", "decoders": decoders}, None)


def test_the_pre_tokenizer_tells_where_the_decoder_does_not() -> None:
    level = {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}
    assert spelling_of(None, level).decoder == "byte_level"
    assert spelling_of(None, level).raw("Ġ東") == "Ġ東".encode()


def test_added_tokens_go_through_the_decoder(adapter: Make, spm: Data) -> None:
    ids = spm["model"]["vocab"]
    spm["added_tokens"].append(added(ids["▁▁"], "▁▁"))
    found = adapter(spm).pieces_of([ids["a"], ids["▁▁"], ids["b"]])
    assert [(piece.text, piece.kind) for piece in found] == [("a", "text"), ("  ", "added"), ("b", "text")]


def test_a_sentencepiece_model_is_a_tokenizer_like_others(make_library: Callable[..., TokenizerLibrary]) -> None:
    rows = [("<unk>", 0.0, 2), ("[TOOL_CALLS]", 0.0, 3), ("▁", -1.0, 1), ("a", -2.0, 1), ("▁a", -1.0, 1)]
    library = make_library()
    tokenizer = library.get(library.add_upload("tokenizer.model", sentencepiece(rows))["name"], {"[TOOL_CALLS]": True})
    assert (tokenizer.realism, tokenizer.decoder) == ("real", "byte_fallback")
    assert tokenizer.marker_state("[TOOL_CALLS]") == MarkerState("one", (1,))
    assert [piece.text for piece in require_tiling(tokenizer, "a a[TOOL_CALLS] a")] == ["a", " a", "[TOOL_CALLS]", " a"]
