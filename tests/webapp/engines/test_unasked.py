"""What an engine does that nobody asked it for is ended where it can be, and told."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from time import sleep

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
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system tells of no process")


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[EngineHost]:
    found = EngineHost("fake", fake(request.param))
    yield found
    found.close()


def played(host: EngineHost) -> Replayed:
    return host.play({"parser": "echo", "request": {}, "replays": [[["a", [1]]]] * 2, "path": "stream"})[-1]


@pytest.mark.parametrize("host", ["strewing"], indirect=True)
def test_a_process_that_left_everything_of_its_worker_is_ended_between_runs_and_told(host: EngineHost) -> None:
    (words,) = played(host).noticed
    found = LEFT.fullmatch(words)
    assert found
    until(lambda: not Path(f"/proc/{found[1]}/cmdline").exists() or not Path(f"/proc/{found[1]}/cmdline").read_bytes())
    assert host.health is not None
    assert host.health.words == words
    assert LEFT.fullmatch(played(host).noticed[0]), "it is told whenever it happens"


@pytest.mark.parametrize("host", ["spinning"], indirect=True)
def test_work_that_goes_on_after_an_answer_is_told_with_the_next_one(host: EngineHost) -> None:
    assert played(host).noticed == []
    sleep(2 * IDLE_SECONDS)
    (words,) = played(host).noticed
    assert SPINS.fullmatch(words)


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
