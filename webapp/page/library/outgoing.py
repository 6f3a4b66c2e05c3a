"""Exports of the library: the case files that a query finds, as JSON Lines or as a zip with a file for each.

Both are written piece by piece while they are read, so a large library takes no memory.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, cast

from parsers.cases.corpus import jsonl
from parsers.cases.io import loads

KINDS = {"jsonl": "application/jsonl", "zip": "application/zip"}
_PIECE = 100_000
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same cases are the same bytes


def exported_cases(kind: str, cases: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """The pieces of an export of (id, case file): `kind` is jsonl or zip."""
    return _zip(cases) if kind == "zip" else (jsonl(loads(body)).encode() for _, body in cases)


class _Sink:
    """What a zip is written to, and taken out of piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        """Take a piece."""
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """There is nothing behind it."""

    def taken(self) -> bytes:
        """Everything since the last time."""
        pieces, self._pieces, self.size = self._pieces, [], 0
        return b"".join(pieces)


def _zip(cases: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(cast(IO[bytes], sink), "w", zipfile.ZIP_DEFLATED) as archive:
        for case_id, body in cases:
            member = zipfile.ZipInfo(f"{case_id}.case.json", _LONG_AGO)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, body)
            if sink.size >= _PIECE:
                yield sink.taken()
    yield sink.taken()
