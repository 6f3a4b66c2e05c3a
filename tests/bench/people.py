"""What a person costs who opens fresh runs: processor seconds of the server, all of its processes and the first alone.

A visit is as a page makes it: the text is posted, its report is fetched in parts, and some windows beside steps. Shared
out on many cores the processes that replay add up; the first one forwards for all of them and has one core at most.
"""

from __future__ import annotations

import re
from itertools import count
from typing import NamedTuple
from urllib.parse import urlencode

from tests.bench.load import TOKENS
from tests.bench.outputs import long_text
from tests.bench.serving import FORM, REPORT, WINDOW, Server, serving

VISITS = 20
WINDOWS = 5  # a visit
PEOPLE, EVERY = 100, 10  # so many, each with a run in so many seconds
CORES = 8
_PARTS_LEFT = "data-report-left"


class Visits(NamedTuple):
    """Processor seconds of a visit: in all processes, and in the one that forwards."""

    everywhere: float
    forwarding: float


def visits() -> Visits:
    """The mean of some visits, each with a text of its own."""
    text, numbers = long_text(TOKENS), count()
    with serving(replay_processes=2) as server:
        for _ in range(4):
            _visit(server, f"{text} {next(numbers)}")
        before = server.processor_seconds()
        for _ in range(VISITS):
            _visit(server, f"{text} {next(numbers)}")
        forwarding, everywhere = [
            (now - then) / VISITS for now, then in zip(server.processor_seconds(), before, strict=True)
        ]
    return Visits(everywhere, forwarding)


def _visit(server: Server, text: str) -> None:
    page = server.ask("POST", "/run", urlencode({"text": text, "parser": "qwen3"}), **FORM).body.decode()
    token = re.findall(r"/r/([\w-]{20,})", page)[0]
    steps = int(re.findall(r'data-total="(\d+)"', page)[0])
    for number in range(WINDOWS):
        step = 1 + number * (steps - 1) // WINDOWS
        assert server.ask("GET", f"/r/{token}?step={step}", **WINDOW).status == 200
    left = True
    while left:
        report = server.ask("GET", f"/r/{token}?report=1", **REPORT)
        assert report.status == 200
        left = _PARTS_LEFT in report.body.decode()
