"""The rows of a shard, read one after the other, whatever stands in its file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from parsers.intake.packing import DAMAGED
from parsers.intake.surroundings import LOG_LINE
from parsers.sweeps.recorded_rows import recorded_rows
from parsers.sweeps.shard import Row, decoded
from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError
from webapp.sweeps.corpus_files import CorpusFile, Kind, Shard, unpacked
from webapp.sweeps.row_groups import group_rows

LONGEST_LINE = 32_000_000  # bytes
LARGEST_LIST = 512_000_000  # bytes of a file that is one list
LARGEST_RECORDING = 64_000_000  # bytes of what the intake reads at once
_FIRST_ROWS = 200
_LOOKED_AT = 400  # bytes of a line, by which it is told to begin a record


def rows_of(file: CorpusFile, shard: Shard, columns: Collection[str] = ()) -> Iterator[Row]:
    """The rows of a shard, numbered from 1. Of Parquet only those columns are read that these paths name, where there
    are any. Raises UsageError where the file cannot be opened."""
    try:
        if file.kind is Kind.PARQUET:
            yield from enumerate(group_rows(file.name, file.place, shard.start, shard.end, columns), 1)
        elif not file.is_table:
            yield from enumerate(_recorded(file, shard), 1)
        else:
            with unpacked(file.place, file.packing) as lines:
                yield from _listed(lines) if file.kind is Kind.LIST else _lines(lines, shard)
    except OSError as error:
        raise UsageError(f"{file.name} cannot be read: {error.strerror or error}") from error


def first_rows(files: Sequence[CorpusFile]) -> list[dict[str, Any]]:
    """Some rows at the beginning that are objects: columns are guessed from them."""
    found: list[dict[str, Any]] = []
    for file in files:
        if file.is_table:
            rows = rows_of(file, Shard(0, 0, 0, None))
            found += [row for _, row in islice(rows, _FIRST_ROWS) if isinstance(row, dict)]
        if found:
            break
    return found


def _lines(file: BinaryIO, shard: Shard) -> Iterator[Row]:
    at = shard.start
    if at:
        file.seek(at - 1)
        at += _rest_of_line(file) - 1
    number = 0
    while shard.end is None or at < shard.end:
        number += 1
        try:
            line = file.readline(LONGEST_LINE)
        except DAMAGED:  # what is packed ends too early, or is damaged
            yield number, Skip.DAMAGED
            return
        if not line:
            return
        at += len(line)
        if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
            at += _rest_of_line(file)
            yield number, Skip.TOO_LARGE
        else:
            yield number, decoded(line)


def _rest_of_line(file: BinaryIO) -> int:
    """Read to the end of the line, however long it is; return how many bytes that were."""
    passed = 0
    while part := file.readline(1 << 20):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def _listed(file: BinaryIO) -> Iterator[Row]:
    """The items of a list."""
    try:
        data = file.read(LARGEST_LIST + 1)
    except DAMAGED:
        yield 1, Skip.DAMAGED
        return
    if len(data) > LARGEST_LIST:
        yield 1, Skip.TOO_LARGE
        return
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        yield 1, Skip.NOT_UTF8
        return
    except (ValueError, RecursionError):
        yield 1, Skip.NOT_JSON
        return
    yield from enumerate(found, 1)


def _recorded(file: CorpusFile, shard: Shard) -> list[Any]:
    """What the intake finds in a part; it unpacks by itself. A record belongs to the shard in which it begins."""
    with Path(file.place).open("rb") as raw:
        start = _border(raw, shard.start)
        end = None if shard.end is None else _border(raw, shard.end)
        raw.seek(start)
        data = raw.read(LARGEST_RECORDING + 1 if end is None else min(end - start, LARGEST_RECORDING + 1))
    if not data:
        return []
    return [Skip.TOO_LARGE] if len(data) > LARGEST_RECORDING else recorded_rows(data, Path(file.name).name)


def _border(file: BinaryIO, at: int) -> int:
    """Where the first line at or after a place stands that begins a record of a log; the end of the file for none."""
    if at == 0:
        return 0
    file.seek(at - 1)
    at += _rest_of_line(file) - 1
    while line := file.readline(1 << 20):
        if LOG_LINE.match(line[:_LOOKED_AT].decode("utf-8", "replace")):
            break
        at += len(line)
    return at
