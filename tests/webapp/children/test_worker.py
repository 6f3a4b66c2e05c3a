"""The worker without a process: messages, tasks, limits, and how it speaks."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from mmap import mmap
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

import pytest

from tests.webapp.children import program as tasks
from tests.webapp.children.processes import until
from webapp.children import worker
from webapp.children.worker import MARK, LargeError, frame, receive, send, serve

HELLO: dict[str, Any] = {
    "program": tasks.__name__,
    "given": {},
    "path": ["/added/for/this"],
    "environment": None,
    "limits": {},
    "sealed": False,
    "niceness": 0,
    "idle_seconds": 300,
    "frame_bytes": 1_000,
}
Talk = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def alarms(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The alarms that would be set, instead of them and of the limits."""
    found: list[float] = []

    def end_in(seconds: float) -> float:
        found.append(seconds)
        return 6.0

    monkeypatch.setattr(worker, "_end_in", end_in)
    monkeypatch.setattr(worker, "_limit", lambda _limits: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return found


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes of processes that would end."""
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    return codes


def pipe() -> tuple[BinaryIO, BinaryIO]:
    source, sink = os.pipe()
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


@pytest.fixture
def talk(alarms: list[float], exits: list[int]) -> Talk:
    """What a worker says to some messages; all but the last task must be one that leaves it sound."""

    def said(*messages: dict[str, Any], hello: dict[str, Any] = HELLO) -> list[dict[str, Any]]:
        theirs, ours = pipe()
        heard, spoken = pipe()
        thread = Thread(target=serve, args=(theirs, spoken))
        thread.start()
        with ThreadPoolExecutor(1) as reader:  # an answer may be longer than what a pipe takes
            reading = reader.submit(lambda: (heard.read(len(MARK)), [*iter(lambda: receive(heard), None)]))
            for message in (hello, *messages):
                send(ours, frame(message))
            thread.join(30)
            spoken.close()
            assert not thread.is_alive()
            mark, found = reading.result()
        assert mark == MARK
        for stream in (ours, heard):
            stream.close()
        until(lambda: exits.pop() if exits else 0)
        theirs.close()
        return found

    return said


def ask(task: str, seconds: float = 2, **request: Any) -> dict[str, Any]:
    return {"task": task, "request": request, "seconds": seconds}


def test_tasks_are_done_until_one_fails(talk: Talk, alarms: list[float]) -> None:
    first, progress, second, refused, last = talk(ask("echo", a=1), ask("count", 3, to=1), ask("refuse"), ask("panic"))
    assert (first["answer"], first["rss"] > 1_000_000) == ({"a": 1}, True)
    assert (progress, second["answer"]) == ({"progress": {"number": 0}}, {"to": 1})
    assert (refused["failed"], refused["message"], refused["rss"] > 1_000_000) == ("refused", "not today", True)
    assert (last["failed"], last["message"]) == ("panic", "index out of bounds")
    assert alarms == [300, 16, 300, 19, 300, 16, 300, 16]


@pytest.mark.parametrize(
    ("task", "failure"),
    [
        (ask("fail"), {"failed": "error", "message": "first line"}),
        (ask("odd"), {"failed": "error", "message": "Object of type object is not JSON serializable"}),
        (ask("sleep"), {"failed": "memory"}),
        (ask("nothing"), {"failed": "error", "message": "'nothing'"}),
    ],
)
def test_every_failure_is_a_message(
    talk: Talk, task: dict[str, Any], failure: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tasks, "sleep", sleep)
    (found,) = talk(task)
    found.pop("detail", None)
    assert found == failure


def test_a_large_answer_is_a_message_that_says_how_large_it_is(talk: Talk) -> None:
    (found,) = talk(ask("write", bytes=2_000))
    assert (found["failed"], found["size"] > 2_000) == ("large", True)


def test_a_program_that_cannot_be_loaded_is_a_message(talk: Talk) -> None:
    (found,) = talk(hello={**HELLO, "given": {"broken": True}})
    assert (found["failed"], found["message"]) == ("error", "broken from the start")
    (found,) = talk(hello={**HELLO, "program": "/no/such/file.py"})
    assert found["failed"] == "error"


def test_a_program_may_be_a_file_and_finds_more_modules(talk: Talk) -> None:
    (found, _) = talk(ask("echo", b=2), ask("panic"), hello={**HELLO, "program": tasks.__file__})
    assert found["answer"] == {"b": 2}
    assert "/added/for/this" in sys.path


def test_a_fork_is_given_its_environment_and_gives_way(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"SECRET": "x"})
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    given: list[int] = []
    monkeypatch.setattr(os, "nice", given.append)
    found, _ = talk(ask("surroundings"), ask("panic"), hello={**HELLO, "environment": {"PATH": "/bin"}, "niceness": 5,
                                                              "frame_bytes": 1_000_000})  # fmt: skip
    assert (found["answer"]["variables"], given) == (["PATH"], [5])


def test_the_end_of_the_parent_is_the_end(exits: list[int]) -> None:
    for stream in (io.BytesIO(), io.BytesIO(b"\0\0\0\2[}"), io.BytesIO(frame({"task": "x"}) + b"\xff\xff\xff\xff")):
        worker._listen(stream, SimpleQueue())
    assert exits == [1, 1, 1]


def test_the_program_speaks_over_copies_of_its_streams(monkeypatch: pytest.MonkeyPatch, exits: list[int]) -> None:
    monkeypatch.setitem(sys.modules, worker.NAME, worker)
    copied: list[tuple[int, int]] = []
    served: list[Any] = []
    monkeypatch.setattr(os, "dup2", lambda one, other: copied.append((one, other)))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker, "serve", lambda *streams, forked=False: served.extend(streams))
    worker.main()
    one, other = pipe()
    with one, other:
        worker.serve_forked(one, other, other)
        assert copied[1:] == [(2, 1), (other.fileno(), 2), (2, 1)]
    assert exits == [0]
    for stream in served:
        stream.close()


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 10])
def test_half_a_message_is_the_end(cut: int) -> None:
    assert receive(io.BytesIO(frame({"task": "encode"})[:cut])) is None


def test_a_message_is_plain_json_of_a_bounded_size() -> None:
    data = frame({"text": "é\n🙂\ud800"})
    assert json.loads(data[4:]) == receive(io.BytesIO(data)) == {"text": "é\n🙂\ud800"}
    with pytest.raises(LargeError, match="a message has 17 bytes"):
        frame({"text": "12345"}, 16)
    with pytest.raises(LargeError):
        receive(io.BytesIO(data), 5)


RAW: dict[str, Any] = {"progress": {"number": 1}, "raw": bytes(range(256))}


def test_raw_bytes_follow_a_message() -> None:
    data = frame(RAW)
    assert receive(io.BytesIO(data)) == RAW
    assert data.endswith(RAW["raw"])
    assert [receive(io.BytesIO(data[:-cut])) for cut in (1, 256)] == [None, None]
    with pytest.raises(LargeError):
        frame(RAW, 280)
    with pytest.raises(LargeError):
        receive(io.BytesIO(data), 255)


@pytest.mark.parametrize("size", ["1", -1, True, None, 1.0])
def test_a_size_that_is_none_is_no_message(size: Any) -> None:
    data = json.dumps({"raw": size}).encode()
    with pytest.raises(ValueError, match="no size"):
        receive(io.BytesIO(len(data).to_bytes(4, "big") + data))


def test_a_task_may_send_and_get_raw_bytes(talk: Talk) -> None:
    asked = {**ask("mirror"), "raw": b"abc"}
    progress, answer, _ = talk(asked, ask("panic"))
    assert progress == {"progress": {"size": 3}, "raw": b"cba"}
    assert (answer["answer"], answer["raw"]) == ({}, b"cba")


def test_a_task_asks_and_takes_the_reply_that_is_its_own(talk: Talk, alarms: list[float]) -> None:
    replies = [{"reply": {"old": True}, "number": 0}, {"reply": {"new": True}, "number": 1}]
    question, answer, _ = talk(ask("ask", times=1), *replies, {"reply": {}, "number": 1}, ask("panic"))
    assert question == {"question": {"number": 0}, "number": 1}
    assert answer["answer"] == {"replies": [{"new": True}]}
    assert alarms == [300, 16, 0, 6, 300, 16]


def test_an_interrupt_is_for_the_task_that_runs_and_for_nothing_else(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = worker._gate
    gate.ring()

    def sleep(_request: object, parent: worker.Parent) -> dict[str, Any]:
        send_as_it_is = worker.send

        def send_slowly(sink: BinaryIO, data: bytes) -> None:
            gate.ring()
            send_as_it_is(sink, data)

        monkeypatch.setattr(worker, "send", send_slowly)
        try:
            parent({"whole": True})
        finally:
            monkeypatch.setattr(worker, "send", send_as_it_is)
            gate.ring()
        return {}

    monkeypatch.setattr(tasks, "sleep", sleep)
    progress, late, again, _ = talk(ask("sleep"), ask("echo", a=1), ask("panic"))
    assert (progress, late["failed"], late["rss"] > 0) == ({"progress": {"whole": True}}, "late", True)
    assert again["answer"] == {"a": 1}


def test_an_interrupt_may_come_while_a_failure_is_told() -> None:
    class SlowError(Exception):
        def __str__(self) -> str:
            worker._gate.ring()
            return "never"

    def fail(_given: object) -> None:
        worker._gate.begin()
        raise SlowError

    assert worker._failure_or_late(fail, None) == {"failed": "late"}
    assert not worker._gate.open


@pytest.mark.parametrize("end", ["raise ValueError", "return {}"])
def test_a_task_that_makes_something_else_of_an_interrupt_is_the_last(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    def sleep(*_: object) -> dict[str, Any]:
        try:
            worker._gate.ring()
        except worker.Interrupted:
            if end == "return {}":
                return {}
        raise ValueError

    monkeypatch.setattr(tasks, "sleep", sleep)
    assert talk(ask("sleep")) == [{"failed": "late", "over": True}]


@pytest.mark.parametrize(("hard", "least"), [(resource.RLIM_INFINITY, 500), (300, 300)])
def test_limits_stay_within_the_systems(hard: int, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (0, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, values: limits.append((which, values)))
    worker._limit({"AS": 500})
    assert limits == [(resource.RLIMIT_CORE, (0, 0)), (resource.RLIMIT_AS, (least, least))]


def test_a_process_is_sealed_when_its_program_is_loaded_or_by_it(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[Any] = []
    hooks: list[Callable[..., object]] = []
    monkeypatch.setattr(worker, "_limit", limits.append)
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    worker.seal(writes=7)
    assert limits == [{"FSIZE": 7, "NOFILE": 3, "NPROC": 0}]
    talk(ask("leave"), hello=HELLO | {"sealed": True, "limits": {"AS": 1}, "program": "nowhere"})
    talk(ask("echo"), ask("panic"), hello=HELLO | {"sealed": True, "limits": {"AS": 1}})
    assert limits[1:] == [{"AS": 1}, {"FSIZE": 0, "NOFILE": 3, "NPROC": 0}]
    (refuse, _) = hooks
    for event in ("os.fork", "os.forkpty", "os.exec", "subprocess.Popen", "socket.__new__"):
        with pytest.raises(PermissionError, match="is not for this process"):
            refuse(event, ())
    refuse("open", ("file", "r", 0))


def test_systems_without_such_files_limits_and_timers_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "find_spec", lambda _name: None)
    monkeypatch.setattr(worker, "_STATM", "/nowhere/at/all")
    monkeypatch.delattr(signal, "setitimer")
    worker._limit({"AS": 1})
    worker._end_in(1)
    assert worker._meter(shared=False)() == 0


def test_what_a_fork_has_from_the_start_is_not_counted() -> None:
    whole, more = worker._meter(shared=False), worker._meter(shared=True)
    with mmap(-1, 10_000_000) as taken:  # fresh pages, whatever this process has freed
        taken.write(b"x" * 10_000_000)
        assert 5_000_000 < more() < whole() - 5_000_000


def test_a_timer_ends_a_process_whatever_it_does() -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        worker._end_in(60)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
