"""A corpus in Parquet: parted by row groups that only its end tells of, its cells as JSON could hold them."""

from __future__ import annotations

import datetime
import gzip
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError
from webapp.sweeps.corpus_files import Kind, Shard, corpus_files, shards_of
from webapp.sweeps.shard_rows import first_rows, rows_of
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.swept import Asked, planned, sweep

ALL = Shard(0, 0, 0, None)


def written(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    table = options.pop("table", None)
    parquet.write_table(pa.Table.from_pylist(rows) if table is None else table, path, **options)
    return path


def read(path: Path, columns: tuple[str, ...] = (), size: int = 16_000_000) -> list[Any]:
    (file,) = corpus_files([str(path)])
    return [row for shard in shards_of([file], size) for _, row in rows_of(file, shard, columns)]


@pytest.mark.parametrize("size", [1, 150, 16_000_000])
def test_row_groups_are_shards_and_small_ones_are_taken_together(tmp_path: Path, size: int) -> None:
    rows = [{"output": f"output {number}"} for number in range(10)]
    path = written(tmp_path / "a.parquet", rows, row_group_size=3, compression="none")
    (file,) = corpus_files([str(path)])
    shards = shards_of([file], size)
    assert file.kind is Kind.PARQUET
    assert len(shards) == {1: 4, 150: 4, 16_000_000: 1}[size]
    assert read(path, size=size) == rows


def test_only_the_columns_that_are_named_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pq", [{"output": "x", "big": "y" * 100, "meta": {"tools": [1], "more": 2}}])
    assert read(path, ("output", "meta.tools", "none")) == [{"output": "x", "meta": {"tools": [1], "more": 2}}]


def test_cells_are_what_json_could_hold(tmp_path: Path) -> None:
    table = pa.table({
        "struct": pa.array([{"a": 1, "b": None}, {"a": None, "b": [{"c": None}]}]),
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "bytes": pa.array([b"\xc3\xa4", b"\xff"]),
        "time": pa.array([datetime.datetime(2026, 11, 28), None]),
        "fine": pa.array([1_000_000_001, None], pa.timestamp("ns")),
        "number": pa.array([Decimal("1.50"), None]),
        "flag": pa.array([True, None]),
    })  # fmt: skip
    first, second = read(written(tmp_path / "a.parquet", [], table=table))
    fine = first.pop("fine")
    assert first == {
        "struct": {"a": 1},
        "map": {"k": 1},
        "bytes": "ä",
        "time": "2026-11-28 00:00:00",
        "number": "1.50",
        "flag": True,
    }
    assert fine.startswith("1970-01-01 00:00:01.0000")
    assert second == {"struct": {"b": [{}]}, "bytes": "\ufffd"}


def test_a_corpus_of_parquet_is_swept_by_the_columns_that_are_guessed(tmp_path: Path) -> None:
    rows = [{"completion": "It rains.", "number": number} for number in range(4)]
    path = written(tmp_path / "a.parquet", rows, row_group_size=2)
    made = planned(Asked((str(tmp_path),), parser="qwen", shard_bytes=1))
    assert (made.plan.columns, len(made.shards)) == ({"text": "completion"}, 2)
    assert sweep(made, Folder(tmp_path / "out")).report["sentence"] == "Nothing is wrong with any of 4 outputs."
    assert first_rows(corpus_files([str(path)])) == rows


def test_what_is_damaged_is_said_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", [{"output": f"{number}" * 50} for number in range(300)], compression="none")
    data = bytearray(path.read_bytes())
    (file,) = corpus_files([str(path)])
    data[4:64] = bytes(60)
    path.write_bytes(data)
    assert [row for _, row in rows_of(file, ALL)] == [Skip.DAMAGED]
    path.write_bytes(b"PAR1 and no more")
    for read_it in (lambda: shards_of(corpus_files([str(path)])), lambda: [*rows_of(file, ALL)]):
        with pytest.raises(UsageError, match=r"a\.parquet cannot be read: "):
            read_it()
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(UsageError, match="Parquet is packed inside"):
        corpus_files([str(tmp_path / "a.parquet.gz")])


def test_where_pyarrow_is_absent_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.parquet", [{"output": "x"}])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'toolcall-inspector\[corpus\]'"):
        shards_of(corpus_files([str(path)]))
