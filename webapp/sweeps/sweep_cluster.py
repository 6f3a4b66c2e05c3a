"""Shards on Dask: on a cluster of this machine, or on that of a scheduler by its address. The extra `cluster`.

A worker of Dask runs a shard as the pool does, in a child of its own that is watched: an output that no process
survives costs a child, never a worker. A worker that is ended has its shards run by others, for a shard is a pure
function of its rows. Files are read by the workers, at the paths at which this process finds them.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from itertools import islice
from typing import Any

from parsers.sweeps.shard import Outcome, outcome_json, outcome_of
from parsers.vocabulary.types import UsageError
from webapp.sweeps.supervised import Supervised
from webapp.sweeps.sweep_means import surroundings
from webapp.sweeps.sweep_program import task_json
from webapp.sweeps.swept import Task

LOCAL = ""  # the address that stands for a cluster of this machine
AHEAD = 256  # shards that are given to a scheduler before the first of them is done
_TRIES = 5  # of a shard whose workers were ended more often than the scheduler lets them be
_PROJECT = "toolcall-inspector"
_Client = Any  # of distributed, which has no types


class SweepCluster:
    """Runs shards on the scheduler at `address` (tcp://HOST:PORT), or with `jobs` at a time on a cluster of this
    machine, each `supervised` as is said there."""

    def __init__(self, address: str = LOCAL, jobs: int = 0, **supervised: Any) -> None:
        self._address = address
        self._jobs = jobs or os.cpu_count() or 1
        said = {"version": version(_PROJECT), "here": surroundings(), "supervised": supervised}
        self._said = json.dumps(said)

    def __call__(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """What came of each, as they are done. Raises UsageError where a shard cannot be run at all, and where there is
        no scheduler or worker."""
        with _connected(self._address, self._jobs) as client:
            try:
                yield from self._done(client, iter(tasks))
            finally:
                with suppress(Exception):  # whoever has gone has no children left
                    client.run(end_children)

    def _done(self, client: _Client, tasks: Iterator[Task]) -> Iterator[tuple[Task, Outcome]]:
        asked = {self._asked(client, task): (task, 1) for task in islice(tasks, AHEAD)}
        waiting = _library().as_completed(asked, loop=client.loop)
        for future in waiting:
            task, tries = asked.pop(future)
            found = self._outcome(future, task, tries)
            following = (task, tries + 1) if found is None else next(((one, 1) for one in tasks), None)
            if following is not None:
                more = self._asked(client, following[0])
                asked[more] = following
                waiting.add(more)
            if found is not None:
                yield task, found

    def _asked(self, client: _Client, task: Task) -> Any:
        return client.submit(run_on_worker, self._said, task.file.name, task_json(task), pure=False)

    def _outcome(self, future: Any, task: Task, tries: int) -> Outcome | None:
        """What came of a shard, None where it has to be run again."""
        distributed = _library()
        try:
            return outcome_of(future.result())
        except UsageError:
            raise
        except distributed.KilledWorker as error:
            if tries >= _TRIES:
                raise UsageError(f"{task.file.name}: the workers of Dask end at it: {error}") from error
            return None
        except (distributed.CancelledError, OSError) as error:
            raise UsageError(
                f"--dask {self._address}: the scheduler has gone; run this again with the same --output to go on"
            ) from error
        except Exception as error:  # of a worker that has not what we have
            raise UsageError(
                f"--dask {self._address}: a worker cannot run a part: {error}; each needs this version of {_PROJECT}"
            ) from error


def run_on_worker(said: str, name: str, task: dict[str, Any]) -> dict[str, Any]:
    """What came of a task, as it travels. Runs in a worker of Dask. Raises UsageError."""
    return outcome_json(_supervised(said).run(name, task))


@cache
def _supervised(said: str) -> Supervised:
    data = json.loads(said)
    mine = version(_PROJECT)
    if data["version"] != mine:
        raise UsageError(f"--dask: a worker has {_PROJECT} {mine}, and here it is {data['version']}")
    _RUNNING.append(Supervised(data["here"], **data["supervised"]))
    return _RUNNING[-1]


_RUNNING: list[Supervised] = []  # of this process


def end_children() -> None:
    """End all children that this process runs shards in."""
    while _RUNNING:
        shards = _RUNNING.pop()
        shards.stop()
        shards.close()
    _supervised.cache_clear()


@contextmanager
def _connected(address: str, jobs: int) -> Iterator[_Client]:
    """A client of a scheduler that has a worker. Raises UsageError."""
    distributed = _library()
    with _cluster(distributed, jobs, address) as place:
        try:
            client = distributed.Client(place, set_as_default=False, timeout=_WAIT)
        except (OSError, ValueError) as error:
            raise UsageError(f"--dask {address}: no scheduler answers there: {error}") from error
        with client:
            try:
                client.wait_for_workers(1, timeout=_WAIT)
            except TimeoutError as error:
                raise UsageError(f"--dask {address}: the scheduler has no worker; start one and try again") from error
            yield client


_WAIT = 60  # seconds, for a scheduler and its first worker


@contextmanager
def _cluster(distributed: Any, jobs: int, address: str) -> Iterator[Any]:
    """What a client connects to. The workers of this machine are threads of this process: each has a child, which is
    where the work is done."""
    if address != LOCAL:
        yield address
        return
    made: Callable[..., Any] = distributed.LocalCluster
    options = {"processes": False, "n_workers": 1, "threads_per_worker": jobs, "dashboard_address": None}
    place = {"protocol": "tcp://", "host": "127.0.0.1"}  # else it asks the system for the address that others see
    with made(**options, **place, silence_logs=logging.CRITICAL) as cluster:
        yield cluster


def _library() -> Any:
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise UsageError(
            "--dask: sweeps on Dask take distributed: pip install 'toolcall-inspector[cluster]'"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is told by us
    return distributed
