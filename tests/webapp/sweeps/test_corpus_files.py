"""The files of a corpus: found, parted without being read, and read row by row, whatever stands in them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from parsers.intake.packing import zstd
from parsers.sweeps.shard import BLANK
from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError
from webapp.sweeps import shard_rows as module
from webapp.sweeps.corpus_files import Kind, corpus_files, shards_of
from webapp.sweeps.shard_rows import first_rows, rows_of

ROWS = [{"n": number, "text": "x" * (number % 7)} for number in range(40)]
COMPRESS = {".gz": gzip.compress, ".zst": zstd.compress}
LINES = "".join([json.dumps(row) + "\n" for row in ROWS])


def read(path: Path, size: int = 16_000_000) -> list[Any]:
    (file,) = corpus_files([str(path)])
    return [row for shard in shards_of([file], size) for _, row in rows_of(file, shard)]


@pytest.mark.parametrize("size", [1, 17, 30, 31, 200, 10_000])
def test_every_line_is_in_the_shard_in_which_it_begins(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(LINES)
    assert read(path, size) == ROWS
    (file,) = corpus_files([str(path)])
    assert len(shards_of([file], size)) == -(-len(LINES) // size)


def test_the_numbers_of_a_shard_begin_at_one_and_count_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}')
    (file,) = corpus_files([str(path)])
    (shard,) = shards_of([file])
    assert [*rows_of(file, shard)] == [(1, {"a": 1}), (2, BLANK), (3, {"a": 2})]


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.ndjson", "a.json", "a.json.gz", "a.json.zst"])
def test_lines_and_lists_are_read_packed_or_not(tmp_path: Path, name: str) -> None:
    text = json.dumps(ROWS) if ".json." in f"{name}." else LINES
    data = text.encode()
    (tmp_path / name).write_bytes(COMPRESS.get(Path(name).suffix, bytes)(data))
    assert read(tmp_path / name, 10) == ROWS


def test_a_file_that_begins_with_no_list_is_one_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(LINES)
    assert corpus_files([str(path)])[0].kind is Kind.LINES
    assert read(path) == ROWS


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("a.jsonl", b'{"a": 1}\n\xff\n{\n', [{"a": 1}, Skip.NOT_UTF8, Skip.NOT_JSON]),
        ("a.json", b"[1", [Skip.NOT_JSON]),
        ("a.json", b"[\xff]", [Skip.NOT_UTF8]),
        ("a.jsonl", b"", []),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 9_000, mtime=0)[:-9], None),
        ("a.jsonl.zst", zstd.compress(b'{"a": 1}\n' * 90_000)[:-9], None),
        ("a.json.gz", gzip.compress(b"[" + b"1," * 9_000 + b"1]", mtime=0)[:-9], [Skip.DAMAGED]),
    ],
)
@pytest.mark.replays
def test_what_is_no_row_says_why(tmp_path: Path, name: str, data: bytes, found: list[Any] | None) -> None:
    (tmp_path / name).write_bytes(data)
    rows = read(tmp_path / name)
    assert rows == found if found is not None else rows[-1] is Skip.DAMAGED


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 50)
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": 1}}\n"{"x" * 3_000_000}"\n{{"a": 2}}\n')
    assert read(path) == [{"a": 1}, Skip.TOO_LARGE, {"a": 2}]
    assert read(path, 2_000_000)[-1] == {"a": 2}


def test_a_list_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_LIST", 10)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ROWS))
    assert read(path) == [Skip.TOO_LARGE]


def test_folders_and_patterns_give_their_files_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "inner/c.json", "notes.txt", ".hidden/d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    names = [str(Path(file.name).relative_to(tmp_path)) for file in corpus_files([str(tmp_path)])]
    assert names == ["a.jsonl", "b.jsonl", "inner/c.json"]
    assert [Path(file.name).name for file in corpus_files([str(tmp_path / "*.jsonl")])] == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize(("name", "said"), [("none.jsonl", "there is no such file"), ("", "there is no file of rows")])
def test_what_is_not_there_is_said(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        corpus_files([str(tmp_path / name)])


def test_a_file_that_is_gone_or_no_archive_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"no archive")
    with pytest.raises(UsageError, match="cannot be read"):
        corpus_files([str(tmp_path / "a.jsonl.gz")])
    (tmp_path / "a.jsonl").write_text(LINES)
    (file,) = corpus_files([str(tmp_path / "a.jsonl")])
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        list(rows_of(file, shards_of([file])[0]))


def test_columns_are_guessed_from_the_first_file_that_has_rows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n")
    (tmp_path / "b.jsonl").write_text('7\n{"a": 1}\n')
    assert first_rows(corpus_files([str(tmp_path)])) == [{"a": 1}]
