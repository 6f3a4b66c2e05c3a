"""Cases out of what somebody gives to import: a case file, a corpus, JSON Lines, or a zip of these.

Nothing is written to a disk, and no name in an archive is taken for a path. What is bad is one name with its reason,
and the others come all the same: so are a member with a password, a damaged one, and an archive inside of another.
What an archive may cost is bounded before it is unpacked: how many members it has, how many bytes come out of it, and
how many times as many as went in.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Iterable, Iterator
from lzma import LZMAError
from pathlib import PurePosixPath
from typing import NamedTuple
from zlib import error as ZlibError  # noqa: N812 - an exception with the name of a function

from parsers.cases.case import CaseError
from parsers.cases.corpus import case_texts
from parsers.cases.io import decoded
from parsers.vocabulary.types import UsageError

MOST_MEMBERS = 20_000
MOST_BYTES = 256_000_000  # that come out of an archive
MOST_TIMES = 200  # as many bytes may come out of a member as went in, once they are more than SMALL
SMALL = 1_000_000
SUFFIXES = (".json", ".jsonl")
ARCHIVE = ".zip"
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
_ENCRYPTED = 0x1  # among the flags of a member
_NESTED = "it is an archive inside of another: unpack that, and give this one by itself"
_DAMAGED = (
    zipfile.BadZipFile, ZlibError, LZMAError, struct.error, RuntimeError, OSError, EOFError, ValueError, OverflowError,
)  # fmt: skip


class Incoming(NamedTuple):
    """The JSON text of a case by the name it has there, or why there is none; `line` of its file is its first."""

    name: str
    text: str | UsageError
    line: int = 1


def incoming(name: str, data: bytes, line: int | None = None) -> Iterator[Incoming]:
    """The cases of a file called `name`. With `line` it is a part of JSON Lines: the number of its first line."""
    if line is not None:
        yield from _of_lines(name, data, line)
    elif data.startswith((ZIP, EMPTY_ZIP)) or name.lower().endswith(ARCHIVE):
        yield from _of_archive(name, data)
    else:
        yield from of_text(name, data)


def _of_lines(name: str, data: bytes, first: int) -> Iterator[Incoming]:
    """A case for each line that is not empty, whatever the others are."""
    for number, line in enumerate(data.split(b"\n"), first):
        if line.strip():
            try:
                yield Incoming(f"{name}::{number}", decoded(line), number)
            except CaseError as error:
                yield Incoming(f"{name}::{number}", error)


def of_text(name: str, data: bytes) -> Iterator[Incoming]:
    """The cases of a case file, a corpus or JSON Lines. A line that is no JSON costs that line."""
    try:
        text = decoded(data)
    except CaseError as error:
        yield Incoming(name, error)
        return
    try:
        found = case_texts(text)
    except CaseError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].strip().endswith("}"):
            yield Incoming(name, error)
            return
        yield from [Incoming(f"{name}::{number}", line, number) for number, line in lines]
        return
    if not found:
        yield Incoming(name, UsageError("it holds no case"))
    for key, one in found.items():
        yield Incoming(name if len(found) == 1 else f"{name}::{key}", one)


def _of_archive(name: str, data: bytes) -> Iterator[Incoming]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            if len(members) > MOST_MEMBERS:
                raise UsageError(f"the archive has {len(members):,} members; the limit is {MOST_MEMBERS:,}")
            yield from _of_members(name, archive, members)
    except UsageError as error:
        yield Incoming(name, error)
    except _DAMAGED as error:
        words = f"it is no zip archive, or a damaged one, or not all of it is here ({_why(error)})"
        yield Incoming(name, UsageError(words))


def _of_members(name: str, archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo]) -> Iterator[Incoming]:
    left, kinds = MOST_BYTES, [one for one in members if one.filename.lower().endswith((*SUFFIXES, ARCHIVE))]
    if not kinds:
        raise UsageError(f"it has no member that ends in {' or '.join(SUFFIXES)}")
    for member in kinds:
        title = f"{name}/{member.filename}"
        try:
            data = _unpacked(archive, member, left)
        except UsageError as error:
            yield Incoming(title, error)
            continue
        except _DAMAGED as error:
            yield Incoming(title, UsageError(f"it is damaged, and cannot be unpacked ({_why(error)})"))
            continue
        left -= len(data)
        if left <= 0:
            raise UsageError(f"more than {MOST_BYTES:,} bytes come out of the archive; what follows was left out")
        yield from of_text(title, data)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int) -> bytes:
    """The bytes of a member, one more than may come out of it where it has more. What it says of its size is not
    believed. Raises UsageError for one that is not read."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in member.filename:
        raise UsageError("its name leads out of the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise UsageError("it is a link")
    if member.flag_bits & _ENCRYPTED:
        raise UsageError("it is encrypted: give an archive without a password")
    if path.name.lower().endswith(ARCHIVE):
        raise UsageError(_NESTED)
    most = max(SMALL, MOST_TIMES * member.compress_size)
    with archive.open(member) as file:
        data = file.read(min(most, left) + 1)
    if len(data) > most:
        raise UsageError(f"more than {MOST_TIMES} times as many bytes come out of it as it takes in the archive")
    if data.startswith((ZIP, EMPTY_ZIP)):
        raise UsageError(_NESTED)
    return data


def _why(error: Exception) -> str:
    """What the reader of archives says, on one line; nothing that it says is long."""
    return " ".join(str(error).split())[:200] or type(error).__name__
