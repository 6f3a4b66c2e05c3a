"""JSON texts of any origin as Python's own reader takes them: NaN is let through, numbers may be of any length."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_DIGITS = 4_000  # int() refuses a little more
_LARGEST = 1.7976931348623157e308  # the largest float


def is_json(text: str) -> bool:
    """Return whether a text is one JSON value."""
    return _read(text)[0]


def is_strict_json(text: str) -> bool:
    """The same without NaN and the infinities, which are Python's own."""
    return _read(text, _refuse)[0]


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def is_object(text: str) -> bool:
    """Return whether a text is one JSON object."""
    return object_of(text) is not None


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that a text spells, or None."""
    value = _read(text)[1]
    return value if isinstance(value, dict) else None


def _read(text: str, constant: Callable[[str], Any] | None = None) -> tuple[bool, Any]:
    try:
        return True, json.loads(text, parse_int=_integer, parse_float=_number, parse_constant=constant)
    except (ValueError, RecursionError):
        return False, None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS else _number(digits)


def _number(digits: str) -> float:
    """A number that can be written again: one that is too large for a float is the largest, and not infinity."""
    return max(-_LARGEST, min(_LARGEST, float(digits)))
