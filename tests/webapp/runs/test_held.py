"""Posted runs keep an address for a while: nobody can guess it, and it goes when nobody uses it or room is needed."""

from __future__ import annotations

import re

import pytest

from parsers.cases.io import loads
from tests.webapp.interrupts import Rung, turns
from tests.webapp.runs.conftest import Clock
from webapp.runs.held import HeldRuns, SharedAs
from webapp.runs.held import _size as held_size

CASE = loads('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "words"}}')


def held(clock: Clock, most_bytes: int = 1_000_000) -> HeldRuns:
    return HeldRuns(most_bytes, 60, clock)


def test_a_run_is_found_by_its_token_alone(clock: Clock) -> None:
    runs = held(clock)
    one, two = runs.hold(CASE, "{}"), runs.hold(CASE, "{}")
    assert re.fullmatch(r"[0-9a-f]{32}", one.token)
    assert one.token != two.token
    assert runs.get(one.token) is one
    assert runs.get(two.token[:-1]) is None


def test_the_same_case_keeps_its_token_and_another_one_gets_another(clock: Clock) -> None:
    runs = held(clock)
    one = runs.hold(CASE, "{}", setup="first")
    again = runs.hold(CASE, "{}", setup="second", known=one.token)
    assert (again.token, again.setup) == (one.token, "second")
    other = runs.hold(CASE, '{"x": 1}', known=one.token)
    assert other.token != one.token
    assert runs.get(one.token) is again


def test_what_a_run_was_shared_as_is_known_as_long_as_it_is_held(clock: Clock) -> None:
    runs, shared = held(clock), SharedAs("0" * 16, "A title")
    one = runs.hold(CASE, "{}")
    runs.note_shared(one.token, shared)
    runs.note_shared("unknown", shared)
    found = runs.get(one.token)
    assert found is not None
    assert found.shared == shared
    assert runs.hold(CASE, "{}", known=one.token).shared == shared
    assert runs.hold(CASE, '{"x": 1}', known=one.token).shared is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # hypothesis listens to the collector
def test_an_interrupt_at_any_moment_leaves_what_can_be_mended(clock: Clock) -> None:
    runs = held(clock, most_bytes=20_000)
    interrupts = 0
    for bell in turns(0.3):
        try:
            with bell:
                for number in range(1_000_000):
                    runs.get(runs.hold(CASE, "{}" * (number % 7)).token)
        except Rung:
            interrupts += 1
        runs.mend()
        assert runs._used == sum([held_size(run) for run, _ in runs._kept.values()])
    assert interrupts > 50
    assert runs.get(runs.hold(CASE, "{}").token) is not None


def test_what_nobody_asks_for_is_gone_in_time(clock: Clock) -> None:
    runs = held(clock)
    kept, left = runs.hold(CASE, "{}"), runs.hold(CASE, "{}")
    clock.now = 50
    assert runs.get(kept.token) is kept
    clock.now = 100
    assert runs.get(left.token) is None
    assert runs.get(kept.token) is kept


def test_the_one_asked_for_longest_ago_makes_room(clock: Clock) -> None:
    runs = held(clock, most_bytes=20_000)
    tokens = [runs.hold(CASE, "x" * 500).token for _ in range(2)]
    runs.get(tokens[0])
    tokens.append(runs.hold(CASE, "x" * 500).token)
    assert [runs.get(token) is not None for token in tokens] == [True, False, True]
    large = runs.hold(CASE, "x" * 10_000)
    assert [runs.get(token) is not None for token in tokens] == [False, False, False]
    assert runs.get(large.token) is large


def test_how_long_anything_is_held_is_known(clock: Clock) -> None:
    runs = held(clock)
    left = [runs.seconds_left]
    first, _ = runs.hold(CASE, "{}"), runs.hold(CASE, "{}")
    for now in (0, 20, 59):
        clock.now = now
        left.append(runs.seconds_left)
    runs.get(first.token)
    for now in (60, 100, 120):
        clock.now = now
        left.append(runs.seconds_left)
    assert left == [0, 60, 40, 1, 59, 19, 0]


def test_a_run_whose_page_was_left_goes_soon_unless_somebody_asks_for_it(clock: Clock) -> None:
    runs = HeldRuns(1_000_000, 3_600, clock)
    closed, loaded, open_ = [runs.hold(CASE, "{}") for _ in range(3)]
    clock.now = 10
    runs.leave(closed.token)
    runs.leave(loaded.token)
    runs.leave("unknown")
    clock.now = 100
    assert runs.get(loaded.token) is loaded
    assert runs.seconds_left == 3_600
    clock.now = 140
    assert [runs.get(one.token) for one in (closed, loaded, open_)] == [None, loaded, open_]
    runs.leave(loaded.token)
    runs.leave(open_.token)
    assert runs.seconds_left == 120


def test_a_run_stays_edited_from_what_it_was_and_takes_the_room_for_that(clock: Clock) -> None:
    runs = held(clock)
    before = runs.hold(CASE, "{}")
    alone = runs.used
    one = runs.hold(CASE, '{"x": 1}', edited=before)
    assert runs.used - alone == held_size(one) > held_size(before)
    assert runs.hold(CASE, '{"x": 1}', known=one.token).edited is before
