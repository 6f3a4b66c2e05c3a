"""What a child does before it is a process: its last message, its deadline, its alarm."""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.find import CaseFound
from parsers.search.found import Progress
from parsers.vocabulary.types import FormatError
from tests.webapp.finding.searches import Scripted, case_of, refusing, scripted
from webapp.finding import Failure
from webapp.finding import alarm as module
from webapp.finding.alarm import TimeUp, alarm
from webapp.finding.child import end_with_parent, last_message, searched
from webapp.finding.failure import failure_of
from webapp.settings import Settings, get_settings


@pytest.fixture
def pipe() -> Iterator[tuple[Connection, Connection]]:
    receiver, sender = Pipe(duplex=False)
    with receiver, sender:
        yield receiver, sender


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return get_settings(data_dir=tmp_path, find_cache_bytes=1_000_000)


Pair = tuple[Connection, Connection]


@pytest.mark.parametrize(
    ("search", "text", "kind"),
    [
        (refusing, "case", "case"),
        (refusing, "usage", "usage"),
        (refusing, "limit", "limit"),
        (refusing, "memory", "memory"),
        (scripted, "buggy", "bug"),
        (scripted, "long", "limit"),
    ],
)
def test_the_last_message_says_why_there_is_no_result(
    pipe: Pair, settings: Settings, search: Any, text: str, kind: str
) -> None:
    message = pickle.loads(last_message(pipe[1], search, case_of(text), settings))
    assert isinstance(message, Failure)
    assert message.kind == kind
    assert ("secret" in message.detail) == (kind == "bug")


def test_the_last_message_is_the_result(pipe: Pair, settings: Settings) -> None:
    message = pickle.loads(last_message(pipe[1], scripted, case_of("quick"), settings))
    assert isinstance(message, CaseFound)
    assert isinstance(pickle.loads(pipe[0].recv_bytes()), Progress)


def test_a_search_without_a_listener_ends(pipe: Pair, settings: Settings) -> None:
    pipe[0].close()
    with pytest.raises(BrokenPipeError):
        last_message(pipe[1], scripted, case_of("endless"), settings)


def test_the_deadline_holds_between_replays(pipe: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HAS_TIMER", False)
    found = searched(pipe[1], Scripted(case_of("endless")), 0.05).found
    assert (found.complete, found.replays > 0) == (False, True)


def test_the_deadline_holds_inside_a_replay(pipe: Pair) -> None:
    found = searched(pipe[1], Scripted(case_of("sticking")), 0.05).found
    assert (found.complete, found.replays) == (False, 1)


def test_an_alarm_rings_once_and_only_inside() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with alarm() as clock:
        clock.set(0.01)
        clock.set(600)
        with pytest.raises(TimeUp):
            time.sleep(30)
    clock.ring(signal.SIGALRM, None)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_broken_format_is_a_mistake_of_the_person() -> None:
    assert failure_of(FormatError("no such state", "/states")).kind == "usage"


def test_a_process_without_a_parent_waits_for_none() -> None:
    end_with_parent()
