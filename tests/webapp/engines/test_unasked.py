"""What an engine does that nobody asked it for is ended where it can be, and told."""

from __future__ import annotations

import gc
import os
import re
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from parsers.replays.tapes import UNASKED, Played
from parsers.vocabulary.events import Diagnostic
from parsers.vocabulary.types import Context
from tests.webapp.children.processes import until
from tests.webapp.engines.entering import fake
from webapp.children.descendants import Being, Descendants, end
from webapp.engines.conformance import conformance
from webapp.engines.engine_host import EngineHost
from webapp.engines.protocol import Replayed
from webapp.engines.unasked import IDLE_SECONDS

LEFT = re.compile(r"1 process that it started while it replayed ran on after its answer, and was ended: \S+ \((\d+)\)")
SPINS = re.compile(r"it was at work for \d+\.\d of the \d+\.\d seconds in which nothing was asked of it")
ENDED = re.compile(f"{SPINS.pattern}, and its process was ended")
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system tells of no process")


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[EngineHost]:
    found = EngineHost("fake", fake(request.param))
    yield found
    found.close()


def played(host: EngineHost, **more: Any) -> Replayed:
    return host.play({"parser": "echo", "request": {}, "replays": [[["a", [1]]]] * 2, "path": "stream", **more})[-1]


@pytest.mark.parametrize("host", ["strewing"], indirect=True)
def test_a_process_that_left_everything_of_its_worker_is_ended_between_runs_and_told(host: EngineHost) -> None:
    (words,) = played(host).noticed
    found = LEFT.fullmatch(words)
    assert found
    until(lambda: not Path(f"/proc/{found[1]}/cmdline").exists() or not Path(f"/proc/{found[1]}/cmdline").read_bytes())
    assert host.health is not None
    assert host.health.words == words
    assert LEFT.fullmatch(played(host).noticed[0]), "it is told whenever it happens"


def test_several_processes_are_counted_in_words() -> None:
    host = EngineHost("fake", fake("strewing", "strewing"))
    try:
        said = " ".join(played(host).noticed)
    finally:
        host.close()
    assert said.startswith("2 processes that it started while it replayed ran on after its answer, and were ended: ")


@pytest.mark.replays
@pytest.mark.parametrize("host", ["spinning"], indirect=True)
def test_work_that_goes_on_after_an_answer_is_told_with_the_next_one(host: EngineHost) -> None:
    assert played(host).noticed == []
    sleep(2 * IDLE_SECONDS)
    (words,) = played(host).noticed
    assert SPINS.fullmatch(words)


@pytest.fixture
def watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked soon, and little work ends a worker."""
    for module in ("unasked", "idle_watch"):
        monkeypatch.setattr(f"webapp.engines.{module}.LOOK_SECONDS", 1.1 * IDLE_SECONDS)
    monkeypatch.setattr("webapp.engines.unasked.SPUN_SECONDS", 0.15)


@pytest.mark.replays
@pytest.mark.usefixtures("watchful")
@pytest.mark.parametrize("host", ["spinning"], indirect=True)
def test_a_worker_that_spins_is_ended_while_nothing_is_asked_and_that_is_told(host: EngineHost) -> None:
    assert played(host).noticed == []
    first = host.pid
    until(lambda: host.pid is None)
    until(lambda: not Path(f"/proc/{first}").exists())
    assert host.health is not None
    assert (host.health.kind, bool(ENDED.fullmatch(host.health.words))) == ("answers", True)
    said = host.health.words
    assert (played(host).noticed, host.health.words, host.pid is None) == ([said], said, False)
    assert played(host).noticed != [said], "it is told once"
    until(lambda: host.pid is None)
    host.begin_anew()
    host.card()
    assert (host.health.words, played(host).noticed) == ("", []), "it was asked to forget"


@pytest.mark.usefixtures("watchful")
def test_a_worker_that_spins_is_ended_after_it_refused_to_answer_as_well() -> None:
    host = EngineHost("fake", fake("spinning", "strict"))
    try:
        played(host)
        pid, said = host.pid, played(host, no_such_key=1).raised
        assert (said and said.kind, host.pid) == ("Refused", pid)
        until(lambda: host.pid is None)
    finally:
        host.close()


@pytest.mark.usefixtures("watchful")
@pytest.mark.parametrize("host", ["spinning"], indirect=True)
def test_health_tells_of_work_before_the_worker_is_ended_for_it(
    host: EngineHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.engines.unasked.SPUN_SECONDS", 1_000)
    played(host)
    until(lambda: host.health is not None and SPINS.fullmatch(host.health.words) is not None)
    assert host.pid is not None


@pytest.mark.replays
@pytest.mark.usefixtures("watchful")
@pytest.mark.parametrize("host", ["tidying"], indirect=True)
def test_a_worker_with_a_bit_of_work_now_and_then_lives(host: EngineHost) -> None:
    """It works for longer than one may that spins, in all."""
    played(host)
    first = host.pid
    worked, latest = host._child.worked(), monotonic() + 20
    while host._child.worked() < worked + 0.2 and monotonic() < latest:
        sleep(0.1)
    assert (host.pid, host.health and host.health.words, played(host).noticed) == (first, "", [])


@pytest.mark.usefixtures("watchful")
def test_who_looks_at_an_idle_worker_ends_with_it_and_keeps_no_engine() -> None:
    def watching() -> int:
        return sum([one.name == "idle engine" for one in threading.enumerate()])

    before = watching()
    closed, left = EngineHost("a", fake()), EngineHost("b", fake())
    for host in (closed, left):
        host.card()
    assert watching() == before + 2
    closed.close()
    kept, pid = weakref.ref(left), left.pid
    del host, left
    until(lambda: gc.collect() >= 0 and kept() is None)
    until(lambda: watching() == before and not Path(f"/proc/{pid}").exists())


@pytest.mark.replays
@pytest.mark.parametrize("host", ["strict"], indirect=True)
def test_of_a_worker_that_only_waits_nothing_is_told(host: EngineHost) -> None:
    assert played(host).noticed == []
    sleep(2 * IDLE_SECONDS)
    assert played(host).noticed == []
    assert host.health is not None
    assert host.health.words == ""


@pytest.mark.parametrize(
    ("host", "rule", "said"),
    [
        ("strewing", "It leaves no process behind.", LEFT),
        ("spinning", "It does nothing while it is asked nothing.", SPINS),
    ],
    indirect=["host"],
)
@pytest.mark.replays
def test_both_are_rules_of_the_protocol(host: EngineHost, rule: str, said: re.Pattern[str]) -> None:
    wrong = {one.rule: one.wrong for one in conformance(host, "echo") if one.wrong}
    assert said.fullmatch(wrong[rule])


def test_what_was_noticed_is_a_diagnostic_at_the_end_of_the_replay() -> None:
    said = Replayed(sent=[None], noticed=["it spins"])
    parser = Played("x", said.tape())
    parser.begin(Context())
    (one,) = [event for event in parser.finish("stop") if isinstance(event, Diagnostic)]
    assert (one.code, one.severity, one.message) == (UNASKED, "warning", "Of the engine: it spins.")


def test_only_who_is_still_who_it_was_is_ended() -> None:
    own = Being(os.getpid(), "another moment", "python")
    end([own])
    assert Descendants(os.getpid()).worked() > 0.0
