"""`make soak`: fifty people use a server for ten minutes, two of them with runs of 250,000 tokens.

Prints what they were answered on every route, how long they waited, every answer that is a fault, and how much memory
the server took over time. Ends with 1 where there was a fault, where too many were sent away, or where memory grew.
"""

from __future__ import annotations

import sys
import threading
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from tests.bench.serving import Server, quantile, serving
from tests.bench.visitors import Ledger, Visitor

LOOKS = 60  # at the memory, in all
SHOWN = 20  # lines about memory, and faults
SENT_AWAY = 0.2  # of all answers, at most
GROWTH, GROWTH_BYTES = 1.25, 50_000_000  # of memory, from the second quarter of the time to the last


def main() -> None:
    """Let people in."""
    parser = ArgumentParser(prog="python -m tests.bench.soak", description="Let people use a server.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--long", type=int, default=2, help="how many of them read a long output")
    options = parser.parse_args()
    ledger = Ledger()
    with serving() as server:
        with _watching(server, options.seconds) as memory:
            _visit(server, ledger, options.people, options.long, time.monotonic() + options.seconds)
        log = server.log()
    _print(ledger, memory, log)
    said = judged(ledger, memory)
    print("\n".join(said))
    sys.exit(bool(said))


def judged(ledger: Ledger, memory: list[tuple[float, int, int]]) -> list[str]:
    """What is wrong, in a sentence each: faults, too many who were sent away, memory that grows."""
    said = [f"There were {len(ledger.faults)} faults."] if ledger.faults else []
    answers = Counter[str]()
    for one in ledger.statuses.values():
        answers.update(one)
    away = sum([answers[status] for status in ("429", "503")])
    if away > SENT_AWAY * sum(answers.values()):
        said.append(f"{away:,} of {sum(answers.values()):,} answers were that the server is busy.")
    quarter = len(memory) // 4
    if quarter:
        early, late = (
            median([size for _, size, _ in some]) for some in (memory[quarter : 2 * quarter], memory[-quarter:])
        )
        if late > GROWTH * early + GROWTH_BYTES:
            said.append(f"Memory grew from {early / 1e6:.0f} to {late / 1e6:.0f} MB.")
    return said


def _visit(server: Server, ledger: Ledger, people: int, long: int, until: float) -> None:
    """Wait until all people have left."""
    visitors = [Visitor(server, ledger, seed) for seed in range(people)]
    ways = [one.read_a_long_output if seed < long else one.live for seed, one in enumerate(visitors)]
    threads = [threading.Thread(target=way, args=(until,)) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def _watching(server: Server, seconds: float) -> Iterator[list[tuple[float, int, int]]]:
    """Memory of the server while the block lasts: seconds since it began, bytes, processes."""
    ended, found, start = threading.Event(), list[tuple[float, int, int]](), time.monotonic()

    def look() -> None:
        while True:
            found.append((time.monotonic() - start, *server.memory()))
            if ended.wait(seconds / LOOKS):
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def _print(ledger: Ledger, memory: list[tuple[float, int, int]], log: str) -> None:
    print(f"{'route':<40}{'median':>9}{'95 of 100':>11}{'most':>9}  seconds; statuses")
    for route, seconds in sorted(ledger.seconds.items()):
        statuses = ", ".join([f"{count} × {status}" for status, count in sorted(ledger.statuses[route].items())])
        times = [quantile(seconds, 0.5), quantile(seconds, 0.95), max(seconds)]
        print(f"{route:<40}{times[0]:>9.3f}{times[1]:>11.3f}{times[2]:>9.3f}  {statuses}")
    print("\nseconds    MB  processes")
    for since, size, processes in memory[:: max(1, len(memory) // SHOWN)] + memory[-1:]:
        print(f"{since:>7.0f} {size / 1e6:>5.0f}  {processes}")
    print(f"\n{len(ledger.faults)} faults")
    for fault in ledger.faults[:SHOWN]:
        print(fault)
    if log:
        print(f"\nThe server logged:\n{log[-20_000:]}")


if __name__ == "__main__":
    main()
