"""Ids of rows by signature as Parquet, written by pyarrow where that is: the extra `corpus`.

A row of the table is one signature of one row of the corpus, in the order of the corpus. Row groups have a fixed number
of rows, so that memory does not grow with the table and no border of a shard shows in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from parsers.cases.jsontext import utf8
from parsers.vocabulary.types import UsageError

GROUP_ROWS = 65_536
_OF_SIGNATURE = ("check", "severity", "about")


class RowId(NamedTuple):
    """A row in which something is wrong: its file, the number of its line, and the ids of its signatures."""

    file: str
    line: int
    signatures: tuple[str, ...]


def can_write() -> bool:
    """Return whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def must_write(option: str) -> None:
    """Raises UsageError, under the name of the option that wants it, where pyarrow is not installed."""
    if not can_write():
        raise UsageError(f"{option}: Parquet is written by pyarrow: pip install 'toolcall-inspector[corpus]'")


def write_table(out: BinaryIO, rows: Iterable[RowId], signatures: Sequence[Mapping[str, Any]]) -> None:
    """Write the table. `signatures` are those of the report. The same rows give the same bytes with one version of
    pyarrow."""
    import pyarrow
    from pyarrow import parquet

    texts = ("signature", *_OF_SIGNATURE, "file")
    fields = [pyarrow.field(name, pyarrow.string(), nullable=False) for name in texts]
    schema = pyarrow.schema([*fields, pyarrow.field("line", pyarrow.int64(), nullable=False)])
    with parquet.ParquetWriter(out, schema, compression="zstd", store_schema=False) as writer:
        cells = _cells(rows, signatures)
        while group := [*islice(cells, GROUP_ROWS)]:
            writer.write_table(pyarrow.table([*zip(*group, strict=True)], schema=schema), row_group_size=GROUP_ROWS)


def _cells(rows: Iterable[RowId], signatures: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str | int, ...]]:
    told = {one["id"]: (one["id"], *[one[key] for key in _OF_SIGNATURE]) for one in signatures}
    for row in rows:
        file = utf8(row.file).decode()  # a path need not be UTF-8
        for id_ in row.signatures:
            yield (*told[id_], file, row.line)
