"""The small JSON Schema judge."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.checks.json_tree import read_object
from parsers.checks.schema import Judge

INTEGER, STRING, NULL = {"type": "integer"}, {"type": "string"}, {"type": "null"}


def judge(schema: dict[str, Any], text: str) -> list[str]:
    return [problem.message for problem in Judge(schema, text).problems(read_object(text))]


def a(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, "3"),
        ({"type": "integer"}, "3.0"),
        ({"type": "number"}, "3"),
        ({"type": "number"}, "3.5"),
        ({"type": "string"}, '"x"'),
        ({"type": "boolean"}, "true"),
        ({"type": "null"}, "null"),
        ({"type": ["string", "null"]}, "null"),
        ({"type": "string", "nullable": True}, "null"),
        ({"type": "dict"}, "3"),
        ({"type": ["integer", 3]}, '"x"'),
        ({"type": []}, "3"),
        ({}, "[1]"),
        (True, "[1]"),
        ({"enum": ["x", 1]}, "1.0"),
        ({"enum": [None]}, "null"),
        ({"enum": [[1]]}, "[2]"),
        ({"enum": "x"}, "3"),
        ({"const": "x"}, '"x"'),
        ({"type": "array", "items": INTEGER}, "[1, 2]"),
        ({"type": "array", "items": [STRING]}, "[1]"),
        ({"type": "object"}, '{"b": 1}'),
        ({"type": "object", "properties": {}, "additionalProperties": True}, '{"b": 1}'),
        ({"type": "object", "additionalProperties": INTEGER}, '{"b": 1}'),
        ({"properties": {}, "patternProperties": {"b": {}}}, '{"b": 1}'),
        ({"properties": "x", "required": [3]}, "{}"),
        ({"anyOf": [INTEGER, NULL]}, "null"),
        ({"anyOf": [INTEGER, True]}, '"x"'),
        ({"oneOf": [STRING, NULL]}, '"x"'),
        ({"allOf": [{"properties": {"b": INTEGER}}, {"properties": {"c": STRING}}]}, '{"b": 1, "c": "x"}'),
        ({"allOf": [{"properties": {"b": {}}}, {"additionalProperties": True}]}, '{"c": 1}'),
        ({"anyOf": [a(INTEGER), NULL]}, '{"a": 3}'),
        ({"$ref": "#/$defs/missing"}, "3"),
        ({"$ref": "other.json"}, "3"),
        ({"$ref": 3}, "3"),
    ],
)
def test_a_value_that_fits_is_no_problem(schema: Any, value: str) -> None:
    assert judge(a(schema), f'{{"a": {value}}}') == []


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (INTEGER, '"3"', "`a` is a string; {tool} wants an integer"),
        (INTEGER, "3.5", "`a` is a number; {tool} wants an integer"),
        (INTEGER, "true", "`a` is a boolean; {tool} wants an integer"),
        (STRING, "null", "`a` is null; {tool} wants a string"),
        ({"type": ["string", "array"]}, "{}", "`a` is an object; {tool} wants a string or an array"),
        ({"type": "string", "nullable": True}, "3", "`a` is an integer; {tool} wants a string or null"),
        ({"enum": ["x", 1]}, "true", "`a` is not one of the values that {tool} allows"),
        ({"enum": ["x"]}, "[1]", "`a` is not one of the values that {tool} allows"),
        ({"const": 2}, "3", "`a` is not one of the values that {tool} allows"),
        ({"items": STRING}, '["x", ["y"]]', "`a[1]` is an array; {tool} wants a string"),
        ({"items": a(STRING)}, '[{"a": 1}]', "`a[0].a` is an integer; {tool} wants a string"),
        ({"properties": {"b": {}}}, '{"c": 1}', "`a.c` is not a property of `a`, which has `b`"),
        ({"properties": {}}, '{"c": 1}', "`a.c` is not a property of `a`, which has none"),
        ({"additionalProperties": False}, '{"c": 1}', "`a.c` is not a property of `a`, which has none"),
        ({"additionalProperties": INTEGER}, '{"c": "x"}', "`a.c` is a string; {tool} wants an integer"),
        ({"required": ["b"]}, '{"c": 1}', "`a.b` is missing; {tool} requires it"),
        ({"anyOf": [INTEGER, NULL]}, '"x"', "`a` is a string; {tool} wants an integer or null"),
        ({"anyOf": [a(INTEGER), NULL]}, '{"a": "x"}', "`a.a` is a string; {tool} wants an integer"),
        ({"anyOf": [a(INTEGER), NULL]}, '{"b": 1}', "`a.b` is not a property of `a`, which has `a`"),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, "3", "`a` fits none of the forms that {tool} allows"),
        ({"allOf": [INTEGER, {"const": 2}]}, "3", "`a` is not one of the values that {tool} allows"),
        (
            {"allOf": [{"properties": {"b": INTEGER}}, {"properties": {"c": STRING}, "additionalProperties": False}]},
            '{"d": 1}',
            "`a.d` is not a property of `a`, which has `b` and `c`",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_its_path(schema: Any, value: str, message: str) -> None:
    assert judge(a(schema), f'{{"a": {value}}}') == [message]


def test_references_lead_into_the_same_schema() -> None:
    schema = {"$defs": {"a/b": {"c": INTEGER}}, "properties": {"x": {"$ref": "#/$defs/a~1b/c"}}}
    assert judge(schema, '{"x": "y"}') == ["`x` is a string; {tool} wants an integer"]


def test_a_recursive_schema_is_followed_as_deep_as_the_value() -> None:
    schema = {"properties": {"child": {"$ref": "#"}, "n": INTEGER}}
    text = '{"child": {"child": {"n": "x"}}}'
    assert judge(schema, text) == ["`child.child.n` is a string; {tool} wants an integer"]


def test_a_schema_that_means_itself_ends() -> None:
    assert judge({"$ref": "#", "allOf": [{"$ref": "#"}]}, '{"a": 1}') == []


def test_the_root_itself_may_be_wrong() -> None:
    assert judge({"type": "array"}, "{}") == ["The value is an object; {tool} wants an array"]
    assert judge({"properties": {}}, '{"a": 1}') == ["`a` is not a property of {tool}, which has none"]


def test_a_long_list_of_properties_is_shortened() -> None:
    (message,) = judge({"properties": {f"p{n}": {} for n in range(9)}}, '{"x": 1}')
    assert message.endswith("which has `p0`, `p1`, `p2`, `p3`, `p4`, `p5` and 3 more")


def test_problems_come_in_the_order_of_the_text_one_per_path() -> None:
    schema = {"properties": {"a": INTEGER, "b": INTEGER}, "required": ["c"], "allOf": [{"properties": {"a": NULL}}]}
    text = '{"b": "x", "a": "y"}'
    problems = Judge(schema, text).problems(read_object(text))
    assert [(problem.path, problem.at) for problem in problems] == [(("b",), 1), (("a",), 11), (("c",), 19)]


def test_nothing_is_judged_below_a_great_depth() -> None:
    schema = {"properties": {"a": {"items": {"$ref": "#/properties/a"}}}}
    assert judge(schema, '{"a": ' + "[" * 3000 + "]" * 3000 + "}") == []


@pytest.mark.parametrize("how", ["allOf", "anyOf", "oneOf"])
def test_a_schema_made_to_explode_does_not(how: str) -> None:
    levels = {f"l{n}": {how: [{"$ref": f"#/$defs/l{n + 1}"}, {"$ref": f"#/$defs/l{n + 1}"}]} for n in range(28)}
    schema = {"$defs": levels | {"l28": STRING}, "properties": {"a": {"$ref": "#/$defs/l0"}}}
    assert judge(schema, '{"a": 1}') == ["`a` is an integer; {tool} wants a string"]
    assert judge({**schema, "$ref": "#/$defs/l0"}, '{"a": {}, "b": 1}') != []
