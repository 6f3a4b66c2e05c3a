"""What a child does, and under which limits: told before there is a process."""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.children.wires import Frames, Lines, Wire

_NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")


@dataclass(slots=True, frozen=True)
class Program:
    """Holds what a child does: the name of a module or the path of a file with `tasks(**given)`, see worker.py.

    `limits` are by the system's names (AS, DATA: bytes; CPU: seconds). A `sealed` process opens no file and no socket
    and starts no process once its program is loaded (`worker.seal`). `python` starts an interpreter
    and `path` is where it finds more modules than its own; None stands for all of ours. `variables` of our environment
    are passed on, `environment` is set. With `fork` a server that has the module loaded makes the process, where the
    system can do that; it takes a twentieth of the time that an import of ours does.

    A task that is late, or wanted no more, is interrupted and has `grace_seconds` to end before the process is killed;
    with 0 the process is killed at once. What it writes to standard error is passed on with `heard`.
    Seconds of a question are of the process's own work where the system tells of it, so that a busy machine ends
    nothing sooner, and at most `patience` times as many by the clock. After `hurry` times as many by the clock, half of
    the work is enough.

    Where `command` is given, that is what runs, in `folder`, whoever wrote it, and messages are lines of JSON: nothing
    is told of limits then, and it is ended with all that it started. It is ended too when that all keeps more than
    `resident_bytes` in memory, unless these are 0. While all of that sleeps, the time counts like work.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    sealed: bool = False
    python: tuple[str, ...] = (sys.executable, "-I")
    path: tuple[str, ...] | None = None
    variables: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    answer_bytes: int = 100_000_000
    idle_seconds: float = 300
    niceness: int = 0
    fork: bool = False
    grace_seconds: float = 0
    patience: float = 1
    hurry: float = math.inf
    heard: bool = False
    command: tuple[str, ...] = ()
    folder: str | None = None
    resident_bytes: int = 0

    @property
    def wire(self) -> Wire:
        """How messages travel, for one process."""
        return Lines() if self.command else Frames()

    @property
    def forks(self) -> bool:
        """Return whether its processes are forks. A plain fork would copy a process in which other threads run."""
        return self.fork and "forkserver" in multiprocessing.get_all_start_methods()

    @property
    def environ(self) -> dict[str, str]:
        """All variables of its processes. One arena: what a second thread reserves would count as memory taken."""
        return {**bare_environment(*self.variables), "MALLOC_ARENA_MAX": "1", **self.environment}

    @property
    def hello(self) -> dict[str, Any]:
        """The first message to a process."""
        return {
            "program": self.name,
            "given": dict(self.given),
            "path": [entry for entry in sys.path if entry] if self.path is None else self.path,
            "environment": self.environ if self.forks else None,
            "limits": dict(self.limits),
            "sealed": self.sealed,
            "niceness": self.niceness,
            "idle_seconds": self.idle_seconds,
            "frame_bytes": self.answer_bytes,
        }


def bare_environment(*more: str) -> dict[str, str]:
    """The variables that any program needs, and those named in `more` (upper case): no password, no token."""
    wanted = {*_NEEDED, *more}
    return {name: value for name, value in os.environ.items() if name.upper() in wanted}
