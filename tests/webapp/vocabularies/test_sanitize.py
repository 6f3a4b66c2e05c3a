"""A tokenizer.json from anybody: what is left out, what is refused, and that every refusal names its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.webapp.vocabularies.toys import byte_fallback, byte_level, unigram, word_piece
from webapp.vocabularies import plain_json
from webapp.vocabularies.files import rebuild
from webapp.vocabularies.plain_json import MAX_DEPTH, VocabularyError, parse_json
from webapp.vocabularies.sanitize import sanitize, tokenizer_text
from webapp.vocabularies.spelling import spelling_of

Data = dict[str, Any]
Change = Callable[[Data], Any]


def put(*path: str | int, value: Any) -> Change:
    """A change that sets one member."""

    def change(data: Data) -> None:
        place: Any = data
        for key in path[:-1]:
            place = place[key]
        if path[-1] == "+":
            place.append(value)
        else:
            place[path[-1]] = value

    return change


def drop(*path: str) -> Change:
    def change(data: Data) -> None:
        place: Any = data
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


def replace_with(content: str, pattern: dict[str, str] | None = None) -> Data:
    return {"type": "Replace", "pattern": pattern or {"String": "a"}, "content": content}


def split(regex: Any) -> Data:
    return {"type": "Split", "pattern": regex, "behavior": "Isolated", "invert": False}


def token(token_id: Any, content: Any) -> Data:
    return {"id": token_id, "content": content, "special": False}


LONG = "a" * 2_049
HOSTILE: dict[str, tuple[Change, str]] = {
    "replace bomb": (
        put("normalizer", value=replace_with("b" * 100_000)),
        r"^/normalizer/content: .*100,000 .*at most 16",
    ),
    "prepend bomb": (
        put("normalizer", value={"type": "Prepend", "prepend": "b" * 17}),
        r"^/normalizer/prepend: .*17 char",
    ),
    "decoder replace": (put("decoder", value=replace_with("b" * 1_000_000)), r"^/decoder/content: .*1,000,000 char"),
    "decoder regex": (put("decoder", value=replace_with("b", {"Regex": "a+"})), r"^/decoder/pattern: .*not a regex"),
    "decoder strip": (
        put("decoder", value={"type": "Strip", "content": " ", "start": 99, "stop": 0}),
        r"^/decoder/start: 99 is out",
    ),
    "long regex": (
        put("pre_tokenizer", value=split({"Regex": "a" * 2_001})),
        r"/pattern/Regex: .*2,001 bytes; at most",
    ),
    "empty pattern": (put("pre_tokenizer", value=split({"String": ""})), r"/pattern/String: an empty pattern"),
    "two patterns": (put("pre_tokenizer", value=split({"String": "a", "Regex": "b"})), "'String' or 'Regex'"),
    "behavior": (
        put("pre_tokenizer", value=split({"String": "a"}) | {"behavior": "Explode"}),
        "'Explode' is not one of",
    ),
    "charsmap": (
        put("normalizer", value={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        r"^/normalizer/precompiled_charsmap: the table of the normal form is broken",
    ),
    "unknown part": (
        put("pre_tokenizer", value={"type": "Shell"}),
        r"^/pre_tokenizer/type: .*'Shell' is not taken: known",
    ),
    "no type": (put("pre_tokenizer", value={}), r"^/pre_tokenizer: 'type' is missing"),
    "no object": (put("pre_tokenizer", value=[1]), r"^/pre_tokenizer: expected an object, found a list"),
    "no pattern": (put("decoder", value={"type": "Replace", "content": "x"}), "^/decoder: 'pattern' is missing; give"),
    "many parts": (
        put("normalizer", value={"type": "Sequence", "normalizers": [{"type": "NFC"}] * 65}),
        r"^/normalizer: more than 64",
    ),
    "bad part inside": (
        put("normalizer", value={"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "X"}]}),
        r"^/normalizer/normalizers/1/type: ",
    ),
    "two letters": (
        put("pre_tokenizer", value={"type": "CharDelimiterSplit", "delimiter": "ab"}),
        "/delimiter: expected a single",
    ),
    "flag": (
        put("pre_tokenizer", "use_regex", value=1),
        r"^/pre_tokenizer/use_regex: expected true or false, found an int",
    ),
    "word level": (
        put("model", "type", value="WordLevel"),
        r"^/model/type: the model is 'WordLevel'; BPE, Unigram and WordPiece",
    ),
    "no model type": (put("model", value={"type": 3}), r"^/model/type: the model is of no known type"),
    "no model": (drop("model"), "this JSON has no 'model'"),
    "model list": (put("model", value=[]), r"^/model: expected an object, found a list"),
    "dropout": (put("model", "dropout", value=0.5), r"^/model/dropout: with dropout"),
    "subword prefix": (put("model", "continuing_subword_prefix", value="##"), r"^/model/continuing_subword_prefix: "),
    "word suffix": (put("model", "end_of_word_suffix", value="</w>"), r"^/model/end_of_word_suffix: "),
    "unknown token": (put("model", "unk_token", value="<unk>"), r"^/model/unk_token: this token is not in the voc"),
    "no vocabulary": (drop("model", "vocab"), r"^/model: 'vocab' is missing"),
    "no merges": (drop("model", "merges"), r"^/model: 'merges' is missing"),
    "merge of three": (put("model", "merges", 0, value="a b c"), r"^/model/merges/0: expected two strings"),
    "merge of numbers": (put("model", "merges", 0, value=[1, 2]), r"^/model/merges/0: expected two strings"),
    "merge with nothing": (put("model", "merges", 0, value=["a", ""]), r"^/model/merges/0: expected two strings"),
    "huge id": (put("model", "vocab", "x~/y", value=4_294_967_295), r"^/model/vocab/x~0~1y: the id 4294967295 is out"),
    "negative id": (put("model", "vocab", "xyz", value=-1), r"^/model/vocab/xyz: the id -1 is out of range"),
    "id that is no number": (
        put("model", "vocab", "xyz", value="1"),
        r"^/model/vocab/xyz: expected an integer, found a str",
    ),
    "id true": (
        put("model", "vocab", "xyz", value=True),
        r"^/model/vocab/xyz: expected an integer, found true or false",
    ),
    "id null": (put("model", "vocab", "xyz", value=None), r"^/model/vocab/xyz: expected an integer, found null"),
    "id of lines": (put("model", "vocab", "a\nb\x1b[1m", value=-1), r"^/model/vocab/a\?b\?\[1m: the id -1 is out"),
    "same id twice": (put("model", "vocab", "xyz", value=7), r"^/model/vocab/xyz: the id 7 is also that of"),
    "long token": (put("model", "vocab", LONG, value=999), r"^/model/vocab/a{40}: the token has 2,049 characters"),
    "surrogate": (put("model", "vocab", "\ud800", value=999), r"^/model/vocab/\?: the token has a lone surrogate"),
    "many added": (
        put("added_tokens", value=[token(1000 + i, f"<{i}>") for i in range(10_001)]),
        r"^/added_tokens: 10,001 added tokens; at most 10,000",
    ),
    "added with a taken id": (
        put("added_tokens", "+", value=token(5, "<new>")),
        r"^/added_tokens/3/id: the id 5 is that of",
    ),
    "added with another id": (
        put("added_tokens", "+", value=token(999, "hello")),
        r"the vocabulary gives 'hello' the id 259",
    ),
    "added twice": (
        put("added_tokens", "+", value=token(700, "<think>")),
        r"/added_tokens/3: '<think>' with the id 700: text",
    ),
    "added empty": (
        put("added_tokens", "+", value=token(700, "")),
        r"^/added_tokens/3/content: an added token is empty",
    ),
    "added without id": (
        put("added_tokens", "+", value={"content": "x"}),
        r"^/added_tokens/3/id: expected an int.*null",
    ),
    "added as text": (put("added_tokens", "+", value="x"), r"^/added_tokens/3: expected an object, found a string"),
    "added long": (put("added_tokens", "+", value=token(700, LONG)), r"^/added_tokens/3/content: the token has 2,049"),
}
UNIGRAM: dict[str, tuple[Change, str]] = {
    "row": (put("model", "vocab", 1, value="x"), r"^/model/vocab/1: expected a string and a finite number"),
    "score": (put("model", "vocab", 1, value=["x", float("inf")]), r"^/model/vocab/1: expected a string and a finite"),
    "twice": (put("model", "vocab", 1, value=["llo", -1]), r"^/model/vocab/3: 'llo' stands twice"),
    "unknown": (put("model", "unk_id", value=99), r"^/model/unk_id: there is no token 99"),
    "added elsewhere": (put("added_tokens", "+", value=token(5, "<x>")), r"^/added_tokens/1/id: the id 5 is that of"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_its_place(name: str, toy: Data) -> None:
    change, message = HOSTILE[name]
    change(toy)
    data = json.dumps(toy).encode()
    with pytest.raises(VocabularyError, match=message) as caught:
        rebuild(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("name", UNIGRAM)
def test_a_hostile_unigram_is_refused_with_its_place(name: str, metaspace: Data) -> None:
    change, message = UNIGRAM[name]
    change(metaspace)
    with pytest.raises(VocabularyError, match=message):
        sanitize(metaspace)


LIMITS = [("MAX_VOCAB", "/model/vocab: 264 tokens; at most 9"), ("MAX_MERGES", "/model/merges: 8 merges; at most 7")]


@pytest.mark.parametrize(("limit", "message"), LIMITS)
def test_a_large_vocabulary_is_refused(limit: str, message: str, toy: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"webapp.vocabularies.sanitize.{limit}", int(message.rpartition(" ")[2]))
    with pytest.raises(VocabularyError, match=message):
        sanitize(toy)


def test_what_adds_cuts_or_pads_is_left_out(toy: Data) -> None:
    toy["padding"] = {"strategy": {"Fixed": 50_000_000}, "pad_id": 0, "pad_token": "x"}
    toy["truncation"] = {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    toy["post_processor"] = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "no", "type_id": 0}}]}
    toy["model"]["secret"] = toy["pre_tokenizer"]["secret"] = toy["secret"] = "x"
    made = sanitize(toy)
    assert [made[key] for key in ("padding", "truncation", "post_processor")] == [None] * 3
    assert b"secret" not in tokenizer_text(made)
    assert Tokenizer.from_buffer(tokenizer_text(made)).encode("hello world").ids == [259, 263, 108, 100]


def test_added_tokens_keep_their_ids_across_gaps(toy: Data) -> None:
    backend = Tokenizer.from_buffer(tokenizer_text(sanitize(toy)))
    assert [backend.token_to_id(text) for text in ("<|end|>", "<think>", "<tool_call>")] == [264, 265, 300]
    assert backend.encode("<tool_call>he").ids == [300, 256]


def test_the_order_of_a_file_makes_no_other_tokenizer(toy: Data) -> None:
    first = tokenizer_text(sanitize(json.loads(json.dumps(toy))))
    toy["model"]["vocab"] = dict(reversed(toy["model"]["vocab"].items()))
    toy["added_tokens"].reverse()
    toy["model"]["merges"] = [merge.split(" ") for merge in toy["model"]["merges"]]
    del toy["model"]["type"]
    assert tokenizer_text(sanitize(toy)) == first


def test_a_unigram_is_taken(metaspace: Data) -> None:
    assert Tokenizer.from_buffer(tokenizer_text(sanitize(metaspace))).encode("hello").ids == [2, 3]


BAD_JSON = {
    "truncated": (b'{"model": {"vocab": {"a": 1', "not whole JSON: .*line 1, column"),
    "not utf-8": (b'{"a": "\xff"}', r"not UTF-8 \(byte 7\)"),
    "deep lists": (b"[" * 100_000 + b"]" * 100_000, "nested deeper than 40 levels"),
    "deep objects": (b'{"a":' * 41 + b"1" + b"}" * 41, "nested deeper than 40 levels"),
    "huge number": (b'{"a": ' + b"9" * 5_000 + b"}", "a number that is too large"),
    "a list": (b"[1, 2]", "expected an object, found a list"),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_what_is_not_json_says_so(name: str) -> None:
    data, message = BAD_JSON[name]
    with pytest.raises(VocabularyError, match=message):
        rebuild(data)


def test_brackets_in_strings_are_no_depth() -> None:
    data = json.dumps({"a": '[[[[{{{{\\"[' * 50, "b": [[{}]]}).encode()
    assert parse_json(b"\xef\xbb\xbf" + data)["b"] == [[{}]]


def test_lists_side_by_side_are_no_depth() -> None:
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    beside = b"[[{}], " + deepest[1:-1] + b"]"
    assert len(parse_json(beside)) == 2
    with pytest.raises(VocabularyError, match=f"nested deeper than {MAX_DEPTH} levels"):
        parse_json(b"[[{}], " + deepest + b"]")


def test_lists_without_end_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_json, "MAX_BRACKETS", 100)
    with pytest.raises(VocabularyError, match="the JSON has 101 lists and objects; no tokenizer file has so many"):
        parse_json(b"[" + b"[]," * 99 + b"{}]")
    assert len(parse_json(b"[" + b"[]," * 98 + b"[]]")) == 99


def test_a_surrogate_anywhere_is_refused(toy: Data) -> None:
    toy["normalizer"] = {"type": "Prepend", "prepend": "\ud800"}
    with pytest.raises(VocabularyError, match="the file has a lone surrogate"):
        tokenizer_text(sanitize(toy))


WRONG: list[Any] = [None, True, -1, 1.5, 2**70, "", "a", "\ud800", "x" * 3_000, [], {}, [None], [["a", 1]], {"a": 1}]
WRONG += [{"type": kind} for kind in ("Sequence", "Replace", "Split", "Strip", "Metaspace", "ByteLevel", "Prepend")]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to what is in a value; of long lists and objects only the first."""
    yield path
    keys = list(value)[:40] if isinstance(value, dict) else range(min(len(value), 6)) if isinstance(value, list) else ()
    for key in keys:
        yield from places(value[key], (*path, key))


@pytest.mark.replays
@given(st.sampled_from([byte_level, byte_fallback, unigram, word_piece]), st.data())
def test_whatever_is_changed_it_is_taken_or_refused_in_one_line(make: Callable[[], Data], data: st.DataObject) -> None:
    changed = make()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in places(changed) if path]))
        put(*path, value=json.loads(json.dumps(data.draw(st.sampled_from(WRONG)))))(changed)
    try:
        made = sanitize(changed)
        spelling_of(made["decoder"], made["pre_tokenizer"])
        tokenizer_text(made)
        message = ""
    except VocabularyError as error:
        message = str(error)
    assert "\n" not in message
