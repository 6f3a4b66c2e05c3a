"""How far a call goes that the output cuts off: what is a part of what was streamed, and what closes it."""

from __future__ import annotations

import pytest

from parsers.compare.cut_calls import is_closed_form, is_streamed_part
from parsers.vocabulary.types import ToolCall


def call(arguments: str, name: str = "f") -> ToolCall:
    return ToolCall("1", name, arguments, complete=False)


DEEP = '{"a": 1, "b": {"c": "xy\\u00'


@pytest.mark.parametrize(
    ("streamed", "closed", "fits"),
    [
        (DEEP, "{}", True),
        (DEEP, '{"a": 1}', True),
        (DEEP, '{"a": 1, "b": {}}', True),
        (DEEP, '{"a": 1, "b": {"c": "xy"}}', True),
        (DEEP, '{"a": 1, "b": {"c": "x"}}', False),
        (DEEP, '{"a": 1, "b": null}', False),
        (DEEP, '{"a": 2}', False),
        (DEEP, '{"b": {}}', False),
        (DEEP, "[1]", False),
        (DEEP, '{"a": 1', False),
        ('{"a": "x\\\\', '{"a": "x\\\\"}', True),
        ('{"a": tr', '{"a": true}', True),
        ('{"a": tr', '{"a": false}', False),
        ('{"a": ', '{"a": null}', True),
        ('{"a": ', '{"a": 3}', False),
        ('{"a": 12', '{"a": 12}', True),
        ('{"a": 12', '{"a": 1}', False),
        ('{"a": 12, ', '{"a": 12}', True),
        ('{"a": [1, {"b": 2}, 3', '{"a": [1, {"b": 2}]}', True),
        ('{"a": [1, {"b": 2}, 3', '{"a": [1, {"b": 2}, 3]}', True),
        ('{"a": [1, {"b": 2}, 3', '{"a": [1]}', False),
        ('{"x": 1, "a"', '{"x": 1}', True),
        ('{"x": 1}', '{"x": 1}', True),
        ("", "{}", True),
        ("", '{"a": 1}', False),
    ],
)
def test_a_closed_call_says_what_was_streamed(streamed: str, closed: str, fits: bool) -> None:
    assert is_closed_form(call(streamed), call(closed)) is fits
    assert not is_closed_form(call(streamed), call(closed, "g"))


@pytest.mark.parametrize(
    ("streamed", "closed", "raw", "fits"),
    [
        ('{"a": ', '{"a": 3}', "<a>3", True),
        ('{"a": ', '{"a": "3 "}', "<a>3", True),
        ('{"a": ', '{"a": 4}', "<a>3", False),
        ('{"a": ', '{"b": 3}', "<a>3", False),
        ('{"x": 1, ', '{"x": 1, "a": 3}', "<x>1</x><a>3", True),
        ('{"x": 1, ', '{"x": 2, "a": 3}', "<x>1</x><a>3", False),
        ('{"x": 1, ', '{"x": 3}', "<x>1</x><a>3", False),
        ('{"x": [1, ', '{"x": [1], "a": 3}', "<x>1</x><a>3", True),
        ('{"x": ["a', '{"x": ["a \\n\\n"]}', "<x>a \n\n", True),
        ('{"x": ["a', '{"x": ["a\\n"]}', "<x>a", False),
        ('{"x": 1', '{"x": 1}', "<x>1 ", True),
    ],
)
def test_a_value_that_waited_for_its_end_stands_in_the_output(streamed: str, closed: str, raw: str, fits: bool) -> None:
    assert is_closed_form(call(streamed), call(closed), raw) is fits


@pytest.mark.parametrize(
    ("streamed", "other", "raw", "fits"),
    [
        ('{"a": 1', '{"a": 1', "", True),
        ('{"a": 1', '{"a"', "", True),
        ('{"a": 1', "", "", True),
        ('{"a": 1', '{"a": 12', "", False),
        ('{"a": 1', '{"a": 12', '{"a": 12', True),
        ('{"a": 1', '{"b"', '{"a": 12', False),
    ],
)
def test_a_part_of_what_was_streamed_is_its_beginning(streamed: str, other: str, raw: str, fits: bool) -> None:
    assert is_streamed_part(call(streamed), call(other), raw) is fits
    assert not is_streamed_part(call(streamed), call(other, "g"), raw)
