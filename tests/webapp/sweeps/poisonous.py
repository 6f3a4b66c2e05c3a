"""A program of shards in which some outputs end the process: `end` at once, `sleep` never, `once` the first time."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webapp.sweeps import shard_rows, sweep_program


def tasks() -> Mapping[str, Any]:
    """The one task, which looks at each row before it is read."""
    return {"shard": _shard}


def _shard(request: dict[str, Any], tell: Any) -> Any:
    task = sweep_program.task_of(request["task"])
    rows = dict(shard_rows.rows_of(task.file, task.shard))

    def hear(progress: dict[str, Any]) -> None:
        tell(progress)
        said = rows[progress["row"]].get("does") if progress["row"] not in request["lost"] else None
        if said == "sleep":
            time.sleep(60)
        marker = Path(f"{task.file.name}.once")
        if said == "end" or (said == "once" and not marker.exists()):
            marker.touch()
            os._exit(3)

    return sweep_program.tasks()["shard"](request, hear)
