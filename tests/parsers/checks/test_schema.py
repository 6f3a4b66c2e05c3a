"""The judge of arguments: the whole of JSON Schema, in bounded time, with a place and a sentence for each misfit."""

from __future__ import annotations

import time
from typing import Any

import pytest

from parsers.checks.schema import BUDGET, DEEP, Schema, UnjudgedError, misfits, schema_of

INTEGER, STRING, NULL = {"type": "integer"}, {"type": "string"}, {"type": "null"}


def judge(schema: dict[str, Any], text: str) -> list[str]:
    return [problem.message for problem in schema_of(schema).problems(text, "{tool}")]


def a(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def flaws(schema: dict[str, Any]) -> list[tuple[bool, str]]:
    return [(flaw.broken, flaw.words) for flaw in schema_of(schema).flaws]


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
        ({"type": ["string"], "nullable": True}, "null"),
        ({}, "[1]"),
        (True, "[1]"),
        ({"enum": ["x", 1]}, "1.0"),
        ({"enum": [None]}, "null"),
        ({"enum": [[1]]}, "[1]"),
        ({"const": "x"}, '"x"'),
        ({"type": "array", "items": INTEGER}, "[1, 2]"),
        ({"type": "array", "items": [STRING]}, '["x", 1]'),
        ({"prefixItems": [STRING], "items": INTEGER}, '["x", 1]'),
        ({"type": "object"}, '{"b": 1}'),
        ({"type": "object", "properties": {}, "additionalProperties": True}, '{"b": 1}'),
        ({"type": "object", "additionalProperties": INTEGER}, '{"b": 1}'),
        ({"properties": {}, "patternProperties": {"b": {}}}, '{"b": 1}'),
        ({"anyOf": [INTEGER, NULL]}, "null"),
        ({"anyOf": [INTEGER, True]}, '"x"'),
        ({"oneOf": [STRING, NULL]}, '"x"'),
        ({"allOf": [{"properties": {"b": INTEGER}}, {"properties": {"c": STRING}}]}, '{"b": 1, "c": "x"}'),
        ({"allOf": [{"properties": {"b": {}}}, {"additionalProperties": True}]}, '{"c": 1}'),
        ({"anyOf": [a(INTEGER), NULL]}, '{"a": 3}'),
        ({"if": {"required": ["b"]}, "then": {"required": ["c"]}}, '{"b": 1, "c": 2}'),
        ({"minimum": 5, "maximum": 5}, "5"),
        ({"format": "nobody knows this format"}, '"x"'),
        ({"minimum": 5}, '"x"'),
        ({"pattern": "^a+$"}, '"aa"'),
        ({"type": "number"}, "-1e400"),
        ({"type": "integer"}, "9" * 4_301),
        ({"maximum": 5, "exclusiveMaximum": False}, "5"),
        ({"properties": {"prefixItems": STRING, "b": {"items": [STRING]}}}, '{"b": ["x", 1]}'),
    ],
)
def test_a_value_that_fits_is_no_problem(schema: Any, value: str) -> None:
    assert judge(a(schema), f'{{"a": {value}}}') == []
    assert flaws(a(schema)) == []


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
        ({"enum": [[1]]}, "[2]", "`a` is not one of the values that {tool} allows"),
        ({"const": 2}, "3", "`a` is not one of the values that {tool} allows"),
        ({"items": STRING}, '["x", ["y"]]', "`a[1]` is an array; {tool} wants a string"),
        ({"items": [STRING]}, "[1]", "`a[0]` is an integer; {tool} wants a string"),
        ({"prefixItems": [STRING]}, "[1]", "`a[0]` is an integer; {tool} wants a string"),
        ({"items": a(STRING)}, '[{"a": 1}]', "`a[0].a` is an integer; {tool} wants a string"),
        ({"properties": {"b": {}}}, '{"c": 1}', "`a.c` is not a property of `a`, which has `b`"),
        ({"properties": {}}, '{"c": 1}', "`a.c` is not a property of `a`, which has none"),
        ({"additionalProperties": False}, '{"c": 1}', "`a.c` is not a property of `a`, which has none"),
        (
            {"patternProperties": {"^b": {}}, "additionalProperties": False},
            '{"c": 1}',
            "`a.c` is not a property of `a`",
        ),
        ({"additionalProperties": INTEGER}, '{"c": "x"}', "`a.c` is a string; {tool} wants an integer"),
        ({"required": ["b"]}, '{"c": 1}', "`a.b` is missing; {tool} requires it"),
        ({"dependentRequired": {"c": ["b"]}}, '{"c": 1}', "`a.b` is missing; {tool} requires it"),
        ({"anyOf": [INTEGER, NULL]}, '"x"', "`a` is a string; {tool} wants an integer or null"),
        ({"anyOf": [a(INTEGER), NULL]}, '{"a": "x"}', "`a.a` is a string; {tool} wants an integer"),
        ({"anyOf": [a(INTEGER), NULL]}, '{"b": 1}', "`a.b` is not a property of `a`, which has `a`"),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, "3", "`a` fits none of the forms that {tool} allows"),
        ({"oneOf": [INTEGER, {"type": "number"}]}, "3", "`a` is not what {tool} wants by `oneOf`"),
        ({"allOf": [INTEGER, {"const": 2}]}, "3", "`a` is not one of the values that {tool} allows"),
        (
            {"allOf": [{"properties": {"b": INTEGER}}, {"properties": {"c": STRING}, "additionalProperties": False}]},
            '{"d": 1}',
            "`a.d` is not a property of `a`, which has `c`",
        ),
        ({"minimum": 5}, "1", "`a` is 1; {tool} wants at least 5"),
        ({"maximum": 5}, "9", "`a` is 9; {tool} wants at most 5"),
        ({"exclusiveMinimum": 5}, "5", "`a` is 5; {tool} wants more than 5"),
        ({"exclusiveMaximum": 5}, "5", "`a` is 5; {tool} wants less than 5"),
        ({"multipleOf": 3}, "5", "`a` is 5; {tool} wants a multiple of 3"),
        ({"minLength": 3}, '"x"', '`a` is "x"; {tool} wants at least 3 characters'),
        ({"maxLength": 0}, f'"{"x" * 60}"', f'`a` is "{"x" * 38}…; {{tool}} wants at most 0 characters'),
        ({"pattern": "^b"}, '"x"', '`a` is "x"; {tool} wants text with `^b` in it'),
        ({"format": "date"}, '"soon"', '`a` is "soon"; {tool} wants the format date'),
        ({"minItems": 2}, "[1]", "`a` is [1]; {tool} wants at least 2 items"),
        ({"maxItems": 0}, "[1]", "`a` is [1]; {tool} wants at most 0 items"),
        ({"uniqueItems": True}, "[1, 1]", "`a` is [1, 1]; {tool} wants no item twice"),
        ({"minProperties": 1}, "{}", "`a` is {}; {tool} wants at least 1 keys"),
        ({"maxProperties": 0}, '{"b": 1}', '`a` is {"b": 1}; {tool} wants at most 0 keys'),
        ({"not": INTEGER}, "1", "`a` is not what {tool} wants by `not`"),
        ({"contains": NULL}, "[1]", "`a` is not what {tool} wants by `contains`"),
        ({"if": {"required": ["b"]}, "then": {"required": ["c"]}}, '{"b": 1}', "`a.c` is missing; {tool} requires it"),
        (False, "1", "`a` is 1; {tool} wants nothing there"),
        ({"minimum": 5, "exclusiveMinimum": True}, "5", "`a` is 5; {tool} wants more than 5"),
        ({"maximum": 5, "exclusiveMaximum": False}, "6", "`a` is 6; {tool} wants at most 5"),
        ({"maximum": 5}, "1e400", "`a` is 1e400; {tool} wants at most 5"),
        (
            {"pattern": r"^https?://\S{1,2048}$"},
            '"x"',
            r'`a` is "x"; {tool} wants text with `^https?://\S{1,2048}$` in it',
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_its_path(schema: Any, value: str, message: str) -> None:
    assert judge(a(schema), f'{{"a": {value}}}') == [message]
    assert flaws(a(schema)) == []


def test_what_was_wanted_and_what_came_stand_beside_the_sentence() -> None:
    schema = {"properties": {"a": {"minimum": 5}, "b": {"enum": ["x", [1]]}, "c": INTEGER}}
    found = schema_of(schema).problems('{"a": 1, "b": 2, "c": "3"}', "f")
    assert [(one.expected, one.actual) for one in found] == [("at least 5", "1"), ('"x"', "2"), ("integer", '"3"')]


def test_references_lead_into_the_same_schema() -> None:
    schema = {"$defs": {"a/b": {"c": INTEGER}}, "properties": {"x": {"$ref": "#/$defs/a~1b/c"}}}
    assert judge(schema, '{"x": "y"}') == ["`x` is a string; {tool} wants an integer"]
    listed = {"allOf": [{"properties": {"x": INTEGER}}], "properties": {"y": {"$ref": "#/allOf/0"}}}
    assert judge(listed, '{"y": {"x": "z"}}') == ["`y.x` is a string; {tool} wants an integer"]


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
    found = schema_of(schema).problems('{"b": "x", "a": "y"}', "f")
    assert [(problem.path, problem.at) for problem in found] == [(("b",), 1), (("a",), 11), (("c",), 19)]


def test_of_a_key_that_is_given_twice_the_last_is_judged() -> None:
    found = schema_of(a(INTEGER)).problems('{"a": 1, "a": "x"}', "f")
    assert [(problem.path, problem.at) for problem in found] == [(("a",), 9)]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "dict"}, '`properties.a.type` cannot be "dict"'),
        ({"minimum": "x"}, '`properties.a.minimum` cannot be "x"'),
        ({"properties": ["x"]}, '`properties.a.properties` cannot be ["x"]'),
        ({"required": [3]}, "`properties.a.required[0]` cannot be 3"),
        ({"pattern": "("}, '`properties.a.pattern` cannot be "("'),
        ({"exclusiveMinimum": True}, "`properties.a.exclusiveMinimum` cannot be true"),
        (3, "`properties.a` cannot be 3"),
    ],
)
def test_a_schema_that_is_none_is_said_and_the_rest_of_it_judges(schema: Any, words: str) -> None:
    broken = {"properties": {"a": schema, "b": INTEGER}}
    assert flaws(broken) == [(True, words)]
    assert judge(broken, '{"a": 1, "b": "x"}') == ["`b` is a string; {tool} wants an integer"]


