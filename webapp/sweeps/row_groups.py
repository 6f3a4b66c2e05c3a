"""Rows of Parquet, a row group after the other, read by pyarrow: the extra `corpus`.

pyarrow is imported where a file of that kind is read and nowhere else. Cells become what JSON could hold: a structure
without those of its keys that are null (a column has the keys of all its rows), times and numbers of other kinds as
text, bytes as the UTF-8 that they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Any

from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError

MAGIC = b"PAR1"
_BATCH = 256  # rows that are held as Python's values at a time
# What pyarrow raises where a file is damaged, or holds what Python or pyarrow have no value for.
_BROKEN = (OSError, ValueError, ArithmeticError, LookupError, RuntimeError, TypeError)
_OF_CASE = ("schema", "parser", "input", "tools", "context", "contract")


def group_bytes(name: str, place: str) -> list[int]:
    """How many bytes each row group has, unpacked. Raises UsageError where that cannot be read."""
    try:
        with closing(_file(name, place)) as file:
            metadata = file.metadata
            return [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]
    except _BROKEN as error:
        raise UsageError(f"{name} cannot be read: {error}") from error


def group_rows(name: str, place: str, start: int, end: int | None, columns: Collection[str]) -> Iterator[Any]:
    """The rows of some row groups, and why not where the rest is damaged. `columns` are the paths that are wanted;
    none: all. Raises UsageError where the file cannot be opened."""
    try:
        file = _file(name, place)
    except _BROKEN as error:
        raise UsageError(f"{name} cannot be read: {error}") from error
    with closing(file):
        groups = [*range(start, file.metadata.num_row_groups if end is None else end)]
        wanted = _wanted(file.schema_arrow.names, columns)
        try:
            for batch in file.iter_batches(_BATCH, row_groups=groups, columns=wanted, use_threads=False):
                names, cells = batch.schema.names, [_cells(column) for column in batch.columns]
                yield from [_plain(dict(zip(names, row, strict=True))) for row in zip(*cells, strict=True)]
        except _BROKEN:
            yield Skip.DAMAGED


def _cells(column: Any) -> list[Any]:
    """The cells of a column as Python's values; as text where it has none for them, such as for nanoseconds."""
    try:
        found: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except _BROKEN:
        found = column.cast("string").to_pylist()
    return found


def _wanted(names: Collection[str], columns: Collection[str]) -> list[str] | None:
    if not columns:
        return None
    heads = {*columns, *[path.partition(".")[0] for path in columns]}
    return [name for name in names if name in heads or name in _OF_CASE]


def _file(name: str, place: str) -> Any:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise UsageError(f"{name}: Parquet is read by pyarrow: pip install 'toolcall-inspector[corpus]'") from error
    return parquet.ParquetFile(place, memory_map=False, pre_buffer=False)


def _plain(cell: Any) -> Any:
    """A cell as JSON could hold it."""
    if cell is None or isinstance(cell, str | bool | int | float):
        return cell
    if isinstance(cell, dict):
        return {key: _plain(inner) for key, inner in cell.items() if inner is not None}
    if isinstance(cell, list):
        return [*map(_plain, cell)]
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    return str(cell)
