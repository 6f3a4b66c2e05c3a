"""A job: the search of one case, as everybody but its process sees it."""

from __future__ import annotations

from threading import Event
from time import monotonic
from typing import Literal

from parsers.cases.find import CaseFound
from parsers.search.found import Progress
from webapp.finding.failure import Failure

IDLE_SECONDS = 60.0

State = Literal["waiting", "running", "done", "failed", "cancelled"]


class Job:
    """The search of one case. `progress` is the latest; `result` or `failure` is there once `state` says so.

    `pid` is the process that searches, None before and once it is gone. `weight` is about what the job takes in memory.
    """

    def __init__(self, key: str, weight: int) -> None:
        self.key = key
        self.state: State = "waiting"
        self.progress: Progress | None = None
        self.result: CaseFound | None = None
        self.failure: Failure | None = None
        self.pid: int | None = None
        self.weight = weight
        self._asked = monotonic()
        self._over = Event()

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self._over.is_set()

    @property
    def idle(self) -> bool:
        """Whether nobody has asked about it for long."""
        return monotonic() > self._asked + IDLE_SECONDS

    def touch(self) -> None:
        """Somebody wants it."""
        self._asked = monotonic()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over, at most so long; says whether it is. Who waits is asking."""
        left = None if seconds is None else monotonic() + seconds
        while not self.over:
            self.touch()
            rest = IDLE_SECONDS / 2 if left is None else min(IDLE_SECONDS / 2, left - monotonic())
            if rest <= 0:
                break
            self._over.wait(rest)
        return self.over

    def found(self) -> CaseFound:
        """The result of a job that is over. Raises what came instead, as if the search had run here."""
        if self.result is not None:
            return self.result
        assert self.failure is not None, "the job is not over"  # noqa: S101 - a caller's mistake
        raise self.failure.error

    def end(self, last: Failure | CaseFound, weight: int = 0) -> None:
        """The last word; `weight` is what it takes in memory."""
        if isinstance(last, Failure):
            self.failure, self.state = last, "cancelled" if last.kind == "cancelled" else "failed"
        else:
            self.result, self.state = last, "done"
        self.weight += weight
        self._over.set()
