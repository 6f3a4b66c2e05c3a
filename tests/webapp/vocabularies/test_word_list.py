"""A vocab.txt of WordPiece cuts as the tokenizer.json of the same vocabulary does, and what it does not say is told."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer

from webapp.vocabularies.files import assumed, rebuild
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import sanitize, tokenizer_text

Data = dict[str, Any]
TEXTS = ("Hello world!", "[CLS] héllo's agets 東", '{"a": "do not"}', "b")


def lines(words: Data, *more: str, end: str = "\n") -> bytes:
    return "".join([f"{token}{end}" for token in (*words["model"]["vocab"], *more)]).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_list_of_words_cuts_as_its_tokenizer_json_does(words: Data, end: str) -> None:
    made = rebuild(lines(words, end=end))
    own = Tokenizer.from_buffer(tokenizer_text(made))
    given = Tokenizer.from_buffer(tokenizer_text(sanitize(words)))
    assert [own.encode(text).ids for text in TEXTS] == [given.encode(text).ids for text in TEXTS]
    assert [own.decode(own.encode(text).ids) for text in TEXTS] == [
        given.decode(given.encode(text).ids) for text in TEXTS
    ]


@pytest.mark.parametrize(
    ("more", "config", "lower", "told"),
    [
        ((), None, True, "lower case assumed"),
        (("Hello",), None, False, "case kept, as assumed"),
        (("[unused1]", "[Q]"), {"model_max_length": 512}, True, "lower case assumed"),
        ((), {"do_lower_case": False}, False, ""),
    ],
)
def test_what_no_file_says_of_it_is_told(
    words: Data, more: tuple[str, ...], config: Data | None, lower: bool, told: str
) -> None:
    data = lines(words, *more)
    made = rebuild(data, config)
    assert (made["normalizer"]["lowercase"], assumed(data, made, config)) == (lower, told)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[PAD]\na\n", "has no .UNK.; give the tokenizer.json"),
        (b"[UNK]\n\xff\n", "not UTF-8 .byte 6.; fetch it again"),
        (b'{"a":\n[UNK]\n', "not whole JSON"),
    ],
)
def test_a_list_that_cannot_be_used_says_why(data: bytes, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)
