"""The process before those that hold runs knows the case of each: within a budget, and no longer than it is held."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import loads
from tests.webapp.runs.conftest import Clock
from webapp.children.worker import LargeError
from webapp.runs.held import HeldRuns
from webapp.runs.held_lines import HeldLines

CASE = loads('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "words"}}')


@pytest.fixture
def lines(clock: Clock) -> HeldLines:
    return HeldLines(10_000, 3_600, clock)


def process(lines: HeldLines) -> HeldRuns:
    """The runs of one of several processes."""
    return HeldRuns(1_000_000, 3_600, lines._clock, ask=lines.answer)


@pytest.mark.parametrize("line", ["{}", '{"text": "\u20ac"}', '{"text": "\ud800"}'])
def test_the_case_of_a_run_is_known_to_every_process(lines: HeldLines, line: str) -> None:
    holder, other = process(lines), process(lines)
    run = holder.hold(CASE, line)
    assert other.get(run.token) is None
    assert other.line_elsewhere(run.token) == line
    assert [other.line_elsewhere(token) for token in ("", "unknown", "0" * 32)] == [None, None, None]


def test_a_case_too_long_for_a_message_is_held_all_the_same(lines: HeldLines) -> None:
    def refuse(_question: object) -> dict[str, Any]:
        raise LargeError(1)

    holder = HeldRuns(1_000_000, 60, ask=refuse)
    run = holder.hold(CASE, "{}")
    assert holder.get(run.token) is run


def test_a_process_alone_knows_its_own_runs_and_no_others() -> None:
    alone = HeldRuns(1_000_000, 60)
    assert alone.line_elsewhere(alone.hold(CASE, "{}").token) is None


def test_a_run_whose_page_was_left_is_known_two_minutes_more(lines: HeldLines, clock: Clock) -> None:
    holder = process(lines)
    left, open_ = [holder.hold(CASE, "{}") for _ in range(2)]
    holder.leave(left.token)
    clock.now = 121
    other = process(lines)
    assert [other.line_elsewhere(run.token) for run in (left, open_)] == [None, "{}"]


def test_cases_take_no_more_than_their_budget_and_one_that_is_held_again_takes_its_room_once(lines: HeldLines) -> None:
    holder = process(lines)
    runs = [holder.hold(CASE, "x" * 4_000 + str(number)) for number in range(3)]
    assert lines.used <= lines.most_bytes
    assert [lines.get(run.token) is not None for run in runs] == [False, True, True]
    used = lines.used
    holder.hold(CASE, runs[2].line, known=runs[2].token)
    assert lines.used == used
