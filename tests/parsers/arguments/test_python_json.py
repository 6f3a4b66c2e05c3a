"""What a template wrote with Python's str() becomes the JSON it means; anything else stays the text it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.arguments.python_text import plain_to_json, python_to_json

VALUES: list[Any] = [
    ["a", "b, c", '"q"', "it's"],
    {"k": {"n": None, "l": [1, [2.5]], "b": True, "f": False}, "é": "ü\n\t\\"},
    [],
    {},
    ["\x07", "\x85", "\ue000", "\U000f0000", "東京 🗼"],
    [-1, 1e16, 0.5],
]


@pytest.mark.parametrize("value", VALUES)
def test_what_str_writes_is_read_back(value: Any) -> None:
    schema = {"type": "object" if isinstance(value, dict) else "array"}
    assert json.loads(plain_to_json(str(value), schema)) == value


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("['a', ]", '["a"]'),
        ("[ 'a',1 ]", '["a", 1]'),
        ("{'a': true}", '{"a": true}'),
        (r"['\d\0\N']", r'["\\d\\0\\N"]'),
        ("[1 2]", None),
        ("['a' 'b']", None),
        ("['a", None),
        ("[f(1)]", None),
        ("[x]", None),
    ],
)
def test_only_literals_are_spelled_anew(text: str, written: str | None) -> None:
    assert python_to_json(text) == written


@pytest.mark.parametrize(
    ("text", "types", "written"),
    [
        ("None", ["string", "null"], "null"),
        ("None", "string", '"None"'),
        ("none", ["string", "null"], '"none"'),
        ("['a']", "string", "\"['a']\""),
        ("['a']", ["array", "string"], '["a"]'),
        ("['a']", "object", "\"['a']\""),
        (" ['a']\n", "array", '["a"]'),
        ('["a"]', "array", '["a"]'),
        ("{'a'}", "object", "\"{'a'}\""),
        ("{1: 2}", "object", '"{1: 2}"'),
        ("['a", "array", '"[\'a"'),
        ("7", "integer", "7"),
        ("", "array", '""'),
    ],
)
def test_a_value_is_read_as_python_only_where_its_schema_allows_the_result(text: str, types: Any, written: str) -> None:
    assert plain_to_json(text, {"type": types}) == written


def test_a_value_without_a_schema_stays_text() -> None:
    assert plain_to_json("['a']", None) == "\"['a']\""


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"[{\"a\": \"C:\\\\x\"}]", r'[{"a": "C:\\x"}]'),
        (r"[{\"a\": \"b\"}, \"c", None),
        (r'["a", \"b\"]', None),
        (r"[\"\ud800\"]", None),
    ],
)
def test_a_list_whose_quotes_are_all_escaped_is_what_it_says(text: str, written: str | None) -> None:
    assert plain_to_json(text, {"type": "array"}) == (written or json.dumps(text))
    assert plain_to_json(text, {"type": "string"}) == json.dumps(text)