def test_a_schema_with_too_much_wrong_judges_nothing() -> None:
    broken = {"properties": {f"p{n}": {"type": "dict"} for n in range(40)} | {"a": INTEGER}}
    assert len(flaws(broken)) == 20
    assert judge(broken, '{"a": "x"}') == []
    nowhere = a({"$ref": "#/nowhere"})
    assert flaws(nowhere) == [(True, "a reference in it leads nowhere")]
    assert judge(nowhere, '{"a": "x"}') == []


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "https://example.com/x.json"}, '`$ref`, since "https://example.com/x.json" is not looked up'),
        ({"$ref": "other.json"}, '`$ref`, since "other.json" is not looked up'),
        ({"$dynamicRef": "#x"}, '`$dynamicRef`, since "#x" is not looked up'),
        (
            {"pattern": "(?=x)y"},
            '`properties.a.pattern`, since matching "(?=x)y" could take for ever',
        ),
        (
            {"pattern": "(a{1,900}){1,900}"},
            '`properties.a.pattern`, since "(a{1,900}){1,900}" is too large',
        ),
    ],
)
def test_what_is_not_judged_is_said_and_the_rest_of_the_schema_judges(schema: Any, words: str) -> None:
    partly = {"properties": {"a": schema, "b": INTEGER}, "$schema": "urn:unheard-of", "$id": "https://example.com/"}
    assert flaws(partly) == [(False, words)]
    assert judge(partly, '{"a": 1, "b": "x"}') == ["`b` is a string; {tool} wants an integer"]


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize("schema", [deep(DEEP), deep(100_000), {"allOf": [{}] * (BUDGET + 1)}])
def test_a_schema_that_is_too_large_is_not_judged(schema: dict[str, Any]) -> None:
    assert flaws(schema) == [(False, "it is too large")]
    assert judge(schema, '{"a": 1}') == []


