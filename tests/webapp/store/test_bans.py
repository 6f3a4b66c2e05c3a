"""A client is banned for the day that it is called so; a secret until the ban is lifted."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from sqlalchemy.exc import OperationalError

from webapp.store import CaseStore, make_engine
from webapp.store import bans as module

CLIENT, SECRET = "0" * 16, "f" * 64


class Clock:
    """A clock that a test sets."""

    time = "2026-01-31T09:00:00.000Z"

    def __call__(self) -> str:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(migrated: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[CaseStore]:
    monkeypatch.setattr(module, "KNOWN_SECONDS", 0.0)
    opened = CaseStore(make_engine(migrated), now=clock)
    yield opened
    opened.close()


def test_a_client_is_banned_for_the_day_and_a_secret_for_good(store: CaseStore, clock: Clock) -> None:
    assert store.bans.known() == frozenset()
    assert store.bans.add(CLIENT, for_today=True)
    assert store.bans.add(SECRET, for_today=False)
    assert not store.bans.add(CLIENT, for_today=True)
    assert store.bans.known() == {CLIENT, SECRET}
    clock.time = "2026-02-01T00:00:00.000Z"
    assert store.bans.all() == [(SECRET, False)]
    assert not store.bans.lift(CLIENT)
    assert store.bans.add(CLIENT, for_today=True)  # another one, by chance of the same name


def test_a_ban_can_be_lifted(store: CaseStore) -> None:
    store.bans.add(CLIENT, for_today=True)
    assert store.bans.lift(CLIENT)
    assert not store.bans.lift(CLIENT)
    assert store.bans.all() == []


def test_a_process_goes_on_for_a_moment_with_what_it_read(store: CaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNOWN_SECONDS", 1_000.0)
    assert store.bans.known() == frozenset()
    store.bans.add(CLIENT, for_today=True)
    assert store.bans.known() == frozenset()
    monkeypatch.setattr(module, "KNOWN_SECONDS", 0.0)
    assert store.bans.known() == {CLIENT}


def test_where_the_database_does_not_answer_what_was_read_before_holds(
    store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.bans.add(CLIENT, for_today=True)
    assert store.bans.known() == {CLIENT}
    monkeypatch.setattr(store.bans, "all", Mock(side_effect=OperationalError("", None, Exception())))
    assert store.bans.known() == {CLIENT}
