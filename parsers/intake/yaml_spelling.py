"""How a scalar of a YAML text is spelled, beside its value.

Which words are numbers depends on the reader: `1e5` is a text for PyYAML, which writes it without quotes, and a number
for YAML 1.2. People leave the quotes of `42` and `true` out, too. So a scalar keeps both until it is known what is
wanted in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.intake.plain_text import without_lone_surrogates

NO_KEYS: frozenset[str] = frozenset()
# Under these stand values of somebody's own, in arguments and in a schema: no key there says what is a text.
_OWN_VALUES = frozenset({"input", "arguments", "args", "default", "const", "enum", "examples"})


@dataclass(frozen=True, slots=True)
class Spelled:
    """A number or a boolean, and how it is written."""

    value: bool | float
    text: str


def spelled_text(value: Any) -> str | None:
    """Return a text, also where somebody left out its quotes; None for anything else."""
    if isinstance(value, Spelled):
        return value.text
    return without_lone_surrogates(value) if isinstance(value, str) else None


def plain_value(value: Any, texts: frozenset[str] = NO_KEYS) -> Any:
    """Return JSON: of each scalar its value, and its spelling under the keys that have a text."""
    if isinstance(value, Spelled):
        return value.value
    if isinstance(value, dict):
        return {
            key: one.text
            if isinstance(one, Spelled) and key in texts
            else plain_value(one, NO_KEYS if key in _OWN_VALUES else texts)
            for key, one in value.items()
        }
    return [plain_value(one, texts) for one in value] if isinstance(value, list) else value
