"""Whoever runs a server counts, lists, purges and takes down cases; what was taken down stays away."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from webapp.store import CaseStore, Gone, Listing, TakenDown, make_engine
from webapp.store.keeping import Chosen, Counts, Keeper, Kept

OLD, NEW = "0000000000000001", "0000000000000002"
DAY = "2026-01-{:02}T00:00:00.000Z"


@pytest.fixture
def store(migrated: str) -> Iterator[CaseStore]:
    days = count(1)
    opened = CaseStore(make_engine(migrated), now=lambda: DAY.format(next(days)))
    yield opened
    opened.close()


@pytest.fixture
def keeper(store: CaseStore) -> Keeper:
    listing = Listing("", "qwen", "table", "all_hold", "pass", "some words", [], (), ())
    store.save(OLD, "x" * 10, "digest", "1.0", listing)
    store.save(NEW, "x" * 200, "digest", "1.0")
    return Keeper(store)


def test_cases_are_counted_and_listed_oldest_first(keeper: Keeper) -> None:
    assert keeper.counts() == Counts(2, 210, 1, 0, 0)
    old, new = Kept(OLD, DAY.format(1), 10, listed=True), Kept(NEW, DAY.format(3), 200, listed=False)
    assert [*keeper.kept(Chosen())] == [old, new]
    assert [*keeper.kept(Chosen(before=DAY.format(2)))] == [old]
    assert [*keeper.kept(Chosen(larger=10))] == [new]
    assert [*keeper.kept(Chosen(DAY.format(2), 10))] == []


def test_what_is_purged_is_gone_from_the_library_too_and_can_be_saved_again(keeper: Keeper, store: CaseStore) -> None:
    assert keeper.purge([OLD, "no such case"]) == 1
    assert keeper.counts() == Counts(1, 200, 0, 1, 0)
    with pytest.raises(Gone):
        store.get(OLD)
    assert store.save(OLD, "again", "digest", "1.0").created
    assert keeper.purge([]) == 0


def test_what_is_taken_down_is_not_saved_again_until_it_is_allowed(keeper: Keeper, store: CaseStore) -> None:
    assert keeper.take_down(OLD)
    assert keeper.counts() == Counts(1, 200, 0, 0, 1)
    with pytest.raises(TakenDown):
        store.save(OLD, "again", "digest", "1.0")
    assert not keeper.take_down(OLD)
    assert keeper.allow(OLD)
    assert not keeper.allow(OLD)
    assert store.save(OLD, "again", "digest", "1.0").created


def test_a_case_that_nobody_saved_yet_can_be_taken_down(keeper: Keeper, store: CaseStore) -> None:
    unknown = "0000000000000003"
    assert not keeper.take_down(unknown)
    with pytest.raises(Gone):
        store.get(unknown)
    with pytest.raises(TakenDown):
        store.save(unknown, "x", "digest", "1.0")


def test_no_key_opens_what_was_taken_down(keeper: Keeper, store: CaseStore) -> None:
    keeper.take_down(OLD)
    assert not store.has_key(OLD, "taken down")
    assert not store.withdraw(OLD, "taken down")
