"""Answers that are given again: a key is claimed once, kept for a day, and refused to another request."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from webapp.store import CaseStore, answers
from webapp.store.answers import Answer, Answers, Busy, Claim, Refused

KEY, REQUEST = "a" * 64, "b" * 64


class Clock:
    """A time that tests set."""

    def __init__(self) -> None:
        self.now = "2026-01-31T09:00:00.000Z"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(store: CaseStore, clock: Clock) -> Answers:
    return Answers(store.engine, clock)


def test_a_key_is_claimed_once_and_then_answered(kept: Answers) -> None:
    claim = kept.claim(KEY, REQUEST)
    assert isinstance(claim, Claim)
    assert kept.claim(KEY, REQUEST) == Busy()
    kept.keep(KEY, 201, '{"a": 1}', "/here")
    assert kept.claim(KEY, REQUEST) == Answer(claim.salt, 201, '{"a": 1}', "/here")
    assert kept.claim(KEY, "c" * 64) is Refused.OTHER


@pytest.mark.parametrize("request_", [REQUEST, "c" * 64])
def test_a_key_whose_request_came_to_nothing_is_open_to_any_and_keeps_its_salt(kept: Answers, request_: str) -> None:
    first = kept.claim(KEY, REQUEST)
    kept.reopen(KEY)
    assert kept.claim(KEY, request_) == first
    assert kept.claim(KEY, request_) == Busy()
    assert kept.claim(KEY, "d" * 64) is Refused.OTHER


def test_an_answer_that_is_too_long_is_not_kept(kept: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_CHARACTERS", 3)
    kept.claim(KEY, REQUEST)
    kept.keep(KEY, 200, "1234", "")
    assert isinstance(kept.claim(KEY, REQUEST), Claim)


@pytest.mark.parametrize(("now", "found"), [("2026-02-01T08:59:59.000Z", Answer), ("2026-02-01T09:00:01.000Z", Claim)])
def test_an_answer_is_kept_for_a_day(kept: Answers, clock: Clock, now: str, found: type) -> None:
    kept.claim(KEY, REQUEST)
    kept.keep(KEY, 200, "{}", "")
    clock.now = now
    assert isinstance(kept.claim(KEY, REQUEST), found)


def test_who_asks_again_when_told_gets_the_claim_that_was_abandoned(kept: Answers, clock: Clock) -> None:
    first, waits = kept.claim(KEY, REQUEST), [1]
    while waits[-1]:
        at = datetime.fromisoformat("2026-01-31T09:00:00.000Z") + timedelta(seconds=sum(waits))
        clock.now = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found = kept.claim(KEY, REQUEST)
        waits.append(found.seconds if isinstance(found, Busy) else 0)
    assert (waits, found) == ([1, 1, 2, 4, 8, 16, 32, 64, 128, 44, 1, 0], first)


@pytest.mark.parametrize(
    ("now", "abandoned"), [("2026-01-31T09:04:59.000Z", False), ("2026-01-31T09:05:01.000Z", True)]
)
def test_a_claim_that_was_abandoned_is_given_again_with_its_salt(
    kept: Answers, clock: Clock, now: str, abandoned: bool
) -> None:
    first = kept.claim(KEY, REQUEST)
    clock.now = now
    assert kept.claim(KEY, REQUEST) == (first if abandoned else Busy())
    assert kept.claim(KEY, REQUEST) == Busy()


def test_open_keys_go_before_others(kept: Answers, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST", 2)
    kept.claim("0" * 64, REQUEST)
    clock.now = "2026-01-31T09:00:01.000Z"
    opened = kept.claim("1" * 64, REQUEST)
    kept.reopen("1" * 64)
    kept.claim("2" * 64, REQUEST)
    assert kept.claim("0" * 64, "other") is Refused.OTHER
    assert kept.claim("1" * 64, REQUEST) != opened


def test_the_oldest_go_where_there_are_too_many(kept: Answers, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST", 2)
    for number in range(3):
        clock.now = f"2026-01-31T09:00:0{number}.000Z"
        kept.claim(str(number) * 64, REQUEST)
    assert [type(kept.claim(str(number) * 64, "other")) for number in (1, 2)] == [Refused, Refused]
    assert isinstance(kept.claim("0" * 64, REQUEST), Claim)


def test_of_many_that_come_together_one_has_the_claim(store: CaseStore) -> None:
    found: list[Any] = []
    ask = [threading.Thread(target=lambda: found.append(type(store.answers.claim(KEY, REQUEST)))) for _ in range(8)]
    for one in ask:
        one.start()
    for one in ask:
        one.join()
    assert Counter(found) == {Claim: 1, Busy: 7}
