"""A process and what it started: who that is, whether any of it is at work, and what of it left the family.

Linux tells in /proc. Elsewhere a process has no family that could be found, and nobody knows whether it sleeps.
"""

from __future__ import annotations

import math
import os
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

PROC = Path("/proc")
TAG = "TOOLCALL_ENGINE_WORKER"  # in the environment of what is ended with all that it started
_MOST = 500  # processes
_ROUNDS = 10
_PAUSE = 0.005  # seconds between two looks at a process that may have ended
_BUSY = "RDTt"  # runs or waits for a processor; waits for a disk; was stopped, by a person or a debugger


def family(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        yield one
        for task in _tasks(one):
            try:
                words = (PROC / str(one) / "task" / task / "children").read_text("ascii").split()
            except OSError:
                continue
            found += [int(word) for word in words][: _MOST - len(found)]


def told(pid: int) -> tuple[str, list[str]]:
    """The name of a process, and what stands behind that in its `stat`, its state first; nothing of one that is gone or
    where the system does not tell."""
    try:
        text = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return "", []
    head, _, rest = text.rpartition(") ")
    return head.partition("(")[2], rest.split()


def worked(pid: int) -> float | None:
    """For how many seconds a process was at work; None of one that is gone, or where the system does not tell."""
    _, fields = told(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if len(fields) > 12 else None


def sleeps(pid: int) -> bool:
    """Whether no thread of a process or of its descendants has anything to do. False where the system does not tell."""
    states = [_state(one, task) for one in family(pid) for task in _tasks(one)]
    return bool(states) and not any(state in _BUSY for state in states)


class Group:
    """A process that leads a group of its own, and all of that. The group is ended before leave is taken of its leader:
    afterwards its number may be another one's."""

    def __init__(self, leader: subprocess.Popen[bytes]) -> None:
        self._leader = leader
        self._leaving = Lock()

    def kill(self) -> None:
        """End all of it; nothing where its leader has been taken leave of."""
        with self._leaving, suppress(OSError):
            if self._leader.returncode is None:
                os.killpg(self._leader.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Keep its leader from starting anything more."""
        with self._leaving, suppress(OSError):
            if self._leader.returncode is None:
                os.kill(self._leader.pid, signal.SIGSTOP)

    def wait(self, seconds: float | None) -> int | None:
        """The exit code of its leader, once it has ended, which ends all others too; None where it has not by then."""
        end = math.inf if seconds is None else monotonic() + seconds
        while self._leader.returncode is None and not self._has_ended():
            if monotonic() >= end:
                return None
            sleep(_PAUSE)
        self.kill()
        with self._leaving:
            return self._leader.wait()

    def _has_ended(self) -> bool:
        """Whether the leader has ended; leave is not taken of it."""
        if not hasattr(os, "waitid"):
            return self._leader.poll() is not None
        try:
            return os.waitid(os.P_PID, self._leader.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except OSError:
            return True


def end_strays(tag: str, pipes: Mapping[int, bool] | None = None) -> None:
    """End what has the tag in its environment, or holds the other end of one of these pipes, by inodes and whether
    that end is written to: a process that began a session of its own is in no group of ours, and may have another
    environment. Our own end has whatever was forked from us and is not another program yet."""
    for _ in range(_ROUNDS):
        line = f"{TAG}={tag}".encode()
        found = [pid for pid in _processes() if _has_tag(pid, line) or _holds(pid, pipes or {})]
        if not found:
            return
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _tasks(pid: int) -> list[str]:
    """The threads of a process; none of one that is gone by now."""
    try:
        return os.listdir(PROC / str(pid) / "task")
    except OSError:
        return []


def _state(pid: int, task: str) -> str:
    """The letter that the system has for it. One that is gone by now counts as at work: nobody knows."""
    try:
        return (PROC / str(pid) / "task" / task / "stat").read_text("utf-8", "replace").rpartition(") ")[2][:1] or "R"
    except OSError:
        return "R"


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir(PROC) if name.isdecimal() and int(name) != os.getpid()]
    except OSError:
        return []


def _has_tag(pid: int, line: bytes) -> bool:
    """Whether a living process has this line in its environment; those of other users do not tell. A dead one that
    nobody took leave of has none."""
    try:
        return line in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _holds(pid: int, pipes: Mapping[int, bool]) -> bool:
    """Whether a process has the other end of one of these pipes open; those of other users do not tell."""
    folder = PROC / str(pid) / "fd"
    names = {f"pipe:[{inode}]": written for inode, written in pipes.items()}
    try:
        for name in os.listdir(folder) if names else ():
            written = names.get(os.readlink(folder / name))
            if written is not None and written == bool(os.lstat(folder / name).st_mode & stat.S_IWUSR):
                return True
    except OSError:
        return False
    return False
