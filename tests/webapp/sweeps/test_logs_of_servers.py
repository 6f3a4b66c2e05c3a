"""Logs, streams and case files in a corpus: told by their names and first bytes, parted where a record begins."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from parsers.sweeps.summary import Skip
from webapp.sweeps import shard_rows as module
from webapp.sweeps.corpus_files import Kind, corpus_files, shards_of
from webapp.sweeps.shard_rows import first_rows, rows_of

LOGGED = (
    "INFO 07-10 12:00:00 [logger.py:43] Generated response cmpl-{0}: output: 'output {0}', output_token_ids: None\n"
)
LOG = "".join([LOGGED.format(number) + "  a line that belongs to it\n" * (number % 3) for number in range(12)])
ROW = json.dumps({"output": "It rains."}) + "\n"
CHUNK = json.dumps({"choices": [{"index": 0, "delta": {"content": "It rains."}}]}) + "\n"
CASE = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "It rains."}}, indent=2)


def texts(path: Path, size: int = 16_000_000) -> list[Any]:
    (file,) = corpus_files([str(path)])
    rows = [row for shard in shards_of([file], size) for _, row in rows_of(file, shard)]
    return [row if isinstance(row, Skip) else row["input"]["text"] for row in rows]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("server.log", LOG, Kind.LOG),
        ("server.log.1", LOG, Kind.LOG),
        ("any", LOG, Kind.LOG),
        ("rows.log", ROW, Kind.LINES),
        ("rows.log", '{"output": "' + "x" * 100_000 + '"}\n', Kind.LINES),
        ("rows.json", ROW, Kind.LINES),
        ("rows.txt", f"[{ROW}]", Kind.LIST),
        ("empty.log", "", Kind.LINES),
        ("chunks.log", CHUNK * 3, Kind.RECORDING),
        ("broken.log", "{broken\n", Kind.RECORDING),
        ("number.log", "7\n", Kind.RECORDING),
        ("stream.sse", f"data: {CHUNK}", Kind.RECORDING),
        ("browser.har", "{}", Kind.RECORDING),
        ("one.case.json", CASE, Kind.RECORDING),
        ("one.json", CASE, Kind.RECORDING),
        ("output.txt", "It rains.", Kind.RECORDING),
    ],
)
def test_a_file_is_told_by_its_name_and_its_beginning(tmp_path: Path, name: str, data: str, kind: Kind) -> None:
    (tmp_path / name).write_text(data)
    assert corpus_files([str(tmp_path / name)])[0].kind is kind


def test_a_folder_of_logs_gives_the_outputs_of_each(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LOGGED.format("one"))
    (tmp_path / "a.log.1").write_text(LOGGED.format("two"))
    (tmp_path / "a.log-20261128.gz").write_bytes(gzip.compress(LOGGED.format("three").encode()))
    (tmp_path / "b.case.json").write_text(CASE)
    (tmp_path / "notes.md").write_text("Nothing of it.")
    files = corpus_files([str(tmp_path)])
    assert [Path(file.name).name for file in files] == ["a.log", "a.log-20261128.gz", "a.log.1", "b.case.json"]
    rows = [row["input"]["text"] for at, file in enumerate(files) for _, row in rows_of(file, shards_of(files)[at])]
    assert rows == ["output one", "output three", "output two", "It rains."]
    assert first_rows(files) == []


@pytest.mark.parametrize("size", [1, 90, 150, 400, 100_000])
def test_every_record_of_a_log_is_in_the_shard_in_which_it_begins(tmp_path: Path, size: int) -> None:
    path = tmp_path / "server.log"
    path.write_text(LOG)
    assert texts(path, size) == [f"output {number}" for number in range(12)]


def test_what_is_too_large_for_the_intake_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_RECORDING", 1_000)
    path = tmp_path / "server.log"
    path.write_text(LOG)
    assert texts(path) == [Skip.TOO_LARGE]
    assert texts(path, 500)[-1] == "output 11"
