"""Schemas that fit what was drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers.cases.written.notation import TYPES


def schema_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema that these arguments fit."""
    kinds = {key: TYPES.get(type(value), "null") for key, value in arguments.items()}
    return {"type": "object", "properties": {key: {"type": kind} for key, kind in kinds.items()}}
