"""What a worker started, and how much all of it worked.

On Linux a worker is made to keep the orphans of its family (PR_SET_CHILD_SUBREAPER of linux/prctl.h, which the program
that it becomes inherits), so that who left its group, its session and all its parents is still a descendant. Whoever
was seen once is found again when the worker is gone. Elsewhere nobody is found: then only the group is ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from webapp.children import family

_KEEP_ORPHANS = 36
_ROUNDS = 10
_ENDED = "ZX"  # states of what has ended, and nobody took leave of
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None


class Being(NamedTuple):
    """A process: its id, which another one may have later, the moment it began, and its name."""

    pid: int
    since: str
    name: str


def keep_orphans() -> None:
    """Between the fork and the program of a worker, where nothing may be loaded any more: be the parent of orphans."""
    if _PRCTL is not None:
        _PRCTL(_KEEP_ORPHANS, 1, 0, 0, 0)


class Descendants:
    """Those of one process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen: frozenset[Being] = frozenset()

    def living(self) -> frozenset[Being]:
        """Those that live now, as far as they are found."""
        found = {being for pid in family.family(self._pid) if pid != self._pid and (being := _being(pid)) is not None}
        self._seen = frozenset(found | {one for one in self._seen - found if _being(one.pid) == one})
        return self._seen

    def end(self) -> None:
        """End all of them, and those that they start meanwhile."""
        for _ in range(_ROUNDS):
            if not (living := self.living()):
                return
            end(living)

    def worked(self) -> float:
        """For how many seconds they and the process itself were at work so far."""
        return sum([family.worked(pid) or 0.0 for pid in (self._pid, *[one.pid for one in self.living()])])


def end(beings: Iterable[Being]) -> None:
    """End these, where they are still who they were."""
    for one in beings:
        with suppress(OSError):
            if _being(one.pid) == one:
                os.kill(one.pid, signal.SIGKILL)


def _being(pid: int) -> Being | None:
    """Who has an id; None where nobody that lives does."""
    name, fields = family.told(pid)
    return Being(pid, fields[19], name) if len(fields) > 19 and fields[0] not in _ENDED else None
