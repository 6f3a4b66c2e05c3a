"""Faults around a server: children that are killed, a clock that moves, clients that are slow or say nothing."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.load import case
from tests.bench.serving import HOST, Server, family, quantile, running, serving
from tests.faults.book import NO_LIMITS, Book, again_and_again, answered, replays, until, writing
from tests.faults.outcome import Outcome, UntriedError

KILLED_SECONDS, BETWEEN = 20.0, 0.5
DAY = 86_400
MOVES = (DAY, -2 * DAY, 400 * DAY, -3_600)  # seconds, each from the real time
IDLE, SLOW, READERS, SLOW_SECONDS = 60, 40, 10, 20.0
HUNG_UP = ("ConnectionResetError", "RemoteDisconnected")  # a connection is silent for as long as the clock says
_LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1")
_HEAD = "POST /api/v1/replay HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def children_killed(_writes: int) -> Outcome:
    """SIGKILL to one child after the other while clients replay; who is answered by it is told so."""
    book, rng, kills = Book(), random.Random(1), 0

    def replayed() -> str:
        said = replays(server, f"word {rng.random()} " * 2_000)
        book.answers[said] += 1
        return said

    with serving(replay_processes=2) as server:
        until(lambda: replays(server) == "200", "the first replay")
        with again_and_again([replayed] * 4):
            end = time.monotonic() + KILLED_SECONDS
            while time.monotonic() < end:
                if children := family(server.pid)[1:]:
                    with suppress(ProcessLookupError):
                        os.kill(rng.choice(children), signal.SIGKILL)
                        kills += 1
                time.sleep(BETWEEN)
        back = until(lambda: replays(server) == "200", "a replay")
    return Outcome("Children killed", f"{kills} kills", book, 0, back, book.unexpected())


def clock_moved(writes: int) -> Outcome:
    """The time of day jumps, forward and back, while clients write."""
    library = next((str(one) for glob in _LIBRARIES for one in Path("/").glob(glob[1:])), None)
    if library is None:
        raise UntriedError("no libfaketime")
    book = Book()
    with TemporaryDirectory() as name:
        said = Path(name, "clock")
        said.write_text("+0", "ascii")
        told = {
            "LD_PRELOAD": library,
            "FAKETIME_TIMESTAMP_FILE": str(said),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        with running(Path(name), environment=told, **NO_LIMITS) as server:
            with writing(server, book):
                for move, seconds in enumerate(MOVES, 1):
                    said.write_text(f"{seconds:+d}", "ascii")
                    until(lambda: len(book.acknowledged) >= writes * move / len(MOVES), "writes")  # noqa: B023
            lost = book.lost(server)
    moves = ", ".join([f"{one / 3_600:+.0f} h" for one in MOVES])
    return Outcome("Clock moved", moves, book, lost, None, book.unexpected(*HUNG_UP))


def slow_clients(_writes: int) -> Outcome:
    """Connections that say nothing, heads and bodies that come a byte at a time, and readers who do not read; others
    go on meanwhile."""
    book, waited = Book(), list[float]()

    def asked() -> str:
        start = time.monotonic()
        answer = answered(server, "GET", "/healthz")
        waited.append(time.monotonic() - start)
        said = answer if isinstance(answer, str) else str(answer.status)
        book.answers[said] += 1
        return said

    with serving(replay_processes=2) as server, ExitStack() as stack:
        until(lambda: replays(server) == "200", "the first replay")
        slow = [stack.enter_context(socket.create_connection((HOST, server.port))) for _ in range(IDLE + SLOW)]
        _start_readers(server, stack)
        with again_and_again([asked, asked, lambda: replays(server)]):
            for piece in _bytes_of_slow_ones():
                for one in slow[IDLE:]:
                    with suppress(OSError):  # it was sent away
                        one.sendall(piece)
                time.sleep(BETWEEN)
        runs = replays(server)
    latest = f"/healthz {quantile(waited, 0.95):.2f} s for 95 of 100"
    done = f"{IDLE} idle, {SLOW} slow, {READERS} that do not read; {latest}"
    return Outcome("Slow and idle clients", done, book, 0, None, book.unexpected() + [runs] * (runs != "200"))


def _bytes_of_slow_ones() -> Iterator[bytes]:
    """A head, and then a body, of which a byte comes at a time, for some seconds."""
    text, end = f"{_HEAD}Content-Length: 1000\r\n\r\n", time.monotonic() + SLOW_SECONDS
    for char in text:
        if time.monotonic() > end:
            return
        yield char.encode()


def _start_readers(server: Server, stack: ExitStack) -> None:
    """Ask for long answers and leave them."""
    body = case("word " * 50_000)
    for _ in range(READERS):
        one = stack.enter_context(socket.create_connection((HOST, server.port)))
        one.sendall(f"{_HEAD}Content-Length: {len(body)}\r\n\r\n{body}".encode())


PROCESSES: tuple[Callable[[int], Outcome], ...] = (children_killed, clock_moved, slow_clients)
