"""Pipes to a process that others may hold too: what it started can keep its ends open when the process is gone.

An end of ours reads and writes like any file until it is `left`. From then on what has come is still read, for a short
while, and nothing is waited for: reading ends, and writing fails as on a pipe that nobody reads. Where the system
cannot wait for two things at once, there are none.
"""

from __future__ import annotations

import errno
import io
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import Any

_REST_SECONDS = 1.0  # for what was written before the process ended
ABLE = hasattr(select, "poll") and hasattr(select, "PIPE_BUF")


class HeldPipe(io.RawIOBase):
    """Our end of a pipe, by its number, which it closes."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._left, self._leave = os.pipe()
        self._until: float | None = None
        self._waits = True
        self._closing = Lock()

    def leave(self) -> None:
        """Wait for nobody any more. Any thread may say so."""
        with self._closing:  # afterwards its numbers may be another pipe's, which would be left in its place
            if self._until is None and not self.closed:
                self._until = monotonic() + _REST_SECONDS
                with suppress(OSError):
                    os.write(self._leave, b"!")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside the block nothing is waited for: reading gives what is there."""
        self._waits = False
        try:
            yield
        finally:
            self._waits = True

    def fileno(self) -> int:
        """Its number."""
        return self._fd

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Some bytes; 0 at the end, or where it is left and nothing is there; None where that is not waited for."""
        if not self._waits_for(select.POLLIN):
            return 0 if self._waits else None
        data = os.read(self._fd, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        """All of it, in parts that never block. Raises OSError where nobody reads, or it is left."""
        rest = memoryview(data)
        while rest:
            if not self._waits_for(select.POLLOUT):
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            rest = rest[os.write(self._fd, rest[: select.PIPE_BUF]) :]
        return len(data)

    def close(self) -> None:
        with self._closing:
            if self.closed:
                return
            super().close()
            for fd in (self._fd, self._left, self._leave):
                with suppress(OSError):
                    os.close(fd)

    def _waits_for(self, what: int) -> bool:
        """Whether it is ready, once it is or the pipe is left."""
        asked = select.poll()
        asked.register(self._fd, what)
        asked.register(self._left, select.POLLIN)
        found = dict(asked.poll(None if self._waits else 0))
        if self._left in found and monotonic() >= (self._until or 0):
            return False
        return self._fd in found
