"""The garbage collector of a process that makes many objects which stay, as the steps of a long output do."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Never look at what is here already, and seldom at what comes: to look at a long output again and again takes
    longer than to make it."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
