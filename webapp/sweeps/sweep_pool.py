"""Shards in processes of their own, so many at a time: what kills a process costs the one output that did it.

A child says which row it begins with. Where it ends without an answer, its shard is run once more by another one; a
row at which two have ended is lost, and all others are read. The first end alone proves nothing: somebody may have
ended the process. One that is silent for too long is ended here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from threading import Event, local
from time import monotonic
from typing import Any

from parsers.sweeps.shard import Outcome, outcome_of
from parsers.vocabulary.types import UsageError
from webapp.children.child import Child
from webapp.children.endings import ChildError, Ending
from webapp.children.process import preload
from webapp.children.program import Program
from webapp.sweeps.sweep_means import surroundings
from webapp.sweeps.sweep_program import task_json
from webapp.sweeps.swept import Task

PROGRAM = "webapp.sweeps.sweep_program"
ROW_SECONDS = 120.0  # of silence, in which one output should be read on any machine
MEMORY_BYTES = 2_000_000_000
_START_SECONDS = 120.0  # until the first row
_SHARD_SECONDS = 86_400.0
_TWICE = 2
MOST_ENDS = 1_000  # of the children of one shard


class SweepPool:
    """Runs shards in `jobs` processes. `row_seconds`: of silence until a process is ended. `engine_bytes`: what the
    engine may keep that each of them starts; a limit of the system would be the engine's as well."""

    def __init__(
        self, jobs: int, *, engine_bytes: int = 0, row_seconds: float = ROW_SECONDS, program: str = PROGRAM
    ) -> None:
        self._jobs = jobs
        self._here = surroundings()
        self._row_seconds = row_seconds
        self._program = Program(program, limits={"DATA": MEMORY_BYTES}, fork=True)
        if engine_bytes:
            resident = MEMORY_BYTES + engine_bytes
            self._program = replace(self._program, limits={}, resident_bytes=resident)
        preload(self._program, PROGRAM)  # a process that is forked need not import all of ours
        self._stop = Event()
        self._mine = local()
        self._children: list[Child] = []

    def __call__(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """What came of each, as they are done. Raises UsageError where a shard cannot be run at all."""
        with ThreadPoolExecutor(self._jobs, "sweep") as threads:
            waiting = {threads.submit(self._run, task): task for task in tasks}
            try:
                for done in as_completed(waiting):
                    yield waiting[done], done.result()
            finally:
                self._stop.set()
                threads.shutdown(cancel_futures=True)
                for child in self._children:
                    child.close()

    def _child(self) -> Child:
        """The child of this thread."""
        if not hasattr(self._mine, "child"):
            self._mine.child = Child(self._program)
            self._children.append(self._mine.child)
        found: Child = self._mine.child
        return found

    def _request(self, task: Task, lost: set[int]) -> dict[str, Any]:
        return {"here": self._here, "task": task_json(task), "lost": sorted(lost)}

    def _run(self, task: Task) -> Outcome:
        ends, lost = Counter[int](), set[int]()
        for _ in range(MOST_ENDS):
            attempt = _Attempt(self._row_seconds)
            try:
                return attempt.outcome(self._child(), self._request(task, lost), self._stop)
            except ChildError as error:
                if self._stop.is_set() or error.ending in (Ending.REFUSED, Ending.ABSENT):
                    raise UsageError(f"{task.file.name}: {error.message or error.ending.value}") from error
                ends[attempt.row] += 1
                if attempt.row and ends[attempt.row] >= _TWICE:
                    lost.add(attempt.row)
                if ends[0] > _TWICE:
                    raise UsageError(f"{task.file.name}: no process can begin with it: {error.detail}") from error
        raise UsageError(f"{task.file.name}: {MOST_ENDS:,} processes ended in one part of it")


class _Attempt:
    """One try at a shard: `row` is the last one that was begun with, 0 before the first."""

    def __init__(self, row_seconds: float) -> None:
        self.row = 0
        self._row_seconds = row_seconds
        self._heard = monotonic()

    def outcome(self, child: Child, request: dict[str, Any], stop: Event) -> Outcome:
        """What came of it. Raises ChildError."""
        answer = child.ask(
            "shard",
            request,
            seconds=_SHARD_SECONDS,
            on_progress=lambda progress: self._hear(progress["row"]),
            cancelled=lambda: stop.is_set() or monotonic() > self._heard + self._patience,
        )
        return outcome_of(answer)

    @property
    def _patience(self) -> float:
        return self._row_seconds if self.row else max(self._row_seconds, _START_SECONDS)

    def _hear(self, row: int) -> None:
        self.row, self._heard = row, monotonic()
