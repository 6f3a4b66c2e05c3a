"""The source files of an engine that somebody is writing: when they change, its worker is started anew, and what was
kept of its replays is not used again.

A worker says in its card where the modules are that are not installed with its interpreter. An installed engine has
none, and its version tells it from another one. Files that a command names are sources, too.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from time import monotonic

MOST_LOOKED_AT = 20_000  # files and folders
FRESH_SECONDS = 0.5  # for so long files are not looked at again
FRESH_TIMES = 20  # and for so many times as long as it took

_seen: dict[tuple[str, ...], tuple[float, str]] = {}  # until when a stamp is fresh


def sources_stamp(sources: Sequence[str]) -> str:
    """What changes with any Python file in these folders, or with any of these files; "" where there are none."""
    if not sources:
        return ""
    key, now = tuple(sources), monotonic()
    known = _seen.get(key)
    if known is None or now > known[0]:
        if len(_seen) > 100:
            _seen.clear()
        found = [one for one in islice(_changes(sources), MOST_LOOKED_AT) if one]
        # Of all, not of the latest: a file that is put back has its old time, and another one the latest.
        stamp = f"{hashlib.sha256(repr(sorted(found)).encode()).hexdigest()} {len(found)}"
        seen = monotonic()
        known = _seen[key] = seen + max(FRESH_SECONDS, FRESH_TIMES * (seen - now)), stamp
    return known[1]


def _changes(sources: Sequence[str]) -> Iterator[int]:
    """When each file changed, in nanoseconds, the outermost first; 0 for whatever else is looked at."""
    left = deque[str]()
    for source in sources:
        if os.path.isdir(source):
            left.append(source)
        else:
            yield _changed(source, own=True)
    while left:
        for name, path, is_folder in _inside(left.popleft()):
            hidden = name.startswith((".", "__pycache__"))
            if is_folder and not hidden:
                left.append(path)
            yield 0 if hidden else _changed(path)


def _changed(path: str, *, own: bool = False) -> int:
    try:
        return os.stat(path).st_mtime_ns if own or path.endswith(".py") else 0
    except OSError:
        return 0


def _inside(folder: str) -> Iterator[tuple[str, str, bool]]:
    """The name and path of what is in a folder, and whether it is one. One that cannot be read has nothing in it."""
    try:
        with os.scandir(folder) as found:
            for one in found:
                yield one.name, one.path, one.is_dir(follow_symlinks=False)
    except OSError:
        return
