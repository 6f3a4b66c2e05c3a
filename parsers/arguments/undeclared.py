"""Whole arguments beside what their tool declares: what a server makes of others, and what it finds lacking.

vLLM 0.33.0 takes arguments out of a lone one that is called like what holds them (its parsers of DeepSeek V3.2 and V4),
and leaves out what a tool does not declare (that of MiniCPM5, which refuses calls without what is required, too).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from parsers.arguments.coerce import Schema, json_to_json, property_schema
from parsers.arguments.json_value import coerce_json
from parsers.arguments.python_text import python_to_json
from parsers.vocabulary.json_values import is_object

_WRAPPERS = ("arguments", "input", "properties")
_DECODER = json.JSONDecoder(strict=False, parse_int=float)
_BLANK = " \t\r\n"
_Members = list[tuple[str, str]]  # keys, and values as they are written


def declared_arguments(text: str, schema: Mapping[str, Any], how: str) -> str | None:
    """What the policy undeclared_arguments (`how`) leaves of arguments that are one JSON object; None: all of it."""
    declared = schema.get("properties")
    if not isinstance(declared, Mapping) or not declared or not is_object(text):
        return None
    members = _members(text)
    if all(key in declared for key, _ in members):
        return None
    found = _unwrapped(members, schema)
    if found is None and how == "drop":
        found = [(key, value) for key, value in members if key in declared]
    return None if found is None else _written(found)


def lacks(text: str, schema: Mapping[str, Any]) -> str | None:
    """What arguments that are one JSON object lack of what the tool requires, or say twice, in words."""
    keys, required = [key for key, _ in _members(text)], schema.get("required")
    missing = [str(key) for key in required if key not in keys] if isinstance(required, list) else []
    if missing:
        return f"lacks {', '.join(missing)}"
    return "says an argument twice" if len({*keys}) < len(keys) else None


def _unwrapped(members: _Members, schema: Mapping[str, Any]) -> _Members | None:
    """The members of the object in a lone argument that is called like what holds arguments, if all are declared."""
    key, value = members[0]
    if len(members) > 1 or key not in _WRAPPERS:
        return None
    if value.startswith('"'):
        written = _DECODER.decode(value)
        value = written if is_object(written) else python_to_json(written) or ""
    inner = _members(value) if is_object(value) else []
    if not inner or any(key not in schema["properties"] for key, _ in inner):
        return None
    return [(key, _typed(value, property_schema(schema, key))) for key, value in inner]


def _typed(value: str, schema: Schema | None) -> str:
    return coerce_json(json_to_json(value, schema), schema)


def _members(text: str) -> _Members:
    """The members of a JSON object."""
    found, at = [], _after(text, 0, "{")
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _after(text, at, ":")
        _, stop = _DECODER.raw_decode(text, start)
        found.append((key, text[start:stop]))
        at = _after(text, stop, ",")
    return found


def _after(text: str, at: int, sign: str) -> int:
    """Where the next part begins: behind white space and the sign, if that stands there."""
    while text[at] in _BLANK or text[at] == sign:
        at += 1
    return at


def _written(members: _Members) -> str:
    return "{" + ", ".join([f"{json.dumps(key, ensure_ascii=False)}: {value}" for key, value in members]) + "}"
