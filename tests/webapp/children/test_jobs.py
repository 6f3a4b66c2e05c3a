"""Jobs of any kind: found again, in line, over with a first and last word. Searches and downloads are such jobs."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from tests.webapp.children import program as tasks
from tests.webapp.children.processes import PATIENCE, is_alive, until
from webapp.cache import ByteCache
from webapp.children import jobs
from webapp.children.jobs import Failure, Job, Jobs
from webapp.children.program import Program


class Errands(Jobs[str, str, str]):
    """Jobs that do what they are given, by its first word."""

    noun = "errand"

    def __init__(self, **more: Any) -> None:
        kept = ByteCache[Job[str, str]](3, lambda job: job.weight)
        super().__init__(**{"running": 1, "waiting": 1, "kept": kept, **more})
        self.go = Event()
        self.done: list[str] = []

    def key_of(self, given: str) -> str:
        return given.upper()

    def full(self) -> Exception:
        return BlockingIOError()

    def failure_of(self, error: Exception) -> Failure:
        return Failure("bug", f"{type(error).__name__}.", detail=str(error))

    def work(self, job: Job[str, str], given: str) -> str | Failure:
        self.done.append(given)
        word = given.split(" ")[0]
        if word == "wait":
            assert self.go.wait(PATIENCE)
        elif word == "refuse":
            return Failure("usage", "No.")
        elif word == "fail":
            raise ValueError("secret of the code")
        elif word in ("sleep", "count"):
            program, request = Program(tasks.__file__), {"to": 3}
            job.ask(program, word, request, seconds=PATIENCE, read=lambda said: str(said))
        return given


@pytest.fixture
def errands() -> Iterator[Errands]:
    made = Errands()
    yield made
    made.go.set()
    made.close()


def over(jobs: Errands, given: str) -> Job[str, str]:
    job = jobs.start(given)
    assert job.wait(PATIENCE)
    return job


def test_a_job_is_found_again_by_its_key(errands: Errands) -> None:
    job = errands.start("wait")
    assert errands.start("WAIT") is errands.known("wait") is job
    assert errands.known("other") is None
    assert (job.over, job.wait(0.01)) == (False, False)
    errands.go.set()
    assert job.wait(PATIENCE)
    assert (job.state, job.result, errands.start("wait") is job) == ("done", "wait", True)
    assert errands.start("wait", again=True) is job
    assert errands.done == ["wait"]


def test_a_failure_stays_until_it_is_asked_for_again(errands: Errands, caplog: pytest.LogCaptureFixture) -> None:
    job = over(errands, "fail")
    assert (job.state, job.failure) == ("failed", Failure("bug", "ValueError.", detail="secret of the code"))
    assert "The errand failed:\nsecret of the code" in caplog.text
    assert errands.start("fail") is job
    again = errands.start("fail", again=True)
    assert again is not job
    assert again.wait(PATIENCE)
    assert over(errands, "refuse").failure == Failure("usage", "No.")


def test_jobs_wait_in_line_and_the_line_has_an_end(errands: Errands) -> None:
    first, second = errands.start("wait"), errands.start("quick")
    until(lambda: first.state == "running")
    assert (second.state, errands.ahead(first), errands.ahead(second)) == ("waiting", 0, 0)
    with pytest.raises(BlockingIOError):
        errands.start("third")
    errands.go.set()
    assert second.wait(PATIENCE)
    assert errands.done == ["wait", "quick"]


def test_a_job_that_waits_can_be_cancelled(errands: Errands) -> None:
    errands.start("wait")
    second = errands.start("quick")
    assert (errands.cancel("quick"), errands.cancel("quick"), errands.cancel("other")) == (True, False, False)
    assert (second.state, second.failure) == ("cancelled", Failure("cancelled", "The errand was cancelled."))
    errands.go.set()
    assert over(errands, "third").result == "third"
    assert errands.done == ["wait", "third"]


def test_only_the_first_word_counts(errands: Errands) -> None:
    job = errands.start("wait")
    until(lambda: errands.done)
    errands.cancel("wait")
    errands.go.set()
    errands.close()
    assert (job.state, job.result) == ("cancelled", None)


def test_the_child_of_a_cancelled_job_is_gone_a_moment_later(errands: Errands) -> None:
    job = errands.start("sleep")
    until(lambda: job.pid and job.progress)
    pid = job.pid
    errands.cancel("sleep")
    until(lambda: not is_alive(pid))
    assert job.state == "cancelled"


def test_what_a_child_says_is_the_progress_of_its_job(errands: Errands) -> None:
    job = over(errands, "count")
    assert (job.progress, job.result, job.pid) == ("{'number': 2}", "count", None)


def test_a_job_that_nobody_asks_about_is_given_up() -> None:
    errands = Errands(patience=0.0)
    sleeping, waiting = errands.start("sleep"), errands.start("quick")
    until(lambda: sleeping.over and waiting.over)
    for job in (sleeping, waiting):
        assert job.failure == Failure("cancelled", "The errand was stopped: nobody asked for it any more.")
    errands.close()


def test_what_is_over_stays_as_long_as_there_is_room(errands: Errands) -> None:
    for number in range(4):
        over(errands, f"quick {number}")
    assert errands.known("quick 0") is None
    assert errands.known("quick 3") is not None


def test_a_job_whose_reader_left_is_soon_given_up_unless_somebody_else_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    job: Job[Any, Any] = Job("a", patience=1_000)
    job.leave()
    assert not job.neglected
    monkeypatch.setattr(jobs, "LEFT_SECONDS", -1)
    job.leave()
    assert job.neglected
    job.touch()
    assert not job.neglected


class Risky(Errands):
    """Those that wait may never end."""

    def may_hang(self, given: str) -> bool:
        return given.startswith("wait")


@pytest.mark.parametrize(("running", "together"), [(1, 1), (2, 1), (3, 2)])
def test_jobs_that_may_hang_leave_a_place_to_others(running: int, together: int) -> None:
    errands = Risky(running=running, waiting=9)
    waiting = [errands.start(f"wait {number}") for number in range(4)]
    until(lambda: [one.state for one in waiting].count("running") == together)
    if running > 1:
        assert over(errands, "other").result == "other"
    assert [one.state for one in waiting].count("running") == together
    errands.go.set()
    assert [one.wait(PATIENCE) for one in waiting] == [True] * 4
    errands.close()
