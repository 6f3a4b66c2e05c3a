"""Looks at a worker from time to time while nothing is asked of it, for as long as its process lives.

A thread that sleeps is there for each process of an engine, from its hello on, and keeps neither its engine nor this
program.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from weakref import WeakMethod

from webapp.engines.unasked import LOOK_SECONDS


class IdleWatch:
    """That of one engine. `look` is a method of it, which says in how many seconds it wants to be called again, or 0
    for never."""

    def __init__(self, look: Callable[[], float]) -> None:
        self._look = WeakMethod(look)
        self._over = Event()

    def begin(self) -> None:
        """There is a new process."""
        self.stop()
        self._over = Event()
        Thread(target=_watch, args=(self._look, self._over), name="idle engine", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()


def _watch(look: WeakMethod[Callable[[], float]], over: Event) -> None:
    pause = LOOK_SECONDS
    while pause and not over.wait(pause):
        found = look()
        pause = 0.0 if found is None else found()
        del found  # between two looks the engine is nobody's here
