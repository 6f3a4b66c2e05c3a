"""What the process of a download says of errors that no hub on this machine can make."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)

from tests.webapp.children.processes import is_alive, until
from webapp.children.worker import RefusedError
from webapp.tokenizers import hub_program
from webapp.tokenizers.hub import PROGRAM

ASKED: dict[str, Any] = {"repository": "a/b", "endpoint": "http://hub", "cache": None, "most": 1_000}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "no space"), "The disk of this server is full."),
        (OSError(errno.EROFS, "read only"), "Set HF_HOME to a folder that can."),
        (OSError(errno.EIO, "io"), "The download failed (OSError). Try again, or upload a tokenizer.json."),
        (ValueError("x"), "The download failed (ValueError)."),
        (hub_program.TooLargeError("tokenizer.json has 2,000 bytes"), "has 2,000 bytes; this server takes 1,000."),
        (HFValidationError("x"), "a/b is no name of a repository"),
        (EntryNotFoundError("x"), "a/b has no tokenizer.json and no tekken.json and no tokenizer.model."),
        (LocalEntryNotFoundError("x"), "http://hub cannot be reached from this server, and nothing is in its cache."),
    ],
)
def test_every_error_is_one_sentence_that_says_what_to_do(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    assert words in hub_program.sentence(error, ASKED)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (GatedRepoError, "a/b is gated"),
        (RepositoryNotFoundError, "There is no a/b at http://hub, or it is private."),
        (HfHubHTTPError, "http://hub answers with status 500."),
    ],
)
def test_every_answer_of_a_hub_is_one_sentence(kind: type[HfHubHTTPError], words: str) -> None:
    answer: Any = SimpleNamespace(status_code=500, headers={}, request=None)
    assert words in hub_program.sentence(kind("x", response=answer), ASKED)


def test_a_server_that_stays_offline_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "told to stay offline (HF_HUB_OFFLINE)" in hub_program.sentence(LocalEntryNotFoundError("x"), ASKED)


def test_what_is_not_in_the_cache_is_downloaded_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def download(repository: str, name: str, **given: Any) -> str:
        asked.append({"repository": repository, "name": name, **given})
        if given.get("local_files_only"):
            raise LocalEntryNotFoundError("x")
        if name in hub_program.BESIDE:
            raise EntryNotFoundError("x")
        with given["tqdm_class"](total=100, initial=0) as bar:
            bar.update(100)
        return f"/cache/{name}"

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", constants.DOWNLOAD_CHUNK_SIZE)
    told: list[dict[str, Any]] = []
    found = hub_program.fetch(ASKED, told.append)
    assert found == {"files": ["/cache/tokenizer.json", None, None], "cached": False}
    assert [one["name"] for one in asked] == [*hub_program.MODELS, hub_program.MODEL, *hub_program.BESIDE]
    assert [one.get("token") for one in asked] == [None, None, None, False, False, False]
    assert told[-3] == {"file": hub_program.MODEL, "done": 100, "total": 100}


def test_a_repository_without_a_tokenizer_json_may_have_a_vocabulary_of_another_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def download(_repository: str, name: str, **given: Any) -> str:
        if given.get("local_files_only"):
            raise LocalEntryNotFoundError("x")
        if name != "tokenizer.model":
            raise EntryNotFoundError("x")
        return f"/cache/{name}"

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", constants.DOWNLOAD_CHUNK_SIZE)
    found = hub_program.fetch(ASKED, lambda _line: None)
    assert found == {"files": ["/cache/tokenizer.model", None, None], "cached": False}


def test_what_goes_wrong_is_a_refusal_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_asked: object, _name: str) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(hub_program, "_cached", full)
    with pytest.raises(RefusedError, match=r"^The disk of this server is full\. Make room, then try again\.$"):
        hub_program.tasks()["fetch"](ASKED, lambda _line: None)


@pytest.mark.replays
def test_a_download_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """As a process of its own asks for one, which is then killed."""
    script = (
        "import sys; from webapp.children.child import Child\n"
        "from webapp.children.program import Program\n"
        "child = Child(Program(sys.argv[1]))\n"
        "tell = lambda line: print(child.pid, line['file'], flush=True)\n"
        "child.ask('fetch', {asked}, seconds=60, on_progress=tell)"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = {**ASKED, "endpoint": f"http://127.0.0.1:{silent.getsockname()[1]}", "cache": str(tmp_path)}
        command = [sys.executable, "-c", script.replace("{asked}", repr(asked)), str(PROGRAM)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
            assert process.stdout is not None
            pid, file = process.stdout.readline().split()
            process.kill()
        assert file == "tokenizer.json"
        until(lambda: not is_alive(int(pid)))


def test_files_that_are_in_the_cache_are_named_without_asking_a_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = tmp_path / "models--a--b" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "tokenizer.json").write_text("{}")
    (snapshot.parent.parent / "refs").mkdir()
    (snapshot.parent.parent / "refs" / "main").write_text("0" * 40)
    found = hub_program.fetch({**ASKED, "cache": str(tmp_path)}, lambda _line: None)
    assert found == {"files": [str(snapshot / "tokenizer.json"), None, None], "cached": True}
