"""Single values rewritten to the types of a schema, and schemas that say little or nonsense."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.arguments.coerce import (
    MAX_SCHEMA_DEPTH,
    can_only_be_string,
    can_stream,
    item_schema,
    json_to_json,
    property_schema,
    text_to_json,
    types_of,
    without_references,
)


def nested(branch: str, depth: int, leaf: dict[str, Any]) -> dict[str, Any]:
    for _ in range(depth):
        leaf = {branch: [leaf]}
    return leaf


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        (None, None),
        ({}, None),
        (True, None),
        ({"type": "integer"}, {"integer"}),
        ({"type": ["STRING", "null", 5]}, {"string", "null"}),
        ({"type": "int"}, {"integer"}),
        ({"type": "dict"}, {"object"}),
        ({"type": "whatever"}, {"whatever"}),
        (
            {"enum": ["a", 1, 2.5, None, True, [], {}]},
            {"string", "integer", "number", "null", "boolean", "array", "object"},
        ),
        ({"enum": "abc"}, None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"integer", "null"}),
        ({"oneOf": [{"allOf": [{"type": "number"}]}]}, {"number"}),
        ({"anyOf": 5}, None),
        ({"anyOf": [5, "x"]}, None),
        ({"properties": {}}, {"object"}),
        ({"anyOf": [{"type": "integer"}], "nullable": True}, {"integer", "null"}),
        (nested("anyOf", MAX_SCHEMA_DEPTH, {"type": "integer"}), {"integer"}),
        (nested("anyOf", MAX_SCHEMA_DEPTH + 1, {"type": "integer"}), None),
    ],
)
def test_the_types_a_schema_allows(schema: Any, types: set[str] | None) -> None:
    assert types_of(schema) == types
    assert can_stream(schema) is (types is None or types == {"string"})


INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (None, None),
        ({"properties": {"a": INTEGER}}, INTEGER),
        ({"properties": {"a": True}}, None),
        ({"properties": []}, None),
        ({"anyOf": [{"properties": {"b": {}}}, {"properties": {"a": INTEGER}}]}, INTEGER),
        ({"additionalProperties": INTEGER}, INTEGER),
        ({"additionalProperties": False}, None),
        (nested("anyOf", MAX_SCHEMA_DEPTH + 1, {"properties": {"a": INTEGER}}), None),
    ],
)
def test_the_schema_of_a_property(schema: Any, found: Any) -> None:
    assert property_schema(schema, "a") == found


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        (None, None),
        ({"items": INTEGER}, INTEGER),
        ({"items": [INTEGER]}, None),
        ({"oneOf": [{}, {"items": INTEGER}]}, INTEGER),
        (nested("anyOf", MAX_SCHEMA_DEPTH + 1, {"items": INTEGER}), None),
    ],
)
def test_the_schema_of_an_item(schema: Any, found: Any) -> None:
    assert item_schema(schema) == found


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        (None, "1", '"1"'),
        ("string", " 1 ", '" 1 "'),
        ("string", 'é"', '"é\\""'),
        ("integer", " 42 ", "42"),
        ("integer", "4.0", "4.0"),
        ("integer", "4.5", '"4.5"'),
        ("integer", "042", "42"),
        ("integer", "-007", "-7"),
        ("integer", "+5", "5"),
        ("integer", "0", "0"),
        ("integer", "00", "0"),
        ("number", "05.50", "5.50"),
        ("number", "00x", '"00x"'),
        ("number", "1-2", '"1-2"'),
        (["integer", "string"], "042", '"042"'),
        ("integer", "1" * 50, "1" * 50),
        ("integer", "1" * 50 + ".0", f'"{"1" * 50}.0"'),
        ("number", "1e3", "1e3"),
        ("number", "NaN", '"NaN"'),
        ("number", "Infinity", '"Infinity"'),
        ("array", "[NaN]", '"[NaN]"'),
        ("object", '{"a": -Infinity}', '"{\\"a\\": -Infinity}"'),
        ("number", "108.", '"108."'),
        ("boolean", "True", "true"),
        ("boolean", "0", "false"),
        ("boolean", "yes", '"yes"'),
        ("null", "NULL", "null"),
        ("object", '{"a": 1}', '{"a": 1}'),
        ("object", "{a: 1}", '"{a: 1}"'),
        ("object", "[1]", '"[1]"'),
        ("array", "[1, 2]", "[1, 2]"),
        ("array", "[" * 100_000, '"' + "[" * 100_000 + '"'),
        ("array", f"[{'1' * 5000}]", f"[{'1' * 5000}]"),
        (["integer", "string"], "7", "7"),
        (["integer", "string"], "x", '"x"'),
        (["string", "null"], "null", "null"),
        ("whatever", "x", '"x"'),
    ],
)
def test_bare_text_is_written_as_the_first_type_it_is(kind: Any, text: str, written: str) -> None:
    assert text_to_json(text, None if kind is None else {"type": kind}) == written


@pytest.mark.parametrize(
    ("kind", "raw", "written"),
    [
        (None, "12", "12"),
        ("string", "12", '"12"'),
        ("string", "-0.5e3", '"-0.5e3"'),
        ("string", "true", '"true"'),
        ("string", "null", '"null"'),
        ("string", "nonsense", '"nonsense"'),
        ("string", '"x"', '"x"'),
        ("integer", '"12"', "12"),
        ("integer", '" 12 "', "12"),
        ("integer", '"012"', "12"),
        ("integer", "true", "true"),
        ("integer", '"x"', '"x"'),
        ("integer", '"\\x"', '"\\x"'),
        ("number", "4.0", "4.0"),
        (["number", "string"], "4.0", "4.0"),
        (["integer", "string"], "4.5", '"4.5"'),
        ("boolean", '"true"', "true"),
        ("boolean", "1", "1"),
        (["string", "null"], '"NULL"', '"NULL"'),
        (["integer", "null"], '"NULL"', "null"),
        ("object", '"{\\"a\\": 1}"', '{"a": 1}'),
        ("object", '"{\\"a\\": \\"\\ud800\\"}"', '"{\\"a\\": \\"\\ud800\\"}"'),
        ("array", '"x"', '"x"'),
    ],
)
def test_a_json_scalar_is_rewritten_only_when_its_schema_wants_another_type(kind: Any, raw: str, written: str) -> None:
    assert json_to_json(raw, None if kind is None else {"type": kind}) == written


@pytest.mark.parametrize(
    ("kind", "start", "string"),
    [
        (["string", "integer"], "", False),
        (["string", "integer"], "  ", False),
        (["string", "integer"], "12", False),
        (["string", "integer"], "12a", True),
        (["string", "number"], "-1.5e", False),
        (["string", "boolean"], "Tr", False),
        (["string", "boolean"], "tra", True),
        (["string", "null"], "nu", False),
        (["string", "object"], "{", False),
        (["string", "object"], "[", True),
        (["string", "array"], "[", False),
        ("string", "1", True),
    ],
)
def test_the_beginning_of_a_value_that_can_only_be_a_string(kind: Any, start: str, string: bool) -> None:
    assert can_only_be_string(start, {"type": kind}) is string


PLACE = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("part", "written"),
    [
        ({"$ref": "#/$defs/Place"}, PLACE),
        ({"$ref": "#/$defs/Place", "description": "where"}, PLACE | {"description": "where"}),
        ({"$ref": "#/$defs/a~1b"}, {"type": "string"}),
        ({"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]}, {"anyOf": [PLACE, {"type": "null"}]}),
        *[({"$ref": one}, {"$ref": one}) for one in ("#/$defs/None", "#/$defs/Text", "#/x/Place", "#", "else")],
    ],
)
def test_references_to_a_schemas_own_definitions_are_written_out(part: Any, written: Any) -> None:
    definitions = {"Place": PLACE, "a/b": {"type": "string"}, "Text": "none"}
    found = without_references({"properties": {"x": part}, "$defs": definitions})
    assert found == {"properties": {"x": written}}


def test_a_schema_without_definitions_is_itself() -> None:
    schema = {"properties": {"x": {"$ref": "#/definitions/Place"}}, "definitions": []}
    assert without_references(schema) is schema
    assert without_references(None) is None
    odd = {"properties": {"x": {"$ref": "#/definitions/Place"}}, "definitions": {}, "$defs": 1}
    assert without_references(odd) == {"properties": {"x": {"$ref": "#/definitions/Place"}}}


def test_references_in_a_circle_end() -> None:
    wide = {"anyOf": [{"$ref": "#/$defs/Tree"}] * 4}
    found = without_references({"properties": {"x": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": wide}})
    assert found is not None
    assert 1_000 < str(found).count("anyOf") + str(found).count("$ref") < 10_000
    deep = without_references({"$ref": "#/$defs/Self", "$defs": {"Self": {"items": {"$ref": "#/$defs/Self"}}}})
    assert deep is not None
