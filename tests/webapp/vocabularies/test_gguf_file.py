"""The tokenizer in the header of a GGUF file, and that nothing behind the header is looked at."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.webapp.vocabularies.models import gguf, written
from tests.webapp.vocabularies.models import sentencepiece as model
from tests.webapp.vocabularies.test_piece_tokenizer import trained
from tests.webapp.vocabularies.toys import MERGES, byte_level
from webapp.vocabularies.files import config_of, rebuild, templates
from webapp.vocabularies.piece_tokenizer import PieceTokenizer
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import tokenizer_text

STRINGS = [*byte_level()["model"]["vocab"], "<|end|>", "<think>"]
KINDS = [1] * 264 + [3, 4]
BYTES = {
    "ggml.model": "gpt2",
    "ggml.pre": "gpt-2",
    "ggml.tokens": STRINGS,
    "ggml.token_type": KINDS,
    "ggml.merges": MERGES,
}
WITHOUT_MERGES = {key: one for key, one in BYTES.items() if key != "ggml.merges"}
SAID = {"ggml.bos_token_id": 264, "ggml.eos_token_id": 9_999, "chat_template": "{{ bos_token }}"}


def pieces_of(data: bytes, **more: Any) -> bytes:
    """A trained model as a GGUF file."""
    table = rebuild(data)
    texts, scores, kinds = (list(column) for column in zip(*table["pieces"], strict=True))
    kind = "llama" if table["sentencepiece"] == "bpe" else "t5"
    return written({"ggml.model": kind, "ggml.tokens": texts, "ggml.scores": scores, "ggml.token_type": kinds, **more})


@pytest.mark.parametrize("cut", [0, 5])
def test_a_byte_level_vocabulary_is_cut_as_the_file_says(cut: int) -> None:
    data = written({**BYTES, **SAID}) + b"tensors"[:cut]
    tokenizer = Tokenizer.from_buffer(tokenizer_text(rebuild(data)))
    assert tokenizer.encode("hello world<|end|><think>").ids == [259, 263, 108, 100, 264, 265]
    assert templates(config_of(data, None)) == {"chat_template": "{{ bos_token }}", "tokens": {"bos_token": "<|end|>"}}
    assert templates(config_of(data, {"chat_template": "x"}))["chat_template"] == "x"


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_pieces_are_cut_as_the_model_they_are_from(kind: str) -> None:
    data = trained(kind, byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False)
    tried = ["def f(x):    return 你好", "  Hello  world", "🙂"]
    cuts = [PieceTokenizer(rebuild(one)).encode_batch(tried) for one in (data, pieces_of(data))]
    assert cuts[0] == cuts[1]


@pytest.mark.replays
def test_a_normal_form_and_a_piece_for_the_unknown_are_those_of_the_file() -> None:
    table = rebuild(trained("unigram"))
    del table["surface"]  # a GGUF file does not say it
    charsmap = list(base64.b64decode(table["charsmap"]))
    told = {"ggml.precompiled_charsmap": charsmap, "ggml.remove_extra_whitespaces": True, "ggml.add_space_prefix": True}
    made = rebuild(pieces_of(trained("unigram"), **told))
    assert made == {**table, "byte_fallback": False}
    bare = {"ggml.model": "llama", "ggml.tokens": ["<unk>", "a"], "ggml.scores": [0.0, -1.0]}
    assert rebuild(written(bare))["pieces"] == [["<unk>", 0.0, 2], ["a", -1.0, 1]]


WRONG = {
    "cut off": (written(BYTES)[:3_000], "the GGUF header is not whole"),
    "cut off in a number": (written(BYTES)[:20], "the GGUF header is not whole"),
    "cut off in a text": (written({"x": "long text"})[:-3], "the GGUF header is not whole"),
    "version": (gguf({}, version=1), "of version 1 with 0 keys"),
    "keys": (gguf({}, count=10**9), "1,000,000,000 keys"),
    "none": (written({"ggml.model": "gpt2"}), "has no tokenizer"),
    "other": (written({"ggml.model": "rwkv", "ggml.tokens": ["a"]}), "the tokenizer 'rwkv'; llama, t5 and gpt2"),
    "words": (written({**BYTES, "ggml.pre": "who-knows"}), "cuts words as 'who-knows', which is not known"),
    "merges": (written(WITHOUT_MERGES), r"no whole list tokenizer\.ggml\.merges"),
    "kinds": (written({**BYTES, "ggml.token_type": [1]}), r"no whole list tokenizer\.ggml\.token_type"),
    "twice": (written({**BYTES, "ggml.tokens": [*STRINGS[:-1], "!"]}), "two tokens of the GGUF file are the same"),
    "no list": (written({"ggml.model": "gpt2", "ggml.tokens": "a"}), r"no whole list tokenizer\.ggml\.tokens"),
    "kind of value": (gguf({"a": 1}) .replace(struct.pack("<I", 4), struct.pack("<I", 99), 1), "unknown kind 99"),
    "endless list": (gguf({"a": ["b"]}).replace(struct.pack("<IQ", 8, 1), struct.pack("<IQ", 8, 10**12)), "not whole"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_wrong_is_refused_in_one_sentence(name: str) -> None:
    data, message = WRONG[name]
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)


def test_a_model_of_pieces_is_no_gguf_file() -> None:
    assert config_of(model([("<unk>", 0.0, 2)]), {"a": 1}) == {"a": 1}
