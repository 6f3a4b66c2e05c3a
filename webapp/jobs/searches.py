"""Searches of cases: started, asked about, waited for, found again by the content of their case.

They live in one process (`search_jobs`). Where that is another one, it is asked; it answers the same questions.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from werkzeug.exceptions import RequestEntityTooLarge, ServiceUnavailable

from parsers.cases.case import Case, CaseError
from parsers.cases.find import CaseFound
from parsers.search.found import Progress
from parsers.vocabulary.types import UsageError
from webapp.cache import ByteCache
from webapp.children.jobs import Failure, State
from webapp.engines import ENGINES
from webapp.engines.entered import engine_stamp
from webapp.jobs.search_jobs import PROGRAM, TIMES, SearchJobs
from webapp.jobs.search_program import read_result
from webapp.settings import Settings

Ask = Callable[[dict[str, Any]], Mapping[str, Any]]
Pair = tuple[Case, Case]  # one output, by two parsers
PAIR_KEY = "between "


class SearchError(Exception):
    """A search ended without a result, for no fault of the case; says why."""


class Busy(ServiceUnavailable):
    """More searches are asked for than this server can take on."""

    def __init__(self) -> None:
        super().__init__("Too many searches are waiting already. Try again in a minute.", retry_after=60)


@dataclass(slots=True)
class SearchJob:
    """The search of a case as it stood when somebody asked last. `ahead`: how many get a process before it does. That
    between two parsers has its result in `between`, as between_json gives it."""

    key: str
    state: State = "waiting"
    ahead: int = 0
    progress: Progress | None = None
    result: CaseFound | None = None
    between: dict[str, Any] | None = None
    failure: Failure | None = None
    ask: Callable[[SearchJob, dict[str, Any]], object] = field(default=lambda *_: None, repr=False)

    @property
    def over(self) -> bool:
        """Return whether nothing more will come."""
        return self.result is not None or self.between is not None or self.failure is not None

    def wait(self, seconds: float = math.inf) -> bool:
        """Wait until it is over, at most so long; says whether it is. Too many who wait are not waited for."""
        if not self.over:
            self.ask(self, {"do": "wait", "seconds": seconds})
        return self.over


class Searches:
    """The searches of a server, for whoever has cases. `ask` asks the process that has them, else they are here."""

    def __init__(self, settings: Settings, program: str = PROGRAM, *, ask: Ask | None = None) -> None:
        self.jobs: SearchJobs | None = None
        if ask is None:
            self.jobs = SearchJobs(settings, program)
            ask = self.jobs.answer
        self.ask = ask
        self._read = ByteCache[tuple[str, CaseFound | dict[str, Any], int]](
            settings.find_cache_bytes, lambda known: known[2]
        )

    def close(self) -> None:
        """Cancel all that are here."""
        if self.jobs is not None:
            self.jobs.close()

    def find(self, case: Case) -> CaseFound:
        """Search and wait for the result. Raises what went wrong, as if the search had run here, and Busy where half
        of the server waits already."""
        job = self.start(case, again=True)
        job.wait()
        if job.result is not None:
            return job.result
        raise Busy if job.failure is None else error_of(job.failure)

    def find_between(self, pair: Pair) -> dict[str, Any]:
        """Search for an output on which two parsers differ, and wait for what between_json gives. Raises as `find`."""
        job = self.start_between(pair, again=True)
        job.wait()
        if job.between is not None:
            return job.between
        raise Busy if job.failure is None else error_of(job.failure)

    def start_between(self, pair: Pair, *, again: bool = False) -> SearchJob:
        """The search between two cases of one output; see `start`."""
        return self._started(SearchJob(_key_of_pair(pair)), lambda: written_pair(pair), pair, again=again)

    def known(self, case: Case) -> SearchJob | None:
        """The search of a case if it is here; nothing is begun."""
        job = SearchJob(_key_of(case))
        return job if self._refresh(job, {"do": "known"}) else None

    def start(self, case: Case, *, again: bool = False) -> SearchJob:
        """The search of a case, begun unless it is here; with `again` one that failed or was cancelled is begun anew.

        Raises Busy where as many run and wait as may.
        """
        return self._started(SearchJob(_key_of(case)), lambda: written_case(case), [case], again=again)

    def _started(
        self, job: SearchJob, written: Callable[[], bytes], cases: Iterable[Case], *, again: bool
    ) -> SearchJob:
        if not self._refresh(job, {"do": "start", "again": again}):
            entered = any(case.parser.engine not in {None, *ENGINES} for case in cases)
            self._refresh(job, {"do": "start", "again": again, "raw": written(), "entered": entered})
        return job

    def cancel(self, case: Case) -> None:
        """Stop a search. Its process is gone a moment later."""
        self._refresh(SearchJob(_key_of(case)), {"do": "cancel"})

    def cancel_between(self, pair: Pair) -> SearchJob:
        """Stop a search between two cases."""
        job = SearchJob(_key_of_pair(pair))
        self._refresh(job, {"do": "cancel"})
        return job

    def ahead(self, job: SearchJob) -> int:
        """Return how many searches get a process before this one does."""
        return job.ahead

    def _refresh(self, job: SearchJob, question: dict[str, Any]) -> bool:
        """Ask about a search and note the reply; False where there is none, or where its case is needed."""
        known = self._read.peek(job.key)
        reply = self.ask({**question, "key": job.key, "digest": known[0] if known else ""})
        if "full" in reply:
            raise Busy
        if "state" not in reply:
            return False
        job.ask = self._refresh
        job.state, job.ahead = reply["state"], reply["ahead"]
        job.progress = None if reply["progress"] is None else Progress(**reply["progress"])
        job.failure = None if reply["failure"] is None else Failure(**reply["failure"])
        if "raw" in reply:
            read = json.loads if job.key.startswith(PAIR_KEY) else read_result
            known = reply["digest"], read(reply["raw"]), TIMES * len(reply["raw"])
            self._read.put(job.key, known)
        found = known[1] if known is not None and "digest" in reply else None
        job.result, job.between = (None, found) if isinstance(found, dict) else (found, None)
        return True


def _key_of(case: Case) -> str:
    """The same for cases of the same content, as long as their engine is the same."""
    written = case.model_dump_json(exclude_defaults=True) + engine_stamp(case.parser.engine)
    return hashlib.sha256(written.encode()).hexdigest()


def _key_of_pair(pair: Pair) -> str:
    return PAIR_KEY + hashlib.sha256(" ".join(map(_key_of, pair)).encode()).hexdigest()


def written_case(case: Case) -> bytes:
    """A case as a search wants it."""
    return json.dumps(case.model_dump(mode="json", by_alias=True, exclude_unset=True)).encode()


def written_pair(pair: Pair) -> bytes:
    """Two cases as a search between them wants them."""
    return b"[" + b", ".join(map(written_case, pair)) + b"]"


def error_of(failure: Failure) -> Exception:
    """The exception to raise where a request waits for the result."""
    match failure.kind:
        case "case":
            return CaseError(failure.message, failure.pointer)
        case "limit" | "memory":
            return RequestEntityTooLarge(failure.message)
        case "late" | "cancelled" | "ended":  # another time it may be in time
            return ServiceUnavailable(failure.message)
        case "usage":
            return UsageError(failure.message)
    return SearchError(failure.message)