@pytest.mark.parametrize("text", ['{"a": ' + "[" * 300 + "]" * 300 + "}", '{"a": ' + "[" * 3_000 + "]" * 3_000 + "}"])
def test_a_value_that_is_too_deep_is_not_judged(text: str) -> None:
    schema = {"properties": {"a": {"items": {"$ref": "#/properties/a"}}}}
    with pytest.raises(UnjudgedError):
        judge(schema, text)
    assert misfits(schema, text) == frozenset()


@pytest.mark.parametrize("text", ['{"": 1}', '{"a": [{"": 1}]}', '{"a": {"+1": 1, "1": 2}}'])
def test_keys_that_no_path_tells_apart_are_not_judged(text: str) -> None:
    with pytest.raises(UnjudgedError, match="keys that read as the same number"):
        judge(a(INTEGER), text)


def test_half_a_character_is_not_judged() -> None:
    with pytest.raises(UnjudgedError):
        judge(a({"minLength": 2}), '{"a": "\\ud800"}')


@pytest.mark.parametrize("key", ["1", "0", "007", "+1", "-1", "1.0"])
def test_a_key_that_reads_as_a_number_is_a_key(key: str) -> None:
    schema = {"additionalProperties": STRING, "properties": {"x": {"properties": {key: {"type": "dict"}}}}}
    assert [problem.path for problem in schema_of(schema).problems(f'{{"{key}": 1, "x": {{}}}}', "f")] == [(key,)]
    assert schema_of(schema).flaws[0].broken


