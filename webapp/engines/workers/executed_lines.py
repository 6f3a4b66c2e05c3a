"""Counts the lines of Python that something executes in this thread: what load on the machine cannot change.

Python 3.12 has `sys.monitoring` for that, which several tools share; before, there is one trace function a thread,
which is given back afterwards. Where another tool holds on to it, nothing is counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def executed_lines(work: Callable[[], object]) -> int | None:
    """Return how many lines are executed by `work`, None where nobody can count them. Raises what it raises."""
    return _monitored(work) if hasattr(sys, "monitoring") else _traced(work)


def _traced(work: Callable[[], object]) -> int | None:
    count, before = 0, sys.gettrace()

    def in_frame(_frame: FrameType, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return in_frame

    try:
        sys.settrace(in_frame)
    except RuntimeError:  # another thread is installing one this very moment
        return None
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _monitored(work: Callable[[], object]) -> int | None:
    monitoring: Any = vars(sys)["monitoring"]
    count, tool = 0, monitoring.PROFILER_ID

    def on_line(_code: object, _line: int) -> None:
        nonlocal count
        count += 1

    try:
        monitoring.use_tool_id(tool, "toolcall-inspector")
    except ValueError:  # another profiler is at work
        return None
    try:
        monitoring.register_callback(tool, monitoring.events.LINE, on_line)
        monitoring.set_events(tool, monitoring.events.LINE)
        work()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)
    return count
