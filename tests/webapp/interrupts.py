"""Interrupts that come at any moment, as a signal does that a child gets."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Iterator
from time import monotonic


class Rung(BaseException):
    """It rang."""


class Bell:
    """Inside its block it rings once, within `longest` seconds, or not at all; outside of it never."""

    def __init__(self, longest: float) -> None:
        self._chance, self._longest, self._waits = random.Random(5), longest, False

    def __enter__(self) -> None:
        self._waits = True
        signal.setitimer(signal.ITIMER_REAL, self._chance.uniform(0.00005, self._longest))

    def __exit__(self, *_: object) -> None:
        self._waits = False

    def ring(self, *_: object) -> None:
        """The handler of the signal."""
        if self._waits:
            self._waits = False
            raise Rung


def turns(seconds: float, longest: float = 0.001) -> Iterator[Bell]:
    """Again and again for so long a bell for what is to be interrupted."""
    bell, end = Bell(longest), monotonic() + seconds
    before, tracing = signal.signal(signal.SIGALRM, bell.ring), sys.gettrace()
    sys.settrace(None)  # what measures coverage has a lock, which an interrupt would leave closed
    try:
        while monotonic() < end:
            yield bell
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.settrace(tracing)
