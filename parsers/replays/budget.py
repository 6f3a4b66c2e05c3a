"""What replays may take, each and all together, in a measure that is passed in: nothing here has a clock.

The measure is asked between deltas. A parser that does not return from one call is no matter of a budget: only the end
of its process ends that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from parsers.vocabulary.events import Failure

MOST_SLOW = 3  # replays that took too much
MOST_ENDED = 12  # replays that a parser in a process of its own did not survive

Look = Callable[[], None]


class OverBudgetError(Exception):
    """One replay took more than it may."""


class SpentBudgetError(BaseException):
    """All replays took what they may. Not an Exception: what a parser under study raises is caught as one."""


@dataclass(slots=True)
class Budget:
    """Holds what replays may take. `late` is asked before each replay whether none is to begin any more, as by a clock
    of whoever waits. `meter` gives a number that only grows: seconds of processor time, lines executed.

    `each` is for one replay, `total` for all from now on, in the same unit as the meter; `unit` is its name. `given_up`
    says what a parser in a process of its own did until nobody wanted to go on.
    """

    meter: Callable[[], float]
    each: float
    total: float = math.inf
    unit: str = "s"
    late: Callable[[], bool] = bool
    given_up: str = field(init=False, default="")
    _end: float = field(init=False)
    _lifted: bool = field(init=False, default=False)
    _slow: int = field(init=False, default=0)
    _ended: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        """The total counts from here."""
        self._end = self.meter() + self.total

    def begin(self) -> Look:
        """A replay begins. What is returned is called between its deltas, and raises OverBudgetError when it has taken
        more than it may. Raises SpentBudgetError where there is nothing left to begin with."""
        start = self.meter()
        if not self._lifted and (start >= self._end or self.given_up or self.late()):
            raise SpentBudgetError
        latest, meter = start + self.each, self.meter

        def look() -> None:
            if meter() > latest:
                raise OverBudgetError(f"stopped, for it had taken more than {self.each:,g} {self.unit}")

        return look

    def note(self, failure: Failure | None) -> None:
        """A replay ended with this. A process that does not survive its replays is soon asked for no more. Raises
        SpentBudgetError for a replay that was not even tried."""
        if failure is None or not failure.ended:
            return
        self._slow, self._ended = self._slow + failure.slow, self._ended + 1
        if failure.unasked or self._slow >= MOST_SLOW or self._ended >= MOST_ENDED:
            self.given_up = self.given_up or failure.kind
        if failure.unasked and not self._lifted:
            raise SpentBudgetError

    def lift(self) -> None:
        """Let more replays begin: to say what was found takes a few."""
        self._lifted = True
