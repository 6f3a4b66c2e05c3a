"""A server that is told to stop finishes or tells what it is answering, takes nothing new, and leaves nobody behind."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.commands import stopping
from webapp.commands.stopping import Stopping

ROOT = Path(__file__).resolve().parents[3]
SLOW = json.dumps({"schema": 1, "parser": {"name": "json"}, "input": {"text": "{" * 5_000}})


def a_connection(*, busy: bool) -> Any:
    return SimpleNamespace(requests=["one"] if busy else [], total_outbufs_len=0)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The signals that the main thread got."""
    got: list[int] = []
    monkeypatch.setattr("signal.pthread_kill", lambda _thread, number: got.append(number))
    monkeypatch.setattr(stopping, "LAST_SECONDS", 0.1)
    return got


def until(condition: Any) -> None:
    latest = time.monotonic() + 20
    while not condition() and time.monotonic() < latest:
        time.sleep(0.01)
    assert condition()


def test_what_is_being_answered_is_waited_for(woken: list[int]) -> None:
    connection = a_connection(busy=True)
    one = Stopping(lambda: [a_connection(busy=False), connection], 30)
    assert one.refusal is None
    one.begin(signal.SIGTERM, None)
    assert one.refusal is not None
    time.sleep(0.2)
    assert woken == []
    connection.requests.clear()
    until(lambda: woken)
    assert woken == [signal.SIGTERM]


def test_what_takes_too_long_is_given_up(woken: list[int]) -> None:
    one = Stopping(lambda: [a_connection(busy=True)], 0.1)
    one.begin(signal.SIGTERM, None)
    until(lambda: woken)
    assert one.gives_up


def test_a_second_signal_ends_at_once(woken: list[int]) -> None:
    one = Stopping(list, 30)
    one.begin(signal.SIGTERM, None)
    with pytest.raises(SystemExit):
        one.begin(signal.SIGTERM, None)
    until(lambda: woken)


@contextmanager
def a_server(folder: Path, seconds: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    settings = {"TOOLCALL_INSPECTOR_DATA_DIR": str(folder), "TOOLCALL_INSPECTOR_STOP_SECONDS": str(seconds)}
    command = [sys.executable, "-c", "from webapp.cli import main; main(['serve', '--port', '0'])"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **settings}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"at http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
            assert found is not None
            yield process, int(found[1])
        finally:
            process.kill()


def of_server(folder: Path) -> list[str]:
    """The processes that have the folder of a server in their environment: its own, and all that it started."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if str(folder).encode() in environment.read_bytes():
                found.append(environment.parent.name)
    return found


def asked(port: int, answers: list[int], body: str = SLOW) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", "/api/v1/replay?steps=none", body, {"Content-Type": "application/json"})
    answers.append(connection.getresponse().status)
    connection.close()


@pytest.mark.replays
@pytest.mark.parametrize(("seconds", "statuses"), [(60, {200}), (1, {200, 503})])
def test_on_sigterm_whoever_waits_gets_an_answer_and_no_process_is_left(
    tmp_path: Path, seconds: int, statuses: set[int]
) -> None:
    answers: list[int] = []
    with a_server(tmp_path, seconds) as (process, port):
        warm: list[int] = []
        asked(port, warm, SLOW.replace("{" * 100, ""))
        assert warm
        assert len(of_server(tmp_path)) > 1
        clients = [Thread(target=asked, args=(port, answers)) for _ in range(3)]
        for client in clients:
            client.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join()
        assert process.wait(60) == 0
        assert len(answers) == len(clients)
        assert set(answers) <= statuses
    until(lambda: not of_server(tmp_path))
