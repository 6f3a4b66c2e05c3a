"""The files of small cases that generated outputs led to: one for each signature, whichever test and process finds it.

A file that was there before the run stays as it is, for somebody may have said what is right in it. Of those that a run
writes the smallest one stays, so that it does not matter which process was the first.
"""

from __future__ import annotations

import glob
import os
from pathlib import Path

from pytest_toolcall.case_files import SMALL, kept


def names_in(folder: Path) -> frozenset[str]:
    """The files of small cases that are there by now."""
    return frozenset(path.name for path in folder.glob(f"fuzz-*{SMALL}"))


class SmallCases:
    """Those in a folder; `before` are the names of those that were there when the run began. Files are told by their
    paths from `root`."""

    def __init__(self, folder: Path, before: frozenset[str], root: Path) -> None:
        self._folder = folder
        self._before = before
        self._root = root

    def keep(self, format_name: str, signature: str, text: str, headline: str) -> tuple[bool, str]:
        """Keep a case, unless there is one of its signature that was there before or is no larger. Whether it is
        kept, and what is said of that."""
        there = self._those_of(signature)
        for path in there:
            if path.name in self._before or _rank(path) <= _rank_of(text):
                return False, self._known(path, headline)
        path = self._folder / f"fuzz-{format_name}-{signature}{SMALL}"
        words, there = kept(path, text, headline, self._root), self._those_of(signature)
        least = min(there, key=_rank, default=path)
        for other in there:
            if other != least:
                other.unlink(missing_ok=True)
        return (True, words) if least == path or path not in there else (False, self._known(least, headline))

    def _known(self, path: Path, headline: str) -> str:
        return f"known already, as {os.path.relpath(path, self._root)}: {headline}"

    def _those_of(self, signature: str) -> list[Path]:
        return sorted(self._folder.glob(f"fuzz-*-{glob.escape(signature)}{SMALL}"))


def _rank(path: Path) -> tuple[int, str]:
    try:
        return _rank_of(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):  # another process put a smaller one in its place
        return _rank_of("")


def _rank_of(text: str) -> tuple[int, str]:
    return len(text), text
