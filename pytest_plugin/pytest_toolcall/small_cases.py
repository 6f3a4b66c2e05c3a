"""The files of small cases that generated outputs led to: one for each signature, whichever test and process finds it.

A file that was there before the run stays as it is, for somebody may have said what is right in it. Of those that a run
writes the smallest one stays, so that it does not matter which process was the first.

Several processes write and delete at once, without a lock. What holds whatever their order: each ends with a look that
finds a case of the signature, and deletes nothing after it; so does the one that is the last to delete.
"""

from __future__ import annotations

import glob
import os
from contextlib import suppress
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
        path, mine, words = self._folder / f"fuzz-{format_name}-{signature}{SMALL}", _rank_of(text), ""
        while True:
            there = self._ranked(signature)
            known = next((one for one in there if one.name in self._before), None)
            if known is not None:
                return False, self._known(known, headline)
            least = min(there, key=lambda one: there[one], default=None)
            if least is None or there[least] > mine:
                is_written, words = kept(path, text, headline, self._root)
                if not is_written:
                    return True, words
            elif not _deleted([one for one in there if one != least]):
                is_new = bool(words) and (least, there[least]) == (path, mine)
                return is_new, words if is_new else self._known(least, headline)

    def _known(self, path: Path, headline: str) -> str:
        return f"known already, as {os.path.relpath(path, self._root)}: {headline}"

    def _ranked(self, signature: str) -> dict[Path, tuple[int, str]]:
        ranks = [(path, _rank(path)) for path in self._those_of(signature)]
        return {path: rank for path, rank in ranks if rank is not None}

    def _those_of(self, signature: str) -> list[Path]:
        return sorted(self._folder.glob(f"fuzz-*-{glob.escape(signature)}{SMALL}"))


def _rank(path: Path) -> tuple[int, str] | None:
    """None where it is gone by now, for another process has a smaller one."""
    try:
        return _rank_of(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):  # somebody else's: it is left alone
        return _rank_of("")


def _rank_of(text: str) -> tuple[int, str]:
    return len(text), text


def _deleted(paths: list[Path]) -> int:
    """Delete files; how many are gone."""
    count = 0
    for path in paths:
        with suppress(OSError):
            path.unlink(missing_ok=True)
            count += 1
    return count
