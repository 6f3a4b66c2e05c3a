"""Lines of Python are counted, the same every time."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from webapp.engines.workers.executed_lines import executed_lines


def loop(times: int) -> int:
    total = 0
    for one in range(times):
        total += one
    return total


def test_lines_are_counted_and_the_tool_that_traced_before_goes_on() -> None:
    before = sys.gettrace()
    few, many = executed_lines(lambda: loop(10)), executed_lines(lambda: loop(1_000))
    assert few is not None
    assert many is not None
    assert executed_lines(lambda: loop(10)) == few
    assert many - few == 2 * 990
    assert sys.gettrace() is before


def test_what_is_raised_is_raised() -> None:
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        executed_lines(lambda: 1 // 0)
    assert sys.gettrace() is before


def refuse(*_: object) -> None:
    raise RuntimeError("Cannot install a trace function while another trace function is being installed")


def test_where_another_thread_installs_a_tracer_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "monitoring", raising=False)
    monkeypatch.setattr(sys, "settrace", refuse)
    assert executed_lines(lambda: loop(10)) is None


class Monitoring:
    """`sys.monitoring` as Python 3.12 has it, as far as it is used; it sees three lines in whatever runs."""

    PROFILER_ID = 2
    events = SimpleNamespace(LINE=32)

    def __init__(self, *, taken: bool = False) -> None:
        self.taken = taken
        self.said: list[tuple[Any, ...]] = []
        self.on_line: Any = None

    def use_tool_id(self, tool: int, name: str) -> None:
        if self.taken:
            raise ValueError("tool 2 is already in use")

    def register_callback(self, tool: int, event: int, called: Any) -> None:
        self.on_line = called

    def set_events(self, tool: int, events: int) -> None:
        self.said.append((tool, events))
        for line in range(3 if events else 0):
            self.on_line(None, line)

    def free_tool_id(self, tool: int) -> None:
        self.said.append((tool, "free"))


def test_later_pythons_monitor_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monitoring = Monitoring()
    monkeypatch.setattr(sys, "monitoring", monitoring, raising=False)
    assert executed_lines(lambda: loop(10)) == 3
    assert monitoring.said == [(2, 32), (2, 0), (2, "free")]
    assert monitoring.on_line is None


def test_where_another_profiler_is_at_work_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "monitoring", Monitoring(taken=True), raising=False)
    assert executed_lines(lambda: loop(10)) is None
