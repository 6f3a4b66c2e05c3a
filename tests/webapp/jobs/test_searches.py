"""Searches: one child for one case, and an end in words for every way in which a search can end."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.exceptions import RequestEntityTooLarge, ServiceUnavailable

from parsers.cases.case import CaseError
from parsers.cases.io import load_case
from parsers.vocabulary.types import UsageError
from tests.webapp.children.processes import PATIENCE, is_alive, until
from tests.webapp.jobs.searches import case_of
from webapp.app import create_app
from webapp.children import jobs
from webapp.children.endings import ChildError, Ending
from webapp.children.jobs import Job
from webapp.jobs import search_jobs as module
from webapp.jobs.search_jobs import Asked, SearchJobs, Written
from webapp.jobs.searches import Busy, SearchError, Searches, error_of
from webapp.services import EXTENSION
from webapp.settings import get_settings

MakeSearches = Callable[..., Searches]


def job_of(searches: Searches, text: str) -> Job[dict[str, Any], Written]:
    """The job of a case, begun unless it is here; it changes as the search goes on."""
    asked = Asked(searches.start(case_of(text)).key)
    assert searches.jobs is not None
    job = searches.jobs.known(asked)
    assert job is not None
    return job


def running(searches: Searches, text: str) -> Job[dict[str, Any], Written]:
    """A job that has a process and has said something."""
    job = job_of(searches, text)
    until(lambda: job.pid and job.progress)
    return job


@pytest.mark.replays
def test_a_search_of_a_case_is_done_in_a_process_of_its_own(make_searches: MakeSearches) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    searches = make_searches("webapp.jobs.search_program")
    job = searches.start(case_of(text))
    assert job.wait(PATIENCE)
    assert (job.state, job.failure) == ("done", None)
    assert job_of(searches, text).pid is None
    found = job.result
    assert found is not None
    assert found.found.complete
    assert found.found.outcomes[0].message.tool_calls[0].name == "f"
    assert found.case == case_of(text)


@pytest.mark.replays
def test_without_a_fork_server_a_child_is_a_new_interpreter(
    make_searches: MakeSearches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    assert make_searches().find(case_of("quick")).found.complete


@pytest.mark.replays
def test_the_same_case_twice_is_one_job(searches: Searches) -> None:
    job = running(searches, "endless")
    again = searches.start(load_case({"schema": 1, "input": {"text": "endless"}, "parser": {"name": "qwen"}}))
    assert (again.key, again.state) == (job.key, "running")
    assert job_of(searches, "endless") is job
    assert searches.known(case_of("endless")) is not None
    assert searches.known(case_of("other")) is None


def test_a_result_is_kept(searches: Searches) -> None:
    first = searches.find(case_of("quick"))
    job = searches.start(case_of("quick"))
    assert job.state == "done"
    assert job.result is first
    assert searches.start(case_of("quick"), again=True).result is first
    assert searches.find(case_of("quick")) is first


@pytest.mark.replays
def test_progress_can_be_read_while_a_job_runs(searches: Searches) -> None:
    job = running(searches, "endless")
    until(lambda: job.progress and job.progress["replays"] > 2)
    said = searches.known(case_of("endless"))
    assert said is not None
    assert (said.state, said.over, said.wait(0.01)) == ("running", False, False)
    assert said.progress is not None
    assert said.progress.replays > 2


@pytest.mark.replays
def test_a_cancelled_job_ends_its_process(searches: Searches) -> None:
    job = running(searches, "busy")
    pid = job.pid or 0
    assert is_alive(pid)
    for _ in range(2):
        searches.cancel(case_of("busy"))
        assert job.state == "cancelled"
    until(lambda: not is_alive(pid))
    assert job.failure is not None
    assert isinstance(error_of(job.failure), ServiceUnavailable)


def test_a_search_that_is_stopped_lets_go_of_the_engine_that_it_asks(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def reply(question: dict[str, Any], cancelled: Callable[[], bool]) -> dict[str, Any]:
        asked.append(question["name"])
        until(cancelled)
        asked.append("let go")
        raise ChildError(Ending.CANCELLED)

    monkeypatch.setattr(module, "engine_reply", reply)
    job = job_of(searches, "asking")
    until(lambda: asked)
    pid = job.pid
    searches.cancel(case_of("asking"))
    until(lambda: not is_alive(pid))
    assert (asked, job.state) == (["e", "let go"], "cancelled")


@pytest.mark.replays
@pytest.mark.parametrize(("seconds", "stops"), [(math.inf, True), (30.0, False)])
def test_a_search_whose_reader_left_is_stopped_where_all_of_it_was_waited_for(
    searches: Searches, monkeypatch: pytest.MonkeyPatch, seconds: float, stops: bool
) -> None:
    monkeypatch.setattr(jobs, "LEFT_SECONDS", -1)
    job = running(searches, "endless")
    assert searches.jobs is not None
    searches.jobs.wait(job.key, seconds, lambda: True)
    assert job.neglected is stops
    if stops:
        until(lambda: job.over)
        assert job.state == "cancelled"


@pytest.mark.replays
def test_a_cancelled_job_stays_so_until_it_is_asked_for_again(searches: Searches) -> None:
    job = running(searches, "endless")
    searches.cancel(case_of("endless"))
    assert searches.start(case_of("endless")).state == "cancelled"
    searches.start(case_of("endless"), again=True)
    another = job_of(searches, "endless")
    assert another is not job
    until(lambda: another.pid)


@pytest.mark.replays
def test_at_the_deadline_the_result_so_far_is_the_result(make_searches: MakeSearches) -> None:
    found = make_searches(find_seconds=1).find(case_of("endless")).found
    assert not found.complete
    assert found.replays > 1


@pytest.mark.replays
def test_a_replay_that_outlasts_the_deadline_is_left(make_searches: MakeSearches) -> None:
    found = make_searches(find_seconds=1).find(case_of("sticking")).found
    assert (found.complete, found.replays) == (False, 1)


@pytest.mark.replays
def test_a_first_replay_without_end_is_a_failure_in_words(
    make_searches: MakeSearches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(module, "CLOCK_TIMES", 1)
    with pytest.raises(ServiceUnavailable, match="TOOLCALL_INSPECTOR_FIND_SECONDS"):
        make_searches(find_seconds=1).find(case_of("stuck"))


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("exits", ServiceUnavailable, "exit code 3"),
        ("killed", ServiceUnavailable, "killed by signal 9"),
        ("buggy", SearchError, "failed on this case"),
        ("greedy", RequestEntityTooLarge, "TOOLCALL_INSPECTOR_FIND_MEMORY_BYTES"),
        ("long", RequestEntityTooLarge, "TOOLCALL_INSPECTOR_FIND_CACHE_BYTES"),
    ],
)
def test_a_search_that_breaks_is_a_failure_in_words(
    make_searches: MakeSearches, text: str, kind: type[Exception], words: str
) -> None:
    searches = make_searches(find_memory_bytes=600_000_000, find_cache_bytes=1_000_000)
    with pytest.raises(kind) as caught:
        searches.find(case_of(text))
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)
    assert searches.start(case_of(text)).state == "failed"
    assert searches.find(case_of("quick")).found.complete


def test_a_bug_is_in_the_log(searches: Searches, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SearchError):
        searches.find(case_of("buggy"))
    assert "secret of the code" in caplog.text


@pytest.mark.replays
@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("case", CaseError, "/input: no such tokens"),
        ("usage", UsageError, "this cannot be done"),
        ("tokens", RequestEntityTooLarge, "The output has 6 tokens; the limit is 5 tokens"),
        ("memory", RequestEntityTooLarge, "needs more memory"),
    ],
)
def test_what_the_search_refuses_is_raised_here(
    make_searches: MakeSearches, text: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        make_searches().find(case_of(text))
    assert words in str(caught.value)


def test_a_process_that_cannot_be_started_is_a_failure(searches: Searches, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr("multiprocessing.context.BaseContext.Pipe", refuse)
    with pytest.raises(SearchError):
        searches.find(case_of("quick"))


@pytest.mark.replays
def test_jobs_over_the_number_of_processes_wait_in_line(make_searches: MakeSearches) -> None:
    searches = make_searches(find_processes=1)
    first = running(searches, "endless")
    second, third = searches.start(case_of("quick 2")), searches.start(case_of("quick 3"))
    assert [job.state for job in (second, third)] == ["waiting", "waiting"]
    assert [searches.ahead(job) for job in (second, third)] == [0, 1]
    searches.cancel(case_of("quick 2"))
    third = searches.start(case_of("quick 3"))
    assert (job_of(searches, "quick 2").state, searches.ahead(third)) == ("cancelled", 0)
    searches.cancel(case_of("endless"))
    assert first.over
    assert third.wait(PATIENCE)
    assert third.state == "done"


@pytest.mark.replays
def test_a_line_that_is_too_long_is_closed(make_searches: MakeSearches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    searches = make_searches(find_processes=1)
    running(searches, "endless")
    searches.start(case_of("quick 2"))
    with pytest.raises(Busy):
        searches.start(case_of("quick 3"))


@pytest.mark.replays
def test_half_of_the_server_may_wait_for_results(make_searches: MakeSearches, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = make_searches(threads=1)
    running(searches, "endless")
    inside: list[bool] = []

    def nested(*_: object) -> bool:
        with pytest.raises(Busy):
            searches.find(case_of("endless 2"))
        searches.cancel(case_of("endless"))
        inside.append(True)
        return True

    monkeypatch.setattr(Job, "wait", nested)
    with pytest.raises(ServiceUnavailable, match="cancelled"):
        searches.find(case_of("endless"))
    assert inside == [True]


@pytest.mark.replays
def test_a_job_that_nobody_asks_about_is_given_up(make_searches: MakeSearches, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = make_searches(find_processes=1)
    first, second = running(searches, "endless"), job_of(searches, "endless 2")
    monkeypatch.setattr(Job, "neglected", property(lambda _job: True))
    until(lambda: first.over and second.over)
    assert [one.state for one in (first, second)] == ["cancelled", "cancelled"]
    assert "nobody asked" in str(second.failure)


@pytest.mark.replays
def test_requests_are_answered_while_two_searches_run(make_searches: MakeSearches, tmp_path: Path) -> None:
    app = create_app(get_settings(data_dir=tmp_path))
    client, searches = app.test_client(), make_searches()
    both = [running(searches, "busy 1"), running(searches, "busy 2")]
    for _ in range(20):
        assert client.get("/healthz").status_code == 200
    assert [job.state for job in both] == ["running", "running"]
    app.extensions[EXTENSION].store.close()


ORPHANS = """
import sys, time
from tests.webapp.jobs.searches import case_of, scripted
from webapp.jobs.search_jobs import Asked
from webapp.jobs.searches import Searches
from webapp.settings import get_settings
if __name__ == "__main__":
    searches = Searches(get_settings(), scripted.__module__)
    job = searches.jobs.known(Asked(searches.start(case_of("busy")).key))
    while not job.progress:
        time.sleep(0.01)
    print(job.pid, flush=True)
    {rest}
"""


@pytest.mark.replays
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


@pytest.mark.parametrize(("engines", "risky"), [(["mine"], True), (["fallback", "mine"], True), (["fallback"], False)])
def test_a_search_of_an_entered_engine_may_hang(engines: list[str], risky: bool) -> None:
    asked: list[dict[str, Any]] = []
    known: dict[str, Any] = {"state": "waiting", "ahead": 0, "progress": None, "failure": None}

    def ask(question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question)
        return known if "raw" in question else {"lacks": True}

    plain = case_of("text")
    cases = [plain.model_copy(update={"parser": plain.parser.model_copy(update={"engine": one})}) for one in engines]
    searches = Searches(get_settings(), ask=ask)
    searches.start(cases[0]) if len(cases) == 1 else searches.start_between((cases[0], cases[1]))
    jobs = SearchJobs(get_settings())
    assert [jobs.may_hang(Asked("", b"", one.get("entered", False))) for one in asked] == [False, risky]
