"""How much is tried: what a run can that has to end soon, or as many times more as `PROPERTY_TIMES` asks for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

TIMES = int(os.environ.get("PROPERTY_TIMES", "1"))


def examples(number: int) -> settings:
    """So many examples of a property."""
    return settings(max_examples=number * TIMES)


def every(nth: int, items: Iterable[T]) -> list[T]:
    """Every nth of the items, beginning with the first."""
    return [*items][:: max(1, nth // TIMES)]
