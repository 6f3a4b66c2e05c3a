"""The source files of an engine that somebody is writing: when they change, its worker is started anew, and what was
kept of its replays is not used again.

A worker says in its card where the modules are that are not installed with its interpreter. An installed engine has
none, and its version tells it from another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from time import monotonic

MOST_FILES = 5_000
FRESH_SECONDS = 0.5  # for so long files are not looked at again

_seen: dict[tuple[str, ...], tuple[float, str]] = {}


def sources_stamp(sources: Sequence[str]) -> str:
    """What changes with any Python file in these folders, or among these files; "" where there are none."""
    if not sources:
        return ""
    key, now = tuple(sources), monotonic()
    known = _seen.get(key)
    if known is None or now - known[0] > FRESH_SECONDS:
        if len(_seen) > 100:
            _seen.clear()
        found = sorted(zip(_changes(sources), range(MOST_FILES), strict=False), reverse=True)
        newest = found[0][0] if found else 0
        known = _seen[key] = now, f"{newest} {len(found)}"
    return known[1]


def _changes(sources: Sequence[str]) -> Iterator[int]:
    """When each file changed, in nanoseconds."""
    for source in sources:
        if os.path.isdir(source):
            yield from _changes(list(_inside(source)))
        elif source.endswith(".py"):
            try:
                yield os.stat(source).st_mtime_ns
            except OSError:
                continue


def _inside(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as found:
            for one in found:
                hidden = one.name.startswith((".", "__pycache__"))
                if not hidden and (one.name.endswith(".py") or one.is_dir(follow_symlinks=False)):
                    yield one.path
    except OSError:
        return
