"""JSON texts of any origin as Python's own reader takes them: NaN is let through, numbers may be of any length."""

from __future__ import annotations

import json
from typing import Any

_DIGITS = 4_000  # int() refuses a little more


def is_json(text: str) -> bool:
    """Return whether a text is one JSON value."""
    return _read(text)[0]


def is_object(text: str) -> bool:
    """Return whether a text is one JSON object."""
    return object_of(text) is not None


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that a text spells, or None."""
    value = _read(text)[1]
    return value if isinstance(value, dict) else None


def _read(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text, parse_int=lambda digits: (int if len(digits) < _DIGITS else float)(digits))
    except (ValueError, RecursionError):
        return False, None
