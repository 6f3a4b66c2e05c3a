"""What a file is, told from its content: rank files, tekken, and what is sent back with a word on what to do."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import tiktoken as reference
from tokenizers import Tokenizer

from webapp.vocabularies import rank_files
from webapp.vocabularies.files import is_exact, rebuild, templates
from webapp.vocabularies.plain_json import VocabularyError
from webapp.vocabularies.sanitize import tokenizer_text
from webapp.vocabularies.spelling import Spelling

Data = dict[str, Any]

JOINED = [b"he", b"ll", b"hell", b"hello", b" w", "東".encode()[:2], "東".encode(), b"or", b" wor", b"  ", b"12", b'{"']
RANKS = {raw: rank for rank, raw in enumerate([*(bytes([byte]) for byte in range(256)), *JOINED])}


def rank_file(ranks: dict[bytes, int]) -> bytes:
    return b"".join(base64.b64encode(raw) + b" %d\n" % rank for raw, rank in ranks.items())


def tekken_file(**config: Any) -> Data:
    rows = [
        {"rank": rank, "token_bytes": base64.b64encode(raw).decode(), "token_str": None} for raw, rank in RANKS.items()
    ]
    known = {"pattern": rank_files.QWEN, "default_vocab_size": len(RANKS) + 40, "default_num_special_tokens": 40}
    return {"config": known | config, "vocab": rows}


def loaded(made: Data) -> Tokenizer:
    return Tokenizer.from_buffer(tokenizer_text(made))


OTHERS = {
    "config": (b'{"tokenizer_class": "X"}', "tokenizer_config.json, which has no vocabulary; give the tokenizer.json"),
    "vocabulary": (b'{"a": 1, "b": 2}', "a vocab.json, which has no merges; give the tokenizer.json"),
    "other json": (b'{"a": []}', "no 'model', so it is no tokenizer.json"),
    "sentencepiece cut off": (b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02\n\x0e\n", "the file is not whole"),
    "gguf": (b"GGUF\x03\x00", "the GGUF header is not whole"),
    "zip": (b"PK\x03\x04...", "a zip archive; unpack it"),
    "gzip": (b"\x1f\x8b\x08", "compressed with gzip; unpack it"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer"),
    "page": (b"<!doctype html>", "a web page, not a tokenizer.json"),
    "empty": (b" \n", "the file is empty"),
    "anything": (b"hello", "no tokenizer file; give a tokenizer.json, a tekken.json, a"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_sent_back_with_what_to_give(name: str) -> None:
    data, message = OTHERS[name]
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small rank file is one whose pattern is known."""
    markers = {300: ("<|end|>", True), 310: ("<tool_call>", False)}
    small = rank_files.KNOWN[100256]._replace(name="small", markers=markers)
    monkeypatch.setattr(rank_files, "KNOWN", {len(RANKS): small})


@pytest.mark.usefixtures("known")
def test_a_rank_file_gives_the_ids_of_tiktoken() -> None:
    backend = loaded(rebuild(rank_file(RANKS)))
    own = reference.Encoding("small", pat_str=rank_files.CL100K, mergeable_ranks=RANKS, special_tokens={})
    rng = random.Random(11)
    for _ in range(300):
        text = "".join(
            rng.choice(["he", "ll", "o", " ", "w", "or", "東", "京", "12", "3", "\n", "{", '"', "🙂"])
            for _ in range(30)
        )
        assert backend.encode(text, add_special_tokens=False).ids == own.encode(text)
    assert backend.encode("hello<tool_call> wor<|end|>").ids == [259, 310, 264, 300]


@pytest.mark.usefixtures("known")
def test_a_config_beside_a_rank_file_names_its_special_tokens() -> None:
    config = {"added_tokens_decoder": {"400": {"content": "<x>", "special": True}, "401": {"content": "<y>"}}}
    made = rebuild(rank_file(RANKS), config)
    assert [(t["id"], t["content"], t["special"]) for t in made["added_tokens"]] == [
        (400, "<x>", True),
        (401, "<y>", False),
    ]
    nothings: list[Any] = [{"added_tokens_decoder": {}}, []]
    for nothing in nothings:
        assert rebuild(rank_file(RANKS), nothing) == rebuild(rank_file(RANKS))
    with pytest.raises(VocabularyError, match="added_tokens_decoder/x: expected an id"):
        rebuild(rank_file(RANKS), {"added_tokens_decoder": {"x": {"content": "<x>"}}})


def test_a_rank_file_of_any_size_is_taken_and_its_words_are_a_guess() -> None:
    data = rank_file(RANKS)
    assert loaded(rebuild(data)).encode("hello wor").ids == [259, 264]
    spelling = Spelling("byte_level")
    assert [is_exact(one, False, spelling) for one in (data, b"{}")] == [False, True]
    assert [is_exact(b"", pieces, Spelling("byte_fallback")) for pieces in (True, False)] == [True, False]


