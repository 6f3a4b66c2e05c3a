"""The children that live on: so many at most, the least recently used one ended first, all within one memory budget.

A call waits for nobody but a call to the same child, or for a place where all are at work. The pool's own lock is held
only to look at its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending


class Pool:
    """Children by key. Safe to share between threads. `most_bytes` is what all may take between their tasks."""

    def __init__(self, alive: int, most_bytes: int) -> None:
        self._alive = alive
        self._most_bytes = most_bytes
        self._children: dict[str, Child] = {}
        self._users: dict[str, int] = {}
        self._change = Condition()

    @contextmanager
    def child(self, key: str, make: Callable[[], Child], seconds: float) -> Iterator[Child]:
        """The child of this key, which lives on inside the block. Raises ChildError: no place got free in time."""
        found = self._take(key, make, seconds)
        try:
            yield found
        finally:
            self._give_back(key)

    def pids(self) -> dict[str, int]:
        """The processes that are alive, by key."""
        with self._change:
            return {key: child.pid for key, child in self._children.items() if child.pid is not None}

    def drop(self, key: str) -> None:
        """End a child that is needed no more."""
        with self._change:
            child = self._children.pop(key, None)
            self._change.notify_all()  # there is a place more
        if child is not None:
            child.close()

    def close(self) -> None:
        """End all children."""
        for key in list(self._children):
            self.drop(key)

    def _take(self, key: str, make: Callable[[], Child], seconds: float) -> Child:
        latest, idle = monotonic() + seconds, None
        with self._change:
            while key not in self._children and len(self._children) >= self._alive and idle is None:
                idle = self._take_out_oldest()
                if idle is None and not self._change.wait(max(latest - monotonic(), 0)):
                    raise ChildError(Ending.BUSY)
            child = self._children.pop(key, None) or make()
            self._children[key] = child
            self._users[key] = self._users.get(key, 0) + 1
        if idle is not None:
            idle.close()
        return child

    def _give_back(self, key: str) -> None:
        idle: list[Child] = []
        with self._change:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
            while len(self._children) > 1 and sum(child.rss for child in self._children.values()) > self._most_bytes:
                oldest = self._take_out_oldest(but=key)
                if oldest is None:
                    break
                idle.append(oldest)
            self._change.notify_all()
        for child in idle:
            child.close()

    def _take_out_oldest(self, but: str = "") -> Child | None:
        """The least recently used child that nobody uses, which is to be ended; None where all are in use."""
        key = next((key for key in self._children if key not in self._users and key != but), None)
        return None if key is None else self._children.pop(key)