WIDE: list[dict[str, Any]] = [
    {"properties": {}},
    {"required": [f"q{n}" for n in range(10_000)]},
    {"dependentRequired": {"k1": [f"q{n}" for n in range(10_000)]}},
    {"propertyNames": {"maxLength": 1}},
    {"allOf": [STRING] * 10_000},
]


def chain(levels: int, how: str) -> dict[str, Any]:
    """A schema in which every level refers to the next one twice."""
    steps = {f"l{n}": {how: [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": steps | {f"l{levels}": STRING}, "properties": {"a": {"$ref": "#/$defs/l0"}}}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        *[(chain(levels, how), '{"a": 1}') for how in ("allOf", "anyOf", "oneOf") for levels in (10, 28, 2_000)],
        (a({"pattern": "^(a+)+$"}), f'{{"a": "{"a" * 100_000}b"}}'),
        (a({"pattern": "(a{1,900}){1,900}"}), '{"a": "b"}'),
        ({"patternProperties": {f"^{n}": {"pattern": "(a|aa)+$"} for n in range(500)}}, f'{{"1": "{"a" * 90_000}b"}}'),
        (a({"items": {"enum": list(range(20_000))}}), '{"a": [' + ", ".join(["-1"] * 20_000) + "]}"),
        (a({"uniqueItems": True}), '{"a": [' + ", ".join(f"[{n}]" for n in range(20_000)) + "]}"),
        ({"properties": {f"p{n}": {"type": "dict"} for n in range(10_000)}}, '{"p1": 1}'),
        *[(schema, "{" + ", ".join(f'"k{n}": 1' for n in range(10_000)) + "}") for schema in WIDE],
        ({"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}}, '{"a": ' + "[" * 90 + "]" * 90 + "}"),
    ],
)
def test_a_schema_made_to_explode_does_not(schema: dict[str, Any], text: str) -> None:
    began = time.monotonic()
    misfits(schema, text)
    assert time.monotonic() - began < 10  # seconds; it takes hours where nothing bounds it


def test_without_a_schema_nothing_is_judged() -> None:
    assert misfits(None, '{"a": 1}') == frozenset()
    assert Schema().problems('{"a": 1}', "f") == []
