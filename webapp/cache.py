"""Keeps computed replays for a while, so that stepping through one does not compute it again.

One per process, nothing shared: a worker that lacks a replay computes it from the case. Entries go out least recently
used first once their estimated size is over the budget; an entry larger than the whole budget is not kept. Two
requests for the same missing entry compute it once: the second waits for the first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ByteCache(Generic[Value]):
    """A least-recently-used cache with a budget in bytes; `size` estimates a value's."""

    def __init__(self, budget: int, size: Callable[[Value], int]) -> None:
        self.budget = budget
        self.used = 0
        self._size = size
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._running: dict[Hashable, Lock] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of `key`, computed unless it is here. What `compute` raises is raised, and nothing is kept."""
        with self._lock:
            if (found := self._found(key)) is not None:
                return found[0]
            turn = self._running.setdefault(key, Lock())
        with turn:
            with self._lock:
                if (found := self._found(key)) is not None:
                    return found[0]
            try:
                value = compute()
                self.put(key, value)
            finally:
                with self._lock:
                    self._running.pop(key, None)
            return value

    def peek(self, key: Hashable) -> Value | None:
        """The value of `key` if it is here."""
        with self._lock:
            entry = self._found(key)
            return None if entry is None else entry[0]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, in the place of one that is here already."""
        cost = self._size(value)
        with self._lock:
            _, freed = self._entries.pop(key, (None, 0))
            self.used -= freed
            if cost <= self.budget:
                self._entries[key] = (value, cost)
                self.used += cost
                self._drop_oldest()

    def resize(self, budget: int) -> None:
        """Keep within another budget from now on."""
        with self._lock:
            self.budget = budget
            self._drop_oldest()

    def mend(self) -> None:
        """Count again after an exception that may have come anywhere, as an interrupt does. No other thread may be
        here."""
        with self._lock:
            self.used = sum([cost for _, cost in self._entries.values()])
            self._running.clear()
            self._drop_oldest()

    def _found(self, key: Hashable) -> tuple[Value, int] | None:
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def _drop_oldest(self) -> None:
        while self.used > self.budget:
            _, (_, freed) = self._entries.popitem(last=False)
            self.used -= freed
