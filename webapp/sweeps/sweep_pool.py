"""Shards in processes of this machine, so many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from parsers.sweeps.shard import Outcome
from webapp.sweeps.supervised import Supervised
from webapp.sweeps.sweep_means import surroundings
from webapp.sweeps.sweep_program import task_json
from webapp.sweeps.swept import Task


class SweepPool:
    """Runs shards in `jobs` processes, each `supervised` as is said there."""

    def __init__(self, jobs: int, **supervised: Any) -> None:
        self._jobs = jobs
        self._shards = Supervised(surroundings(), **supervised)

    def __call__(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """What came of each, as they are done. Raises UsageError where a shard cannot be run at all."""
        with ThreadPoolExecutor(self._jobs, "sweep") as threads:
            waiting = {threads.submit(self._shards.run, task.file.name, task_json(task)): task for task in tasks}
            try:
                for done in as_completed(waiting):
                    yield waiting[done], done.result()
            finally:
                self._shards.stop()
                threads.shutdown(cancel_futures=True)
                self._shards.close()
