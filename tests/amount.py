"""How much is tried: a share that ends soon, or as many times more as `PROPERTY_TIMES` asks for; by 8, everything.

Every kind of thing is tried in either run, and every case under the chunkings that find most; a share is what one test
looks at of a table that others look at too. It goes evenly over all of it, and where it begins is each test's own.
"""

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


def every(nth: int, items: Iterable[T], start: int = 0) -> list[T]:
    """Every nth of the items from one of the first on, all of them where `nth` times as much is tried."""
    step = max(1, nth // TIMES)
    return [*items][start % step :: step]
