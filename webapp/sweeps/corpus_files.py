"""The files of a corpus: which there are, how they are parted into shards, and the rows of a shard.

A file of lines is parted by its size and never read for that: a line belongs to the shard in which it begins. A packed
file and a list of JSON can only be read from their beginning, so that each is one shard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from parsers.intake.packing import DAMAGED, Packing, opened
from parsers.sweeps.shard import Row, decoded
from parsers.sweeps.summary import Skip
from parsers.vocabulary.types import UsageError

SHARD_BYTES = 16_000_000
LONGEST_LINE = 32_000_000  # bytes
LARGEST_LIST = 512_000_000  # bytes of a file that is one list
_LINES = (".jsonl", ".ndjson", ".jsonlines")
_PACKED = {".gz": Packing.GZIP, ".zst": Packing.ZSTD}
_FIRST_ROWS = 200


class Kind(Enum):
    """How the rows of a file are written."""

    LINES = "JSON Lines"
    LIST = "a list of JSON"


@dataclass(slots=True, frozen=True)
class CorpusFile:
    """One file: its name as it is told, how its rows are written, how it is packed, and its size in bytes."""

    name: str
    kind: Kind
    packing: Packing | None
    size: int


@dataclass(slots=True, frozen=True)
class Shard:
    """A part of a file: the numbers of file and shard, and the bytes in which its lines begin. `end` None: all."""

    file: int
    number: int
    start: int
    end: int | None


def corpus_files(names: Sequence[str]) -> list[CorpusFile]:
    """The files of paths, folders and patterns, in order. Raises UsageError where there are none or one is none."""
    found = [file for name in names for file in _files(name)]
    if not found:
        raise UsageError(f"{', '.join(names)}: there is no file of rows (.jsonl or .json, packed (.gz, .zst) or not)")
    return found


def _files(name: str) -> Iterator[CorpusFile]:
    path = Path(name)
    if path.is_dir():
        inner = sorted(one for one in path.rglob("*") if one.is_file() and _looks_like_rows(one))
        yield from map(_file, inner)
    elif path.exists():
        yield _file(path)
    elif named := sorted(glob(name, recursive=True)):
        yield from [_file(Path(one)) for one in named if Path(one).is_file()]
    else:
        raise UsageError(f"{name}: there is no such file")


def _looks_like_rows(path: Path) -> bool:
    return _bare(path).suffix in (*_LINES, ".json") and not any(part.startswith(".") for part in path.parts)


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in _PACKED else path


def _file(path: Path) -> CorpusFile:
    packing = _PACKED.get(path.suffix)
    try:
        with _opened(str(path), packing) as file:
            first = file.read(1 << 12).lstrip()[:1]
        is_list = _bare(path).suffix not in _LINES and first == b"["
        return CorpusFile(str(path), Kind.LIST if is_list else Kind.LINES, packing, path.stat().st_size)
    except DAMAGED as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def shards_of(files: Sequence[CorpusFile], size: int = SHARD_BYTES) -> list[Shard]:
    """The shards of files, in order."""
    found = []
    for number, file in enumerate(files):
        whole = file.packing is not None or file.kind is Kind.LIST
        starts = [0] if whole else [*range(0, max(file.size, 1), size)]
        for place, start in enumerate(starts):
            found.append(Shard(number, place, start, None if start == starts[-1] else start + size))
    return found


def rows_of(file: CorpusFile, shard: Shard) -> Iterator[Row]:
    """The rows of a shard, numbered from 1. Raises UsageError where the file cannot be opened."""
    try:
        with _opened(file.name, file.packing) as lines:
            yield from _listed(lines) if file.kind is Kind.LIST else _lines(lines, shard)
    except OSError as error:
        raise UsageError(f"{file.name} cannot be read: {error.strerror or error}") from error


def first_rows(files: Sequence[CorpusFile]) -> list[dict[str, Any]]:
    """Some rows at the beginning that are objects: columns are guessed from them."""
    found: list[dict[str, Any]] = []
    for file in files:
        rows = rows_of(file, Shard(0, 0, 0, None))
        found += [row for _, row in islice(rows, _FIRST_ROWS) if isinstance(row, dict)]
        if found:
            break
    return found


@contextmanager
def _opened(name: str, packing: Packing | None) -> Iterator[BinaryIO]:
    with Path(name).open("rb") as raw:
        if packing is None:
            yield raw
        else:
            with opened(raw, packing) as file:
                yield file


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
