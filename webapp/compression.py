"""Answers in gzip, for clients that take it: a page of 230 kB is 32 kB on the wire.

An answer that may not be stored stays as it is: it shows a secret (the delete key of a case), whose length a
compressed page would tell to whoever can have text of their own put beside it.

A view may answer in gzip by itself, with what it keeps `packed`: that is unpacked for clients that do not take it.

JSON Lines of a child are packed by its parent, which says in the last line why they end early: nobody can add anything
to an answer that another process packs.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from time import monotonic

from flask import Flask, Response, request

LEVEL = 5  # of 9: twice as fast as 6 to 9
SMALL_LEVEL = 8  # 3 ms more for a window of a run, and a tenth less of it on the wire
SMALL = 500_000  # bytes: windows are smaller, pages of long runs larger
SMALLEST = 1_000  # bytes: below that a packet is a packet
_TYPES = ("text/", "application/json", "application/javascript", "application/jsonl", "image/svg+xml")
_GZIP = 16 + zlib.MAX_WBITS
_PIECE = 65_536  # bytes
_PATIENCE_SECONDS = 0.25  # that a reader of an answer in pieces waits for what is there
LINES = "application/jsonl"
PACKS_LINES = "toolcall_inspector.packs_lines"  # of an environ: who passes the answer on packs its lines


def init_app(app: Flask) -> None:
    """Put the answers of `app` under these rules."""
    app.after_request(_compressed)


def packed(parts: Iterable[str], most: int) -> bytes | None:
    """The text in gzip, in UTF-8; None once it is seen to be longer than `most` bytes. Takes a part at a time."""
    packer, size = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP), 0
    found = []
    for part in parts:
        data = part.encode()
        size += len(data)
        if size > most:
            return None
        found.append(packer.compress(data))
    return b"".join([*found, packer.flush()])


class Packer:
    """Packs an answer as it comes, and keeps nothing of it back for longer than a reader notices."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
        self._flushed = monotonic()

    def add(self, part: bytes) -> bytes:
        """What of the answer can go out with this part of it, maybe nothing yet."""
        found, now = self._packer.compress(part), monotonic()
        if now < self._flushed + _PATIENCE_SECONDS:
            return found
        self._flushed = now
        return found + self._packer.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        """The rest of the answer."""
        return self._packer.flush()


def _compressed(response: Response) -> Response:
    if response.mimetype == LINES and PACKS_LINES in request.environ:
        response.vary.add("Accept-Encoding")
        return response
    if not (response.mimetype or "").startswith(_TYPES) or response.status_code in (204, 304):
        return response
    if response.cache_control.no_store:
        return response
    response.vary.add("Accept-Encoding")
    takes, encoding = request.accept_encodings.quality("gzip"), response.headers.get("Content-Encoding")
    if encoding == "gzip" and not takes:
        response.response = _unpacked(response.get_data())
        del response.headers["Content-Encoding"], response.headers["Content-Length"]
    if encoding or not takes:
        return response
    if response.is_streamed and not response.direct_passthrough:
        response.response = _in_pieces(response.iter_encoded())
        del response.headers["Content-Length"]
    else:
        file, response.direct_passthrough = response.response, False
        data = response.get_data()
        if hasattr(file, "close"):
            file.close()
        if len(data) < SMALLEST:
            return response
        response.set_data(gzip.compress(data, LEVEL if len(data) > SMALL else SMALL_LEVEL, mtime=0))
    response.headers["Content-Encoding"] = "gzip"
    tag, _ = response.get_etag()
    if tag is not None:
        response.set_etag(tag, weak=True)  # the same content, in other bytes
    return response


def _unpacked(data: bytes) -> Iterator[bytes]:
    with gzip.open(io.BytesIO(data)) as file:
        yield from iter(partial(file.read, _PIECE), b"")


def _in_pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    packer = Packer()
    for part in parts:
        if packed := packer.add(part):
            yield packed
    yield packer.end()
