"""A share ends by itself where its sharer chose that; from then on nothing shows what only it gave, swept or not."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from parsers.vocabulary.types import UsageError
from webapp.store import CaseStore, Cost, Gone, Listing, Sharing, make_engine
from webapp.store.expiring import CHOICES, expiry
from webapp.store.keeping import Keeper
from webapp.store.listings import Wanted
from webapp.store.results import Result
from webapp.store.schema import cases

ID, OTHER = "0123456789abcdef", "f" * 16
TODAY, LATER = "2026-01-31T09:00:00.000Z", "2026-02-01T09:00:00.000Z"
DAY = Sharing(expires=LATER)
LISTING = Listing("my words", "qwen", "builtin", "all_hold", "pass", "the output", tags=["mine"], checks=["chunking"])
BODY = '{"title":"my words","input":{"text":"the output"}}'


class Clock:
    """A clock that a test sets."""

    time = TODAY

    def __call__(self) -> str:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(migrated: str, clock: Clock) -> Iterator[CaseStore]:
    opened = CaseStore(make_engine(migrated), now=clock)
    opened.on_change = Mock()
    yield opened
    opened.close()


def share(store: CaseStore, case_id: str = ID, sharing: Sharing = DAY, listing: Listing | None = LISTING) -> str:
    return store.save(case_id, BODY, "digest", "1.0", listing, sharing=sharing).delete_key


def shown(store: CaseStore) -> tuple[object, ...]:
    """What the library says of what there is."""
    library = store.library
    found = library.search(Wanted(("output",)))
    counts = library.counts()
    bodies = [*library.bodies(Wanted())]
    return len(found.rows), found.total, counts.total, counts.values["tag"], counts.values["parser"], len(bodies)


NOTHING: tuple[object, ...] = (0, 0, 0, [], [], 0)
TIMES = [("day", LATER), ("week", "2026-02-07T09:00:00.000Z"), ("month", "2026-03-02T09:00:00.000Z"), ("never", None)]


@pytest.mark.parametrize(("choice", "time"), [*TIMES, ("", None)])
def test_whoever_shares_chooses_how_long(choice: str, time: str | None) -> None:
    assert expiry(choice, TODAY) == time
    assert [name for name, _ in TIMES] == [*CHOICES]


def test_another_choice_is_refused() -> None:
    with pytest.raises(UsageError, match="expires=year is not known: ask for one of day, week, month, never"):
        expiry("year", TODAY)


def test_what_expired_is_shown_nowhere_before_it_is_swept_away(store: CaseStore, clock: Clock) -> None:
    share(store)
    made = store.collections.make("all", Wanted())
    assert made is not None
    assert shown(store) == (1, 1, 1, [("mine", 1)], [("qwen", 1)], 1)
    clock.time = LATER
    assert shown(store) == NOTHING
    assert [one.total for one in store.collections.newest()] == [0]
    assert store.results.count_left("builtin", "1", Wanted()) == 0


def test_it_is_gone_and_its_text_too_once_somebody_asks_for_it(store: CaseStore, clock: Clock) -> None:
    share(store)
    clock.time = "2026-02-05T00:00:00.000Z"
    with pytest.raises(Gone, match="expired on 2026-02-01") as caught:
        store.get(ID)
    assert (caught.value.expired, caught.value.deleted) == (True, LATER)
    with store.engine.connect() as connection:
        assert connection.execute(select(cases.c.body, cases.c.ended)).one() == ("", "expired")
    store.on_change.assert_called_once_with(ID)  # type: ignore[attr-defined]
    assert store.spending.total() == Cost()
    with pytest.raises(Gone, match="expired on 2026-02-01"):
        store.get(ID)


def test_it_is_gone_also_where_the_database_takes_nothing(
    store: CaseStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(store)
    clock.time = LATER
    monkeypatch.setattr(store, "sweep", Mock(side_effect=OperationalError("", None, Exception())))
    with pytest.raises(Gone, match="expired on 2026-02-01"):
        store.get(ID)


def test_the_words_and_the_place_that_a_share_gave_end_with_it_also_where_the_database_takes_nothing(
    store: CaseStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(store)
    share(store, sharing=Sharing(), listing=None)
    assert store.library.is_listed(ID)
    clock.time = LATER
    monkeypatch.setattr(store, "sweep", Mock(side_effect=OperationalError("", None, Exception())))
    found = store.get(ID)
    assert found is not None
    assert ("my words" in found.body, "the output" in found.body) == (False, True)
    assert not store.library.is_listed(ID)


def test_it_stays_as_long_as_one_of_its_sharers_keeps_it_without_the_words_of_the_others(
    store: CaseStore, clock: Clock
) -> None:
    share(store)
    kept = share(store, sharing=Sharing(), listing=None)
    assert shown(store)[0] == 1
    clock.time = LATER
    found = store.get(ID)
    assert found is not None
    assert ("my words" in found.body, "the output" in found.body) == (False, True)
    assert shown(store) == NOTHING
    assert store.withdraw(ID, kept)


def test_the_library_shows_it_as_long_as_one_who_listed_it_keeps_it(store: CaseStore, clock: Clock) -> None:
    share(store)
    store.list_known(ID, LISTING, share(store, sharing=Sharing(expires="2026-03-01T00:00:00.000Z")))
    clock.time = LATER
    assert shown(store)[0] == 1
    clock.time = "2026-03-01T00:00:00.000Z"
    assert shown(store) == NOTHING


def test_saves_sweep_away_what_expired_before(store: CaseStore, clock: Clock) -> None:
    share(store)
    assert store.expired() == 0
    clock.time = LATER
    assert store.expired() == 1
    share(store, OTHER, Sharing())
    assert (store.expired(), store.count()) == (0, 1)


def test_results_of_what_expired_are_not_counted(store: CaseStore, clock: Clock) -> None:
    share(store)
    share(store, OTHER, Sharing())
    for number in (1, 2):
        store.results.keep("vllm", "1", number, Result("fails", "error"))
    store.results.keep("vllm", "2", 1, Result("fails", "error"))
    clock.time = LATER
    assert [(one.version, one.counts) for one in store.results.all()] == [("1", {"error": 1})]


def test_all_of_it_can_be_swept_at_once(store: CaseStore, clock: Clock) -> None:
    for number in range(3):
        share(store, f"{number:016}")
    share(store, OTHER, Sharing())
    clock.time = LATER
    assert store.sweep(limit=1) == [f"{0:016}"]
    assert len(store.sweep()) == 2
    assert (store.sweep(), store.count()) == ([], 1)
    assert Keeper(store).counts().deleted == 3


def test_what_expired_can_be_shared_again(store: CaseStore, clock: Clock) -> None:
    key = share(store)
    clock.time = LATER
    store.sweep()
    assert not store.withdraw(ID, key)
    assert store.save(ID, BODY, "digest", "1.0").created
    assert store.get(ID) is not None


def test_a_key_withdraws_a_share_before_it_ends(store: CaseStore) -> None:
    assert store.withdraw(ID, share(store))
    with pytest.raises(Gone, match="was deleted on 2026-01-31"):
        store.get(ID)
