"""What a child does for a search, before it is a child: its answer, its deadline, its alarm."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from parsers.cases.find import CaseFound
from parsers.cases.io import load_case
from parsers.replays.chunking import Chunking
from parsers.search.found import Minimized
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Piece
from tests.corpus import case_named
from tests.webapp.jobs import searches as scripts
from tests.webapp.jobs.searches import Scripted, case_of, found_for
from webapp.jobs import search_program
from webapp.jobs.search_program import TimeUp, alarm, case_search, read_result, searched, written_result
from webapp.settings import get_settings


@pytest.fixture
def answer(tmp_path: Path) -> Iterator[Any]:
    before = gc.get_threshold()
    settings = get_settings(data_dir=tmp_path).model_dump(mode="json")

    def answered(text: str) -> dict[str, Any]:
        case = case_of(text).model_dump(mode="json", exclude_unset=True)
        request = {"settings": settings, "raw": json.dumps(case).encode()}
        return dict(scripts.tasks()["find"](request, lambda _progress: None))

    yield answered
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("case", {"kind": "case", "message": "no such tokens", "pointer": "/input", "detail": ""}),
        ("usage", {"kind": "usage", "message": "this cannot be done", "pointer": "", "detail": ""}),
        ("format", {"kind": "usage", "message": "/states: no such state", "pointer": "", "detail": ""}),
    ],
)
def test_a_search_that_cannot_begin_is_an_answer(answer: Any, text: str, failure: dict[str, str]) -> None:
    assert answer(text) == {"failure": failure}


def test_a_limit_is_an_answer(answer: Any) -> None:
    assert answer("tokens")["failure"]["kind"] == "limit"


@pytest.mark.parametrize(("text", "error"), [("memory", MemoryError), ("buggy", RuntimeError)])
def test_what_else_goes_wrong_ends_the_child(answer: Any, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        answer(text)


def test_the_answer_is_the_result(answer: Any) -> None:
    assert read_result(answer("quick")["raw"]).found.complete


@pytest.mark.parametrize("name", ["qwen/single", "mistral/single", "deepseek_v31/parallel"])
def test_a_result_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    search = case_search(case_named(name), get_settings(data_dir=tmp_path))
    for progress in search.run():
        if progress.replays > 100:
            break
    found = search.result()
    assert read_result(written_result(found)) == found


@pytest.mark.parametrize(
    "expect",
    [
        {"events": [{"kind": "text", "text": "x"}]},
        {"events": [{"kind": "reasoning", "text": "y"}, {"kind": "tool_call", "name": "f", "arguments": {}}]},
        {"finish_reason": "stop"},
        {"content": None},
    ],
)
def test_what_a_case_expects_is_read_as_it_was_written(expect: dict[str, Any], tmp_path: Path) -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "x"}, "expect": expect})
    found = case_search(case, get_settings(data_dir=tmp_path)).result()
    read = read_result(written_result(found))
    assert read == found
    assert read.case.expect == case.expect


def test_bytes_and_halves_of_characters_arrive_as_they_are() -> None:
    found = found_for(case_of("x"), 1, True)
    found.found.text = "\ud800"
    pieces = (Piece("", 1, b"\xe6\x9d", "partial"),)
    finding = Finding("c", "error", "parser", "m")
    found.found.minimized = Minimized("c", finding, pieces, Chunking(by="char"), Context(), 1)
    assert read_result(written_result(found)) == found


def test_progress_is_told_now_and_then() -> None:
    told: list[dict[str, Any]] = []
    searched(told.append, Scripted(case_of("quick")), 60)
    assert told == [{"stage": "sweep", "done": 0, "total": 100, "replays": 0, "outcomes": 1}]


def result_after(text: str, seconds: float) -> CaseFound:
    found = searched(lambda _progress: None, Scripted(case_of(text)), seconds)
    assert isinstance(found, CaseFound)
    return found


def test_the_deadline_holds_between_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_program, "HAS_TIMERS", False)
    found = result_after("endless", 0.05).found
    assert (found.complete, found.replays > 0) == (False, True)


def test_a_replay_that_sleeps_is_left_by_the_clock() -> None:
    began = time.monotonic()
    found = result_after("sticking", 0.1).found
    assert (found.complete, found.replays) == (False, 1)
    assert time.monotonic() - began >= 0.3


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock ends no search."""
    monkeypatch.setattr(search_program, "CLOCK_TIMES", 1_000)


def test_a_replay_that_works_is_left_after_so_much_work(patient: None) -> None:
    worked = time.process_time()
    found = result_after("grinding", 0.1).found
    assert (found.complete, found.replays) == (False, 1)
    assert time.process_time() - worked >= 0.05  # the system counts in ticks


@pytest.mark.replays
@pytest.mark.parametrize("text", ["busy", "grinding"])
def test_time_in_which_others_have_the_processor_is_no_time_of_a_search(text: str, patient: None) -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        worked = time.process_time()
        found = result_after(text, 0.4).found
        assert time.process_time() - worked >= 0.2  # counted in ticks; by the clock a fifth of it
        assert not found.complete
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_silence_inside_a_call_ends_a_search_before_its_deadline() -> None:
    found = searched(lambda _progress: None, Scripted(case_of("sticking")), 600, silence=0.05).found
    assert (found.complete, found.replays) == (False, 1)


def test_an_alarm_rings_when_it_was_last_asked_to_and_only_inside() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with alarm() as ring_in:
        ring: Any = signal.getsignal(signal.SIGALRM)
        ring_in(600, 600)
        ring_in(600, 0.01)
        with pytest.raises(TimeUp):
            time.sleep(30)
        ring(signal.SIGPROF, None)  # once
    assert signal.getsignal(signal.SIGALRM) is before
    assert [signal.getitimer(timer) for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF)] == [(0.0, 0.0)] * 2


def test_an_alarm_rings_after_so_much_work() -> None:
    worked = time.process_time()
    with alarm() as ring_in:
        ring_in(0.05, 600)
        with pytest.raises(TimeUp):
            [number for number in count() if number < 0]
    assert time.process_time() - worked >= 0.03
