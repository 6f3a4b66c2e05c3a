"""How much memory a process and all that it started take: for limits that the system does not keep itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_MOST = 500  # processes


def resident_bytes(pid: int) -> int:
    """What a process and its descendants keep in memory, in bytes; 0 where the system does not tell."""
    if not (_PROC / "self" / "statm").exists():
        return _by_ps(pid)
    return sum(map(_resident, _family(pid)))


def _resident(pid: int) -> int:
    try:
        return int((_PROC / str(pid) / "statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _family(pid: int) -> Iterator[int]:
    found = [pid]
    for one in found:
        yield one
        for task in _tasks(one):
            try:
                words = (_PROC / str(one) / "task" / task / "children").read_text("ascii").split()
            except OSError:
                continue
            found += [int(word) for word in words][: _MOST - len(found)]


def _tasks(pid: int) -> list[str]:
    """The threads of a process; none of one that is gone by now."""
    try:
        return os.listdir(_PROC / str(pid) / "task")
    except OSError:
        return []


def _by_ps(pid: int) -> int:
    """What `ps` says of the process alone, as on macOS."""
    command = ["ps", "-o", "rss=", "-p", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return 0
    words = done.stdout.split()
    return 1024 * int(words[0]) if words and words[0].isdecimal() else 0
