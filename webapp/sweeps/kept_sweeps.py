"""The sweeps that stand in a folder: what each was asked, how far it is, and its report once that is there.

Nothing is written, and nothing but names, sizes and the files of reports is read: a sweep may be running. A folder is
that of a sweep where it has a plan; those in a folder are found, and one deeper, which several engines have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from parsers.sweeps.report import code_parts
from webapp.sweeps.sweep_folder import PLAN

REPORT, CHANGES = "report.json", "changes.json"
LARGEST = 50_000_000  # bytes of a file that is read
MOST = 200  # sweeps that are shown
# What may be taken from a folder, as it is.
FILES = ("report.html", REPORT, "report.junit.xml", "rows.jsonl", "rows.parquet", "timing.html", "timing.json", CHANGES)


@dataclass(slots=True, frozen=True)
class KeptSweep:
    """A sweep: its name, where it is, how many of its parts are done, and whether its report is there."""

    name: str
    path: Path
    done: int
    parts: int
    ended: bool

    @property
    def sentence(self) -> list[str]:
        """What came of it, in parts of which every other one is code."""
        return code_parts(_sentence(self.path / REPORT))

    def report(self) -> Mapping[str, Any]:
        """Its report; nothing where that cannot be read."""
        return _read(self.path / REPORT) or {}

    def changes(self) -> Mapping[str, Any] | None:
        """What changed beside another sweep, None where it stands beside none."""
        return _read(self.path / CHANGES)

    @property
    def files(self) -> list[str]:
        """The files of its report that are there."""
        return [name for name in FILES if (self.path / name).is_file()]


def kept_sweeps(root: Path) -> list[KeptSweep]:
    """All of a folder, by name; the folder may be one itself."""
    found = []
    for name, path in _folders(root):
        one = _read_sweep(name, path)
        if one is not None:
            found.append(one)
        if len(found) == MOST:
            break
    return found


def kept_sweep(root: Path, name: str) -> KeptSweep | None:
    """The one of that name, None for none."""
    path = next((path for other, path in _folders(root) if other == name), None)
    return None if path is None else _read_sweep(name, path)


def _folders(root: Path) -> Iterator[tuple[str, Path]]:
    """Folders that may be sweeps, with their names."""
    if (root / PLAN).is_file():
        yield root.name, root
        return
    for one in _inside(root):
        if (one / PLAN).is_file():
            yield one.name, one
        else:
            yield from [(f"{one.name}/{two.name}", two) for two in _inside(one) if (two / PLAN).is_file()]


def _inside(path: Path) -> list[Path]:
    """The folders in a folder, hidden ones left out; none where it cannot be read."""
    try:
        return sorted([one for one in path.iterdir() if one.is_dir() and not one.name.startswith(".")])
    except OSError:
        return []


def _read_sweep(name: str, path: Path) -> KeptSweep | None:
    plan = _read(path / PLAN)
    if plan is None or not isinstance(plan.get("shards"), int):
        return None
    done = min(sum([not one.startswith(".") for one in _names(path / "shards")]), plan["shards"])
    return KeptSweep(name, path, done, plan["shards"], (path / REPORT).is_file())


def _names(path: Path) -> list[str]:
    try:
        return [one.name for one in path.iterdir()]
    except OSError:
        return []


def _sentence(path: Path) -> str:
    """The sentence of a report, which is read again where the file is another one: a list is asked for often."""
    try:
        stat = path.stat()
    except OSError:
        return ""
    return _sentence_of(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4 * MOST)
def _sentence_of(path: Path, _changed: int, _size: int) -> str:
    said = (_read(path) or {}).get("sentence")
    return said if isinstance(said, str) else "Its report cannot be shown."


def _read(path: Path) -> dict[str, Any] | None:
    """The object of a file, None where there is none or it is none, or too large."""
    try:
        data = json.loads(path.read_text("utf-8")) if path.stat().st_size <= LARGEST else None
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
