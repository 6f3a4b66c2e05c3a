"""The front behind the server that people run: many at once, readers who leave, children that are killed, its end."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.webapp.children.processes import PATIENCE, is_alive, until
from tests.webapp.front import scripted
from webapp.children.jobs import Failure, Job
from webapp.commands import serve
from webapp.front import front as module
from webapp.front.front import Front
from webapp.settings import Settings, get_settings

ROOT = Path(__file__).resolve().parents[3]
Answer = tuple[int, dict[str, str], bytes]
LONG = "word " * 8_000


def asked(port: int, method: str, path: str, body: str | None = None, **headers: str) -> Answer:
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def replayed(port: int, text: str) -> tuple[int, Any]:
    """What comes of a text."""
    case = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}})
    status, _, body = asked(port, "POST", "/api/v1/replay?fields=message", case, **{"Content-Type": "application/json"})
    return status, json.loads(body)


@contextmanager
def scripted_server(folder: Path, **settings: Any) -> Iterator[tuple[int, Front]]:
    """A server in this process whose children do as they are told, and to which no request is a small one."""
    made: list[Front] = []

    def front(app: Flask, settings: Settings) -> Front:
        made.append(Front(app, settings, scripted.__name__))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serve, "Front", front)
        patch.setattr(Front, "warm_up", lambda _front: None)
        patch.setattr(module, "SMALL", -1)
        server, _ = serve.listening(get_settings(data_dir=folder, port=0, **settings))
        ended = threading.Event()
        thread = threading.Thread(target=_loop, args=(server, ended))
        thread.start()
        try:
            yield server.effective_port, made[0]
        finally:
            ended.set()
            thread.join()
            made[0].close()


def _loop(server: Any, ended: threading.Event) -> None:
    while not ended.is_set():
        server.asyncore.loop(timeout=0.05, map=server._map, count=1)
    server.task_dispatcher.shutdown()
    server.asyncore.close_all(server._map)


def test_work_for_a_reader_who_hangs_up_is_dropped(tmp_path: Path) -> None:
    with scripted_server(tmp_path, replay_processes=1, replay_seconds=600) as (port, front), ExitStack() as readers:
        for path in ("/run?do=spin", "/run?do=tell", "/run?do=tell"):
            connection = readers.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            until(lambda: front._crew._running)
        until(lambda: len(front._crew._waiting) == 2)
        readers.close()
        status, _, body = asked(port, "GET", "/run")
        assert (status, json.loads(body)["calls"][1:]) == (200, ["tell"])


@pytest.mark.replays
def test_a_reader_who_hangs_up_is_no_fault_of_the_server(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with scripted_server(tmp_path, replay_processes=1, replay_seconds=600) as (port, front):
        for path in ("/run?do=endless", "/run?do=spin", "/run?do=large&size=60000000"):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                until(lambda: front._crew._running)
            until(lambda: not front._crew._running)
        assert asked(port, "GET", "/run")[0] == 200
    assert [record.message for record in caplog.records if record.levelname in ("ERROR", "WARNING")] == []


def test_a_request_with_a_number_of_thousands_of_digits_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"POST /run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {'9' * 5_000}\r\n\r\n"
    with (
        scripted_server(tmp_path, replay_processes=1) as (port, _),
        socket.create_connection(("127.0.0.1", port)) as connection,
    ):
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"A header has no value that can be read" in answer
    assert caplog.records == []


def test_an_answer_in_pieces_keeps_to_the_protocol(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    head = "GET /run?do=stream&pieces=2 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with (
        scripted_server(tmp_path, replay_processes=1) as (port, _),
        socket.create_connection(("127.0.0.1", port)) as connection,
    ):
        connection.sendall(head.encode())
        headers, _, body = b"".join(iter(lambda: connection.recv(65_536), b"")).partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 200 OK")
    assert b"Transfer-Encoding: chunked" in headers
    assert [record.message for record in caplog.records if record.name != "waitress.queue"] == []  # all threads busy
    assert body == b"6\r\nfirst \r\n2\r\n0 \r\n2\r\n1 \r\n4\r\nlast\r\n0\r\n\r\n"


def test_an_answer_that_is_cut_short_has_no_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with scripted_server(tmp_path, replay_processes=1) as (port, _), pytest.raises(http.client.IncompleteRead):
        asked(port, "GET", "/run?do=stream&pieces=2&end=leave")
    (said,) = [one for one in caplog.records if one.levelname == "WARNING"]
    assert said.message.startswith("An answer to /run was cut short: The work on this request")
    assert not [one for one in caplog.records if one.exc_info or one.levelname == "ERROR"]


@pytest.mark.parametrize("packed", [False, True])
def test_json_lines_that_are_cut_short_say_why(tmp_path: Path, packed: bool) -> None:
    with (
        scripted_server(tmp_path, replay_processes=1) as (port, _),
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        asked(port, "GET", "/run?do=lines", **({"Accept-Encoding": "gzip"} if packed else {}))
    sent = caught.value.partial
    first, last = (gzip.decompress(sent) if packed else sent).splitlines()
    assert json.loads(first) == {"index": 1}
    assert "ended with the process that did it" in json.loads(last)["error"]


@pytest.mark.replays
def test_a_slow_reader_keeps_no_child_waiting(tmp_path: Path) -> None:
    with (
        scripted_server(tmp_path, replay_processes=1) as (port, front),
        socket.create_connection(("127.0.0.1", port)) as slow,
    ):
        slow.sendall(b"GET /run?do=large&size=60000000 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        until(lambda: front._crew._running)
        assert asked(port, "GET", "/run")[0] == 200
        assert sum([len(part) for part in iter(lambda: slow.recv(1_000_000), b"")]) > 60_000_000


@pytest.mark.replays
def test_a_reader_who_does_not_read_is_silent(tmp_path: Path) -> None:
    """Its connection ends, and what was kept for it: here nobody else could come before."""
    settings = {"replay_processes": 1, "connection_seconds": 1, "connections": 3}  # two are the server's own
    with (
        scripted_server(tmp_path, **settings) as (port, _),
        socket.create_connection(("127.0.0.1", port)) as silent,
    ):
        silent.sendall(b"GET /run?do=large&size=60000000 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        until(lambda: select.select([silent], [], [], 0)[0])
        assert asked(port, "GET", "/healthz")[0] == 200


@pytest.mark.replays
def test_silent_connections_make_room_for_others(tmp_path: Path) -> None:
    settings = {"replay_processes": 1, "connection_seconds": 600, "connections": 10}
    with scripted_server(tmp_path, **settings) as (port, _), ExitStack() as others:
        silent = [others.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(14)]
        assert asked(port, "GET", "/healthz")[0] == 200
        until(lambda: len(select.select(silent, [], [], 0)[0]) >= len(silent) - settings["connections"])
        silent[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert silent[-1].recv(100).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.replays
def test_those_who_wait_for_a_search_leave_threads_to_light_addresses(tmp_path: Path) -> None:
    with scripted_server(tmp_path, replay_processes=1, threads=1) as (port, front):
        front._searches._active["k"] = search = Job[Any, Any]("k")
        many = front.most + 1  # as many as there are threads
        with ThreadPoolExecutor(many) as threads:
            waiting = [threads.submit(asked, port, "GET", "/run?do=wait&key=k") for _ in range(many)]
            try:
                until(lambda: sum([one.done() for one in waiting]) == many - front._searches.waiters)
                assert asked(port, "GET", "/healthz")[0] == 200
            finally:
                search.end(Failure("ended", "It ended."))
        assert {one.result()[0] for one in waiting} <= {200, 503}  # the line is shorter than they are many


def test_light_addresses_answer_while_all_children_are_at_work(tmp_path: Path) -> None:
    with scripted_server(tmp_path, replay_processes=2, replay_seconds=600) as (port, front), ExitStack() as readers:
        for _ in range(4):
            connection = readers.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(b"GET /run?do=spin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        until(lambda: (front._crew._running.total(), len(front._crew._waiting)) == (2, 2))
        for path in ("/healthz", "/help", "/healthz"):
            assert asked(port, "GET", path)[0] == 200
        assert (front._crew._running.total(), len(front._crew._waiting)) == (2, 2)


Server = tuple[int, "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`serve` as it is started from a shell."""
    folder = tmp_path_factory.mktemp("data")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment = {**plain, "TOOLCALL_INSPECTOR_DATA_DIR": str(folder), "TOOLCALL_INSPECTOR_REPLAY_PROCESSES": "2"}
    script = folder / "toolcall-inspector"
    script.write_text("if __name__ == '__main__':\n    from webapp.cli import main\n    main()\n", "utf-8")
    command = [sys.executable, str(script), "serve", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env={**environment, "PYTHONPATH": str(ROOT)}, text=True, stdout=pipe, stderr=pipe
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r":(\d+)/", process.stdout.readline())
            assert found is not None
            yield int(found[1]), process
        finally:
            process.kill()


