"""A sweep: the same report whoever runs the shards and however often it is taken up again; what ends a process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.intake.packing import Packing
from parsers.sweeps.shard import Outcome
from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.sweep_pool import SweepPool
from webapp.sweeps.sweep_program import task_json, task_of
from webapp.sweeps.sweep_reports import write_reports
from webapp.sweeps.swept import Asked, Planned, Task, inline, planned, sweep

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}}]
CHANGES: dict[str, Any] = {"new": [], "gone": [], "more": [], "fewer": [], "same": 2, "comparable": True}
POISONOUS = str(Path(__file__).with_name("poisonous.py"))


def row(text: str = CALL, **more: Any) -> dict[str, Any]:
    return {"output": text, "tools": TOOLS, "parser": "qwen", **more}


def plan(tmp_path: Path, rows: list[dict[str, Any]], size: int = 300, **asked: Any) -> Planned:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join([json.dumps(one) + "\n" for one in rows]))
    return planned(Asked((str(path),), shard_bytes=size, **asked))


def told(folder: Folder) -> dict[str, bytes]:
    """The files of a report, without those of measured times."""
    files = [path for path in [*folder.path.iterdir(), *(folder.path / "cases").iterdir()] if path.is_file()]
    found = {path.relative_to(folder.path).as_posix(): path.read_bytes() for path in files}
    return {name: data for name, data in found.items() if not name.startswith("timing")}


def backwards(tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
    yield from inline([*tasks][::-1])


@pytest.mark.replays
def test_the_report_is_the_same_in_any_order_and_however_often_it_is_taken_up_again(tmp_path: Path) -> None:
    made = plan(tmp_path, [row(), row("It rains."), row(CALL + CALL), row(CALL + CALL)])
    assert len(made.shards) > 2

    def first_only(tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        yield next(inline(tasks))
        raise KeyboardInterrupt

    whole, again = Folder(tmp_path / "whole"), Folder(tmp_path / "again")
    said = list[tuple[int, int]]()
    write_reports(whole, made, sweep(made, whole, say=lambda done, of: said.append((done, of))), CHANGES)
    with pytest.raises(KeyboardInterrupt):
        sweep(made, again, first_only)
    write_reports(again, made, sweep(made, again, backwards), CHANGES)
    assert {"report.json", "report.html", "rows.jsonl", "rows.parquet", "changes.json"} <= told(whole).keys()
    assert any(name.startswith("cases/") for name in told(whole))
    assert told(whole) == told(again)
    assert said == [(done, len(made.shards)) for done in range(len(made.shards) + 1)]
    lines = [json.loads(line)["line"] for line in (whole.path / "rows.jsonl").read_text().splitlines()]
    assert lines == [1, 3, 4]
    assert json.loads((whole.path / "timing.json").read_text())["by_length"][0]["outputs"] >= 1


def test_a_folder_of_another_sweep_is_refused(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "out")
    sweep(plan(tmp_path, [row("It rains.")]), folder)
    with pytest.raises(UsageError, match="holds another sweep"):
        sweep(plan(tmp_path, [row("It rains.")], parser="hermes"), folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        Folder(tmp_path / "file")
    with pytest.raises(UsageError, match="cannot be written"):
        folder.write("none/there.json", "")


def test_rows_without_an_output_that_is_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the first row has said"):
        plan(tmp_path, [{"said": "It rains."}])
    made = plan(tmp_path, [{"said": "It rains."}], columns={"text": "said"})
    assert sweep(made, Folder(tmp_path / "out")).report["sentence"] == "Nothing is wrong with any of 1 output."


@pytest.mark.replays
def test_what_is_too_large_to_keep_has_no_case(tmp_path: Path) -> None:
    made = plan(tmp_path, [row(CALL + "x" * 200_000)], parser="qwen", policy={"reasoning_tail": "keep"})
    (found,) = sweep(made, Folder(tmp_path / "out")).report["signatures"]
    assert (found["smallest"]["case"], found["smallest"]["length"]) == (None, len(CALL) + 200_000)


@pytest.mark.parametrize("packing", [None, Packing.ZSTD])
def test_a_task_travels(tmp_path: Path, packing: Packing | None) -> None:
    made = plan(tmp_path, [row()], parser="qwen", policy={"reasoning_tail": "keep"})
    task = Task(replace(made.files[0], packing=packing), made.shards[0], made.plan)
    assert task_of(json.loads(json.dumps(task_json(task)))) == task


@pytest.mark.replays
def test_an_output_that_no_process_survives_is_lost_alone(tmp_path: Path) -> None:
    rows = [row("It rains."), row("A", does="end"), row(), row("B", does="once"), row("C", does="sleep"), row("D")]
    made = plan(tmp_path, rows, 10_000)
    found = sweep(made, Folder(tmp_path / "out"), SweepPool(2, row_seconds=2, program=POISONOUS)).summary
    assert [place.row for place in found.skipped[Skip.LOST].examples] == [2, 5]
    assert (found.outputs, found.wrong) == (4, 1)


def test_a_program_that_cannot_begin_is_said(tmp_path: Path) -> None:
    made = plan(tmp_path, [row()])
    with pytest.raises(UsageError, match=r"corpus\.jsonl: "):
        sweep(made, Folder(tmp_path / "out"), SweepPool(1, program="webapp.sweeps.none"))
