"""JSON-Schema type coercion of single values, for tagged text and for JSON arguments alike.

Only the value that does not fit its schema is rewritten; everything around it stays as the model wrote it.
A number that is valid JSON keeps its spelling.

Text without a type of its own (between tags) is read as the first type of its schema that it can be: null, integer,
number, boolean, object, array, string. So "3" under ["string", "integer"] is the number, as in vLLM 0.33.0's parser
engine and in SGLang's parser of MiniMax M2, which try the types in this order too. SGLang 0.5.23's detectors of GLM
take the type that stands first in a list, and string where the branches of anyOf differ; they are not followed.

What is written as a string (JSON, Python, between delimiters) has a type already. It stays as it is where its schema
allows any string, alone or beside other types: SGLang's JSON detectors and vLLM's hermes, llama3_json and pythonic
parsers change no value that they read as JSON. Only a string where none is allowed is read as text is.

Type aliases are those of vLLM; unlike there, NaN and Infinity stay text and an empty schema changes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from parsers.vocabulary.json_values import is_strict_json

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
_TYPES = frozenset(_ORDER)
_BRANCHES = ("anyOf", "oneOf", "allOf")
_SAYING_TYPES = ("enum", "const", *_BRANCHES)
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_NUMBER_START = re.compile(r"[-+]?[0-9]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]*)?\Z")
_LED = re.compile(r"([-+]?)0*([0-9][0-9.eE+-]*)\Z")  # with zeros in front, or a sign for nothing
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")
_BOOLEANS = {"true": "true", "false": "false", "1": "true", "0": "false"}
_WORDS = {"null": ("null",), "boolean": tuple(_BOOLEANS)}
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
MAX_SCHEMA_DEPTH = 16
_DEFINITIONS = ("$defs", "definitions")
_MOST_PARTS = 2_000  # of a schema whose references are written out
_DEEPEST = 64


def types_of(schema: Schema | None, depth: int = 0) -> frozenset[str] | None:
    """The types a schema allows, or None when it says nothing about the type. Branches cannot widen a type that the
    schema declares itself; `nullable` (OpenAPI 3.0) does."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return None
    found: set[str] = set()
    declared, nullable = schema.get("type"), is_nullable(schema)
    if isinstance(declared, str) and not nullable:
        return _one_type(declared)
    for name in declared if isinstance(declared, list) else [declared]:
        if isinstance(name, str):
            found.add(_ALIASES.get(name.lower(), name.lower()))
    if not found and isinstance(schema.get("enum"), list):
        found |= {_JSON_TYPES.get(type(value), "null") for value in schema["enum"]}
    for branch in [] if isinstance(declared, (str, list)) else _branches(schema):
        found |= types_of(branch, depth + 1) or frozenset()
    if not found and isinstance(schema.get("properties"), Mapping):
        found.add("object")
    if found and nullable:
        found.add("null")
    return frozenset(found) or None


def is_nullable(schema: Schema) -> bool:
    """Return whether a schema allows null beside its type in the manner of OpenAPI 3.0."""
    return schema.get("nullable") is True


@lru_cache(maxsize=64)
def _one_type(name: str) -> frozenset[str]:
    return frozenset({_ALIASES.get(name.lower(), name.lower())})


def without_references(schema: Schema | None) -> Schema | None:
    """The schema with references to its own definitions written out, as far as it is no deeper and no larger than a
    request's usually is; what is beyond that, and what refers elsewhere, stays. vLLM 0.33.0's dots parser does so."""
    if schema is None or not any(isinstance(schema.get(key), Mapping) for key in _DEFINITIONS):
        return schema
    left = [_MOST_PARTS]
    return {key: _written_out(part, schema, left, 0) for key, part in schema.items() if key not in _DEFINITIONS}


def _written_out(part: Any, root: Schema, left: list[int], depth: int) -> Any:
    left[0] -= 1
    if depth == _DEEPEST or left[0] < 0:
        return part
    if isinstance(part, list):
        return [_written_out(one, root, left, depth + 1) for one in part]
    if not isinstance(part, Mapping):
        return part
    target = _target(root, part.get("$ref"))
    if target is not None:
        beside = {key: value for key, value in part.items() if key != "$ref"}
        return _written_out({**target, **beside}, root, left, depth + 1)
    return {key: _written_out(value, root, left, depth + 1) for key, value in part.items()}


def _target(root: Schema, reference: Any) -> Schema | None:
    """The definition that a reference names."""
    keys = str(reference).split("/")
    if len(keys) != 3 or keys[0] != "#" or keys[1] not in _DEFINITIONS:
        return None
    named = root.get(keys[1])
    found = named.get(keys[2].replace("~1", "/").replace("~0", "~")) if isinstance(named, Mapping) else None
    return found if isinstance(found, Mapping) else None