def children_of(pid: int) -> list[int]:
    """The processes that a process started, and theirs."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text("utf-8").partition(" (")
        except OSError:
            continue
        if int(rest.rpartition(") ")[2].split()[1]) == pid:
            found += [int(number), *children_of(int(number))]
    return found


def workers_of(pid: int) -> list[int]:
    """The children at work: they give way, the server that forks them does not."""
    return [
        one for one in children_of(pid) if os.getpriority(os.PRIO_PROCESS, one) > os.getpriority(os.PRIO_PROCESS, pid)
    ]


@pytest.mark.replays
def test_many_are_served_at_once(server: Server) -> None:
    port, process = server
    texts = [f'<tool_call>\n{{"name": "f{number}", "arguments": {{}}}}\n</tool_call>' for number in range(12)]
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(partial(replayed, port), texts))
    assert [status for status, _ in answers] == [200] * 12
    names = [answer["message"]["tool_calls"][0]["name"] for _, answer in answers]
    assert names == [f"f{number}" for number in range(12)]
    assert len(workers_of(process.pid)) == 3


@pytest.mark.replays
def test_a_child_that_is_killed_is_missed_by_nobody_else(server: Server) -> None:
    port, process = server
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(replayed, port, LONG + "killed")
        time.sleep(0.3)
        killed = workers_of(process.pid)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        until(lambda: set(killed).isdisjoint(children_of(process.pid)))
        status, answer = slow.result()
    assert status in (200, 503)
    assert status == 200 or "Try again" in answer["error"]["message"]
    for _ in range(2):
        assert replayed(port, "fine")[0] == 200


@pytest.mark.replays
def test_the_server_ends_with_all_its_children(server: Server) -> None:
    """The last of this file: afterwards there is none."""
    port, process = server
    replayed(port, "fine")
    children = children_of(process.pid)
    assert len(children) > 2
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    until(lambda: not any(is_alive(pid) for pid in children))
