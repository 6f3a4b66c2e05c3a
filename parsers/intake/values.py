"""What one JSON value is that is no API's answer: a case."""

from __future__ import annotations

from typing import Any

from parsers.intake.families import is_case
from parsers.intake.jsonread import whole_object
from parsers.intake.model import Recognised


def case_value(body: str, value: Any) -> Recognised | None:
    """A case."""
    return _loadable(body) if isinstance(value, dict) and is_case(value) else None


def named_case(body: str) -> Recognised:
    """A file whose name says that it is a case."""
    if whole_object(body) is not None:
        return _loadable(body)
    advice = "Its name says case file, but it does not hold one JSON object. Export the case again, or rename the file."
    return Recognised(kind="case", title="case file that cannot be read", advice=advice)


def _loadable(body: str) -> Recognised:
    why = ("It is a JSON object with a case's schema, parser and input.",)
    return Recognised(kind="case", title="case file", advice="Replay it.", usable=True, case=body, why=why)
