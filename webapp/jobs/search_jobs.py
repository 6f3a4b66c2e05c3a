"""Searches as jobs: all that are running, waiting or over, in the one process that has them, each in a child.

Searching is pure Python and would take the interpreter from every request of this process, so it never runs here. Nor
are cases and results read here: they come and go as JSON in bytes, known by a key.
Up to `find_processes` run at a time. A search that is over stays as long as the budget of `find_cache_bytes` allows.
Whoever asks for one that is not here starts it, so nothing is stored.

A search that nobody asks about for a minute is given up. At most MOST_WAITING wait, each with its case in memory.
"""

from __future__ import annotations

import hashlib
import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from threading import Semaphore
from typing import Any

from webapp.cache import ByteCache
from webapp.children.endings import ChildError, Ending
from webapp.children.jobs import Failure, Job, Jobs, Kind
from webapp.children.program import Program
from webapp.engines.entered import engine_reply
from webapp.jobs.search_program import CLOCK_TIMES, settings_of_child
from webapp.settings import ENV_PREFIX, Settings

PROGRAM = "webapp.jobs.search_program"
MOST_WAITING = 32
IDLE_SECONDS = 60.0
PATIENCE_SECONDS = 20.0  # of work besides: for a first replay that is slow, and for writing up

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
TIMES = 5  # as much as its JSON a result takes in memory where it is read, about


class Crowded(Exception):  # noqa: N818 - what happened, not what went wrong
    """More searches are asked for than may wait."""


@dataclass(slots=True, frozen=True)
class Asked:
    """A case by its key, with its JSON where it may have to be searched. `entered`: of an entered engine."""

    key: str
    case: bytes = field(default=b"", repr=False)
    entered: bool = False


@dataclass(slots=True, frozen=True)
class Written:
    """A result as JSON. `digest` tells it from another one."""

    text: bytes
    digest: str


_Job = Job[dict[str, Any], Written]


class SearchJobs(Jobs[Asked, dict[str, Any], Written]):
    """All searches. At most `waiters` may wait for results at a time, half as many as the server has `threads`."""

    noun = "search"

    def __init__(self, settings: Settings, program: str = PROGRAM) -> None:
        kept = ByteCache[_Job](settings.find_cache_bytes, lambda job: job.weight)
        super().__init__(
            running=settings.find_processes,
            waiting=MOST_WAITING,
            kept=kept,
            weight=_FIXED_WEIGHT,
            patience=IDLE_SECONDS,
        )
        self._settings = settings
        self._seconds = settings.find_seconds + PATIENCE_SECONDS  # of work
        self._program = Program(
            program,
            limits={"DATA": settings.find_memory_bytes},
            niceness=_PRIORITY,
            answer_bytes=(settings.find_cache_bytes - _FIXED_WEIGHT) // TIMES,
            fork=True,
            patience=(CLOCK_TIMES * settings.find_seconds + PATIENCE_SECONDS) / self._seconds,
        )
        self.waiters = max(1, settings.threads // 2)
        self._places = Semaphore(self.waiters)

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What is to say of the search of `key`: state, ahead, progress, failure, digest, and its result as `raw`
        unless the digest is the one that whoever asks has. {} where there is none.

        First do what the question says: known: nothing; start, or start it `again`; cancel; wait so many `seconds`.
        {"full": True} where it cannot be started for all that wait, {"lacks": True} where it needs the case.
        """
        asked = Asked(question["key"], question.get("raw", b""), question.get("entered", False))
        if question["do"] == "start":
            job = self.known(asked)
            if not asked.case and (job is None or (question["again"] and job.state in self.renewed)):
                return {"lacks": True}
            try:
                self.start(asked, again=question["again"])
            except Crowded:
                return {"full": True}
        elif question["do"] == "cancel":
            self.cancel(asked)
        elif question["do"] == "wait":
            self.wait(asked.key, question["seconds"])
        job = self.known(asked)
        return {} if job is None else self._reply(job, question.get("digest", ""))

    def key_of(self, given: Asked) -> str:
        return given.key

    def may_hang(self, given: Asked) -> bool:
        """A search of an entered engine: its parsers are anybody's."""
        return given.entered

    def full(self) -> Exception:
        return Crowded()

    def work(self, job: _Job, given: Asked) -> Written | Failure:
        request = {"settings": settings_of_child(self._settings), "raw": given.case}
        reply = partial(engine_reply, cancelled=job.is_unwanted)
        answer = job.ask(self._program, "find", request, seconds=self._seconds, read=dict, on_question=reply)
        if "failure" in answer:
            return Failure(**answer["failure"])
        job.weight += len(answer["raw"])
        return Written(answer["raw"], hashlib.sha256(answer["raw"]).hexdigest())

    def wait(self, key: str, seconds: float, gone: Callable[[], bool] = bool) -> None:
        """Wait for a result, until whoever asks is `gone` at most; not at all where as many wait already as may."""
        job = self.known(Asked(key))
        if job is not None and not job.over and self._places.acquire(blocking=False):
            try:
                if not job.wait(seconds, gone) and math.isinf(seconds):
                    job.leave()  # a page asks again; who waited for all of it and is gone does not
            finally:
                self._places.release()

    def _reply(self, job: _Job, digest: str) -> dict[str, Any]:
        # The state first: a job that ends has its failure and its result before it says so.
        reply: dict[str, Any] = {"state": job.state, "ahead": self.ahead(job), "progress": job.progress}
        reply["failure"] = None if job.failure is None else asdict(job.failure)
        if job.result is None:
            return reply
        reply["digest"] = job.result.digest
        return reply if digest == job.result.digest else {**reply, "raw": job.result.text}

    def failure_of(self, error: Exception) -> Failure:
        """Nothing of the code reaches whoever asked; the log has it."""
        if not isinstance(error, ChildError):
            error = ChildError(Ending.ERROR, detail="".join(traceback.format_exception(error)))
        kind, words = _WORDS.get(error.ending, _WORDS[Ending.ERROR])
        code = error.code or 0
        how = f"killed by signal {-code}" if code < 0 else f"exit code {error.code}"
        words = words.format(error=error, prefix=ENV_PREFIX, how=how)
        return Failure(kind, words, detail=error.detail or error.message)
