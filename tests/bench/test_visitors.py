"""What people are answered is written down, and what is a fault is told with what they sent."""

from __future__ import annotations

import time
from typing import cast

import pytest

from tests.bench import visitors
from tests.bench.serving import Answer, Server, serving
from tests.bench.visitors import Ledger, Visitor


class Scripted:
    """A server that gives the same answer to everybody."""

    def __init__(self, status: int) -> None:
        self.status = status

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> Answer:
        if not self.status:
            raise ConnectionResetError("gone")
        return Answer(self.status, {}, b"<style>x</style><h1>It  broke.</h1>", 0.5)


def visited(status: int, *, over: bool) -> Ledger:
    ledger = Ledger()
    visitor = Visitor(cast(Server, Scripted(status)), ledger, 1)
    if over:
        visitor._send_too_much()
    else:
        visitor._paste_log()
    return ledger


@pytest.mark.parametrize(
    ("status", "over", "is_fault"),
    [
        *[(status, False, False) for status in (200, 201, 303, 304, 410, 429, 503)],
        *[(status, False, True) for status in (0, 400, 404, 413, 422, 500)],
        *((413, True, False), (200, True, False), (500, True, True)),
    ],
)
def test_a_fault_is_what_is_no_good_answer(status: int, over: bool, is_fault: bool) -> None:
    ledger = visited(status, over=over)
    assert bool(ledger.faults) == is_fault
    if is_fault and status:
        assert f": {status}: It broke. for /" in ledger.faults[0]
    assert sum(map(len, ledger.seconds.values())) == sum([sum(one.values()) for one in ledger.statuses.values()]) > 0


@pytest.mark.slow
def test_people_find_no_fault_in_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "PAUSE", 0.01)
    monkeypatch.setattr(visitors, "QUICK_PAUSE", 0.01)
    monkeypatch.setattr(visitors, "LONGEST", 1_000)
    ledger = Ledger()
    with serving() as server:
        somebody, latest = Visitor(server, ledger, 1), time.monotonic() + 90
        while len(ledger.seconds) <= 5 and time.monotonic() < latest:  # a busy machine takes longer
            somebody.live(time.monotonic() + 1)
        Visitor(server, ledger, 2).read_a_long_output(time.monotonic() + 1)
        assert server.memory()[1] > 2
    assert ledger.faults == []
    assert len(ledger.seconds) > 5
