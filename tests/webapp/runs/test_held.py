"""Posted runs keep an address for a while: nobody can guess it, and it goes when nobody uses it or room is needed."""

from __future__ import annotations

import re

import pytest

from parsers.cases.io import loads
from webapp.runs.held import HeldRuns

CASE = loads('{"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "words"}}')


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


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