BAD_RANKS = {
    "without all bytes": (rank_file(RANKS).split(b"\n", 1)[1], "has 267 ranks, and not all 256 single bytes"),
    "twice": (rank_file(RANKS) + b"aGU= 999\n", "line 269: the token or its rank 999 stands twice"),
    "same rank": (rank_file(RANKS) + b"enp6 5\n", "line 269: the token or its rank 5 stands twice"),
    "cut off": (rank_file(RANKS)[:-4], "line 268 is not a base64 token and its rank"),
    "not base64": (rank_file(RANKS) + b"\n!!! 5\n", "line 270 is not a base64 token"),
    "huge rank": (rank_file(RANKS) + b"enp6 99999999\n", "line 269 is not a base64 token"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_RANKS)
def test_a_bad_rank_file_is_refused_with_its_line(name: str) -> None:
    data, message = BAD_RANKS[name]
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)


def test_a_rank_file_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_files, "MAX_VOCAB", 100)
    with pytest.raises(VocabularyError, match="more than 100 ranks"):
        rebuild(rank_file(RANKS))


def test_tekken_ids_stand_behind_the_special_slots() -> None:
    backend = loaded(rebuild(json.dumps(tekken_file()).encode()))
    assert backend.encode("hello[TOOL_CALLS] wor").ids == [259 + 40, 9, 264 + 40]
    assert backend.encode("[ARGS]").ids != [32]
    assert backend.id_to_token(32) == "<SPECIAL_32>"
    named = loaded(rebuild(json.dumps(tekken_file()).encode(), slots={32: "[ARGS]", 33: "[CALL_ID]", 99: "beyond"}))
    assert named.encode("[CALL_ID]x[ARGS]").ids == [33, ord("x") + 40, 32]


def test_a_tekken_file_may_name_its_slots_itself() -> None:
    data = tekken_file() | {"special_tokens": [{"rank": 3, "token_str": "[NEW]", "is_control": True}]}
    backend = loaded(rebuild(json.dumps(data).encode()))
    assert [backend.id_to_token(i) for i in (2, 3, 9)] == ["<SPECIAL_2>", "[NEW]", "<SPECIAL_9>"]


def test_a_tekken_file_is_cut_at_its_vocabulary_size() -> None:
    made = rebuild(json.dumps(tekken_file(default_vocab_size=300)).encode())
    assert len(made["model"]["vocab"]) == 300


def changed(change: Callable[[Data], Any]) -> bytes:
    data = tekken_file()
    change(data)
    return json.dumps(data).encode()


BAD_TEKKEN = {
    "no pattern": (changed(lambda d: d["config"].pop("pattern")), "^/config: 'pattern' is missing"),
    "long pattern": (changed(lambda d: d["config"].update(pattern="a" * 2_001)), "^/config/pattern: .* has more"),
    "slots": (changed(lambda d: d["config"].update(default_num_special_tokens=10**6)), "_tokens: 1000000 is out"),
    "rank": (changed(lambda d: d["vocab"][5].update(rank=7)), "^/vocab/5/rank: the rank is not 5"),
    "base64": (changed(lambda d: d["vocab"][5].update(token_bytes="?")), "^/vocab/5/token_bytes: .* not base64"),
    "empty": (changed(lambda d: d["vocab"][5].update(token_bytes="")), "^/vocab/5/token_bytes: the token is empty"),
    "row": (changed(lambda d: d["vocab"].insert(0, 3)), "^/vocab/0: expected an object, found an integer"),
    "slot": (changed(lambda d: d.update(special_tokens=[{"rank": 1}])), "^/special_tokens/0: 'token_str' is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_TEKKEN)
def test_a_bad_tekken_file_is_refused_with_its_place(name: str) -> None:
    data, message = BAD_TEKKEN[name]
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)


@pytest.mark.parametrize("count", sorted(rank_files.KNOWN))
def test_known_patterns_and_markers_are_those_of_a_vocabulary(count: int) -> None:
    vocabulary = rank_files.KNOWN[count]
    reference.Encoding("known", pat_str=vocabulary.regex, mergeable_ranks=RANKS, special_tokens={})
    assert len({text for text, _ in vocabulary.markers.values()}) == len(vocabulary.markers) > 0
    assert min(vocabulary.markers) >= min(count, 50256)  # p50k has its end token among the ranks


TEMPLATES: list[tuple[Any, Data]] = [
    (None, {}),
    ({}, {}),
    ({"chat_template": "{{ x }}"}, {"chat_template": "{{ x }}"}),
    ({"chat_template": "x" * 400_001}, {}),
    ({"chat_template": [{"name": "default", "template": "a"}, "?"]}, {"chat_template": "a"}),
    (
        {"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]},
        {"chat_template": "b"},
    ),
    (
        {"chat_template": "x", "bos_token": "<s>", "eos_token": {"content": "</s>"}, "pad_token": None},
        {"chat_template": "x", "tokens": {"bos_token": "<s>", "eos_token": "</s>"}},
    ),
    ({"response_template": {"fields": {}}, "auto_map": "x.py"}, {"response_template": {"fields": {}}}),
]


@pytest.mark.parametrize(("config", "found"), TEMPLATES)
def test_templates_of_a_config_are_kept_as_data(config: Any, found: Data) -> None:
    assert templates(config) == found


def test_slots_have_the_names_of_the_format() -> None:
    assert (rank_files.SLOTS.index("[TOOL_CALLS]"), rank_files.SLOTS[17:]) == (
        9,
        ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
    )
