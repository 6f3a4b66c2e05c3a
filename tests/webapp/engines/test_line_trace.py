"""Lines of a parser, told by the worker's own code in this process: a step through the worker, and events by hand.

While a trace function runs, nothing else is traced; so its work is counted where a test calls it as Python would.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Generator
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.webapp.engines import line_parsers
from tests.webapp.engines.line_parsers import Sender, Stepped
from webapp.engines.workers import engine_worker, line_trace
from webapp.engines.workers.adapter_class import Class
from webapp.engines.workers.engine_worker import Printed, Worker
from webapp.engines.workers.line_trace import MOST_EVENTS, MOST_FUNCTIONS, LineSteps, LineTrace, Roots, spelled
from webapp.engines.workers.sent_by import SentBy, Sought

FILE = Path(line_parsers.__file__)
NAME = "tests/webapp/engines/line_parsers.py"
SOURCE = FILE.read_text("utf-8").splitlines()
ROOTS = Roots([Sender()])


def line(text: str) -> int:
    return next(number for number, one in enumerate(SOURCE, 1) if text in one)


class Unguarded:
    """No guard: an audit hook stays for ever."""

    on = False


def told(*texts: str, kind: type = Sender, **asked: Any) -> dict[str, Any]:
    """What the worker tells of a replay."""
    with redirect_stdout(printed := Printed(io.StringIO())):
        worker = Worker(Class(kind), printed, Unguarded())
        run = {"request": {}, "replays": [[[text] for text in texts]], "observe": "lines", **asked}
        (answer,) = worker.run(run)["replays"]
    return dict(answer["lines"])


def test_a_worker_tells_the_lines_of_one_step() -> None:
    found = told("ab", "c<", step=2, sought="c")
    assert [(one["name"], one["file"]) for one in found["functions"]] == [
        ("Sender.feed", NAME),
        ("Sender.before", NAME),
    ]
    assert found["events"][found["sent_from"]]["returned"] == "{'content': 'c'}"
    assert (found["steps"], found["left_out"]) == ([], 0)


def test_what_is_sent_as_it_was_fed_is_sent_by_who_says_in_which_channel() -> None:
    found = told("ab", kind=line_parsers.Passing, step=1, sought="ab")
    assert found["events"][found["sent_from"]]["returned"] == "{'content': 'ab'}"
    assert any(one.get("returned") == "('ab', [])" for one in found["events"])


def test_a_worker_tells_the_other_steps_of_a_line() -> None:
    at = line("at = self.buffer.index")
    assert told("a", "<", "b", "c", step=2, where=[NAME, at])["steps"] == [3, 4]
    assert told("a", "<", step=1, where=["other.py", at])["steps"] == []


@pytest.mark.parametrize("asked", [{"step": 9}, {"step": 1, "path": "whole"}])
def test_of_a_step_that_is_not_traced_nothing_is_told(asked: dict[str, Any]) -> None:
    assert told("ab", **asked) == {
        "functions": [],
        "events": [],
        "left_out": 0,
        "sent_from": None,
        "put_at": None,
        "steps": [],
    }


Running = Generator[Any, None, None]


def tracer(trace: LineTrace | LineSteps) -> Any:
    """What Python calls while it is entered."""
    with trace:
        return sys.gettrace()


def frame_of(running: Running) -> FrameType:
    frame: FrameType = running.gi_frame  # type: ignore[attr-defined]
    return frame


def run(traced: Any, running: Running, raised: Exception | None = None) -> None:
    """Make the events of a generator that runs to its end, where it raises, or returns what it yielded last."""
    frame, value = frame_of(running), None
    local = traced(frame, "call", None)
    for one in running:
        local, value = local and local(frame, "line", None), one
    if local and raised is not None:
        local(frame, "exception", (type(raised), raised, None))
    if local:
        local(frame, "return", value if raised is None else None)


def by_hand(*runs: Running, sought: str = "", raised: Exception | None = None) -> dict[str, Any]:
    trace = LineTrace(ROOTS, SentBy(Sought(sought), "-"))
    traced = tracer(trace)
    for one in runs:
        run(traced, one, raised)
    found: dict[str, Any] = trace.told()
    return found


def test_each_line_has_what_changed_until_the_next() -> None:
    found = by_hand(Stepped().feed("ab"))
    (function,) = found["functions"]
    assert (function["name"], function["file"], function["first"]) == (
        "Stepped.feed",
        NAME,
        line("def feed(self, text: str, times"),
    )
    first, second, third = found["events"]
    assert [one["line"] for one in found["events"]] == [
        line(text) for text in ('yield "first"', 'yield "second"', "yield out")
    ]
    assert (first["changed"], second["changed"]) == (
        [["self.kept", "''", "'ab'"]],
        [["out", None, "{'content': 'ab'}"]],
    )
    assert (third["changed"], third["returned"]) == ([], "{'content': 'ab'}")


@pytest.mark.parametrize(
    ("sought", "runs", "sent_from"),
    [
        ("ab", ["ab"], 2),
        ("ab", ["xaby"], 2),
        ("ab", ["xaby", "ab", "ab"], 5),  # alone, and the first that is
        ("ab", ["no"], None),
        ("", ["ab"], None),
    ],
)
def test_the_first_line_whose_value_fits_best_sent(sought: str, runs: list[str], sent_from: int | None) -> None:
    assert by_hand(*[Stepped().feed(text) for text in runs], sought=sought)["sent_from"] == sent_from


def test_a_line_that_raises_returns_nothing() -> None:
    *_, last = by_hand(Stepped().feed("ab"), sought="ab", raised=ValueError("no\n!"))["events"]
    assert (last["raised"], last.get("returned")) == ("ValueError: no !", None)


def test_an_exception_before_the_first_line_has_one() -> None:
    trace, frame = LineTrace(ROOTS), frame_of(Stepped().feed("ab"))
    local = tracer(trace)(frame, "call", None)
    local(frame, "exception", (KeyError, KeyError("a"), None))
    local(frame, "return", None)
    assert local(frame, "line", None) is None  # of a call that is over
    assert [one["raised"] for one in trace.told()["events"]] == ["KeyError: 'a'"]


def test_events_and_functions_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    found = by_hand(Stepped().feed("ab", MOST_EVENTS), sought="ab")
    assert (len(found["events"]), found["left_out"], found["sent_from"]) == (MOST_EVENTS, 2, MOST_EVENTS - 1)
    assert found["events"][-1]["returned"] == "{'content': 'ab'}"
    assert found["events"][found["put_at"]]["changed"] == [["self.kept", "''", "'ab'"]]
    monkeypatch.setattr(line_trace, "MOST_FUNCTIONS", 0)
    assert by_hand(Stepped().feed("ab"))["functions"] == []
    assert MOST_FUNCTIONS == 60


def test_lines_past_the_last_that_is_told_are_counted_and_their_values_not_spelled() -> None:
    class Counted:
        spelled = 0

        def __repr__(self) -> str:
            Counted.spelled += 1
            return "counted"

    for sought in ("", "ab"):
        stepped, Counted.spelled = Stepped(), 0
        vars(stepped)["odd"] = Counted()
        trace = LineTrace(ROOTS, SentBy(Sought(sought), "-"))
        for times in (2 * MOST_EVENTS, MOST_EVENTS):
            run(tracer(trace), stepped.feed("ab", times))
        assert (trace.told()["left_out"], Counted.spelled) == (2 * MOST_EVENTS + 4, MOST_EVENTS + 2)


def test_files_of_others_are_passed_over() -> None:
    trace = LineTrace(Roots([]))
    run(tracer(trace), Stepped().feed("ab"))
    assert trace.told()["functions"] == []
    assert Roots([pytest.Item, Stepped()]).name_of(FILE.as_posix()) == NAME


@pytest.mark.parametrize(
    ("file", "text", "ran"),
    [(NAME, 'yield "second"', True), (NAME, "self.buffer += text", False), ("other.py", 'yield "second"', False)],
)
def test_whether_a_line_ran_is_told(file: str, text: str, ran: bool) -> None:
    steps = LineSteps(ROOTS, file, line(text))
    traced = tracer(steps)
    for _ in range(2):
        run(traced, Stepped().feed("ab"))
    assert steps.ran is ran


class Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError


def test_what_cannot_be_shown_is_named() -> None:
    assert spelled(Unreadable()).startswith("<Unreadable")
    trace, frame = LineTrace(ROOTS, SentBy(Sought("ab"), "-")), frame_of(Stepped().feed("ab"))
    local = tracer(trace)(frame, "call", None)
    local(frame, "line", None)
    local(frame, "return", Unreadable())
    assert trace.told()["sent_from"] is None


def test_code_whose_source_is_gone_has_its_name() -> None:
    made: dict[str, Any] = {}
    exec(compile("def f():\n    yield 1\n", str(FILE.with_name("gone.py")), "exec"), made)
    (function,) = by_hand(made["f"]())["functions"]
    assert (function["name"], function["first"], function["source"]) == ("f", 1, [])


def test_files_of_the_worker_are_modules_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine_worker.SOURCES, "adapter_made", "def adapter(*given): return given")
    assert engine_worker.adapter_of("made", "a") == ("a",)
    assert engine_worker.module_of("adapter_made") is sys.modules.pop("toolcall_worker_adapter_made")
    assert "adapter_made" not in sys.modules, "an engine may have a module of that name"
    with pytest.raises(ImportError, match="there is no adapter none"):
        engine_worker.adapter_of("none")
