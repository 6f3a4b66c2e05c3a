"""JSON-Schema type coercion of single values, for tagged text and for JSON arguments alike.

Only the value that does not fit its schema is rewritten; everything around it stays as the model wrote it.
A number that is valid JSON keeps its spelling. The order of attempts (null, integer, number, boolean, object,
array, string) and the type aliases are those of vLLM 0.33.0's parser engine; unlike there, NaN and Infinity stay
text and an empty schema changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from parsers.vocabulary.json_values import is_json

Schema = Mapping[str, Any]

LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character: such text cannot be written as UTF-8

_ALIASES = {
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "str": "string",
    "text": "string",
    "enum": "string",
    "none": "null",
}
_ORDER = ("null", "integer", "number", "boolean", "object", "array", "string")
_BRANCHES = ("anyOf", "oneOf", "allOf")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_NUMBER_START = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][-+]?[0-9]*)?\Z")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_BOOLEANS = {"true": "true", "false": "false", "1": "true", "0": "false"}
_WORDS = {"null": ("null",), "boolean": tuple(_BOOLEANS)}
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
MAX_SCHEMA_DEPTH = 16


def types_of(schema: Schema | None, depth: int = 0) -> frozenset[str] | None:
    """The types a schema allows, or None when it says nothing about the type."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return None
    found: set[str] = set()
    declared = schema.get("type")
    if isinstance(declared, str) and schema.keys().isdisjoint(_BRANCHES):
        return _one_type(declared)
    for name in declared if isinstance(declared, list) else [declared]:
        if isinstance(name, str):
            found.add(_ALIASES.get(name.lower(), name.lower()))
    if not found and isinstance(schema.get("enum"), list):
        found |= {_JSON_TYPES.get(type(value), "null") for value in schema["enum"]}
    for branch in _branches(schema):
        found |= types_of(branch, depth + 1) or frozenset()
    if not found and isinstance(schema.get("properties"), Mapping):
        found.add("object")
    return frozenset(found) or None


@lru_cache(maxsize=64)
def _one_type(name: str) -> frozenset[str]:
    return frozenset({_ALIASES.get(name.lower(), name.lower())})


def types_in_words(schema: Schema | None) -> str:
    """The types a schema allows, in words; empty where it says nothing about the type."""
    return _in_words(types_of(schema) or frozenset())


@lru_cache(maxsize=64)
def _in_words(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))


def _branches(schema: Schema) -> list[Schema]:
    lists = [schema.get(key) for key in _BRANCHES]
    return [branch for found in lists if isinstance(found, list) for branch in found if isinstance(branch, Mapping)]


def property_schema(schema: Schema | None, key: str, depth: int = 0) -> Schema | None:
    """The schema of a property, looked for in the schema itself and then in its branches."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and isinstance(properties.get(key), Mapping):
        return properties[key]  # type: ignore[no-any-return]
    for branch in _branches(schema):
        if (found := property_schema(branch, key, depth + 1)) is not None:
            return found
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, Mapping) else None


def item_schema(schema: Schema | None, depth: int = 0) -> Schema | None:
    """The schema of an array's items, looked for in the schema itself and then in its branches."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return None
    items = schema.get("items")
    if isinstance(items, Mapping):
        return items
    found = (item_schema(branch, depth + 1) for branch in _branches(schema))
    return next((schema for schema in found if schema is not None), None)


def describes_contents(schema: Schema | None, bracket: str) -> bool:
    """Return whether it says anything about what an object (bracket `{`) or an array (`[`) holds."""
    if not isinstance(schema, Mapping):
        return False
    if bracket == "[":
        return item_schema(schema) is not None
    return any(isinstance(schema.get(key), Mapping) for key in ("properties", "additionalProperties")) or bool(
        _branches(schema)
    )


def can_stream(schema: Schema | None) -> bool:
    """Return whether a string value under this schema can be passed on while it is still open."""
    types = types_of(schema)
    return types is None or types == {"string"}


def can_only_be_string(text: str, schema: Schema | None) -> bool:
    """Return whether the beginning of a value that was cut off can only be the beginning of a string."""
    types = types_of(schema) or frozenset({"string"})
    start = text.strip()
    return bool(start) and not any(_begins(name, start) for name in types - {"string"})


def _begins(name: str, start: str) -> bool:
    if name in ("integer", "number"):
        return bool(_NUMBER_START.match(start))
    if name in _WORDS:
        return any(word.startswith(start.lower()) for word in _WORDS[name])
    return start[0] == ("{" if name == "object" else "[")


def text_to_json(text: str, schema: Schema | None) -> str:
    """JSON text for a value that the format wrote as bare text, by the types its schema allows."""
    types = types_of(schema)
    for name in _ORDER if types else ():
        if name in (types or ()) and (found := _as(name, text.strip() if name != "string" else text)) is not None:
            return found
    return json.dumps(text, ensure_ascii=False)


def json_to_json(raw: str, schema: Schema | None) -> str:
    """A JSON scalar, rewritten when its schema wants another type; otherwise exactly `raw`."""
    types = types_of(schema)
    if types is None:
        return raw
    if raw.startswith('"'):
        return _string_to_json(raw, types)
    if _scalar_type(raw) & types or "string" not in types:
        return raw
    return json.dumps(raw, ensure_ascii=False)


def _string_to_json(raw: str, types: frozenset[str]) -> str:
    try:
        text = json.loads(raw, strict=False)
    except ValueError:
        return raw
    for name in _ORDER[:-1]:
        if name in types and (found := _as(name, text.strip())) is not None:
            return raw if LONE_SURROGATE.search(found) else found
    return raw


def _scalar_type(raw: str) -> frozenset[str]:
    if NUMBER.match(raw):
        return frozenset({"integer", "number"} if _INTEGER.match(raw) else {"number"})
    names = {"true": "boolean", "false": "boolean", "null": "null"}
    return frozenset({names[raw]} if raw in names else ())


def _as(name: str, text: str) -> str | None:
    """`text` as JSON of the named type, or None when it is not one."""
    if name == "null":
        return "null" if text.lower() == "null" else None
    if name == "integer":
        whole = NUMBER.match(text) and len(text) < 40 and float(text).is_integer()  # such as 4.0
        return text if whole or _INTEGER.match(text) else None
    if name == "number":
        return text if NUMBER.match(text) else None
    if name == "boolean":
        return _BOOLEANS.get(text.lower())
    if name == "string":
        return json.dumps(text, ensure_ascii=False)
    return text if text.startswith("{" if name == "object" else "[") and is_json(text) else None
