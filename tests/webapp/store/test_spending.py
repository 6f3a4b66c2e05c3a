"""What clients store is counted exactly, also when they ask at once; nothing of a day outlives it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from tests.webapp.store.test_upgrade import at_revision
from webapp.store import CaseStore, Client, Cost, Listing, OverQuota, Sharing, make_engine, upgrade
from webapp.store.engine import writing
from webapp.store.keeping import Keeper
from webapp.store.schema import cases, days, spent
from webapp.store.spending import Spent

LISTING = Listing("", "qwen", "builtin", "all_hold", "pass", "words")
NO_LIMIT = Cost()
WHO = "network 192.0.2.0/24"


class Clock:
    """A clock that a test sets."""

    time = "2026-01-31T09:00:00.000Z"

    def __call__(self) -> str:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(migrated: str, clock: Clock) -> Iterator[CaseStore]:
    opened = CaseStore(make_engine(migrated), now=clock)
    yield opened
    opened.close()


def client(store: CaseStore, most: Cost = NO_LIMIT, most_of_all: Cost = NO_LIMIT, words: str = WHO) -> Client:
    return store.spending.client(words, most, most_of_all)


def share(store: CaseStore, number: int, whose: Client | None, body: str = "x" * 10) -> str | None:
    return store.save(f"{number:016}", body, "digest", "1.0", LISTING, sharing=Sharing(client=whose)).delete_key


OVER = [
    ("cases", Cost(cases=2), NO_LIMIT, False),
    ("bytes", Cost(bytes=29), NO_LIMIT, False),
    ("cases", NO_LIMIT, Cost(cases=2), True),
    ("bytes", Cost(cases=9, bytes=99), Cost(bytes=29), True),
]


@pytest.mark.parametrize(("what", "most", "most_of_all", "of_all"), OVER)
def test_what_is_over_a_quota_is_not_stored(
    store: CaseStore, what: str, most: Cost, most_of_all: Cost, of_all: bool
) -> None:
    whose = client(store, most, most_of_all)
    for number in range(2):
        share(store, number, whose)
    with pytest.raises(OverQuota) as caught:
        share(store, 2, whose)
    assert (caught.value.what, caught.value.of_all) == (what, of_all)
    assert caught.value.most == getattr(most_of_all if of_all else most, what)
    assert (store.count(), store.library.counts().total, store.spending.total()) == (2, 2, Cost(2, 20))
    assert store.spending.today() == [Spent(whose.digest, 2, 20, 0)]


def test_each_client_has_a_quota_of_its_own_and_a_new_one_the_next_day(store: CaseStore, clock: Clock) -> None:
    one = client(store, most := Cost(cases=1))
    share(store, 1, one)
    share(store, 2, client(store, most, words="network 198.51.100.0/24"))
    with pytest.raises(OverQuota):
        share(store, 3, one)
    clock.time = "2026-02-01T00:00:00.000Z"
    tomorrow = client(store, most)
    assert tomorrow.digest != one.digest
    share(store, 3, tomorrow)
    assert store.spending.today() == [Spent(tomorrow.digest, 1, 10, 0)]


def test_nothing_of_a_day_is_kept_on_the_next(store: CaseStore, clock: Clock) -> None:
    share(store, 1, client(store))
    clock.time = "2026-02-01T00:00:00.000Z"
    client(store)
    with store.engine.connect() as connection:
        assert connection.execute(select(days.c.day)).scalars().all() == ["2026-02-01"]
        assert connection.execute(select(spent.c.day)).scalars().all() == []


def test_a_client_of_yesterday_whose_counts_are_gone_is_let_through(store: CaseStore, clock: Clock) -> None:
    late = client(store, Cost(cases=1))
    store.spending.make_room(late)
    clock.time = "2026-02-01T00:00:00.000Z"
    client(store)
    with writing(store.engine).begin() as connection:
        store.spending.count(connection, late, Cost(cases=1))
    assert store.spending.today() == []


def test_all_processes_of_a_day_call_a_client_the_same(store: CaseStore) -> None:
    other = CaseStore(store.engine, now=store.now)
    assert client(other) == client(store)
    assert client(other, words="network 192.0.3.0/24") != client(store)
    assert len(client(store).digest) == 16


def test_two_processes_that_begin_a_day_at_once_agree(store: CaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    other = CaseStore(store.engine, now=store.now)
    began = client(other)
    read = store.spending._read_salt
    answers = iter([None, read(began.day)])
    monkeypatch.setattr(store.spending, "_read_salt", lambda _: next(answers))
    assert client(store) == began


def test_neither_address_nor_its_digest_without_salt_is_in_the_files(tmp_path: Path) -> None:
    upgrade(engine := make_engine(f"sqlite:///{tmp_path / 'cases.sqlite3'}"))
    store = CaseStore(engine)
    share(store, 1, client(store))
    assert [path.name for path in tmp_path.iterdir() if b"192.0.2" in path.read_bytes()] == []
    store.close()


def test_what_is_deleted_purged_or_taken_down_counts_no_more_in_all(store: CaseStore) -> None:
    keys = [share(store, number, None) for number in range(4)]
    assert store.spending.total() == Cost(4, 40)
    store.withdraw(f"{0:016}", str(keys[0]))
    Keeper(store).purge([f"{1:016}", f"{0:016}"])
    Keeper(store).take_down(f"{2:016}")
    assert store.spending.total() == Cost(1, 10)
    share(store, 0, client(store), "é" * 10)  # again, and larger
    assert store.spending.total() == Cost(2, 30)


def test_clients_who_store_at_once_get_no_more_than_one_after_the_other(store: CaseStore) -> None:
    whose, refused = client(store, Cost(cases=3), Cost(cases=5)), list[int]()

    def work(number: int) -> None:
        try:
            share(store, number, whose)
        except OverQuota:
            refused.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), store.count()) == (5, 3)


def test_uploads_are_counted_by_themselves(store: CaseStore) -> None:
    whose = client(store, Cost(cases=1, uploads=2))
    for _ in range(2):
        store.spending.charge(whose, Cost(uploads=1))
    with pytest.raises(OverQuota, match="no more than 2 uploads"):
        store.spending.charge(whose, Cost(uploads=1))
    share(store, 1, whose)
    assert store.spending.today() == [Spent(whose.digest, 1, 10, 2)]


def test_a_limit_that_is_lowered_refuses_what_is_new_alone(store: CaseStore) -> None:
    share(store, 1, client(store))
    with pytest.raises(OverQuota):
        share(store, 2, replace(client(store), most=Cost(cases=1)))


def test_the_sizes_of_cases_that_were_there_before_are_counted_once(database_url: str) -> None:
    at_revision(engine := make_engine(database_url), "0003")
    row = {"body": "é" * 10, "outcome_digest": "d", "version": "1", "created": "x", "delete_key_hash": "h"}
    columns = ", ".join(["id", "message", "deleted", *row])
    values = ", ".join([":id", ":message", ":deleted", *[f":{name}" for name in row]])
    with writing(engine).begin() as connection:
        for number, (message, deleted) in enumerate([(None, None), ("{}", None), (None, "then")]):
            given = {**row, "id": f"{number:016}", "message": message, "deleted": deleted}
            connection.execute(text(f"INSERT INTO cases ({columns}) VALUES ({values})"), given)
    upgrade(engine)
    store = CaseStore(engine)
    assert store.spending.total() == Cost(2, 42)
    with writing(engine).begin() as connection:
        assert connection.execute(select(cases.c.size).order_by(cases.c.id)).scalars().all() == [20, 22, 0]
        connection.execute(insert(days).values(day="x", salt="y"))
    store.close()
