"""The process of a tokenizer, without a process: its tasks, its answers, and how it speaks."""

from __future__ import annotations

import io
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.vocabularies import child
from webapp.vocabularies.child import Worker, receive, send, serve

Data = dict[str, Any]
Encoded = Callable[[Data], bytes]


@pytest.fixture(autouse=True)
def no_alarm(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The alarms that would be set; in the process of the tests none is."""
    alarms: list[float] = []
    monkeypatch.setattr(child, "end_in", alarms.append)
    return alarms


@pytest.fixture
def prepare(tmp_path: Path, encoded: Encoded) -> Callable[..., Data]:
    def run(data: Data, **more: Any) -> Data:
        (tmp_path / "source").write_bytes(encoded(data))
        request = {"task": "prepare", "source": str(tmp_path / "source"), "target": str(tmp_path / "made")}
        return Worker().answer(request | more)[0]

    return run


def test_preparing_tells_what_is_to_know(toy: Data, prepare: Callable[..., Data], tmp_path: Path) -> None:
    (tmp_path / "config").write_text('{"chat_template": "{{ x }}"}')
    answer = prepare(toy, config=str(tmp_path / "config"))
    assert len(answer.pop("fingerprint")) == 64
    assert answer.pop("bytes") == (tmp_path / "made").stat().st_size
    assert answer == {
        "vocab_size": 267,
        "spelling": {"decoder": "byte_level", "replace": [], "fallback": False, "strip": 0, "first": False},
        "added": [[264, "<|end|>", True], [265, "<think>", False], [300, "<tool_call>", False]],
        "templates": {"chat_template": "{{ x }}"},
    }


def test_a_config_that_is_no_json_is_named(toy: Data, prepare: Callable[..., Data], tmp_path: Path) -> None:
    (tmp_path / "config").write_text("{")
    answer = prepare(toy, config=str(tmp_path / "config"))
    assert answer["message"].startswith("tokenizer_config.json: the file is not whole JSON")


def test_a_loaded_tokenizer_cuts_text_and_spells_ids(toy: Data, prepare: Callable[..., Data], tmp_path: Path) -> None:
    prepare(toy)
    worker = Worker()
    assert worker.answer({"task": "load", "path": str(tmp_path / "made")}) == ({}, True)
    ask = {"task": "encode", "text": "hello wor<think>", "offsets": True}
    assert worker.answer(ask) == ({"ids": [259, 263, 265], "starts": [0, 5, 9]}, True)
    assert worker.answer(ask | {"offsets": False})[0]["starts"] is None
    strings = worker.answer({"task": "strings", "ids": [259, 299, 300, 4_000_000]})
    assert strings == ({"strings": ["hello", None, "<tool_call>", None]}, True)


def test_too_many_tokens_are_refused(
    toy: Data, prepare: Callable[..., Data], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(toy)
    monkeypatch.setattr(child, "MAX_IDS", 10)
    worker = Worker()
    worker.answer({"task": "load", "path": str(tmp_path / "made")})
    answer, sound = worker.answer({"task": "encode", "text": "x" * 11, "offsets": False})
    assert (answer["failed"], sound) == ("refused", True)
    assert answer["message"] == "the text has 11 tokens; at most 10 are taken: shorten it"


def test_ids_that_the_library_would_change_are_refused(metaspace: Data, prepare: Callable[..., Data]) -> None:
    metaspace["added_tokens"].append({"id": 50, "content": "<late>"})
    answer = prepare(metaspace)
    assert answer["failed"] == "refused"
    assert answer["message"].startswith("/added_tokens: '<late>' would get the id 11, not 50; ids of added tokens must")


def test_what_the_library_refuses_is_said(toy: Data, prepare: Callable[..., Data]) -> None:
    toy["model"]["merges"].append("no such")
    answer = prepare(toy)
    assert answer["failed"] == "library"
    assert "out of vocabulary" in answer["message"]


class Panic(BaseException):
    """As the library's own, no Exception."""


FAILURES = [
    (MemoryError(), {"failed": "memory"}, False),
    (Panic("index out of bounds\nmore"), {"failed": "panic", "message": "index out of bounds"}, False),
    (
        OSError(28, "No space left"),
        {"failed": "refused", "message": "a file cannot be read or kept (No space left)"},
        True,
    ),
    (ValueError(), {"failed": "library", "message": "ValueError"}, True),
]


@pytest.mark.parametrize(("error", "answer", "sound"), FAILURES)
def test_every_failure_is_an_answer(error: BaseException, answer: Data, sound: bool) -> None:
    def fail(_: Data) -> Data:
        raise error

    worker = Worker()
    worker._tasks["encode"] = fail
    assert worker.answer({"task": "encode"}) == (answer, sound)


def requests(*messages: Data) -> io.BytesIO:
    stream = io.BytesIO()
    for message in messages:
        send(stream, message)
    stream.seek(0)
    return stream


def answers(stream: io.BytesIO) -> list[Data]:
    stream.seek(0)
    found = []
    while (message := receive(stream)) is not None:
        found.append(message)
    return found


def test_requests_are_answered_until_the_stream_ends(no_alarm: list[float]) -> None:
    out = io.BytesIO()
    serve(requests({"task": "strings", "ids": [], "seconds": 2}, {"task": "nothing", "seconds": 3}), out)
    first, second = answers(out)
    assert (first["strings"], first["rss"] > 1_000_000) == ([], True)
    assert second["failed"] == "library"
    assert no_alarm == [child.IDLE_SECONDS, 6, child.IDLE_SECONDS, 9, child.IDLE_SECONDS]


def test_a_process_that_is_not_sound_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "answer", lambda _worker, _request: ({"failed": "memory"}, False))
    out = io.BytesIO()
    serve(requests({"task": "encode", "seconds": 1}, {"task": "encode", "seconds": 1}), out)
    assert [answer["failed"] for answer in answers(out)] == ["memory"]


@pytest.mark.parametrize("cut", [1, 3, 4, 10])
def test_half_a_message_is_the_end(cut: int) -> None:
    assert receive(io.BytesIO(requests({"task": "encode"}).getvalue()[:cut])) is None


@pytest.mark.parametrize(("hard", "soft"), [(resource.RLIM_INFINITY, 500), (300, 300)])
def test_the_memory_limit_stays_within_the_systems(hard: int, soft: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (0, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, values: limits.append((which, values)))
    child.limit_memory(500)
    assert limits == [(resource.RLIMIT_AS, (soft, hard))]


def test_systems_without_such_files_and_limits_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "find_spec", lambda _name: None)
    monkeypatch.setattr(child, "Path", lambda _name: Path("/nowhere/at/all"))
    child.limit_memory(1)
    assert child.resident() == 0


def test_a_request_is_plain_json() -> None:
    stream = requests({"text": "é\n🙂"})
    assert json.loads(stream.getvalue()[4:]) == {"text": "é\n🙂"}
