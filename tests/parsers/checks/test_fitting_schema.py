"""Schemas that arguments fit which did not: as little of them is changed as that takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.checks.fitting_schema import fitting
from parsers.checks.schema import misfits

CITY: dict[str, Any] = {"type": "string", "enum": ["Bern", "Basel"]}
WHERE: dict[str, Any] = {
    "type": "object",
    "properties": {"city": CITY},
    "required": ["city"],
    "additionalProperties": False,
}
NUMBER = {"$ref": "#/$defs/positive"}
POSITIVE = {"type": "integer", "minimum": 3}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"where": WHERE, "days": NUMBER, "tags": {"type": "array", "minItems": 2}},
    "required": ["where", "days"],
    "$defs": {"positive": POSITIVE},
}


def changed(**properties: Any) -> dict[str, Any]:
    """The schema with other properties."""
    return {**SCHEMA, "properties": {**SCHEMA["properties"], **properties}}


ROWS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"where": {"city": "Bern"}, "days": 5}, SCHEMA),
    ({"days": 5}, {**SCHEMA, "required": ["days"]}),
    ({}, {key: value for key, value in SCHEMA.items() if key != "required"}),
    ({"where": {}, "days": 5}, changed(where={key: WHERE[key] for key in WHERE if key != "required"})),
    ({"where": {"city": "B"}, "days": 5}, changed(where={**WHERE, "properties": {"city": {"type": "string"}}})),
    ({"where": {"city": "Bern"}, "days": 1}, {**SCHEMA, "$defs": {"positive": {"type": "integer"}}}),
    ({"where": {"city": "Bern"}, "days": 5, "tags": []}, changed(tags={"type": "array"})),
    ({"where": {"city": "Bern"}, "days": 5, "x": 1}, changed(x={})),
    ({"where": {"city": "Bern", "x": 1}, "days": 5}, changed(where={**WHERE, "properties": {"city": CITY, "x": {}}})),
]


@pytest.mark.parametrize(("arguments", "fits"), ROWS, ids=[json.dumps(arguments) for arguments, _ in ROWS])
def test_of_a_schema_goes_what_arguments_do_not_fit(arguments: dict[str, Any], fits: dict[str, Any]) -> None:
    before = json.dumps(SCHEMA)
    text = json.dumps(arguments)
    found = fitting(SCHEMA, text)
    assert (found, found is SCHEMA) == (fits, fits is SCHEMA)
    assert misfits(found, text) == frozenset()
    assert json.dumps(SCHEMA) == before


def test_a_key_that_is_not_allowed_is_listed() -> None:
    schema = {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False}
    assert fitting(schema, '{"a": 1}') == {**schema, "properties": {"a": {}}}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"properties": {"a": {"enum": ["b"]}}}, '{"a": "\\ud800"}'),
        ({"properties": {"1": {"minLength": 3}}}, '{"1": ""}'),
    ],
    ids=["half a character", "a key that reads as a number"],
)
def test_what_cannot_be_judged_or_found_stays_as_it_is(schema: dict[str, Any], text: str) -> None:
    assert fitting(schema, text) is schema
