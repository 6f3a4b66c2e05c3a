"""Corpora: what is read, how it is written, and where what is wrong with one stands."""

from __future__ import annotations

import json
from difflib import ndiff
from typing import Any

import pytest

from parsers.cases.case import Case, CaseError
from parsers.cases.corpus import case_texts, jsonl
from parsers.cases.io import case_id, dumps, load_case
from tests.corpus import dump_corpus, load_corpus
from tests.growth import assert_linear, seconds


def case(text: str = "Hi", **more: Any) -> Case:
    return load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, **more})


CASES = {"one-call": case(), "a/b ~ ü\n": case("a\nb", tools=[{"name": "f"}]), "tokens": case()}
CASES["tokens"] = load_case(
    {"schema": 1, "parser": {"name": "qwen"}, "input": {"tokens": [[1, "a"], [2, "b", {"kind": "special"}]]}}
)
ONE = '{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}'


def test_what_is_written_is_read_back_with_the_same_ids_and_order() -> None:
    text = dump_corpus(CASES)
    found = load_corpus(text.encode())
    assert (list(found.items()), dump_corpus(found)) == (list(CASES.items()), text)
    assert [case_id(one) for one in found.values()] == [case_id(one) for one in CASES.values()]
    assert load_corpus(dump_corpus({})) == {}


def test_a_case_stands_in_a_corpus_as_in_its_file_and_a_change_is_one_line() -> None:
    text = dump_corpus({"x": CASES["tokens"]})
    assert [line.removeprefix("  ") for line in text.splitlines()[2:-1]] == dumps(CASES["tokens"]).splitlines()[1:]
    changed = dump_corpus({"x": CASES["tokens"].model_copy(update={"title": "New"})})
    assert [line for line in ndiff(text.splitlines(), changed.splitlines()) if line[0] in "+-"] == [
        '+     "title": "New",'
    ]


def test_json_lines_are_read_and_their_numbers_are_the_names() -> None:
    text = f"\n{jsonl(CASES['one-call'])}\n{jsonl(CASES['tokens'])}"
    assert {name: dumps(one) for name, one in load_corpus("\ufeff" + text).items()} == {
        "2": dumps(CASES["one-call"]),
        "4": dumps(CASES["tokens"]),
    }
    assert list(load_corpus(ONE)) == ["1"]
    assert list(load_corpus(f"{ONE}\n{{}}".replace("{}", ONE))) == ["1", "2"]


def test_the_texts_of_cases_are_theirs_alone_and_not_judged() -> None:
    assert case_texts('{ "a" : {"schema": 9} ,\n"b": [1] }\n') == {"a": '{"schema": 9}', "b": "[1]"}


@pytest.mark.parametrize(
    ("text", "pointer", "message"),
    [
        ("", "", "not JSON: Expecting '{' at line 1, column 1"),
        ("[]", "", "not JSON: Expecting '{' at line 1, column 1"),
        ("{", "", "not JSON: a name in quotes is expected at line 1, column 2"),
        ("{1: 2}", "", "not JSON: a name in quotes is expected at line 1, column 2"),
        (f'{{"a": {ONE},}}', "", "not JSON: a name in quotes is expected at line 1, column 74"),
        (f'{{"a" {ONE}}}', "", "not JSON: Expecting ':' at line 1, column 6"),
        (f'{{"a": {ONE}\n"b": {ONE}}}', "", "not JSON: Expecting '}' at line 2, column 1"),
        (f'{{"a": {ONE}}}\nmore', "/2", "not JSON: Expecting value at line 2, column 1"),
        ('{\n"a": {"b": nul}}', "/a", "not JSON: Expecting value at line 2, column 12"),
        ('{"a": {"b": NaN}}', "/a", "not JSON: NaN is not a JSON number"),
        ('{"a": {"b": 1, "b": 2}}', "/a", 'key "b" is given twice in one object'),
        (f'{{"a/b": {ONE},\n"a/b": {ONE}}}', "/a~1b", 'called "a/b": at line 1, column 9 and at line 2, column 8'),
        ('{"a": 5}', "/a", "a case is a JSON object"),
        (f'{{"a~": {ONE.replace("qwen", "")}}}', "/a~0/parser/name", "the name of the parser is empty"),
        (f"{ONE}\n{ONE[:-1]}", "/2", "not JSON: Expecting ',' delimiter at line 2, column"),
        (f'{ONE}\n\n{{"a": 1, "a": 1}}', "/3", 'key "a" is given twice in one object'),
        (f'{ONE}\n{{"schema": 2}}', "/2/schema", "schema 2 is not known here"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, pointer: str, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        load_corpus(text)
    assert (caught.value.pointer, message in caught.value.message) == (pointer, True), caught.value


def test_bytes_that_are_no_text_are_named() -> None:
    with pytest.raises(CaseError, match="UTF-8 text: byte 1 is not"):
        load_corpus(b"{\xff}")


def test_a_case_may_be_called_what_keys_of_cases_are_called() -> None:
    text = json.dumps({"schema": json.loads(ONE), "parser": json.loads(ONE)})
    assert list(load_corpus(text)) == ["schema", "parser"]


@pytest.mark.linear
@pytest.mark.parametrize("line", ["{}\n", '{"a": 1}\n\n\n', '{\n"a":\n1\n} {}\n'])
def test_twice_the_lines_take_about_twice_the_time(line: str) -> None:
    def timed(size: int) -> float:
        text = line * size
        return seconds(lambda: case_texts(text))

    assert_linear(timed, (10_000, 20_000, 40_000))
