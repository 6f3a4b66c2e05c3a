"""The server under load: how many fresh replays it answers on one process and on two, and whether it stays responsive.

Clients and server share the machine, as far as it has cores; both say more on a quiet one.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from itertools import count
from typing import NamedTuple

from tests.bench.outputs import long_text
from tests.bench.serving import JSON, Server, quantile, serving
from webapp.front.front import SMALL

CLIENTS = 6
TOKENS = 1_000
PAUSE = 0.02  # seconds between two looks at /healthz
REPLAY = "/api/v1/replay"

_CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
_STRING = '<tool_call>\n{"name": "f", "arguments": {"a": "%s"}}\n</tool_call>'


class Throughput(NamedTuple):
    """Fresh replays answered in a second by so many processes."""

    processes: int
    replays: float


class Health(NamedTuple):
    """Seconds that /healthz took while something was going on, and how many of the other requests were answered how."""

    beside: str
    p50: float
    p95: float
    worst: float
    statuses: dict[str, int]


def case(text: str, parser: str = "qwen", **more: object) -> str:
    """A case as JSON."""
    return json.dumps({"schema": 1, "parser": {"name": parser}, "input": {"text": text}, **more})


def worst_inputs() -> dict[str, str]:
    """What a stranger might send, each inside the limits or just over them."""
    nothing = {"tokens": [[number % 2_000, ""] for number in range(250_000)]}
    return {
        "braces": case("{" * 200_000, "json"),
        "brackets": case("[" * 200_000, "pythonic"),
        "backslashes": case(_STRING % ("\\" * 900_000)),
        "half markers": case("<tool_cal" * 100_000),
        "half tags": case("<tool_call>\n<function=f>\n<parameter=a>\n" + "</parameter" * 60_000, "qwen_coder"),
        "a thousand calls": case(_CALL * 1_000),
        "empty tokens": json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": nothing}),
        "a long output": case(long_text(240_000), "qwen3"),
    }


def throughput(processes: int, seconds: float) -> Throughput:
    """Fresh replays of TOKENS tokens a second: each text is asked for once."""
    numbers, text = count(), long_text(TOKENS)
    with serving(replay_processes=processes) as server:
        for _ in range(2 * processes):
            _replayed(server, f"{text} warm {next(numbers)}")
        start = time.monotonic()

        def client() -> int:
            done = 0
            while time.monotonic() - start < seconds:
                _replayed(server, f"{text} {next(numbers)}")
                done += 1
            return done

        with ThreadPoolExecutor(CLIENTS) as threads:
            done = sum([one.result() for one in [threads.submit(client) for _ in range(CLIENTS)]])
        return Throughput(processes, done / (time.monotonic() - start))


def health(seconds: float) -> Iterator[Health]:
    """How /healthz answers while nothing is going on, and beside all worst inputs at once, again and again."""
    with serving(replay_processes=2) as server:
        _replayed(server, "warm")
        with _looking(server) as quiet:
            time.sleep(min(seconds, 3))
        yield _health("nothing", quiet, {})
        statuses, until = Counter[str](), time.monotonic() + seconds
        with _looking(server) as busy:
            clients = [
                threading.Thread(target=_again, args=(server, body, until, statuses))
                for body in worst_inputs().values()
            ]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        yield _health("the worst inputs", busy, statuses)


def _replayed(server: Server, text: str) -> None:
    """A replay that is no small task to the server, which has a process more for those."""
    answer = server.ask("POST", REPLAY, case(text) + " " * SMALL, **JSON)
    assert answer.status == 200, answer.body[:200]


def _again(server: Server, body: str, until: float, statuses: Counter[str]) -> None:
    """Send a body again and again. Whoever still waits at the end hangs up."""
    while time.monotonic() < until:
        connection = server.connection()
        try:
            connection.timeout = max(0.1, until - time.monotonic())
            connection.request("POST", REPLAY, body, JSON)
            answer = connection.getresponse()
            answer.read()
            said = str(answer.status)
        except TimeoutError:
            said = "hung up"
        except (OSError, HTTPException) as error:
            said = type(error).__name__
        finally:
            connection.close()
        statuses[said] += 1


@contextmanager
def _looking(server: Server) -> Iterator[list[float]]:
    """Looks at /healthz as long as the block lasts; the seconds of each look."""
    ended, found = threading.Event(), list[float]()

    def look() -> None:
        while not ended.is_set():
            found.append(server.ask("GET", "/healthz").seconds)
            time.sleep(PAUSE)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def _health(beside: str, found: list[float], statuses: Mapping[str, int]) -> Health:
    return Health(beside, quantile(found, 0.5), quantile(found, 0.95), max(found), dict(sorted(statuses.items())))
