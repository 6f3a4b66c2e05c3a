"""A chunking in one word, for addresses and menus: token, token:3, char:5, whole, random:7:8:char, cuts:4,118.

=================================  ============================================================
token[:size], char[:size], whole   so many tokens or code points a delta, or all of them
recorded                           the deltas as a server sent them
random:seed[:max[:unit]]           sizes drawn from 1 to max
cuts:offset,offset,...             deltas end at these offsets; cuts alone is one delta
+holdback=n, +delay=n              at the end of any: text kept back, text later than its ids
=================================  ============================================================

`parse_spec` undoes `spec`.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from parsers.chunking import Chunking
from parsers.types import UsageError

LATE = {"holdback": "holdback_chars", "delay": "text_delay"}
PARTS: dict[str, tuple[str, ...]] = {
    "token": ("size",),
    "char": ("size",),
    "whole": (),
    "random": ("seed", "max", "unit"),
    "cuts": ("cuts",),
    "recorded": (),
}


def spec(chunking: Chunking) -> str:
    """The word for a chunking."""
    values = [_word(getattr(chunking, part)) for part in PARTS[chunking.by]]
    if values == ["1"] and chunking.by in ("token", "char"):
        values = []
    late = [f"+{word}={getattr(chunking, key)}" for word, key in LATE.items() if getattr(chunking, key)]
    return ":".join([chunking.by, *values]).rstrip(":") + "".join(late)


def parse_spec(text: str) -> Chunking:
    """The chunking of a word. Raises UsageError for a word that is none."""
    base, *late = text.split("+")
    by, *values = base.split(":")
    try:
        if len(values) > len(PARTS[by]):
            raise ValueError
        data: dict[str, Any] = {"by": by} | ({"cuts": ()} if by == "cuts" else {})
        data |= {part: _value(part, value) for part, value in zip(PARTS[by], values, strict=False) if value}
        for word in late:
            key, _, number = word.partition("=")
            data[LATE[key]] = int(number)
        return Chunking.model_validate(data)
    except (KeyError, ValueError, ValidationError) as error:
        known = "token, char, char:5, whole, recorded, random:SEED, cuts:A,B"
        raise UsageError(f"{text[:80]!r} is no chunking; write one like {known}") from error


def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str("" if value is None else value)


def _value(part: str, text: str) -> Any:
    if part == "unit":
        return text
    return [int(cut) for cut in text.split(",")] if part == "cuts" else int(text)
