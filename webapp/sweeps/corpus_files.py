"""The files of a corpus: which there are, what each is, and how they are parted into shards.

A file of lines is parted by its size and never read for that: a line belongs to the shard in which it begins. Parquet
is parted by row groups, of which its last bytes tell. What is packed, a list of JSON and what the intake reads whole
are one shard each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from glob import glob
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from parsers.intake.packing import DAMAGED, Packing, opened, packing_of
from parsers.sweeps.recorded_rows import is_log, is_recording
from parsers.vocabulary.types import UsageError
from webapp.sweeps.row_groups import MAGIC, group_bytes

SHARD_BYTES = 16_000_000
STDIN = "-"
_LINES = (".jsonl", ".ndjson", ".jsonlines")
_PARQUET = (".parquet", ".pq")
_CASES = (".case.json", ".cases.json")
_RECORDINGS = (".sse", ".har")
_LOG = re.compile(r"\.(?:log|out)(?:[.-]\d+)?$")  # and those that were rotated: server.log.1
_PACKED = {".gz": Packing.GZIP, ".zst": Packing.ZSTD}
_FIRST_BYTES = 1 << 16


class Kind(Enum):
    """How the rows of a file are written."""

    LINES = "JSON Lines"
    LIST = "a list of JSON"
    PARQUET = "Parquet"
    LOG = "lines of a server's log"
    RECORDING = "what the intake reads whole"


@dataclass(slots=True, frozen=True)
class CorpusFile:
    """One file: its name as it is told, how its rows are written, how it is packed, its size in bytes, and where its
    bytes are, which for standard input is somewhere else."""

    name: str
    kind: Kind
    packing: Packing | None
    size: int
    place: str

    @property
    def is_table(self) -> bool:
        """Return whether its rows have columns."""
        return self.kind not in (Kind.LOG, Kind.RECORDING)


@dataclass(slots=True, frozen=True)
class Shard:
    """A part of a file: the numbers of file and shard, and the bytes in which its lines begin, or its row groups.
    `end` None: all."""

    file: int
    number: int
    start: int
    end: int | None


def corpus_files(names: Sequence[str], stdin: Path | None = None) -> list[CorpusFile]:
    """The files of paths, folders and patterns, in order; `stdin` is where standard input, `-`, is kept.

    Raises UsageError where there are none or one is none.
    """
    found = [file for name in names for file in _files(name, stdin)]
    if not found:
        raise UsageError(
            f"{', '.join(names)}: there is no file of rows (.jsonl, .json, .parquet) or log (.log, .sse, .har), "
            "packed (.gz, .zst) or not"
        )
    return found


def _files(name: str, stdin: Path | None) -> Iterator[CorpusFile]:
    path = Path(name)
    if name == STDIN and stdin is not None:
        yield _file(stdin, STDIN)
    elif path.is_dir():
        yield from map(_file, sorted(one for one in path.rglob("*") if _is_of_corpus(one, path)))
    elif path.exists():
        yield _file(path)
    elif named := sorted(glob(name, recursive=True)):
        yield from [_file(Path(one)) for one in named if Path(one).is_file()]
    else:
        raise UsageError(f"{name}: there is no such file")


def _is_of_corpus(path: Path, folder: Path) -> bool:
    """Return whether a file of a folder is read: by its name, where no part of that is hidden."""
    if any(part.startswith(".") for part in path.relative_to(folder).parts) or not path.is_file():
        return False
    bare = _bare(path)
    return bare.suffix in (*_LINES, *_PARQUET, *_RECORDINGS, ".json") or _LOG.search(bare.name) is not None


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in _PACKED else path


def _file(path: Path, name: str | None = None) -> CorpusFile:
    """A file as it is found. That of standard input has no suffix: its bytes say all."""
    told = str(path) if name is None else name
    try:
        with path.open("rb") as raw:
            packing = _PACKED.get(path.suffix) if name is None else packing_of(raw.read(4))
        with unpacked(str(path), packing) as file:
            first = _first_bytes(file)
        kind = _kind(_bare(path), first)
        if kind is Kind.PARQUET and packing is not None:
            raise UsageError(f"{told}: Parquet is packed inside and can only be read as it is; unpack the file first")
        return CorpusFile(told, kind, packing, path.stat().st_size, str(path.absolute()))
    except DAMAGED as error:
        raise UsageError(f"{told} cannot be read: {error}") from error


def _first_bytes(file: BinaryIO) -> bytes:
    """The beginning of a file, as far as it can be read. Raises one of DAMAGED where that is not at all."""
    found = b""
    while len(found) < _FIRST_BYTES:
        try:
            part = cast(BufferedReader, file).read1(_FIRST_BYTES - len(found))
        except DAMAGED:
            if not found:
                raise
            break
        if not part:
            break
        found += part
    return found


def _kind(bare: Path, first: bytes) -> Kind:
    """What a file is, by its name without what says how it is packed, and by its first bytes."""
    if first.startswith(MAGIC) or bare.suffix in _PARQUET:
        return Kind.PARQUET
    if bare.suffix in _LINES:
        return Kind.LINES
    if bare.suffix in _RECORDINGS or bare.name.endswith(_CASES):
        return Kind.RECORDING
    if re.match(rb"\s*\[" if bare.suffix == ".json" else rb"\s*\[\s*[{\]]", first):
        return Kind.LIST
    whole = first if len(first) < _FIRST_BYTES else first[: first.rfind(b"\n") + 1] or first
    if _begins_with_a_row(first) and (bare.suffix == ".json" or not is_recording(whole, bare.name)):
        return Kind.LINES
    return Kind.LOG if is_log(whole, bare.name) else Kind.RECORDING


def _begins_with_a_row(first: bytes) -> bool:
    """Return whether the first line is an object, or the beginning of one that is longer than what was read. Nothing at
    all is a file of no rows."""
    line, end, _ = first.lstrip().partition(b"\n")
    if not line.startswith(b"{") or (not end and len(first) >= _FIRST_BYTES):
        return line[:1] in (b"{", b"")
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def shards_of(files: Sequence[CorpusFile], size: int = SHARD_BYTES) -> list[Shard]:
    """The shards of files, in order, each of about so many bytes where it can be parted. Raises UsageError."""
    found = []
    for number, file in enumerate(files):
        starts = _starts(file, size)
        found += [Shard(number, place, start, end) for place, (start, end) in enumerate(zip(starts, [*starts[1:], None],
                                                                                           strict=True))]  # fmt: skip
    return found


def _starts(file: CorpusFile, size: int) -> list[int]:
    if file.kind is Kind.PARQUET:
        return _groups(group_bytes(file.name, file.place), size)
    if file.packing is not None or file.kind in (Kind.LIST, Kind.RECORDING):
        return [0]
    return [*range(0, max(file.size, 1), size)]


def _groups(sizes: Sequence[int], size: int) -> list[int]:
    """The numbers of row groups with which shards begin: small ones are taken together."""
    starts, held = [0], 0
    for number, one in enumerate(sizes):
        if held and held + one > size:
            starts.append(number)
            held = 0
        held += one
    return starts


@contextmanager
def unpacked(place: str, packing: Packing | None) -> Iterator[BinaryIO]:
    """The bytes at a place, unpacked."""
    with Path(place).open("rb") as raw:
        if packing is None:
            yield raw
        else:
            with opened(raw, packing) as file:
                yield file
