"""The folder of a sweep: its plan, what came of each shard, and the reports.

Every file is written beside its place and put there in one step, so that what is there is whole, whenever a process
ended. A sweep is taken up again where it was left: a shard that has its file is not run again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from parsers.cases.jsontext import plain, utf8
from parsers.sweeps.second_stage import Studied
from parsers.sweeps.shard import Cost, Outcome
from parsers.sweeps.summary import Place, Summary
from parsers.vocabulary.types import UsageError
from webapp.sweeps.corpus_files import Shard

PLAN = "plan.json"


class Folder:
    """The folder at `path`, made where there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            for inner in ("shards", "found", "studied", "cases"):
                (path / inner).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--output {path} cannot be written: {error.strerror}") from error

    def begin(self, plan: Mapping[str, Any]) -> bool:
        """Begin the sweep of a plan, or take it up again; says whether. Raises UsageError where there is another."""
        file = self.path / PLAN
        if not file.exists():
            self.write(PLAN, plain(plan, 2) + "\n")
            return False
        if self._read(PLAN) != json.loads(json.dumps(plan)):
            raise UsageError(f"--output {self.path} holds another sweep (see its {PLAN}): give another folder")
        return True

    def keep(self, shard: Shard, outcome: Outcome) -> None:
        """Keep what came of a shard. The summary comes last: where it is, all is."""
        name = _name(shard)
        rows = [json.dumps([place, list(ids)]) for place, ids in outcome.found]
        self.write(f"found/{name}.jsonl", "".join([f"{row}\n" for row in rows]))
        costs = {str(size): asdict(cost) for size, cost in sorted(outcome.costs.items())}
        self.write(f"shards/{name}.json", plain({"summary": outcome.summary.to_json(), "costs": costs}))

    def kept(self, shard: Shard) -> tuple[Summary, dict[int, Cost]] | None:
        """What came of a shard, None where it was not run."""
        data = self._read(f"shards/{_name(shard)}.json")
        if data is None:
            return None
        return Summary.from_json(data["summary"]), {int(size): Cost(**cost) for size, cost in data["costs"].items()}

    def found(self, shards: Sequence[Shard]) -> Iterator[tuple[Place, tuple[str, ...]]]:
        """The rows in which something is wrong, in order, with the ids of the signatures."""
        for shard in shards:
            with (self.path / "found" / f"{_name(shard)}.jsonl").open(encoding="utf-8") as lines:
                for line in lines:
                    place, ids = json.loads(line)
                    yield Place(*place), tuple(ids)

    def studied(self, key: str) -> Studied | None:
        """What the second stage said of a signature and its smallest output, by their key."""
        data = self._read(f"studied/{key}.json")
        return None if data is None else Studied(**data)

    def keep_studied(self, key: str, found: Studied) -> None:
        """Keep what it says."""
        self.write(f"studied/{key}.json", plain(asdict(found)))

    def write(self, name: str, text: str) -> None:
        """Write a file whole. Raises UsageError where that cannot be."""
        file = self.path / name
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            beside.write_bytes(utf8(text))
            beside.replace(file)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error

    def _read(self, name: str) -> Any:
        """The JSON of a file, None where there is none or it is damaged."""
        try:
            return json.loads((self.path / name).read_text("utf-8"))
        except (OSError, ValueError):
            return None


def _name(shard: Shard) -> str:
    return f"{shard.file:05}-{shard.number:06}"
