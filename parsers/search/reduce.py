"""Delta debugging: the smallest part of a list that still shows something.

Strategy: the minimizing algorithm of Zeller and Hildebrandt (Simplifying and Isolating Failure-Inducing Input, 2002),
with complements only: parts of half the list are left out, then of a quarter, down to single items, until none of
them can be. What is tried depends on nothing but the list and the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def reduce(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """A part of `items` of which `fails` is true, and of which nothing can be left out. `items` itself fails."""
    left = list(items)
    size = max(len(left) // 2, 1)
    while left:
        found = _without(left, size, fails)
        if found is None and size == 1:
            return left
        size = max(size // 2, 1) if found is None else max(min(size, len(found) // 2), 1)
        left = left if found is None else found
    return left


def _without(items: list[T], size: int, fails: Callable[[Sequence[T]], bool]) -> list[T] | None:
    """The items without those parts of `size` that can be left out, or None where all are needed."""
    at, left = 0, items
    while at < len(left):
        rest = left[:at] + left[at + size :]
        if fails(rest):
            left = rest
        else:
            at += size
    return None if len(left) == len(items) else left
