"""One search in one process: started, listened to, and gone when this returns."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from threading import Lock
from time import monotonic

from parsers.cases.find import CaseFound
from parsers.cases.model import Case
from parsers.search.found import Progress
from webapp.finding import failure as failures
from webapp.finding.child import weight, work
from webapp.finding.failure import Failure
from webapp.finding.job import Job
from webapp.finding.search import MakeSearch
from webapp.settings import Settings

LOOK_SECONDS = 0.2  # how long a cancelled search may go on
PATIENCE_SECONDS = 20.0  # and as long as the deadline again: for a first replay that is slow, and for writing up
GOODBYE_SECONDS = 2.0

Last = Failure | CaseFound
End = Callable[[Last, int], None]

_starting = Lock()


def context() -> ForkServerContext | SpawnContext:
    """A fork server has our modules loaded and no thread, so a child is there in milliseconds and inherits no lock.

    Where there is none, every child is a new interpreter. Plain fork would copy a process in which other threads run.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["webapp.finding.child"])
    return found


def run(job: Job, search: MakeSearch, case: Case, settings: Settings, end: End) -> None:
    """Search for a job; `end` is told the last word as soon as it is there. A job that is over is stopped at once."""
    way = context()
    receiver, sender = way.Pipe(duplex=False)
    with receiver:
        with sender, _starting:
            process = way.Process(target=work, args=(sender, search, case, settings), daemon=True)
            process.start()
        job.pid = process.pid
        try:
            last = _heard(job, receiver, process, monotonic() + 2 * settings.find_seconds + PATIENCE_SECONDS)
            end(*(last or (failures.NEGLECTED if job.idle else failures.TOO_LATE, 0)))
            process.join(GOODBYE_SECONDS if last else 0)
        finally:
            process.kill()
            process.join()
            process.close()
            job.pid = None


def _heard(job: Job, receiver: Connection, process: BaseProcess, latest: float) -> tuple[Last, int] | None:
    """Take in progress until the last word, which comes with its weight; None where the search is to be stopped."""
    while not job.over and not job.idle and monotonic() < latest:
        if not receiver.poll(LOOK_SECONDS):
            continue
        try:
            data = receiver.recv_bytes()
        except (EOFError, OSError):  # the second: in the middle of a message
            process.join(GOODBYE_SECONDS)
            return failures.ended(process.exitcode), 0
        message = pickle.loads(data)  # noqa: S301 - written by our own child, over a pipe nobody else has
        if not isinstance(message, Progress):
            return message, weight(data)
        job.progress = message
    return None
