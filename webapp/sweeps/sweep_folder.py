"""The folder of a sweep: its plan, what came of each shard, and the reports.

Every file is written beside its place and put there in one step, so that what is there is whole, whenever a process
ended. A sweep is taken up again where it was left: a shard that has its file is not run again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from parsers.cases.jsontext import plain, utf8
from parsers.sweeps.second_stage import Studied
from parsers.sweeps.shard import Outcome, outcome_json, outcome_of
from parsers.vocabulary.types import UsageError
from webapp.sweeps.corpus_files import Shard

PLAN = "plan.json"


class Folder:
    """The folder at `path`, made where there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            for inner in ("shards", "studied", "cases"):
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
        """Keep what came of a shard."""
        self.write(f"shards/{_name(shard)}.json", plain(outcome_json(outcome)))

    def kept(self, shard: Shard) -> Outcome | None:
        """What came of a shard, None where it was not run."""
        data = self._read(f"shards/{_name(shard)}.json")
        return None if data is None else outcome_of(data)

    def has(self, shard: Shard) -> bool:
        """Return whether a shard was run."""
        return (self.path / "shards" / f"{_name(shard)}.json").exists()

    def studied(self, key: str) -> Studied | None:
        """What the second stage said of a signature and its smallest output, by their key."""
        data = self._read(f"studied/{key}.json")
        return None if data is None else Studied(**data)

    def keep_studied(self, key: str, found: Studied) -> None:
        """Keep what it says."""
        self.write(f"studied/{key}.json", plain(asdict(found)))

    def write(self, name: str, text: str) -> None:
        """Write a file whole. Raises UsageError where that cannot be."""
        self._write(name, [text])

    def write_lines(self, name: str, lines: Iterable[str]) -> None:
        """The same line by line, as they come."""
        self._write(name, (f"{line}\n" for line in lines))

    def _write(self, name: str, parts: Iterable[str]) -> None:
        with self.opened(name) as out:
            out.writelines(map(utf8, parts))

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A file to be written, which is there when all of it is. Raises UsageError where that cannot be."""
        file = self.path / name
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            with beside.open("wb") as out:
                yield out
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
