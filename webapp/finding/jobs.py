"""Jobs: one search each, found again by the content of its case, run in a process that can be killed.

Searching is pure Python and would take the interpreter from every request of this process, so it never runs here. Up to
`find_processes` threads each start one child at a time and listen to it; only that thread touches the child. A job that
is over stays as long as the budget of `find_cache_bytes` allows. Whoever asks for a job that is not here starts it, so
any worker can serve any request and nothing is stored.

A job that nobody asks about for a minute is given up. At most MOST_WAITING jobs wait, each with its case in memory.
"""

from __future__ import annotations

import hashlib
import logging
from functools import partial
from threading import Lock, Semaphore, Thread, current_thread
from typing import NamedTuple

from werkzeug.exceptions import ServiceUnavailable

from parsers.cases.find import CaseFound
from parsers.cases.model import Case
from webapp.finding import failure as failures
from webapp.finding.child import FIXED_WEIGHT
from webapp.finding.job import Job
from webapp.finding.process import Last, run
from webapp.finding.search import MakeSearch, case_search
from webapp.runs.cache import ByteCache
from webapp.settings import Settings

MOST_WAITING = 32

log = logging.getLogger(__name__)


class Busy(ServiceUnavailable):
    """More searches are asked for than this server can take on."""

    def __init__(self) -> None:
        super().__init__("Too many searches are waiting already. Try again in a minute.", retry_after=60)


class Waiting(NamedTuple):
    """A job that has no process yet, and its case."""

    job: Job
    case: Case


class Jobs:
    """All searches of this process. Safe to share between threads; nothing runs before the first job."""

    def __init__(self, settings: Settings, search: MakeSearch = case_search) -> None:
        self.settings = settings
        self._search = search
        self._lock = Lock()
        self._active: dict[str, Job] = {}
        self._waiting: list[Waiting] = []
        self._kept: ByteCache[Job] = ByteCache(settings.find_cache_bytes, lambda job: job.weight)
        self._threads: set[Thread] = set()
        self._places = Semaphore(max(1, settings.threads // 2))

    def start(self, case: Case, *, again: bool = False) -> Job:
        """The job of this case, started unless it is here. `again` starts one anew that failed or was cancelled.

        Raises Busy when too many wait.
        """
        key = key_of(case)
        with self._lock:
            job = self._known(key)
            if job is None or (again and job.failure is not None):
                job = self._begin(key, case)
            job.touch()
            return job

    def known(self, case: Case) -> Job | None:
        """The job of this case if it is here; nothing is started."""
        with self._lock:
            return self._known(key_of(case))

    def find(self, case: Case) -> CaseFound:
        """Search and wait for the result. Raises what went wrong, and Busy where half of the server waits already."""
        job = self.start(case, again=True)
        if not job.over:
            if not self._places.acquire(blocking=False):
                raise Busy
            try:
                job.wait()
            finally:
                self._places.release()
        return job.found()

    def cancel(self, key: str) -> bool:
        """Stop a job; says whether there was one to stop. Its process is gone a moment later."""
        with self._lock:
            job = self._active.get(key)
            if job is not None:
                self._end(job, failures.CANCELLED)
            return job is not None

    def ahead(self, job: Job) -> int:
        """How many jobs get a process before this one does."""
        with self._lock:
            return next((place for place, one in enumerate(self._waiting) if one.job is job), 0)

    def close(self) -> None:
        """Cancel everything, and wait until no process is left."""
        with self._lock:
            for job in list(self._active.values()):
                self._end(job, failures.CANCELLED)
            threads = list(self._threads)
        for thread in threads:
            thread.join()

    def _known(self, key: str) -> Job | None:
        return self._active.get(key) or self._kept.peek(key)

    def _begin(self, key: str, case: Case) -> Job:
        if len(self._waiting) >= MOST_WAITING:
            raise Busy
        job = self._active[key] = Job(key, FIXED_WEIGHT)
        self._waiting.append(Waiting(job, case))
        if len(self._threads) < self.settings.find_processes:
            thread = Thread(target=self._work, name="find", daemon=True)
            self._threads.add(thread)
            thread.start()
        return job

    def _work(self) -> None:
        """The life of a thread: jobs one after the other, until none waits."""
        while (one := self._next()) is not None:
            end = partial(self._last, one.job)
            try:
                run(one.job, self._search, one.case, self.settings, end)
            except Exception as error:
                end(failures.failure_of(error))

    def _next(self) -> Waiting | None:
        with self._lock:
            for one in [one for one in self._waiting if one.job.idle]:
                self._end(one.job, failures.NEGLECTED)
            if not self._waiting:
                self._threads.discard(current_thread())
                return None
            one = self._waiting.pop(0)
            one.job.state = "running"
            return one

    def _last(self, job: Job, last: Last, weight: int = 0) -> None:
        if isinstance(last, failures.Failure) and last.detail:
            log.error("A search failed:\n%s", last.detail)
        with self._lock:
            self._end(job, last, weight)

    def _end(self, job: Job, last: Last, weight: int = 0) -> None:
        """Only the first word counts: a job that was cancelled stays so, whatever its process says later."""
        if job.over:
            return
        job.end(last, weight)
        del self._active[job.key]
        self._waiting = [one for one in self._waiting if one.job is not job]
        self._kept.put(job.key, job)


def key_of(case: Case) -> str:
    """The same for cases of the same content."""
    return hashlib.sha256(case.model_dump_json(exclude_defaults=True).encode()).hexdigest()
