"""JSON values: when they are the same, how they are written, which numbers every reader keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.cases import jsontext
from parsers.cases.jsontext import JsonError

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
plain = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3))


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ({"a": [1, None]}, {"a": (1.0, None)}, True),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ([True], [1], False),
        ({}, [], False),
        ("1", 1, False),
    ],
)
def test_json_values_are_the_same_or_not(a: Any, b: Any, equal: bool) -> None:
    assert jsontext.same(a, b) is jsontext.same(b, a) is equal


@given(plain)
@pytest.mark.replays
def test_every_layout_of_a_value_is_the_same_value(value: Any) -> None:
    expected = json.loads(json.dumps(value))
    for written in (jsontext.line(value), jsontext.compact(value), jsontext.pretty(value, lambda _: False)):
        assert jsontext.read(written) == expected


@pytest.mark.parametrize("number", [-(2**53) + 1, 2**53 - 1, True, None, "0.5"])
def test_portable_numbers_pass(number: Any) -> None:
    jsontext.check_portable_numbers([number])
    with pytest.raises(JsonError):
        jsontext.check_portable_numbers([number, 2**53])


_DEEP: Any = "x"
for _ in range(jsontext.MAX_DEPTH + 1):
    _DEEP = [_DEEP]


@pytest.mark.parametrize(
    ("value", "words", "path"),
    [
        ([1, "\ud800"], "lone surrogate", (1,)),
        ({"a": {"\udfff": 1}}, "lone surrogate", ("a",)),
        ({"a": [{1: 2}]}, "is not a string", ("a", 0)),
        ({"a": [0.5, float("nan")]}, "NaN", ("a", 1)),
        ([None, True, {1}], "set is not a JSON value", (2,)),
        (_DEEP, "nested deeper", (0, 0, 0, 0)),
    ],
)
def test_what_is_no_plain_json_is_told_with_its_place(value: Any, words: str, path: jsontext.Path) -> None:
    with pytest.raises(JsonError, match=words) as caught:
        jsontext.check(value)
    assert caught.value.path == path


class _Pairs(dict[str, Any]):
    """A kind of object."""


@pytest.mark.parametrize("value", [{"a": [1, 0.5, None, True, "x", (2,)]}, _DEEP[0], _Pairs(a=1), [], "x"])
def test_plain_json_passes(value: Any) -> None:
    jsontext.check(value)


@pytest.mark.parametrize("text", ["a\ud83d", "\udc00\\", '"\ud800"', "é😀\x00", "\\ud800"])
def test_half_a_surrogate_pair_is_written_as_an_escape(text: str) -> None:
    value = {text: [text]}
    for written in (jsontext.plain(value), jsontext.plain(value, 2), jsontext.compact(value), jsontext.line(value)):
        assert json.loads(written.encode("utf-8")) == value
    assert jsontext.utf8(text).decode("utf-8") == "".join(
        [f"\\u{ord(c):04x}" if 0xD800 <= ord(c) < 0xE000 else c for c in text]
    )
