"""Downloads: data files, a process of its own, and one sentence for every way in which it can fail."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.hub.hub import CONFIG, SMALL, Hub
from webapp.hub import HubJobs, Job, child
from webapp.hub.child import FILES
from webapp.tokenizers.base import TokenizerInfo

MakeJobs = Callable[..., HubJobs]
Kept = dict[str, tuple[bytes, bytes | None]]
PATIENCE = 60.0  # for a loaded machine; no test waits so long


def over(jobs: HubJobs, name: str) -> Job:
    job = jobs.start(name)
    assert job.ended.wait(PATIENCE)
    assert job.over
    assert job.pid is None
    return job


def until(happened: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_download_fetches_data_files_and_nothing_else(make_jobs: MakeJobs, hub: Hub, kept: Kept) -> None:
    job = over(make_jobs(), "owner/both")
    assert (job.state, job.problem, job.cached) == ("done", "", False)
    assert job.info is not None
    assert job.info["name"] == job.name == "hub:owner/both"
    assert kept == {"owner/both": (SMALL, CONFIG)}
    assert {path.split("/")[-1] for path in hub.asked} == set(FILES)
    assert set(hub.tokens) == {None}


def test_the_cache_is_looked_at_first(make_jobs: MakeJobs, hub: Hub, kept: Kept) -> None:
    over(make_jobs(), "owner/both")
    before = len(hub.asked)
    kept.clear()
    job = over(make_jobs(), "owner/both")
    assert (job.state, job.cached, len(hub.asked)) == ("done", True, before)
    assert kept == {"owner/both": (SMALL, CONFIG)}


def test_how_far_a_download_is_can_be_seen(make_jobs: MakeJobs) -> None:
    job = over(make_jobs(), "owner/large")
    assert (job.state, job.file, job.done, job.total) == ("done", "chat_template.jinja", 0, 0)
    told: list[dict[str, Any]] = []
    asked = {"repository": "owner/large", "cache": None, "endpoint": None, "most": 5_000_000}
    bar = child.bar(asked, "tokenizer.json", told.append)(total=3_000_000, initial=0)
    with bar:
        for _ in range(30):
            bar.update(100_000)
        bar.close()
    assert [line["done"] for line in told] == [0, *range(300_000, 3_000_001, 300_000), 3_000_000]
    assert {line["total"] for line in told} == {3_000_000}
    with pytest.raises(child.TooLargeError, match="has 6,000,000 bytes"):
        bar.update(3_000_000)


def test_a_repository_without_a_config_is_taken_as_it_is(make_jobs: MakeJobs, kept: Kept) -> None:
    assert over(make_jobs(), "owner/alone").state == "done"
    assert kept == {"owner/alone": (SMALL, None)}


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("owner/none", {}, r"^There is no owner/none at http://127\.0\.0\.1:\d+, or it is private\."),
        ("owner/gated", {}, "^owner/gated is gated: only people it admits can fetch it"),
        ("owner/spm", {}, r"^owner/spm has no tokenizer\.json\. Save the tokenizer with save_pretrained"),
        ("owner/broken", {}, "cannot be reached from this server|answers with status 418"),
        ("owner/large", {"tokenizer_upload_bytes": 1_000_000}, "has 3,000,000 bytes; this server takes 1,000,000"),
    ],
)
def test_what_a_hub_refuses_is_one_sentence(
    make_jobs: MakeJobs, kept: Kept, name: str, settings: dict[str, Any], words: str
) -> None:
    job = over(make_jobs(**settings), name)
    assert (job.state, kept) == ("failed", {})
    assert "\n" not in job.problem
    assert re.search(words, job.problem), job.problem


def test_a_server_that_is_told_to_stay_offline_says_so(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "is told to stay offline (HF_HUB_OFFLINE)" in over(make_jobs(), "owner/both").problem


def test_a_hub_that_does_not_answer_ends_at_the_deadline_with_its_process(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs(hub_seconds=1)
    job = jobs.start("owner/slow")
    until(lambda: job.pid)
    pid = job.pid or 0
    assert job.ended.wait(PATIENCE)
    assert job.state == "failed"
    assert job.problem.startswith("The download took longer than TOOLCALL_INSPECTOR_HUB_SECONDS allows (1).")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_download_can_be_cancelled_and_started_again(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs()
    job = jobs.start("owner/slow")
    assert jobs.start("owner/slow") is job
    until(lambda: job.pid)
    jobs.cancel("owner/slow")
    jobs.cancel("owner/other")
    assert job.ended.wait(PATIENCE)
    assert (job.state, job.problem) == ("cancelled", "The download was cancelled.")
    hub.go.set()
    again = over(jobs, "owner/slow")
    assert again is not job
    assert again.state == "done"
    assert jobs.known("owner/slow") is jobs.latest() is again


def test_two_downloads_run_at_a_time(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs()
    hub.files |= {"one/slow": hub.files["owner/slow"], "two/slow": hub.files["owner/slow"]}
    jobs.start("one/slow")
    jobs.start("two/slow")
    with pytest.raises(UsageError, match="2 downloads are running already"):
        jobs.start("owner/both")


def test_what_the_library_refuses_is_what_the_job_says(make_jobs: MakeJobs) -> None:
    def refuse(_repository: str, _model: bytes, _config: bytes | None) -> TokenizerInfo:
        raise UsageError("the vocabulary is too large")

    job = over(make_jobs(refuse), "owner/alone")
    assert (job.state, job.problem) == ("failed", "The vocabulary is too large.")


def test_a_bug_in_what_takes_the_files_fails_the_job_alone(make_jobs: MakeJobs) -> None:
    def fails(_repository: str, _model: bytes, _config: bytes | None) -> TokenizerInfo:
        raise RuntimeError

    jobs = make_jobs(fails)
    assert over(jobs, "owner/alone").problem == "The download failed (RuntimeError). Try again."


def test_where_the_hub_is_off_nothing_is_asked_and_the_reason_names_the_setting(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs(hub=False)
    with pytest.raises(UsageError, match="TOOLCALL_INSPECTOR_HUB=true"):
        jobs.start("owner/both")
    assert (hub.asked, jobs.latest(), make_jobs().off) == ([], None, "")


def test_a_process_that_says_nothing_is_a_failed_download(
    make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "child.py"
    program.write_text("import sys; sys.stdin.readline()")
    monkeypatch.setattr("webapp.hub.jobs.PROGRAM", program)
    assert over(make_jobs(), "owner/alone").problem.startswith("The process of the download ended without an answer.")


def test_old_downloads_are_forgotten(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.hub.jobs.MOST_KEPT", 1)
    jobs = make_jobs()
    over(jobs, "owner/none")
    over(jobs, "owner/alone")
    assert jobs.known("owner/none") is None
