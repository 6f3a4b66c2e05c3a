"""Interrupts that come at any moment, as a signal does that a child gets."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from time import monotonic


class Rung(BaseException):
    """It rang."""


def rung(seconds: float, longest: float = 0.001) -> Iterator[None]:
    """Again and again for so long; each time it rings within `longest` seconds, unless the turn is over before."""
    chance, end, waiting = random.Random(5), monotonic() + seconds, False

    def ring(*_: object) -> None:
        nonlocal waiting
        if waiting:
            waiting = False
            raise Rung

    before = signal.signal(signal.SIGALRM, ring)
    try:
        while monotonic() < end:
            waiting = True
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.00005, longest))
            yield
            waiting = False
    finally:
        waiting = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
