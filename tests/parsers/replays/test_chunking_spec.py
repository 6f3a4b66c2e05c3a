"""Chunkings as one word: there and back, and what is no chunking."""

from __future__ import annotations

import pytest

from parsers.replays.chunking import DEFAULT_COMPARED, Chunking, parse_spec, spec
from parsers.vocabulary.types import UsageError

WORDS = [
    ("token", Chunking(by="token")),
    ("token:3", Chunking(by="token", size=3)),
    ("char", Chunking(by="char")),
    ("char:5", Chunking(by="char", size=5)),
    ("whole", Chunking(by="whole")),
    ("random:0", Chunking(by="random")),
    ("random:7:4", Chunking(by="random", seed=7, max=4)),
    ("random:7:4:char", Chunking(by="random", seed=7, max=4, unit="char")),
    ("random:7::char", Chunking(by="random", seed=7, unit="char")),
    ("cuts", Chunking(by="cuts", cuts=())),
    ("cuts:1", Chunking(by="cuts", cuts=(1,))),
    ("cuts:4,118", Chunking(by="cuts", cuts=(4, 118))),
    ("token+holdback=8", Chunking(by="token", holdback_chars=8)),
    ("char:2+holdback=8+delay=2", Chunking(by="char", size=2, holdback_chars=8, text_delay=2)),
]


@pytest.mark.parametrize(("word", "chunking"), WORDS)
def test_a_chunking_has_one_word(word: str, chunking: Chunking) -> None:
    assert (spec(chunking), parse_spec(word)) == (word, chunking)


@pytest.mark.parametrize("chunking", DEFAULT_COMPARED)
def test_the_word_of_a_chunking_reads_back(chunking: Chunking) -> None:
    assert parse_spec(spec(chunking)) == chunking


@pytest.mark.parametrize(
    "word", ["", "line", "token:x", "token:0", "token:1:2", "cuts:x", "char+late=3", "char+delay=x"]
)
def test_what_is_no_chunking_is_told_with_what_is_one(word: str) -> None:
    with pytest.raises(UsageError, match="is no chunking; write one like token"):
        parse_spec(word)
