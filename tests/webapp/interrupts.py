"""Interrupts that come at any moment, as a signal does that a child gets."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from time import monotonic
from types import FrameType


class Rung(BaseException):
    """It rang."""


def turns(seconds: float, longest: float = 0.001) -> Iterator[Callable[[], None]]:
    """Again and again for so long a bell to wind up: it rings once within `longest` seconds, or not in this turn."""
    chance, end, waiting = random.Random(5), monotonic() + seconds, False

    def ring(_: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if waiting and frame is not None and frame.f_globals["__name__"].startswith("coverage."):
            signal.setitimer(signal.ITIMER_REAL, 0.00005)  # its lock would stay closed
        elif waiting:
            waiting = False
            raise Rung

    def wind_up() -> None:
        nonlocal waiting
        waiting = True
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.00005, longest))

    before = signal.signal(signal.SIGALRM, ring)
    try:
        while monotonic() < end:
            yield wind_up
            waiting = False
    finally:
        waiting = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
