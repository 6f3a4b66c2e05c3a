"""A program for children of the tests: what another program does, and what it could not do once it is sealed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from webapp.children.worker import Task, Tell, _module


def tasks(program: str) -> Mapping[str, Task]:
    """The tasks of the program, and one more."""
    return {**_module(program).tasks(), "attempt": attempt}


def attempt(request: dict[str, Any], _tell: Tell) -> dict[str, Any]:
    """Try one thing; the kind of error that it fails with, None where it does not."""
    try:
        ATTEMPTS[request["what"]](request["path"])
    except OSError as error:
        return {"error": type(error).__name__}
    return {"error": None}


def _fork(_path: str) -> None:
    if os.fork() == 0:
        os._exit(0)


ATTEMPTS: Mapping[str, Callable[[str], object]] = {
    "write": lambda path: Path(path, "new").write_bytes(b"x"),
    "append": lambda path: os.open(Path(path, "old"), os.O_WRONLY | os.O_APPEND),
    "read": lambda path: Path(path, "old").read_bytes(),
    "list": os.listdir,
    "fork": _fork,
    "run": lambda _path: subprocess.run([sys.executable, "-V"], check=False),
    "system": lambda _path: os.system("true"),
    "spawn": lambda _path: os.posix_spawn(sys.executable, [sys.executable, "-V"], {}),
    "exec": lambda _path: os.execv(sys.executable, [sys.executable, "-V"]),
    "socket": lambda _path: socket.socket(),
    "pair": lambda _path: socket.socketpair(),
    "connect": lambda _path: socket.create_connection(("127.0.0.1", 9)),
    "pipe": lambda _path: os.pipe(),
}
