"""What replays may take, each and all together, in a measure that is passed in: nothing here has a clock.

The measure is asked between deltas. A parser that does not return from one call is no matter of a budget: only the end
of its process ends that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

Look = Callable[[], None]


class OverBudgetError(Exception):
    """One replay took more than it may."""


class SpentBudgetError(BaseException):
    """All replays took what they may. Not an Exception: what a parser under study raises is caught as one."""


@dataclass(slots=True)
class Budget:
    """Holds what replays may take. `meter` gives a number that only grows: seconds of processor time, lines executed.

    `each` is for one replay, `total` for all from now on, in the same unit as the meter; `unit` is its name.
    """

    meter: Callable[[], float]
    each: float
    total: float = math.inf
    unit: str = "s"
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        """The total counts from here."""
        self._end = self.meter() + self.total

    def begin(self) -> Look:
        """A replay begins. What is returned is called between its deltas, and raises OverBudgetError when it has taken
        more than it may. Raises SpentBudgetError where there is nothing left to begin with."""
        start = self.meter()
        if start >= self._end:
            raise SpentBudgetError
        latest, meter = start + self.each, self.meter

        def look() -> None:
            if meter() > latest:
                raise OverBudgetError(f"stopped, for it had taken more than {self.each:,g} {self.unit}")

        return look

    def lift(self) -> None:
        """Let more replays begin: to say what was found takes a few."""
        self._end = math.inf
