"""Jobs: one child for one case, and an end in words for every way in which a search can end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.exceptions import RequestEntityTooLarge, ServiceUnavailable

from parsers.cases.io import load_case
from parsers.cases.model import CaseError
from parsers.vocabulary.types import UsageError
from tests.webapp.finding.searches import case_of, refusing
from webapp.app import create_app
from webapp.finding import Busy, Job, Jobs, SearchError, job, process
from webapp.finding import jobs as module
from webapp.finding.search import case_search
from webapp.page.services import EXTENSION
from webapp.settings import get_settings

MakeJobs = Callable[..., Jobs]
PATIENCE = 60.0  # for a loaded machine; no test waits so long


def until(happened: Callable[[], object]) -> None:
    """Wait for something that has to happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def running(jobs: Jobs, text: str) -> Job:
    """A job that has a process and has said something."""
    job = jobs.start(case_of(text))
    until(lambda: job.pid and job.progress)
    return job


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_search_of_a_case_is_done_in_a_process_of_its_own(make_jobs: MakeJobs) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    job = make_jobs(case_search).start(case_of(text))
    assert job.wait(PATIENCE)
    assert (job.state, job.failure) == ("done", None)
    until(lambda: job.pid is None)
    found = job.found()
    assert found.found.complete
    assert found.found.outcomes[0].message.tool_calls[0].name == "f"
    assert found.case == case_of(text)


def test_without_a_fork_server_a_child_is_a_new_interpreter(
    make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    assert make_jobs().find(case_of("quick")).found.complete


def test_the_same_case_twice_is_one_job(jobs: Jobs) -> None:
    job = running(jobs, "endless")
    again = jobs.start(load_case({"schema": 1, "input": {"text": "endless"}, "parser": {"name": "qwen"}}))
    assert again is job
    assert jobs.known(case_of("endless")) is job
    assert jobs.known(case_of("other")) is None


def test_a_result_is_kept(jobs: Jobs) -> None:
    first = jobs.find(case_of("quick"))
    job = jobs.start(case_of("quick"))
    assert job.state == "done"
    assert job.found() is first
    assert jobs.start(case_of("quick"), again=True) is job
    assert jobs.find(case_of("quick")) is first


def test_progress_can_be_read_while_a_job_runs(jobs: Jobs) -> None:
    job = running(jobs, "endless")
    until(lambda: job.progress and job.progress.replays > 2)
    assert (job.state, job.over, job.wait(0.01)) == ("running", False, False)


def test_a_cancelled_job_ends_its_process(jobs: Jobs) -> None:
    job = running(jobs, "busy")
    pid = job.pid or 0
    assert is_alive(pid)
    assert jobs.cancel(job.key)
    assert (job.state, jobs.cancel(job.key)) == ("cancelled", False)
    until(lambda: not is_alive(pid))
    with pytest.raises(ServiceUnavailable, match="cancelled"):
        job.found()


def test_a_cancelled_job_stays_so_until_it_is_asked_for_again(jobs: Jobs) -> None:
    job = running(jobs, "endless")
    jobs.cancel(job.key)
    assert jobs.start(case_of("endless")) is job
    another = jobs.start(case_of("endless"), again=True)
    assert another is not job
    until(lambda: another.pid)
    assert jobs.known(case_of("endless")) is another


def test_at_the_deadline_the_result_so_far_is_the_result(make_jobs: MakeJobs) -> None:
    found = make_jobs(find_seconds=1).find(case_of("endless")).found
    assert not found.complete
    assert found.replays > 1


def test_a_replay_that_outlasts_the_deadline_is_left(make_jobs: MakeJobs) -> None:
    found = make_jobs(find_seconds=1).find(case_of("sticking")).found
    assert (found.complete, found.replays) == (False, 1)


def test_a_first_replay_without_end_is_a_failure_in_words(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE_SECONDS", 0.3)
    with pytest.raises(RequestEntityTooLarge, match="TOOLCALL_INSPECTOR_FIND_SECONDS"):
        make_jobs(find_seconds=1).find(case_of("stuck"))


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("exits", SearchError, "exit code 3"),
        ("killed", SearchError, "killed by signal 9"),
        ("buggy", SearchError, "failed on this case"),
        ("greedy", RequestEntityTooLarge, "TOOLCALL_INSPECTOR_FIND_MEMORY_BYTES"),
        ("long", RequestEntityTooLarge, "TOOLCALL_INSPECTOR_FIND_CACHE_BYTES"),
    ],
)
def test_a_search_that_breaks_is_a_failure_in_words(
    make_jobs: MakeJobs, text: str, kind: type[Exception], words: str
) -> None:
    jobs = make_jobs(find_memory_bytes=600_000_000, find_cache_bytes=1_000_000)
    with pytest.raises(kind) as caught:
        jobs.find(case_of(text))
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)
    assert jobs.start(case_of(text)).state == "failed"
    assert jobs.find(case_of("quick")).found.complete


