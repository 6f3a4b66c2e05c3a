"""What tests ask of processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

PATIENCE = 60.0  # for a loaded machine; no test waits so long


def until(happened: Callable[[], object]) -> None:
    """Wait for something that has to happen."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(pid: int | None) -> bool:
    """Whether there is such a process, be it a dead one that nobody has taken leave of."""
    assert pid is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
