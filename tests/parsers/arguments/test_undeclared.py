"""What is left of arguments that a tool does not declare, and what whole arguments lack."""

from __future__ import annotations

import pytest

from parsers.arguments.undeclared import declared_arguments, lacks
from tests.growth import assert_linear, seconds

SCHEMA = {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("text", "how", "left"),
    [
        ('{"a": 1, "c": 2}', "drop", '{"a": 1}'),
        ('{ "c" : [2], "b":1e2 , "a" : 0.10 }', "drop", '{"b": 1e2, "a": 0.10}'),
        ('{"c": 2}', "drop", "{}"),
        ('{"c": 2}', "unwrap", None),
        ('{"a": 1, "b": 2}', "drop", None),
        ("{}", "drop", None),
        ("[1]", "drop", None),
        ('{"input": {"b": 0.10}}', "unwrap", '{"b": 0.10}'),
        ('{"arguments": "{\\"a\\": \\"1\\"}"}', "drop", '{"a": 1}'),
        ("{\"properties\": \"{'b': 'x'}\"}", "unwrap", '{"b": "x"}'),
        ('{"properties": "no object"}', "unwrap", None),
        ('{"properties": {"a": 1, "c": 2}}', "unwrap", None),
        ('{"input": {}}', "unwrap", None),
        ('{"input": {"a": 1}, "b": 2}', "unwrap", None),
        ('{"other": {"a": 1}}', "unwrap", None),
    ],
)
def test_arguments_are_left_or_taken_out_as_the_policy_says(text: str, how: str, left: str | None) -> None:
    assert declared_arguments(text, SCHEMA, how) == left


@pytest.mark.parametrize("schema", [{}, {"properties": {}}, {"properties": 1}])
def test_a_tool_that_declares_nothing_leaves_all_as_it_is(schema: dict[str, object]) -> None:
    assert declared_arguments('{"a": 1}', schema, "drop") is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": 1}', None),
        ('{"b": 1}', "lacks a"),
        ("{}", "lacks a"),
        ('{"a": 1, "a": 2}', "says an argument twice"),
    ],
)
def test_arguments_lack_what_the_tool_requires_or_say_one_twice(text: str, fault: str | None) -> None:
    assert lacks(text, SCHEMA) == fault
    assert lacks('{"b": 1}', {"required": "a"}) is None


def test_the_time_grows_with_the_arguments() -> None:
    def timed(size: int) -> float:
        text = '{"a": [' + "1, " * size + "1], " + '"c": 2, ' * size + '"d": 3}'
        return seconds(lambda: declared_arguments(text, SCHEMA, "drop"))

    assert_linear(timed, (4_000, 8_000, 16_000))
