"""Interrupts that come at any moment, as a signal does that a child gets."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable, Iterator
from time import monotonic


class Rung(BaseException):
    """It rang."""


def turns(seconds: float, longest: float = 0.001) -> Iterator[Callable[[], None]]:
    """Again and again for so long a bell to wind up: it rings once within `longest` seconds, or not in this turn."""
    chance, end, waiting = random.Random(5), monotonic() + seconds, False

    def ring(*_: object) -> None:
        nonlocal waiting
        if waiting:
            waiting = False
            raise Rung

    def wind_up() -> None:
        nonlocal waiting
        waiting = True
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.00005, longest))

    before, tracing = signal.signal(signal.SIGALRM, ring), sys.gettrace()
    sys.settrace(None)  # what measures coverage has a lock, which an interrupt would leave closed
    try:
        while monotonic() < end:
            yield wind_up
            waiting = False
    finally:
        waiting = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.settrace(tracing)
