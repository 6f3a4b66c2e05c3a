"""One shard in a child that is watched: what kills a process costs the one output that did it.

A child says which row it begins with. Where it ends without an answer, its shard is run once more by another one; a
row at which two have ended is lost, and all others are read. The first end alone proves nothing: somebody may have
ended the process. One that is silent for too long is ended here.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
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

PROGRAM = "webapp.sweeps.sweep_program"
ROW_SECONDS = 120.0  # of silence, in which one output should be read on any machine
MEMORY_BYTES = 2_000_000_000
_START_SECONDS = 120.0  # until the first row
_SHARD_SECONDS = 86_400.0
_TWICE = 2
MOST_ENDS = 1_000  # of the children of one shard


class Supervised:
    """Runs shards, each in the child of the thread that asks. `here`: what `surroundings` said. `row_seconds`: of
    silence until a process is ended. `engine_bytes`: what the engine may keep that each child starts; a limit of the
    system would be the engine's as well."""

    def __init__(
        self, here: str, *, engine_bytes: int = 0, row_seconds: float = ROW_SECONDS, program: str = PROGRAM
    ) -> None:
        self._here = here
        self._row_seconds = row_seconds
        forks = not multiprocessing.current_process().daemon  # of which Python lets none be forked, as workers of Dask
        self._program = Program(program, limits={"DATA": MEMORY_BYTES}, fork=forks)
        if engine_bytes:
            self._program = replace(self._program, limits={}, resident_bytes=MEMORY_BYTES + engine_bytes)
        if forks:
            preload(self._program, PROGRAM)  # a process that is forked need not import all of ours
        self._stop = Event()
        self._mine = local()
        self._children: list[Child] = []

    def run(self, name: str, task: dict[str, Any]) -> Outcome:
        """What came of a task, as it travels, of the file of that name. Raises UsageError where it cannot be run."""
        ends, lost = Counter[int](), set[int]()
        for _ in range(MOST_ENDS):
            attempt = _Attempt(self._row_seconds)
            try:
                request = {"here": self._here, "task": task, "lost": sorted(lost)}
                return attempt.outcome(self._child(), request, self._stop)
            except ChildError as error:
                if self._stop.is_set() or error.ending in (Ending.REFUSED, Ending.ABSENT):
                    raise UsageError(f"{name}: {error.message or error.ending.value}") from error
                ends[attempt.row] += 1
                if attempt.row and ends[attempt.row] >= _TWICE:
                    lost.add(attempt.row)
                if ends[0] > _TWICE:
                    raise UsageError(f"{name}: no process can begin with it: {error.detail}") from error
        raise UsageError(f"{name}: {MOST_ENDS:,} processes ended in one part of it")

    def stop(self) -> None:
        """End what runs."""
        self._stop.set()

    def close(self) -> None:
        """End all children. Nobody may be asking one."""
        for child in self._children:
            child.close()

    def _child(self) -> Child:
        """The child of this thread."""
        if not hasattr(self._mine, "child"):
            self._mine.child = Child(self._program)
            self._children.append(self._mine.child)
        found: Child = self._mine.child
        return found


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
