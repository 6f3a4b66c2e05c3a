"""WordPiece vocabularies: what is checked of them, what a config changes, and what their ids do not keep."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.webapp.vocabularies.models import sentencepiece
from tests.webapp.vocabularies.toys import added, byte_fallback, byte_level, unigram, word_piece
from webapp.vocabularies.files import rebuild
from webapp.vocabularies.losses import LOSSES, losses, lost_words
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import sanitize, tokenizer_text
from webapp.vocabularies.sentencepiece_file import sentencepiece_pieces
from webapp.vocabularies.spelling import spelling_of

Data = dict[str, Any]
Fields = dict[int, Any]

REFUSED: dict[str, tuple[str, Data, str]] = {
    "no prefix": ("model", {"continuing_subword_prefix": None}, "expected a string, found null"),
    "long words": ("model", {"max_input_chars_per_word": 1_001}, "words of 1,001 characters; from 1 to 1,000"),
    "no words": ("model", {"max_input_chars_per_word": 0}, "words of 0 characters"),
    "nothing unknown": ("model", {"unk_token": "<unk>"}, "/model/unk_token: this token is not in the vocabulary"),
    "an id twice": ("model", {"vocab": {"[UNK]": 1, "a": 1}}, "the id 1 is also that of"),
    "long prefix": ("decoder", {"prefix": "#" * 17}, "/decoder/prefix: the text has 17 characters"),
    "accents": ("normalizer", {"strip_accents": 1}, "/normalizer/strip_accents: expected true or false"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_vocabulary_that_cannot_be_right_is_refused_with_its_place(name: str, words: Data) -> None:
    part, change, message = REFUSED[name]
    words[part] |= change
    with pytest.raises(VocabularyError, match=message):
        sanitize(words)


def test_a_decoder_of_words_stands_alone(words: Data) -> None:
    decoders = [words["decoder"], {"type": "Fuse"}]
    assert spelling_of({"type": "Sequence", "decoders": decoders}, None).prefix == "##"
    with pytest.raises(VocabularyError, match="only WordPiece alone is read"):
        spelling_of({"type": "Sequence", "decoders": [*decoders, words["decoder"]]}, None)
    with pytest.raises(VocabularyError, match="only WordPiece alone is read"):
        spelling_of({"type": "Sequence", "decoders": [words["decoder"], {"type": "ByteFallback"}]}, None)


def test_an_added_token_is_found_inside_no_word(words: Data) -> None:
    words["added_tokens"].append(added(len(words["model"]["vocab"]) + 1, "hell") | {"single_word": True})
    given, made = (Tokenizer.from_buffer(raw) for raw in (json.dumps(words).encode(), tokenizer_text(sanitize(words))))
    for text in ("hells", "hell", "a hell", "hello"):
        assert made.encode(text).ids == given.encode(text).ids


CONFIGS: list[tuple[Data, str]] = [
    ({}, "hello"),
    ({"do_lower_case": False}, "[UNK]"),
    ({"do_lower_case": None}, "hello"),
    ({"do_lower_case": False, "tokenizer_class": "BertTokenizer"}, "[UNK]"),
    ({"do_lower_case": False, "tokenizer_class": "PreTrainedTokenizerFast"}, "hello"),
    ({"strip_accents": False}, "[UNK]"),
]


@pytest.mark.parametrize(("config", "string"), CONFIGS)
def test_the_config_says_how_text_is_changed_first(config: Data, string: str, words: Data) -> None:
    made = rebuild(json.dumps(words).encode(), config)
    assert Tokenizer.from_buffer(tokenizer_text(made)).encode("HÉLLO").tokens == [string]


def test_a_config_that_says_nothing_that_can_be_is_refused(words: Data) -> None:
    with pytest.raises(VocabularyError, match=r"^tokenizer_config\.json/do_lower_case: expected true or false"):
        rebuild(json.dumps(words).encode(), {"do_lower_case": "no"})


def test_a_config_says_nothing_of_other_vocabularies(toy: Data) -> None:
    assert rebuild(json.dumps(toy).encode(), {"do_lower_case": True})["normalizer"] is None


KEPT: list[tuple[Callable[[], Data], Data | None, list[str]]] = [
    (byte_level, None, []),
    (byte_level, {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "NFKC"}]}, ["case", "forms"]),
    (byte_fallback, None, []),
    (unigram, {"type": "Strip", "strip_left": True, "strip_right": True}, ["blanks", "unknown"]),
    (word_piece, None, ["blanks", "unknown"]),
]
BERT: list[tuple[Data, list[str]]] = [
    ({}, ["blanks", "case", "accents", "controls", "unknown"]),
    ({"strip_accents": False}, ["blanks", "case", "controls", "unknown"]),
    ({"lowercase": False}, ["blanks", "controls", "unknown"]),
    ({"lowercase": False, "strip_accents": True, "clean_text": False}, ["blanks", "accents", "unknown"]),
]


@pytest.mark.parametrize(("make", "normalizer", "lost"), KEPT)
def test_what_ids_do_not_keep_follows_from_the_parts(
    make: Callable[[], Data], normalizer: Data | None, lost: list[str]
) -> None:
    made = sanitize(make() | {"normalizer": normalizer})
    assert losses(made, spelling_of(made["decoder"], made["pre_tokenizer"])) == lost


@pytest.mark.parametrize(("change", "lost"), BERT)
def test_what_the_normalizer_of_bert_takes_is_not_kept(change: Data, lost: list[str], words: Data) -> None:
    words["normalizer"] |= change
    made = sanitize(words)
    found = losses(made, spelling_of(made["decoder"], made["pre_tokenizer"]))
    assert found == lost
    assert lost_words(found) == [LOSSES[loss] for loss in found]


@pytest.mark.parametrize(
    ("normalizer", "trainer", "lost"),
    [({4: 1}, {}, ["blanks", "unknown"]), ({4: 0}, {35: 1}, [])],
)
def test_what_sentencepiece_does_not_keep_is_in_its_model(normalizer: Fields, trainer: Fields, lost: list[str]) -> None:
    rows = [("<unk>", 0.0, 2), ("▁", -1.0, 1), *((f"<0x{byte:02X}>", 0.0, 6) for byte in range(256))]
    table = sentencepiece_pieces(sentencepiece(rows, trainer, normalizer))
    assert losses(table, spelling_of({"type": "Fuse"}, None)) == lost
