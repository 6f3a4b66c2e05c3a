"""The program of a child that runs shards. Tasks and outcomes travel as JSON; before each row its number is told."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

from parsers.intake.packing import Packing
from parsers.replays.chunking import Chunking
from parsers.sweeps.shard import Plan, outcome_json
from webapp.children.worker import Task as ChildTask
from webapp.children.worker import Tell
from webapp.sweeps.corpus_files import CorpusFile, Kind, Shard
from webapp.sweeps.sweep_means import means_of_child
from webapp.sweeps.swept import Task, run_task


def tasks() -> Mapping[str, ChildTask]:
    """The one task."""
    gc.freeze()
    return {"shard": _shard}


def task_json(task: Task) -> dict[str, Any]:
    """A task as it travels."""
    file, shard, plan = task.file, task.shard, task.plan
    return {
        "file": [file.name, file.kind.name, file.packing and file.packing.name, file.size, file.place],
        "shard": [shard.file, shard.number, shard.start, shard.end],
        "columns": dict(plan.columns),
        "parser": None if plan.parser is None else dict(plan.parser),
        "policy": dict(plan.policy),
        "contract": plan.contract,
        "chunkings": [one.model_dump(mode="json") for one in plan.chunkings],
    }


def task_of(data: Mapping[str, Any]) -> Task:
    """What `task_json` wrote."""
    name, kind, packing, size, place = data["file"]
    chunkings = tuple([Chunking.model_validate(one) for one in data["chunkings"]])
    plan = Plan(data["columns"], data["parser"], data["policy"], data["contract"], chunkings)
    file = CorpusFile(name, Kind[kind], packing and Packing[packing], size, place)
    return Task(file, Shard(*data["shard"]), plan)


def _shard(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    means, lost = means_of_child(request["here"]), frozenset(request["lost"])
    return outcome_json(run_task(task_of(request["task"]), means, lost, lambda row: tell({"row": row})))
