"""A sweep on Dask: the same report as in this process, whatever ends; a scheduler that is not there, or has gone."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError
from webapp.sweeps import sweep_cluster as module
from webapp.sweeps.sweep_cluster import SweepCluster, end_children, run_on_worker
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.sweep_pool import SweepPool
from webapp.sweeps.sweep_program import task_json
from webapp.sweeps.sweep_reports import write_reports
from webapp.sweeps.swept import Asked, Planned, Task, inline, planned, sweep

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}}]
POISONOUS = str(Path(__file__).with_name("poisonous.py"))
HERE: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}

# Each starts servers and processes of Dask.
pytestmark = [pytest.mark.slow, pytest.mark.replays]


def plan(tmp_path: Path, rows: list[dict[str, Any]], size: int = 300) -> Planned:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join([json.dumps({"tools": TOOLS, "parser": "qwen", **one}) + "\n" for one in rows]))
    return planned(Asked((str(path),), shard_bytes=size))


def rows(count: int, call: str = "") -> list[dict[str, Any]]:
    return [{"output": f"{number} It rains. {call * (number % 3 == 0)}"} for number in range(count)]


def written(made: Planned, folder: Folder, run: Any) -> dict[str, bytes]:
    """The files of a report but the measured times, by their names."""
    write_reports(folder, made, sweep(made, folder, run))
    files = [*folder.path.iterdir(), *(folder.path / "cases").iterdir()]
    return {path.name: path.read_bytes() for path in files if path.is_file() and not path.name.startswith("timing")}


@contextmanager
def cluster(**options: Any) -> Iterator[Any]:
    """A scheduler with workers that somebody else runs, and that is soon believed to have gone."""
    import dask

    distributed: Any = import_module("distributed")
    brief = {"distributed.comm.timeouts.connect": "3s"}
    with dask.config.set(brief), distributed.LocalCluster(threads_per_worker=1, **options, **HERE) as made:
        yield made


def test_the_report_is_the_same_whoever_runs_the_shards_and_after_an_end(tmp_path: Path) -> None:
    made = plan(tmp_path, rows(9, CALL))
    assert len(made.shards) > 4

    def some(tasks: Any) -> Any:
        done: Any = SweepCluster(jobs=2)(tasks)
        yield next(done)
        done.close()
        raise KeyboardInterrupt

    alone = written(made, Folder(tmp_path / "inline"), inline)
    assert len(alone) > 2
    assert written(made, Folder(tmp_path / "pool"), SweepPool(2)) == alone
    again = Folder(tmp_path / "dask")
    with pytest.raises(KeyboardInterrupt):
        sweep(made, again, some)
    assert [again.has(shard) for shard in made.shards].count(True) == 1
    assert written(made, again, SweepCluster(jobs=2)) == alone


def test_an_output_that_no_process_survives_is_lost_alone(tmp_path: Path) -> None:
    does = [{}, {"does": "end"}, {}, {"does": "once"}, {"does": "sleep"}, {}]
    made = plan(tmp_path, [{"output": f"{number}", **one} for number, one in enumerate(does)], 10_000)
    cluster = SweepCluster(jobs=2, row_seconds=2, program=POISONOUS)
    found = sweep(made, Folder(tmp_path / "out"), cluster).summary
    assert [place.row for place in found.skipped[Skip.LOST].examples] == [2, 5]
    assert found.outputs == 4


def test_a_worker_that_is_ended_costs_nothing(tmp_path: Path) -> None:
    made = plan(tmp_path, rows(10))
    alone = written(made, Folder(tmp_path / "inline"), inline)
    ended: list[int] = []

    def ending(tasks: Any) -> Any:
        with cluster(n_workers=2, processes=True) as made:
            for done in SweepCluster(made.scheduler_address)(tasks):
                if not ended:
                    pid = next(iter(made.workers.values())).process.process.pid
                    os.kill(pid, signal.SIGKILL)
                    ended.append(pid)
                yield done

    assert written(made, Folder(tmp_path / "dask"), ending) == alone
    assert len(ended) == 1


def test_a_scheduler_that_goes_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAIT", 5)  # so long it is asked for before it is believed to have gone
    made = plan(tmp_path, rows(10))
    alone = written(made, Folder(tmp_path / "inline"), inline)
    folder = Folder(tmp_path / "dask")

    def going(tasks: Any) -> Any:
        with cluster(n_workers=1, processes=False, protocol="tcp://") as made:
            for number, done in enumerate(SweepCluster(made.scheduler_address)(tasks)):
                if number == 1:
                    made.close()
                yield done

    with pytest.raises(UsageError, match="the scheduler has gone; run this again with the same --output"):
        sweep(made, folder, going)
    assert written(made, folder, inline) == alone


def test_a_scheduler_that_is_not_there_or_has_no_worker_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WAIT", 2)
    with pytest.raises(UsageError, match="no scheduler answers there"):
        next(SweepCluster("tcp://127.0.0.1:1")([]))
    with pytest.raises(UsageError, match="no scheduler answers there"):
        next(SweepCluster("nonsense://x")([]))
    with (
        cluster(n_workers=0, processes=False, protocol="tcp://") as empty,
        pytest.raises(UsageError, match="the scheduler has no worker"),
    ):
        next(SweepCluster(empty.scheduler_address)([]))


def test_a_worker_of_another_version_is_said(tmp_path: Path) -> None:
    made = plan(tmp_path, rows(1))
    task = Task(made.files[0], made.shards[0], made.plan)
    with pytest.raises(UsageError, match="a worker has toolcall-inspector"):
        run_on_worker(json.dumps({"version": "0"}), "corpus.jsonl", task_json(task))


def test_what_a_worker_cannot_do_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(tmp_path, rows(2), 10_000)
    with pytest.raises(UsageError, match=r"corpus\.jsonl: "):
        sweep(made, Folder(tmp_path / "out"), SweepCluster(jobs=1, program="webapp.sweeps.none"))
    monkeypatch.setattr(module, "run_on_worker", lambda *_given: 1 / 0)
    with pytest.raises(UsageError, match="a worker cannot run a part"):
        sweep(made, Folder(tmp_path / "out"), SweepCluster(jobs=1))


def test_where_distributed_is_absent_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'toolcall-inspector\[cluster\]'"):
        next(SweepCluster()([]))
    end_children()
