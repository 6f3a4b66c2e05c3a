"""Inputs that are JSON behind their first byte, changed as JSON: changes of bytes rarely leave them readable."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

MOST_POOL = 4_000
_TEXTS = ("", " ", "x", "\u0000", "\ud800", "é😀")
_PLAIN: tuple[Any, ...] = (None, True, False, 0, -1, 1, 2**53, 1.5, *_TEXTS, [], {}, [[]], {"": None})
_DEEP = 400  # brackets


class JsonMutation:
    """Changes one place of the JSON of an input. `pool` are values that stand somewhere in the seeds."""

    def __init__(self, seeds: Iterable[bytes]) -> None:
        found: dict[str, Any] = {}
        for seed in seeds:
            for value in _values(_read(seed)):
                if len(found) < MOST_POOL and len(text := json.dumps(value)) < 300:
                    found.setdefault(text, value)
        self._pool: Sequence[Any] = [*_PLAIN, *found.values()]

    def changed(self, data: bytes, most: int, seed: int) -> bytes | None:
        """The input with one place changed; None where it is no JSON, or too long for `most` bytes then."""
        value, rng = _read(data), random.Random(seed)
        if not isinstance(value, dict | list):
            return None
        containers = [one for one in _values(value) if isinstance(one, dict | list) and one]
        if containers:
            self._change(rng.choice(containers), rng)
        text = json.dumps(value, ensure_ascii=bool(seed & 1)).encode("utf-8", "surrogatepass")
        return data[:1] + text if len(text) < most else None

    def _change(self, place: dict[str, Any] | list[Any], rng: random.Random) -> None:
        key: Any = rng.choice([*place]) if isinstance(place, dict) else rng.randrange(len(place))
        way = rng.randrange(8)
        if way == 0:
            del place[key]
        elif way == 1 and isinstance(place, dict):
            place[str(rng.choice(self._pool))[:40]] = place.pop(key)
        elif way == 1 and isinstance(place, list):
            place.insert(key, place[key])
        elif way == 2:
            place[key] = [place[key]]
        elif way == 3 and isinstance(place[key], str):
            place[key] = _text(place[key], str(rng.choice(self._pool)), rng)
        elif way == 4 and rng.random() < 0.05:
            place[key] = json.loads("[" * _DEEP + "]" * _DEEP)
        else:
            place[key] = rng.choice(self._pool)


def _text(text: str, other: str, rng: random.Random) -> str:
    """A text with a part of it left out, doubled, or another put in."""
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.randint(0, 8))
    return rng.choice((text[:start] + text[end:], text[:end] + text[start:], text[:start] + other + text[start:]))


def _read(data: bytes) -> Any:
    try:
        return json.loads(data[1:])
    except (ValueError, RecursionError):
        return None


def _values(value: Any) -> list[Any]:
    """A value and all that stand in it."""
    found = [value]
    for one in found:
        found += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return found
