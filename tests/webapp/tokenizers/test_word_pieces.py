"""WordPiece in a child behind the adapter: the library's own decode, and a pasted text that stays what it is."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

from parsers.decoding import Decode, decode_pieces
from tests.webapp.tokenizers.test_hosted import require_tiling
from tests.webapp.vocabularies.toys import word_piece
from webapp.tokenizers import TokenizerAdapter
from webapp.tokenizers.library import TokenizerLibrary
from webapp.vocabularies.sanitize import sanitize, tokenizer_text

Data = dict[str, Any]
MARKERS = {"<tool_call>": False, "[SEP]": True}


@pytest.fixture
def tokenizer(make_library: Callable[..., TokenizerLibrary], encoded: Callable[[Data], bytes]) -> TokenizerAdapter:
    library = make_library()
    return library.get(library.add_upload("toy.json", encoded(word_piece()))["name"], MARKERS)


@pytest.fixture(scope="module")
def library() -> Tokenizer:
    return Tokenizer.from_buffer(tokenizer_text(sanitize(word_piece())))


def outputs(tokenizer: Tokenizer) -> list[list[int]]:
    """Ids in whatever order, more than the vocabulary has, and none."""
    rng, size = random.Random(5), tokenizer.get_vocab_size()
    return [[rng.randrange(size + 2) for _ in range(rng.randrange(9))] for _ in range(300)]


def streamed(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    stream = DecodeStream(skip_special_tokens=False)
    return [stream.step(tokenizer, token_id) or "" for token_id in ids]


def test_it_says_that_its_ids_do_not_keep_a_text(tokenizer: TokenizerAdapter) -> None:
    assert (tokenizer.realism, tokenizer.decoder) == ("lossy", "word_piece")
    assert tokenizer.info["loses"] == ["blanks", "case", "accents", "controls", "unknown"]


def test_ids_become_the_text_that_the_library_makes_of_them(tokenizer: TokenizerAdapter, library: Tokenizer) -> None:
    for ids in outputs(library):
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)


@pytest.mark.replays
def test_ids_become_text_when_the_stream_of_the_library_has_it(tokenizer: TokenizerAdapter, library: Tokenizer) -> None:
    for ids in outputs(library):
        pieces = tokenizer.pieces_of(ids)
        due = decode_pieces(pieces, Decode(policy="vllm_fast"), decoder=tokenizer.decoder).due
        ends = list(accumulate([len(piece.text) for piece in pieces]))
        steps = list(accumulate([len(step) for step in streamed(library, ids)]))
        assert list(due or ends) == steps


@pytest.mark.replays
@pytest.mark.parametrize(
    "text", ["", "Hello  Wörld, hello!\n", " do not", "東hello zzz a's", '[SEP]<tool_call>\n{"a": a_get}', "\x00a"]
)
def test_a_pasted_text_is_cut_and_never_changed(text: str, tokenizer: TokenizerAdapter) -> None:
    require_tiling(tokenizer, text)


def test_a_blank_belongs_to_the_word_behind_it_and_to_no_marker(tokenizer: TokenizerAdapter) -> None:
    found = [(piece.text, piece.kind) for piece in tokenizer.pieces("Hello  Worlds <tool_call> {")]
    assert found == [("Hello", "text"), ("  World", "text"), ("s ", "text"), ("<tool_call>", "added"), (" {", "text")]


def test_what_stands_for_the_unknown_is_no_marker_in_a_pasted_text(tokenizer: TokenizerAdapter) -> None:
    assert [(p.text, p.kind) for p in tokenizer.pieces("zzz [UNK]")] == [("zzz ", "text"), ("[UNK]", "special")]


def test_a_marker_is_told_by_its_id_without_the_blank_before_it(tokenizer: TokenizerAdapter) -> None:
    call, end = tokenizer.pieces_of([tokenizer.marker_ids["<tool_call>"], tokenizer.marker_ids["[SEP]"]])
    assert [(call.text, call.marker), (end.text, end.marker)] == [("<tool_call>",) * 2, (" [SEP]", "[SEP]")]


def test_a_list_of_words_says_in_its_name_what_is_assumed(make_library: Callable[..., TokenizerLibrary]) -> None:
    lines = "\n".join(word_piece()["model"]["vocab"]).encode()
    assert make_library().add_upload("vocab.txt", lines)["label"].endswith(", lower case assumed")
