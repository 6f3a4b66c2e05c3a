"""Downloads: data files, a process of its own, and one sentence for every way in which it can fail; names, no paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.vocabulary.types import UsageError
from tests.webapp.children.processes import PATIENCE, is_alive, until
from tests.webapp.tokenizers.hub_server import CONFIG, SMALL, Hub
from webapp.settings import get_settings
from webapp.tokenizers import hub as module
from webapp.tokenizers import hub_program
from webapp.tokenizers.adapter import TokenizerInfo
from webapp.tokenizers.hub import Download, Downloads, Progress, repository_name
from webapp.tokenizers.hub_program import BESIDE, MODEL

MakeJobs = Callable[..., Downloads]
Kept = dict[str, tuple[bytes, bytes | None]]


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    yield made
    made.close()


@pytest.fixture
def kept() -> dict[str, tuple[bytes, bytes | None]]:
    """What was handed over, by repository."""
    return {}


@pytest.fixture
def make_jobs(
    tmp_path: Path, hub: Hub, kept: dict[str, tuple[bytes, bytes | None]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeJobs]:
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        for spelling in (proxy, proxy.lower()):
            monkeypatch.delenv(spelling, raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_operator")
    made: list[Downloads] = []

    def keep(repository: str, model: bytes, config: bytes | None) -> TokenizerInfo:
        kept[repository] = (model, config)
        return TokenizerInfo(
            name=f"hub:{repository}",
            kind="hub",
            vocab_size=1,
            label="",
            realism="real",
            loses=[],
            decoder="byte_level",
            fingerprint="",
        )

    def make(keep: Any = keep, endpoint: str = hub.url, **settings: Any) -> Downloads:
        given = get_settings(data_dir=tmp_path, **{"hub": True, **settings})
        made.append(Downloads(given, keep, endpoint=endpoint, cache=tmp_path / "cache"))
        return made[-1]

    yield make
    hub.go.set()
    for jobs in made:
        jobs.close()


def over(jobs: Downloads, name: str) -> Download:
    job = jobs.fetch(name)
    assert job.wait(PATIENCE)
    assert job.pid is None
    return job


def problem(job: Download) -> str:
    """What is said of a download that failed."""
    assert job.state == "failed"
    assert job.failure is not None
    return job.failure.message


@pytest.mark.replays
def test_a_download_fetches_data_files_and_nothing_else(make_jobs: MakeJobs, hub: Hub, kept: Kept) -> None:
    job = over(make_jobs(), "owner/both")
    assert (job.state, job.failure) == ("done", None)
    assert job.result is not None
    assert (job.result.info["name"], job.result.cached) == ("hub:owner/both", False)
    assert kept == {"owner/both": (SMALL, CONFIG)}
    assert {path.split("/")[-1] for path in hub.asked} == {MODEL, *BESIDE}
    assert set(hub.tokens) == {None}


@pytest.mark.replays
def test_the_cache_is_looked_at_first(make_jobs: MakeJobs, hub: Hub, kept: Kept) -> None:
    over(make_jobs(), "owner/both")
    before = len(hub.asked)
    kept.clear()
    job = over(make_jobs(), "owner/both")
    assert job.result is not None
    assert (job.result.cached, len(hub.asked)) == (True, before)
    assert kept == {"owner/both": (SMALL, CONFIG)}


@pytest.mark.replays
def test_how_far_a_download_is_can_be_seen(make_jobs: MakeJobs) -> None:
    job = over(make_jobs(), "owner/large")
    assert (job.state, job.progress) == ("done", Progress("chat_template.jinja", 0, 0))
    told: list[dict[str, Any]] = []
    asked = {"repository": "owner/large", "cache": None, "endpoint": None, "most": 5_000_000}
    bar = hub_program.progress_bar(asked, "tokenizer.json", told.append)(total=3_000_000, initial=0)
    with bar:
        for _ in range(30):
            bar.update(100_000)
        bar.close()
    assert [line["done"] for line in told] == [0, *range(300_000, 3_000_001, 300_000), 3_000_000]
    assert {line["total"] for line in told} == {3_000_000}
    with pytest.raises(hub_program.TooLargeError, match="has 6,000,000 bytes"):
        bar.update(3_000_000)


@pytest.mark.replays
@pytest.mark.parametrize(("name", "model"), [("owner/alone", SMALL), ("owner/spm", b"spm")])
def test_a_repository_without_a_config_is_taken_as_it_is(
    make_jobs: MakeJobs, kept: Kept, name: str, model: bytes
) -> None:
    assert over(make_jobs(), name).state == "done"
    assert kept == {name: (model, None)}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("owner/none", {}, r"^There is no owner/none at http://127\.0\.0\.1:\d+, or it is private\."),
        ("owner/gated", {}, "^owner/gated is gated: only people it admits can fetch it"),
        (
            "owner/weights",
            {},
            r"^owner/weights has no tokenizer\.json and no tekken\.json and no tokenizer\.model\. Save",
        ),
        ("owner/broken", {}, "cannot be reached from this server|answers with status 418"),
        ("owner/large", {"tokenizer_upload_bytes": 1_000_000}, "has 3,000,000 bytes; this server takes 1,000,000"),
    ],
)
def test_what_a_hub_refuses_is_one_sentence(
    make_jobs: MakeJobs, kept: Kept, name: str, settings: dict[str, Any], words: str
) -> None:
    job = over(make_jobs(**settings), name)
    assert kept == {}
    assert "\n" not in problem(job)
    assert re.search(words, problem(job)), problem(job)


def test_a_server_that_is_told_to_stay_offline_says_so(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "is told to stay offline (HF_HUB_OFFLINE)" in problem(over(make_jobs(), "owner/both"))


@pytest.mark.replays
def test_a_hub_that_does_not_answer_ends_at_the_deadline_with_its_process(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs(hub_seconds=1)
    job = jobs.fetch("owner/slow")
    until(lambda: job.pid)
    pid = job.pid or 0
    assert job.wait(PATIENCE)
    assert problem(job).startswith("The download took longer than TOOLCALL_INSPECTOR_HUB_SECONDS allows (1).")
    assert not is_alive(pid)


@pytest.mark.replays
def test_a_download_can_be_cancelled_and_started_again(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs()
    job = jobs.fetch("owner/slow")
    assert jobs.fetch("owner/slow") is job
    until(lambda: job.pid)
    assert (jobs.cancel("owner/slow"), jobs.cancel("owner/other")) == (True, False)
    assert job.failure is not None
    assert (job.state, job.failure.message) == ("cancelled", "The download was cancelled.")
    until(lambda: job.pid is None)
    hub.go.set()
    again = over(jobs, "owner/slow")
    assert again is not job
    assert again.state == "done"
    assert jobs.known("owner/slow") is jobs.latest is again


def test_two_downloads_run_at_a_time(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs()
    hub.files |= {"one/slow": hub.files["owner/slow"], "two/slow": hub.files["owner/slow"]}
    jobs.fetch("one/slow")
    jobs.fetch("two/slow")
    with pytest.raises(UsageError, match="2 downloads are running already"):
        jobs.fetch("owner/both")


def test_what_the_library_refuses_is_what_the_job_says(make_jobs: MakeJobs) -> None:
    def refuse(_repository: str, _model: bytes, _config: bytes | None) -> TokenizerInfo:
        raise UsageError("the vocabulary is too large")

    job = over(make_jobs(refuse), "owner/alone")
    assert problem(job) == "The vocabulary is too large."


def test_a_bug_in_what_takes_the_files_fails_the_job_alone(make_jobs: MakeJobs) -> None:
    def fails(_repository: str, _model: bytes, _config: bytes | None) -> TokenizerInfo:
        raise RuntimeError

    jobs = make_jobs(fails)
    assert problem(over(jobs, "owner/alone")) == "The download failed (RuntimeError). Try again."


def test_where_the_hub_is_off_nothing_is_asked_and_the_reason_names_the_setting(make_jobs: MakeJobs, hub: Hub) -> None:
    jobs = make_jobs(hub=False)
    with pytest.raises(UsageError, match="TOOLCALL_INSPECTOR_HUB=true"):
        jobs.fetch("owner/both")
    assert (hub.asked, jobs.latest, make_jobs().off) == ([], None, "")


def test_a_process_that_says_nothing_is_a_failed_download(
    make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "silent_program.py"
    program.write_text("import os\ndef tasks():\n    return {'fetch': lambda *_: os._exit(0)}\n")
    monkeypatch.setattr(module, "PROGRAM", program)
    assert problem(over(make_jobs(), "owner/alone")).startswith("The process of the download ended without an answer.")


@pytest.mark.replays
def test_old_downloads_are_forgotten(make_jobs: MakeJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    jobs = make_jobs()
    over(jobs, "owner/none")
    over(jobs, "owner/alone")
    assert jobs.known("owner/none") is None


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
        (" hub:deepseek-ai/DeepSeek-V3.1 ", "deepseek-ai/DeepSeek-V3.1"),
        ("https://huggingface.co/a/b/", "a/b"),
        ("01-ai/Yi_6B", "01-ai/Yi_6B"),
    ],
)
def test_a_name_is_owner_and_name_however_it_was_copied(typed: str, name: str) -> None:
    assert repository_name(typed) == name


@pytest.mark.parametrize(
    "typed",
    [
        "", "name", "/etc/passwd", "./a/b", "../a", "a/../b", "a/b/c", ".a/b", "a/.b", "a/b.", "-a/b", "a b/c", "a//b",
        "C:\\a\\b", "a\\b", "~/b", "a/b--c", "a/b.git", "a/b?c=d", "a/b#c", "file:///a/b", "https://evil.example/a/b",
        "ä/b", "a/" + "b" * 97,
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_repository_is_refused_in_one_sentence(typed: str) -> None:
    with pytest.raises(UsageError, match=r"^.{1,100} is no name of a repository: give OWNER/NAME"):
        repository_name(typed)
