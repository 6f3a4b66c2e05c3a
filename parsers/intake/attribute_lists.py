"""Attributes as OpenTelemetry's JSON has them, as the object that they stand for.

    [{"key": "gen_ai.output.messages", "value": {"stringValue": "[...]"}}, ...]

(OTLP 1.7, opentelemetry/proto/common/v1: KeyValue, AnyValue.)
"""

from __future__ import annotations

from typing import Any

from parsers.intake.evidence import Payload
from parsers.intake.written_values import object_of, objects_of

_KEY_VALUE = {"key", "value"}


def named_attributes(value: Any) -> Payload | None:
    """Return a list of attributes as an object; None where a value is none."""
    pairs = objects_of(value)
    if not pairs or not all(pair.keys() == _KEY_VALUE and isinstance(pair["key"], str) for pair in pairs):
        return None
    return {pair["key"]: _plain(pair["value"]) for pair in pairs}


def _plain(value: Any) -> Any:
    """A value without the name of its type."""
    kind, held = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", value)
    if kind == "arrayValue":
        return [_plain(one) for one in object_of(held).get("values") or ()]
    if kind == "kvlistValue":
        return named_attributes(object_of(held).get("values")) or {}
    return held if kind.endswith("Value") else value
