"""How much is tried: a share that ends soon, or as many times more as `PROPERTY_TIMES` asks for; by `ALL`, everything.

Every kind of thing is tried in either run, and every case under the chunkings that find most; a share is what one test
looks at of a table that others look at too. It goes evenly over all of it, and where it begins is each test's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

ALL = 8
TIMES = int(os.environ.get("PROPERTY_TIMES", "1"))


def examples(number: int) -> settings:
    """So many examples of a property."""
    return settings(max_examples=number * TIMES)


def every(nth: int, items: Iterable[T], start: int = 0) -> list[T]:
    """Every nth of the items from one of the first on, and all of them where everything is tried."""
    step = 1 if TIMES >= ALL else max(1, nth // TIMES)
    return [*items][start % step :: step]
