"""The server that forks: a process with our modules loaded and no thread, so that what it forks inherits no lock.

It is a Python with a command, which looks for modules in the current folder first. Whoever starts us may stand in a
project with a package `parsers` of its own, and that would be loaded in the place of ours: so it does not look there.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from threading import Lock

_SAFE_PATH = "PYTHONSAFEPATH"  # as -P, which multiprocessing gives no way to say

_starting = Lock()
_names: dict[str, None] = {}


def preload(*modules: str) -> None:
    """Start it, unless it runs already, with all modules loaded that were named so far."""
    from multiprocessing.forkserver import ensure_running  # not every system has what it needs

    with _starting, _safe_path():
        _names.update(dict.fromkeys(modules))
        multiprocessing.get_context("forkserver").set_forkserver_preload(list(_names))
        ensure_running()


def start(process: BaseProcess) -> None:
    """Let it fork a process. It is started again where it has ended. Raises OSError where it ends just then."""
    with _starting, _safe_path():
        try:
            process.start()
        except EOFError as error:
            raise OSError("the process that starts others ended meanwhile") from error


@contextmanager
def _safe_path() -> Iterator[None]:
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before
