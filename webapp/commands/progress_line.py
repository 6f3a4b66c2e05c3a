"""How far a search is, in one line of a terminal, where somebody watches."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from parsers.search.found import Progress
from webapp.commands.words import count

Say = Callable[[Progress], object]


@contextmanager
def progress_line() -> Iterator[Say]:
    """Inside, what is called with the progress of a search; the line is gone afterwards."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    line = _Line(sys.stderr)
    try:
        yield line.say
    finally:
        line.show("")


@contextmanager
def counted(what: str) -> Iterator[Callable[[int], object]]:
    """Inside, what is called with how many were done; the line is gone afterwards."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    line = _Line(sys.stderr)
    try:
        yield lambda many: line.show(f"{many:,} {what}")
    finally:
        line.show("")


@contextmanager
def parts_done(what: str) -> Iterator[Callable[[int, int], object]]:
    """Inside, what is called with how many of how many are done; the line is gone afterwards."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    line = _Line(sys.stderr)
    try:
        yield lambda done, of: line.show(f"[{'#' * (24 * done // max(of, 1)):<24}] {done:,} of {of:,} {what}")
    finally:
        line.show("")


def _say_nothing(*_progress: object) -> None:
    """Nobody watches."""


class _Line:
    """One line of a terminal, written over again and again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0

    def say(self, progress: Progress) -> None:
        """Say how far a search is."""
        how_far = f"{progress.stage}: {progress.done:,} of {progress.total:,}; {progress.replays:,} replays"
        self.show(f"{how_far}, {count(progress.outcomes, 'outcome')} so far")

    def show(self, text: str) -> None:
        """Put this text into the line, instead of what was there."""
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write(f"\r{text.ljust(self._width)}\r{text}" if self._width else text)
        self._stream.flush()
        self._width = len(text)