def types_in_words(schema: Schema | None) -> str:
    """The types a schema allows, in words; empty where it says nothing about the type."""
    return _in_words(types_of(schema) or frozenset())


@lru_cache(maxsize=64)
def _in_words(types: frozenset[str]) -> str:
    return " or ".join(sorted(types))


def _listed(schema: Schema, key: str) -> list[Any]:
    found = schema.get(key)
    return found if isinstance(found, list) else []


def _branches(schema: Schema) -> list[Schema]:
    return [branch for key in _BRANCHES for branch in _listed(schema, key) if isinstance(branch, Mapping)]


def property_schema(schema: Schema | None, key: str, depth: int = 0) -> Schema | None:
    """The schema of a property, looked for in the schema itself and then in its branches: all that say something
    count. None where nothing is known of the property, as where a pattern may be about it."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key] if isinstance(properties[key], Mapping) else None
    if (found := _of_branches(schema, partial(property_schema, key=key, depth=depth + 1))) is not None:
        return found
    extra = None if schema.get("patternProperties") else schema.get("additionalProperties")
    return extra if isinstance(extra, Mapping) else None


def item_schema(schema: Schema | None, depth: int = 0) -> Schema | None:
    """The schema of an array's items, looked for in the schema itself and then in its branches. None where they have
    schemas of their own by their places."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH or "prefixItems" in schema:
        return None
    items = schema.get("items")
    return items if isinstance(items, Mapping) else _of_branches(schema, partial(item_schema, depth=depth + 1))


def _of_branches(schema: Schema, part_of: Callable[[Any], Schema | None]) -> Schema | None:
    """The schema of a part of what the branches describe; where they say different things of it, one with these for
    its branches."""
    parts = {key: [part for part in map(part_of, _listed(schema, key)) if part is not None] for key in _BRANCHES}
    every = [part for found in parts.values() for part in found]
    if all(part == every[0] for part in every):
        return every[0] if every else None
    return {key: found for key, found in parts.items() if found}


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
    """Return whether text without a type can be passed on as a string while it is still open: it can be nothing
    else."""
    types = types_of(schema)
    return types is None or types == {"string"}


def keeps_string(schema: Schema | None) -> bool:
    """Return whether what is written as a string stays one under this schema, and can be passed on while it is open."""
    return can_stream(schema) or _allows_string(schema)


def _allows_string(schema: Any, depth: int = 0) -> bool:
    """Return whether there is a string that the schema allows, as far as its types, values and branches say."""
    if not isinstance(schema, Mapping) or depth > MAX_SCHEMA_DEPTH:
        return schema is not False
    values = [schema["const"]] if "const" in schema else _listed(schema, "enum") or [""]
    if not (_type_allows_string(schema) and any(isinstance(value, str) for value in values)):
        return False
    branches = {key: [_allows_string(one, depth + 1) for one in _listed(schema, key)] for key in _BRANCHES}
    return all(branches.pop("allOf")) and all(any(found) for found in branches.values() if found)


def _type_allows_string(schema: Schema) -> bool:
    """A type that nobody knows may be one of strings; a schema of properties and no more is an object's."""
    if isinstance(schema.get("type"), (str, list)):
        types = types_of({"type": schema["type"]}) or frozenset({"string"})
        return "string" in types or not types <= _TYPES
    return not isinstance(schema.get("properties"), Mapping) or not {*_SAYING_TYPES}.isdisjoint(schema)


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
    types = types_of(schema) or frozenset()
    said = _without_lead(text.strip(), types)
    for name in _ORDER:
        if name in types and (found := _as(name, text if name == "string" else said)) is not None:
            return found
    return json.dumps(text, ensure_ascii=False)


def _without_lead(text: str, types: frozenset[str]) -> str:
    """A number as JSON writes it, 42 for 042, where nothing but a number can be meant: vLLM 0.33.0 and SGLang 0.5.23
    read both so. Where a string is allowed the zeros belong to one."""
    led = None if "string" in types else _LED.match(text)
    spelled = "" if led is None else led[1].replace("+", "") + led[2]
    return spelled if NUMBER.match(spelled) else text


def json_to_json(raw: str, schema: Schema | None) -> str:
    """A JSON scalar, rewritten when its schema wants another type; otherwise exactly `raw`."""
    types = types_of(schema)
    if types is None:
        return raw
    if raw.startswith('"'):
        return raw if keeps_string(schema) else _string_to_json(raw, types)
    if _scalar_type(raw) & types or "string" not in types:
        return raw
    return json.dumps(raw, ensure_ascii=False)


def _string_to_json(raw: str, types: frozenset[str]) -> str:
    try:
        text = json.loads(raw, strict=False)
    except ValueError:
        return raw
    said = _without_lead(text.strip(), types)
    for name in _ORDER[:-1]:
        if name in types and (found := _as(name, said)) is not None:
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
    return text if text.startswith("{" if name == "object" else "[") and is_strict_json(text) else None
