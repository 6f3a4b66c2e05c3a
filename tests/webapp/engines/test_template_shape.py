"""What is taken for a template, and what is said of what is none."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.vocabulary.types import FormatError
from tests.webapp.engines.templates import ANCHOR, PLAIN, TEMPLATES, template
from webapp.engines.response_template import loaded
from webapp.engines.response_template.shape import check, extract


@pytest.mark.parametrize("data", TEMPLATES.values(), ids=list(TEMPLATES))
def test_a_template_is_taken_as_it_is(data: dict[str, Any]) -> None:
    assert extract(data) is data
    assert list(check(data).fields) == list(data["fields"])


def test_a_tokenizer_config_is_taken_for_its_template() -> None:
    config = {"tokenizer_class": "X", "chat_template": "{{ x }}", "response_schema": {}, "response_template": PLAIN}
    assert extract(config) is PLAIN
    assert loaded(config).table.format.initial == "CONTENT"


@pytest.mark.parametrize(
    ("data", "pointer", "words"),
    [
        ([], "", "a response_template is a JSON object"),
        ({"response_schema": {"type": "object"}}, "/response_schema", "the older form of transformers 5.0 to 5.12"),
        ({"type": "object", "properties": {}}, "", "the older form of transformers 5.0 to 5.12"),
        ({"x-regex": "a"}, "", "the older form of transformers 5.0 to 5.12"),
        ({"tokenizer_class": "X"}, "", "this tokenizer config has no response_template"),
        ({"chat_template": "x"}, "", "this tokenizer config has no response_template"),
    ],
)
def test_what_holds_no_template_is_explained(data: Any, pointer: str, words: str) -> None:
    with pytest.raises(FormatError) as raised:
        extract(data)
    assert (raised.value.pointer, words in raised.value.message) == (pointer, True)


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("data", "pointer", "words"),
    [
        ({}, "/fields", "field required"),
        (template(), "/fields", "at least 1 item"),
        ({**PLAIN, "version": 2}, "/version", "input should be 1"),
        ({**PLAIN, "more": 1}, "/more", "no such key is known here"),
        (template(content={"opens": "x"}), "/fields/content/opens", "no such key is known here"),
        (template(content={"open": ""}), "/fields/content/open", "none may be empty"),
        (template(content={"close": []}), "/fields/content/close", "a list of strings"),
        (template(content={"close": ["a", 1]}), "/fields/content/close", "a list of strings"),
        (template(content={"close": ["a"] * 33}), "/fields/content/close", "at most 32 strings"),
        (template(content={"close": "a" * 1001}), "/fields/content/close", "at most 1000 characters"),
        (template(content={"open_pattern": 5}), "/fields/content/open_pattern", "valid string"),
        (template(content={"open_pattern": ""}), "/fields/content/open_pattern", "1 to 1000 characters"),
        (template(content={"open_pattern": "(?:a{1000}){1000}"}), "/fields/content/open_pattern", "multiply to more"),
        (template(content={"content": "yaml"}), "/fields/content/content", "input should be 'text'"),
        (template(content={"repeats": "yes"}), "/fields/content/repeats", "valid boolean"),
        (template(content={"content_args": {"tag_pattern": "x" * 1001}}), "/fields/content/content_args/tag_pattern",
         "1 to 1000 characters"),
        (template(content={"content_args": {"value_parser": {"name": "yaml"}}}),
         "/fields/content/content_args/value_parser/name", "input should be 'text'"),
        (template(content={"content_args": {"string_delims": [["a"]]}}),
         "/fields/content/content_args/string_delims/0/1", "field required"),
        (template(content={"transform": nested(50)}), "", "nested deeper than 40"),
        (template(content={"transform": "x" * 64_000}), "", "the limit is 64,000"),
        ({**template(content={"open": "x"}), "fields": {f"a/b~{n}": {"open": "x"} for n in range(33)}}, "/fields",
         "at most 32 items"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_place(data: Any, pointer: str, words: str) -> None:
    with pytest.raises(FormatError) as raised:
        check(data)
    assert (raised.value.pointer, words in raised.value.message) == (pointer, True), raised.value.message


@pytest.mark.parametrize(
    ("data", "pointer", "words"),
    [
        ({"fields": {"content": {}}}, "", "response_template must define 'start_anchor' or 'start_anchor_pattern'."),
        (template(**{"a/b": {"open": "x", "open_pattern": "y"}}), "/fields/a~1b",
         "cannot specify both 'open' and 'open_pattern'"),
        (template(content={"open_pattern": "("}), "/fields/content", "invalid open_pattern regex: missing )"),
        (template(content={"open_pattern": "(" * 490 + ")" * 490}), "", "a pattern is nested too deeply"),
        (template(content={"join": "x"}), "/fields/content", "'join' requires 'repeats': true"),
        (template(content={}, thinking={}), "", "At most one field may omit 'open'/'open_pattern'"),
    ],
)  # fmt: skip
def test_what_transformers_refuses_is_said_in_its_words(data: Any, pointer: str, words: str) -> None:
    with pytest.raises(FormatError) as raised:
        loaded(data)
    assert raised.value.message.startswith(words)
    assert raised.value.pointer == pointer


def test_a_template_of_the_largest_size_is_taken() -> None:
    fields = {f"field{number}": {"open": f"<{number}>"} for number in range(32)}
    assert len(check({"start_anchor": ANCHOR, "fields": fields}).fields) == 32
