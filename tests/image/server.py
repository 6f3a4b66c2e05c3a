"""The server of a container: started as its image says, on a port of its own, asked over HTTP and told to end."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import urllib.request
from pathlib import Path
from typing import Any, Self
from urllib.error import HTTPError

from tests.image.images import Container

PATIENCE = 300  # seconds until a server that starts or ends is given up
CONFIG = "/etc/toolcall-inspector/gunicorn.conf.py"
OUTPUT = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
CASE = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": OUTPUT}}


class Server:
    """Runs while it is entered."""

    def __init__(self, container: Container) -> None:
        with socket.create_server(("127.0.0.1", 0)) as asked:
            self._port = asked.getsockname()[1]
        self._bind = f"127.0.0.1:{self._port}"
        self._running = container.left_running("gunicorn", "--config", CONFIG, "--bind", self._bind)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Tell the first process of the server to end, as a container's engine does, and wait until it has. One that is
        not there yet is waited for."""
        end, told = time.monotonic() + PATIENCE, set[int]()
        while self._running.poll() is None and time.monotonic() < end:
            processes = self._processes()
            for pid in {pid for pid in processes if _parent(pid) not in processes} - told:
                os.kill(pid, signal.SIGTERM)
                told.add(pid)
            time.sleep(0.2)
        self._running.wait(1)

    def _processes(self) -> list[int]:
        """The processes of the server: those whose command is Python's with this address."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:  # it has ended
                continue
            if b"python" in words[0] and self._bind.encode() in words:
                found.append(int(folder.name))
        return found

    def is_ready(self) -> bool:
        """Wait until it says so."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._running.poll() is None:
            try:
                return self.status("/readyz") == 200
            except OSError:
                time.sleep(0.2)
        return False

    def left(self) -> bool:
        """Whether it has ended well, with all its processes."""
        return self._running.returncode == 0 and not self._processes()

    def status(self, path: str) -> int:
        return self._ask(path)[0]

    def called(self) -> list[str]:
        """The names of the calls that a replay finds."""
        _, answer = self._ask("/api/v1/replay?steps=none", CASE)
        return [call["name"] for call in answer["message"]["tool_calls"]]

    def stored(self) -> str:
        """The id of a case that it stored."""
        return str(self._ask("/api/v1/cases", CASE)[1]["id"])

    def _ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self._bind}{path}", data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, None if data is None else json.load(answer)
        except HTTPError as error:
            return error.code, None


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return 0
