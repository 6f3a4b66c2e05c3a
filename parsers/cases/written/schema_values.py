"""Values that fit a JSON Schema, drawn: what a model that keeps to the schema of its tools would write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

Schema = Mapping[str, Any]
DEEP = 6  # levels, after which objects and lists stay empty
OFTEN = 0.6  # of what may be left out


def arguments_of(draw: Random, schema: Schema, strings: Sequence[str]) -> dict[str, Any]:
    """Arguments of a tool: all that are required, and most of the others. Their texts are some of `strings`."""
    properties, required = schema.get("properties", {}), schema.get("required", ())
    wanted = [key for key in properties if key in required or draw.random() < OFTEN]
    return {key: value_of(draw, properties[key], strings) for key in wanted}


def value_of(draw: Random, schema: Any, strings: Sequence[str], depth: int = 0) -> Any:
    """A value for a schema. What goes beyond types, lists of values and alternatives is not looked at."""
    schema = schema if isinstance(schema, Mapping) else {}
    if "enum" in schema or "const" in schema:
        return draw.choice(schema.get("enum") or [schema.get("const")])
    several = next((schema[key] for key in ("anyOf", "oneOf") if schema.get(key)), None)
    if several:
        return value_of(draw, draw.choice(several), strings, depth + 1) if depth < DEEP else None
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = draw.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        return _object(draw, schema, strings, depth)
    if kind == "array":
        size = 0 if depth >= DEEP else draw.randrange(schema.get("minItems", 0), 4 + schema.get("minItems", 0))
        return [value_of(draw, schema.get("items"), strings, depth + 1) for _ in range(size)]
    plain: dict[str, Any] = {
        "string": draw.choice(strings),
        "integer": draw.choice([0, 7, -3, 12_345]),
        "number": draw.choice([0.5, -12.25, 3.0, 1_000.125]),
        "boolean": draw.random() < 0.5,
        "null": None,
    }
    value = plain.get(kind, draw.choice(strings))
    return value if isinstance(value, bool | str | None) else _within(value, schema)


def _object(draw: Random, schema: Schema, strings: Sequence[str], depth: int) -> dict[str, Any]:
    required = schema.get("required", ())
    inner = schema.get("properties", {}).items() if depth < DEEP else ()
    return {
        key: value_of(draw, one, strings, depth + 1) for key, one in inner if key in required or draw.random() < 0.7
    }


def _within(value: float, schema: Schema) -> float:
    """The number, or the nearest one that the schema allows."""
    low: float = schema.get("minimum", value)
    high: float = schema.get("maximum", value)
    return min(max(value, low), high)
