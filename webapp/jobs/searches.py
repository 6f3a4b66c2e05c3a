"""Searches, found again by the content of their case, each in a child.

Searching is pure Python and would take the interpreter from every request of this process, so it never runs here. Up to
`find_processes` run at a time. A search that is over stays as long as the budget of `find_cache_bytes` allows. Whoever
asks for one that is not here starts it, so any worker can serve any request and nothing is stored.

A search that nobody asks about for a minute is given up. At most MOST_WAITING wait, each with its case in memory.
"""

from __future__ import annotations

import hashlib
import traceback
from threading import Semaphore

from werkzeug.exceptions import RequestEntityTooLarge, ServiceUnavailable

from parsers.cases.case import Case, CaseError
from parsers.cases.find import CaseFound
from parsers.search.found import Progress
from parsers.vocabulary.types import UsageError
from webapp.cache import ByteCache
from webapp.children.child import ChildError, Ending, Program
from webapp.children.jobs import Failure, Job, Jobs, Kind
from webapp.jobs.search_program import read_result
from webapp.settings import ENV_PREFIX, Settings

MOST_WAITING = 32
IDLE_SECONDS = 60.0
PATIENCE_SECONDS = 20.0  # and twice the deadline: for a first replay that is slow, and for writing up

_WORDS: dict[Ending, tuple[Kind, str]] = {
    Ending.ERROR: ("bug", "The search failed on this case. The server's log says why."),
    Ending.ENDED: ("ended", "The process of the search ended before it had a result ({how}). Try a shorter output."),
    Ending.LATE: (
        "late",
        "The search had no result in time: the output is too long to be replayed often. Cut it shorter, or give"
        " {prefix}FIND_SECONDS a larger number.",
    ),
    Ending.MEMORY: (
        "memory",
        "The search needs more memory than {prefix}FIND_MEMORY_BYTES allows. Cut the output shorter.",
    ),
    Ending.LARGE: ("limit", "The result has {error.size:,} bytes, more than {prefix}FIND_CACHE_BYTES can keep."),
}
_PRIORITY = 5  # added to the niceness: requests go first
_FIXED_WEIGHT = 20_000  # of a job, in bytes
_TIMES = 5  # as much as its JSON a result takes in memory, about

SearchJob = Job[Progress, CaseFound]


class SearchError(Exception):
    """A search ended without a result, for no fault of the case; says why."""


class Busy(ServiceUnavailable):
    """More searches are asked for than this server can take on."""

    def __init__(self) -> None:
        super().__init__("Too many searches are waiting already. Try again in a minute.", retry_after=60)


class Searches(Jobs[Case, Progress, CaseFound]):
    """All searches of this process. At most `threads` of the server may wait for results, half of them."""

    noun = "search"

    def __init__(self, settings: Settings, program: str = "webapp.jobs.search_program") -> None:
        kept = ByteCache[SearchJob](settings.find_cache_bytes, lambda job: job.weight)
        super().__init__(
            running=settings.find_processes,
            waiting=MOST_WAITING,
            kept=kept,
            weight=_FIXED_WEIGHT,
            patience=IDLE_SECONDS,
        )
        self._settings = settings
        self._program = Program(
            program,
            limits={"DATA": settings.find_memory_bytes},
            niceness=_PRIORITY,
            answer_bytes=(settings.find_cache_bytes - _FIXED_WEIGHT) // _TIMES,
            fork=True,
        )
        self._places = Semaphore(max(1, settings.threads // 2))

    def find(self, case: Case) -> CaseFound:
        """Search and wait for the result. Raises what went wrong, as if the search had run here, and Busy where half
        of the server waits already."""
        job = self.start(case, again=True)
        if not job.over:
            if not self._places.acquire(blocking=False):
                raise Busy
            try:
                job.wait()
            finally:
                self._places.release()
        if job.result is not None:
            return job.result
        assert job.failure is not None, "a job that is over has one of the two"  # noqa: S101
        raise error_of(job.failure)

    def key_of(self, given: Case) -> str:
        """The same for cases of the same content."""
        return hashlib.sha256(given.model_dump_json(exclude_defaults=True).encode()).hexdigest()

    def full(self) -> Exception:
        return Busy()

    def work(self, job: SearchJob, given: Case) -> CaseFound | Failure:
        request = {
            # It has no use for the address of the database, which may hold a password.
            "settings": self._settings.model_dump(mode="json", exclude={"database_url"}),
            "case": given.model_dump(mode="json", by_alias=True, exclude_unset=True),
        }
        seconds = 2 * self._settings.find_seconds + PATIENCE_SECONDS
        answer = job.ask(self._program, "find", request, seconds=seconds, read=lambda line: Progress(**line))
        if "failure" in answer:
            return Failure(**answer["failure"])
        job.weight += _TIMES * len(answer["found"])
        return read_result(answer["found"])

    def failure_of(self, error: Exception) -> Failure:
        """Nothing of the code reaches whoever asked; the log has it."""
        if not isinstance(error, ChildError):
            error = ChildError(Ending.ERROR, detail="".join(traceback.format_exception(error)))
        kind, words = _WORDS.get(error.ending, _WORDS[Ending.ERROR])
        code = error.code or 0
        how = f"killed by signal {-code}" if code < 0 else f"exit code {error.code}"
        words = words.format(error=error, prefix=ENV_PREFIX, how=how)
        return Failure(kind, words, detail=error.detail or error.message)


def error_of(failure: Failure) -> Exception:
    """The exception to raise where a request waits for the result."""
    match failure.kind:
        case "case":
            return CaseError(failure.message, failure.pointer)
        case "limit" | "late" | "memory":
            return RequestEntityTooLarge(failure.message)
        case "cancelled":
            return ServiceUnavailable(failure.message)
        case "usage":
            return UsageError(failure.message)
    return SearchError(failure.message)
