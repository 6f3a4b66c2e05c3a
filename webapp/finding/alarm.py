"""A deadline inside one long computation: an exception in the main thread when the time is up.

Only Unix has the timer; elsewhere nothing rings, and a search is left at its next word of progress.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HAS_TIMER = hasattr(signal, "setitimer")


class TimeUp(BaseException):
    """The deadline. Not an Exception: what a parser under study raises is caught as one."""


class Alarm:
    """Rings once, in the main thread, while it is on."""

    def __init__(self) -> None:
        self.on = False

    def set(self, seconds: float) -> None:
        """Ring in so many seconds. Setting it again changes nothing."""
        if HAS_TIMER and not self.on:
            self.on = True
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))

    def ring(self, _signal: int, _frame: FrameType | None) -> None:
        """Raise TimeUp, unless what was timed is over."""
        if self.on:
            raise TimeUp


@contextmanager
def alarm() -> Iterator[Alarm]:
    """An alarm that can ring inside the block and not after it. Only the main thread may use it."""
    found = Alarm()
    before = signal.signal(signal.SIGALRM, found.ring) if HAS_TIMER else None
    try:
        yield found
    finally:
        found.on = False
        if HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
