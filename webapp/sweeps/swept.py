"""A sweep on this machine: planned, its shards run by some runner, the summaries merged, and the report made.

Only what is asked for and what the corpus holds shows in the report: not the number of processes, the order in which
they finish, or whether the sweep was taken up again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

from parsers.cases.io import load_case
from parsers.intake.column_rows import guessed_columns
from parsers.replays.chunking import Chunking
from parsers.search.sweep import json_of
from parsers.selection.registry import resolve
from parsers.sweeps.first_stage import CHUNKINGS, OF_ENGINES, Means
from parsers.sweeps.known_threads import Threads, no_threads
from parsers.sweeps.report import report_json
from parsers.sweeps.second_stage import Studied, studied
from parsers.sweeps.shard import Cost, Outcome, Plan, run_shard
from parsers.sweeps.signature import Signature
from parsers.sweeps.summary import Summary, Tally
from parsers.vocabulary.types import UsageError
from webapp.sweeps.corpus_files import SHARD_BYTES, CorpusFile, Shard, corpus_files, shards_of
from webapp.sweeps.shard_rows import first_rows, rows_of
from webapp.sweeps.sweep_folder import Folder

FORMAT = 2  # of plans and of what is kept of a shard


@dataclass(slots=True, frozen=True)
class Asked:
    """What somebody asks for: files, who parses, columns that are named; `words`: the outputs may be shown.

    `engine` is a parser of an engine, as a case has it, and `version` who that is. `chunkings`: None for the usual.
    `stdin` is where standard input is kept, which is the file `-`.
    """

    names: tuple[str, ...]
    parser: str | None = None
    policy: Mapping[str, str] = field(default_factory=dict)
    contract: str | None = None
    engine: Mapping[str, Any] | None = None
    version: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    chunkings: tuple[Chunking, ...] | None = None
    words: bool = False
    shard_bytes: int = SHARD_BYTES
    stdin: Path | None = None


@dataclass(slots=True, frozen=True)
class Planned:
    """A sweep that can begin: its files and shards, how rows are read, and which columns were guessed."""

    files: tuple[CorpusFile, ...]
    shards: tuple[Shard, ...]
    plan: Plan
    guessed: frozenset[str]
    words: bool
    version: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept: what must be the same where a sweep is taken up again."""
        return {
            "format": FORMAT,
            "files": [{"name": file.name, "kind": file.kind.name.lower(), "size": file.size} for file in self.files],
            "shards": len(self.shards),
            "words": self.words,
            **self.told(),
        }

    def told(self) -> dict[str, Any]:
        """As the report tells it."""
        return {
            "columns": dict(sorted(self.plan.columns.items())),
            "guessed": sorted(self.guessed),
            "parser": self.plan.parser and self.plan.parser["name"],
            "engine": self._engine(),
            "contract": self.plan.contract,
            "policy": dict(sorted(self.plan.policy.items())),
            "chunkings": ["whole", *map(json_of, self.plan.chunkings)],
        }

    def _engine(self) -> dict[str, Any] | None:
        parser = self.plan.parser or {}
        if "engine" not in parser:
            return None
        return {"name": parser["engine"], "version": self.version, "options": dict(parser.get("options", {}))}


@dataclass(slots=True, frozen=True)
class Task:
    """A shard to be run, as it can be sent to another process."""

    file: CorpusFile
    shard: Shard
    plan: Plan


Runner = Callable[[Iterable[Task]], Iterator[tuple[Task, Outcome]]]  # in any order
Say = Callable[[int, int], object]  # of so many shards so many are done


def planned(asked: Asked) -> Planned:
    """Plan a sweep: find its files, look at the first rows. Raises UsageError where nothing can be swept."""
    files = tuple(corpus_files(asked.names, asked.stdin))
    rows = first_rows(files)
    guessed = guessed_columns(rows, asked.columns)
    columns = {**guessed, **asked.columns}
    if rows and "text" not in columns and not any("input" in row for row in rows):
        keys = ", ".join([*rows[0]][:12])
        raise UsageError(f"--column text=NAME: say which column is the model's output; the first row has {keys}")
    parser = asked.engine if asked.parser is None else {"name": resolve(asked.parser)}
    usual = CHUNKINGS if asked.engine is None else OF_ENGINES
    chunkings = usual if asked.chunkings is None else asked.chunkings
    plan = Plan(columns, parser, dict(asked.policy), asked.contract, chunkings)
    shards = tuple(shards_of(files, asked.shard_bytes))
    return Planned(files, shards, plan, frozenset(guessed), asked.words, asked.version)


def run_task(
    task: Task,
    means: Means | None = None,
    lost: Collection[int] = (),
    say: Callable[[int], object] = lambda row: None,
) -> Outcome:
    """Run one shard here."""
    at = (task.shard.file, task.shard.number)
    return run_shard(
        task.plan, rows_of(task.file, task.shard, task.plan.columns.values()), at, means, process_time, lost, say
    )


def inline(tasks: Iterable[Task], means: Means | None = None) -> Iterator[tuple[Task, Outcome]]:
    """Run shards one after the other, in this process."""
    for task in tasks:
        yield task, run_task(task, means)


@dataclass(slots=True)
class Swept:
    """What came of a sweep: the report, what outputs cost by their length, and the summary that both follow from."""

    report: dict[str, Any]
    costs: dict[int, Cost]
    summary: Summary


def sweep(
    made: Planned,
    folder: Folder,
    run: Runner = inline,
    say: Say = lambda done, of: None,
    means: Means | None = None,
    threads: Threads = no_threads,
) -> Swept:
    """Run what is not done yet, and make the report of all. `means` are those of the second stage, which runs here;
    `threads` say who reported a signature."""
    folder.begin(made.to_json())
    left = [shard for shard in made.shards if not folder.has(shard)]
    done = len(made.shards) - len(left)
    say(done, len(made.shards))
    for task, outcome in run([Task(made.files[shard.file], shard, made.plan) for shard in left]):
        folder.keep(task.shard, outcome)
        done += 1
        say(done, len(made.shards))
    summary, costs = _merged(folder, made.shards)
    tallies = sorted(summary.tallies.items(), key=_id)
    said = {one.id: _studied(folder, one, tally, made.words, means) for one, tally in tallies}
    files = [file.name for file in made.files]
    return Swept(report_json(summary, files, made.told(), said, threads), costs, summary)


def _id(item: tuple[Signature, Tally]) -> str:
    return item[0].id


def _merged(folder: Folder, shards: Sequence[Shard]) -> tuple[Summary, dict[int, Cost]]:
    summary, costs = Summary(), dict[int, Cost]()
    for outcome in filter(None, map(folder.kept, shards)):
        summary.add(outcome.summary)
        for size, cost in outcome.costs.items():
            one = costs.setdefault(size, Cost())
            one.outputs, one.characters = one.outputs + cost.outputs, one.characters + cost.characters
            one.seconds += cost.seconds
    return summary, costs


def _studied(folder: Folder, signature: Signature, tally: Tally, words: bool, means: Means | None) -> Studied:
    """What the second stage says, which is kept by the signature and the output."""
    smallest = tally.smallest
    if smallest is None or smallest.case is None:
        return Studied(length=0 if smallest is None else smallest.length)
    told = json.dumps([FORMAT, signature.id, words, smallest.case], sort_keys=True)
    key = hashlib.sha256(told.encode()).hexdigest()[:16]
    found = folder.studied(key)
    if found is None:
        found = studied(signature, load_case(smallest.case), words=words, means=means)
        folder.keep_studied(key, found)
    return found
