"""Processor time of one piece of work beside another: the best of a few runs of each, with garbage collection on."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time

ROUNDS = 4
REPEATS = 3
LONG = 0.05  # seconds: such a run is done half as often, and one ten times as long once


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one run."""
    gc.collect()
    start = process_time()
    run()
    return process_time() - start


def quickest(prepared: Callable[[], Callable[[], object]]) -> float:
    """Processor time of the best of a few runs one after the other, each prepared before; of a long one that is one."""
    best = float("inf")
    for _ in range(REPEATS):
        run = prepared()
        start = process_time()
        run()
        best = min(best, process_time() - start)
        if best > LONG:
            break
    return best


def best_of(*runs: Callable[[], float]) -> list[float]:
    """The least that each run says it took. They take turns, so that all see the machine in the same moods."""
    best, rounds = [float("inf")] * len(runs), ROUNDS
    while rounds > 0:
        best = [min(known, run()) for known, run in zip(best, runs, strict=True)]
        rounds -= 1 if max(best) < LONG else 2 if max(best) < 10 * LONG else ROUNDS
    return best
