"""Ids of rows as Parquet: one row for each signature of each, in row groups of a size of their own."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import Any

import pytest
from pyarrow import parquet

from parsers.vocabulary.types import UsageError
from webapp.sweeps import row_table
from webapp.sweeps.row_table import RowId, can_write, must_write, write_table

SIGNATURES = [
    {"id": "a", "check": "known_tool", "severity": "warning", "about": "output", "words": "not written"},
    {"id": "b", "check": "all_output_lost", "severity": "error", "about": "parser", "words": "nor this"},
]
ROWS = [RowId("one.jsonl", 3, ("a", "b")), RowId("one.jsonl", 7, ("b",)), RowId("tw\udce9.jsonl", 1, ("a",))]


def written(rows: list[RowId]) -> bytes:
    out = BytesIO()
    write_table(out, rows, SIGNATURES)
    return out.getvalue()


def read(data: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(BytesIO(data)).to_pylist()
    return found


def test_a_row_stands_once_for_each_of_its_signatures_with_whom_they_blame() -> None:
    told = [
        {key: one["id" if key == "signature" else key] for key in ("signature", "check", "severity", "about")}
        for one in SIGNATURES
    ]
    assert read(written(ROWS)) == [
        {**told[0], "file": "one.jsonl", "line": 3},
        {**told[1], "file": "one.jsonl", "line": 3},
        {**told[1], "file": "one.jsonl", "line": 7},
        {**told[0], "file": "tw\\udce9.jsonl", "line": 1},
    ]


def test_the_same_rows_give_the_same_bytes_and_none_an_empty_table() -> None:
    assert written(ROWS) == written(ROWS)
    assert read(written([])) == []


def test_row_groups_have_a_size_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_table, "GROUP_ROWS", 3)
    metadata = parquet.ParquetFile(BytesIO(written(ROWS))).metadata
    assert [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)] == [3, 1]


def test_where_pyarrow_is_absent_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_write()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert not can_write()
    with pytest.raises(UsageError, match=r"--parquet x: .*toolcall-inspector\[corpus\]"):
        must_write("--parquet x")
