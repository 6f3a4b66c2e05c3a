"""How the time of something grows with its input: the only thing about time that a test may assert.

A machine is never quiet, so one measurement proves nothing. What looks too slow is measured again, and the best time of
each size counts, in yardsticks: noise goes away with that, and work that grows by the square does not. Only the least
and the largest size decide; those between are measured where it comes to a failure, and told there.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

RATIO = 2.6  # for each doubling; 2 is linear, 4 the square
ROUNDS = 6
YARD = 20_000  # turns of a loop: about a millisecond
SHORT = 0.001  # seconds: below this the clock says more about the machine than about the code
LONG = 0.03  # seconds: a run that takes more is no longer one in which what is made once counts


def seconds(run: Callable[[], object]) -> float:
    """Processor time of the best of two runs (one when it is long), with garbage collection off."""
    best, left = float("inf"), 2
    while left:
        gc.disable()
        start = time.process_time()
        run()
        spent = time.process_time() - start
        gc.enable()
        best, left = min(best, spent), 0 if spent > LONG else left - 1
    return best


def _yardstick() -> float:
    """Processor time of a fixed piece of work. It is longer, like all else, while a neighbour slows the machine."""
    start = time.process_time()
    sum([at % 7 for at in range(YARD)])
    return time.process_time() - start


def _measured(timed: Callable[[int], float], size: int) -> float:
    """The time of one size in yardsticks, laid on before and after."""
    before = _yardstick()
    spent = max(timed(size), SHORT)
    return spent / min(before, _yardstick())


def assert_linear(timed: Callable[[int], float], sizes: tuple[int, ...]) -> None:
    """Time grows by less than RATIO for each doubling, on the mean from the first of the sizes to the last."""
    least, largest, most = float("inf"), float("inf"), RATIO ** math.log2(sizes[-1] / sizes[0])
    for _ in range(ROUNDS):
        least, largest = min(least, _measured(timed, sizes[0])), min(largest, _measured(timed, sizes[-1]))
        if largest / least < most:
            return
    told = [least, *[_measured(timed, size) for size in sizes[1:-1]], largest]
    raise AssertionError(f"{[round(one, 1) for one in told]} yardsticks for sizes {sizes}")
