"""How much memory a process and all that it started take: for limits that the system does not keep itself."""

from __future__ import annotations

import os
import subprocess

from webapp.children import family


def resident_bytes(pid: int) -> int:
    """What a process and its descendants keep in memory, in bytes; 0 where the system does not tell."""
    if not (family.PROC / "self" / "statm").exists():
        return _by_ps(pid)
    return sum(map(_resident, family.family(pid)))


def _resident(pid: int) -> int:
    try:
        return int((family.PROC / str(pid) / "statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _by_ps(pid: int) -> int:
    """What `ps` says of the process alone, as on macOS."""
    command = ["ps", "-o", "rss=", "-p", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return 0
    words = done.stdout.split()
    return 1024 * int(words[0]) if words and words[0].isdecimal() else 0
