"""Jobs: work in children that somebody waits for or asks about, found again by a key.

Each job that runs has a thread, which asks its child and listens to it; others wait in line, up to a number. A job that
is over stays as long as the cache has room, so whoever asks again finds what came of it. One that nobody asks about for
longer than the patience of its jobs is given up.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from threading import Event, Lock, Thread, current_thread
from time import monotonic
from typing import Any, ClassVar, Generic, Literal, TypeVar

from webapp.cache import ByteCache
from webapp.children.child import Answer, Child
from webapp.children.endings import ChildError, Ending
from webapp.children.program import Program

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Kind = Literal["case", "usage", "limit", "late", "memory", "ended", "bug", "cancelled"]

LEFT_SECONDS = 3.0  # a job goes on so long for somebody else when the one who waited has left
_LOOK_SECONDS = 0.5  # how long somebody may be gone who still waits

Given = TypeVar("Given")
Progress = TypeVar("Progress")
Result = TypeVar("Result")

log = logging.getLogger(__name__)


@dataclass(slots=True, frozen=True)
class Failure:
    """Why a job has no result. `message` is for people, `pointer` a place in what was given, `detail` for the log."""

    kind: Kind
    message: str
    pointer: str = ""
    detail: str = ""


class Job(Generic[Progress, Result]):
    """One piece of work. `progress` is the latest; `result` or `failure` is there once `state` says so.

    `weight` is what the job costs in the cache of its jobs; whoever works may add to it.
    """

    def __init__(self, key: str, weight: int = 1, patience: float = math.inf) -> None:
        self.key = key
        self.state: State = "waiting"
        self.progress: Progress | None = None
        self.result: Result | None = None
        self.failure: Failure | None = None
        self.weight = weight
        self._patience = patience
        self._child: Child | None = None
        self._asked = monotonic()
        self._over = Event()

    @property
    def over(self) -> bool:
        """Return whether nothing more will come."""
        return self._over.is_set()

    @property
    def neglected(self) -> bool:
        """Return whether nobody has asked about it for too long."""
        return monotonic() > self._asked + self._patience

    def is_unwanted(self) -> bool:
        """Return whether nobody waits for what its child, or whom that asks, is at."""
        return self.over or self.neglected

    @property
    def pid(self) -> int | None:
        """The process at work, None before and once it is gone."""
        child = self._child
        return None if child is None else child.pid

    def touch(self) -> None:
        """Note that somebody asks about it."""
        self._asked = monotonic()

    def leave(self) -> None:
        """Note that whoever waited for it has left: unless somebody else asks about it, it is soon neglected."""
        self._asked = min(self._asked, monotonic() + LEFT_SECONDS - self._patience)

    def wait(self, seconds: float = math.inf, gone: Callable[[], bool] = bool) -> bool:
        """Wait until it is over, at most so long and while nobody is `gone`; says whether it is. Who waits asks."""
        latest = monotonic() + seconds
        while not self.over and (left := latest - monotonic()) > 0 and not gone():
            self.touch()
            self._over.wait(min(left, _LOOK_SECONDS))
        return self.over

    def ask(
        self,
        program: Program,
        task: str,
        request: Mapping[str, Any],
        *,
        seconds: float,
        read: Callable[[dict[str, Any]], Progress],
        on_question: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    ) -> Answer:
        """The answer of a child of its own, which is killed when the job is over or neglected. Raises ChildError.

        `read` makes the progress of the job of what the child says; `on_question` replies to what it asks.
        """

        def note(progress: dict[str, Any]) -> None:
            self.progress = read(progress)

        with Child(program) as self._child:
            how: dict[str, Any] = {"on_progress": note, "on_question": on_question, "cancelled": self.is_unwanted}
            return self._child.ask(task, request, seconds=seconds, **how)

    def end(self, last: Failure | Result) -> None:
        """Make it over."""
        if isinstance(last, Failure):
            self.failure, self.state = last, "cancelled" if last.kind == "cancelled" else "failed"
        else:
            self.result, self.state = last, "done"
        self._over.set()


class Jobs(ABC, Generic[Given, Progress, Result]):
    """Jobs of one kind, found by what they were given. Safe to share between threads; nothing runs before the first.

    At most `running` jobs run and `waiting` more wait; `kept` holds those that are over, of `weight` each at least.
    Those that may hang (`may_hang`) leave one place to others where there are two.
    `noun` is what a person calls such a job.
    """

    noun: ClassVar[str]
    renewed: ClassVar[Container[State]] = ("failed", "cancelled")

    def __init__(
        self,
        *,
        running: int,
        waiting: int,
        kept: ByteCache[Job[Progress, Result]],
        weight: int = 1,
        patience: float = math.inf,
    ) -> None:
        self._running = running
        self._most = running + waiting
        self._kept = kept
        self._weight = weight
        self._patience = patience
        self._lock = Lock()
        self._active: dict[str, Job[Progress, Result]] = {}
        self._waiting: list[tuple[Job[Progress, Result], Given]] = []
        self._threads: set[Thread] = set()
        self._most_hanging = max(running - 1, 1)
        self._hanging: set[str] = set()

    def may_hang(self, _given: Given) -> bool:
        """Whether a job is at somebody else's mercy."""
        return False

    @abstractmethod
    def key_of(self, given: Given) -> str:
        """The key of the job for what is given."""

    @abstractmethod
    def work(self, job: Job[Progress, Result], given: Given) -> Result | Failure:
        """The result of a job. It may raise anything."""

    @abstractmethod
    def failure_of(self, error: Exception) -> Failure:
        """The meaning of what was raised by the work."""

    @abstractmethod
    def full(self) -> Exception:
        """The exception to raise where as many jobs run and wait as may."""

    def start(self, given: Given, *, again: bool = False) -> Job[Progress, Result]:
        """The job for what is given, begun unless it is here; with `again` one in a state of `renewed` is begun anew.

        Raises `full` where as many run and wait as may.
        """
        key = self.key_of(given)
        with self._lock:
            job = self._known(key)
            if job is None or (again and job.state in self.renewed):
                job = self._begin(key, given)
            job.touch()
            return job

    def known(self, given: Given) -> Job[Progress, Result] | None:
        """The job for what is given if it is here; nothing is begun."""
        key = self.key_of(given)
        with self._lock:
            return self._known(key)

    def cancel(self, given: Given) -> bool:
        """Stop a job; says whether there was one to stop. Its process is gone a moment later."""
        key = self.key_of(given)
        with self._lock:
            job = self._active.get(key)
            if job is not None:
                self._end(job, self._cancelled)
            return job is not None

    def ahead(self, job: Job[Progress, Result]) -> int:
        """Return how many jobs get a process before this one does."""
        with self._lock:
            return next((place for place, (one, _) in enumerate(self._waiting) if one is job), 0)

    def close(self) -> None:
        """Cancel everything, and wait until no process is left."""
        with self._lock:
            for job in list(self._active.values()):
                self._end(job, self._cancelled)
        for thread in list(self._threads):
            thread.join()

    def _known(self, key: str) -> Job[Progress, Result] | None:
        return self._active.get(key) or self._kept.peek(key)

    def _begin(self, key: str, given: Given) -> Job[Progress, Result]:
        if len(self._active) >= self._most:
            raise self.full()
        job = self._active[key] = Job(key, self._weight, self._patience)
        self._waiting.append((job, given))
        if len(self._threads) < self._running:
            thread = Thread(target=self._run, name=self.noun, daemon=True)
            self._threads.add(thread)
            thread.start()
        return job

    def _run(self) -> None:
        """The life of a thread: jobs one after the other, until none waits."""
        while (following := self._next()) is not None:
            job, given = following
            last: Failure | Result
            try:
                last = self.work(job, given)
            except Exception as error:
                unwanted = isinstance(error, ChildError) and error.ending is Ending.CANCELLED
                last = self._neglect if unwanted else self.failure_of(error)
                if not unwanted and last.detail:
                    log.error("The %s failed:\n%s", self.noun, last.detail)
            with self._lock:
                self._end(job, last)

    @property
    def _cancelled(self) -> Failure:
        return Failure("cancelled", f"The {self.noun} was cancelled.")

    @property
    def _neglect(self) -> Failure:
        return Failure("cancelled", f"The {self.noun} was stopped: nobody asked for it any more.")

    def _next(self) -> tuple[Job[Progress, Result], Given] | None:
        with self._lock:
            for job in [job for job, _ in self._waiting if job.neglected]:
                self._end(job, self._neglect)
            self._hanging &= self._active.keys()
            crowded = len(self._hanging) >= self._most_hanging
            found = next((one for one in self._waiting if not (crowded and self.may_hang(one[1]))), None)
            if found is None:
                self._threads.discard(current_thread())
                return None
            job, given = found
            self._waiting.remove(found)
            if self.may_hang(given):
                self._hanging.add(job.key)
            job.state = "running"
            return job, given

    def _end(self, job: Job[Progress, Result], last: Failure | Result) -> None:
        """Only the first word counts: a job that was cancelled stays so, whatever comes of its work later."""
        if job.over:
            return
        job.end(last)
        del self._active[job.key]
        self._waiting = [(one, given) for one, given in self._waiting if one is not job]
        self._kept.put(job.key, job)