def test_a_bug_is_in_the_log(jobs: Jobs, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SearchError):
        jobs.find(case_of("buggy"))
    assert "secret of the code" in caplog.text


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("case", CaseError, "/input: no such tokens"),
        ("usage", UsageError, "this cannot be done"),
        ("limit", RequestEntityTooLarge, "The output has 6 tokens; the limit is 5 tokens"),
        ("memory", RequestEntityTooLarge, "needs more memory"),
    ],
)
def test_what_the_search_refuses_is_raised_here(
    make_jobs: MakeJobs, text: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        make_jobs(refusing).find(case_of(text))
    assert words in str(caught.value)


def test_a_process_that_cannot_be_started_is_a_failure(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(module, "run", refuse)
    with pytest.raises(SearchError):
        jobs.find(case_of("quick"))


def test_jobs_over_the_number_of_processes_wait_in_line(make_jobs: MakeJobs) -> None:
    jobs = make_jobs(find_processes=1)
    first = running(jobs, "endless")
    second, third = jobs.start(case_of("quick 2")), jobs.start(case_of("quick 3"))
    assert [job.state for job in (second, third)] == ["waiting", "waiting"]
    assert [jobs.ahead(job) for job in (first, second, third)] == [0, 0, 1]
    jobs.cancel(second.key)
    assert (second.state, jobs.ahead(third)) == ("cancelled", 0)
    jobs.cancel(first.key)
    assert third.wait(PATIENCE)
    assert third.state == "done"


def test_a_line_that_is_too_long_is_closed(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    jobs = make_jobs(find_processes=1)
    running(jobs, "endless")
    jobs.start(case_of("quick 2"))
    with pytest.raises(Busy):
        jobs.start(case_of("quick 3"))


def test_half_of_the_server_may_wait_for_results(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = make_jobs(threads=1)
    running(jobs, "endless")
    inside: list[bool] = []

    def nested(self: Job, _seconds: float | None = None) -> bool:
        with pytest.raises(Busy):
            jobs.find(case_of("endless 2"))
        inside.append(jobs.cancel(self.key))
        return True

    monkeypatch.setattr(Job, "wait", nested)
    with pytest.raises(ServiceUnavailable, match="cancelled"):
        jobs.find(case_of("endless"))
    assert inside == [True]


def test_a_job_that_nobody_asks_about_is_given_up(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = make_jobs(find_processes=1)
    first, second = running(jobs, "endless"), jobs.start(case_of("endless 2"))
    monkeypatch.setattr(job, "IDLE_SECONDS", 0.0)
    until(lambda: first.over and second.over)
    assert [one.state for one in (first, second)] == ["cancelled", "cancelled"]
    assert "nobody asked" in str(second.failure)


def test_requests_are_answered_while_two_searches_run(make_jobs: MakeJobs, tmp_path: Path) -> None:
    app = create_app(get_settings(data_dir=tmp_path))
    client, jobs = app.test_client(), make_jobs()
    both = [running(jobs, "busy 1"), running(jobs, "busy 2")]
    for _ in range(20):
        assert client.get("/healthz").status_code == 200
    assert [job.state for job in both] == ["running", "running"]
    app.extensions[EXTENSION].store.close()


ORPHANS = """
import sys, time
from tests.webapp.finding.searches import case_of, scripted
from webapp.finding import Jobs
from webapp.settings import get_settings
if __name__ == "__main__":
    job = Jobs(get_settings(), scripted).start(case_of("busy"))
    while not job.progress:
        time.sleep(0.01)
    print(job.pid, flush=True)
    {rest}
"""


@pytest.mark.parametrize("rest", ["time.sleep(600)", "sys.exit(0)"])
def test_searches_end_with_the_server(rest: str, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(ORPHANS.replace("{rest}", rest), "utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.getcwd()}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        if "sleep" in rest:
            server.kill()
        _, errors = server.communicate(timeout=PATIENCE)
    until(lambda: not is_alive(pid))
    assert errors == ""
