"""Whoever shares a case has a key of their own; it withdraws what they gave, and the last one takes the text."""

from __future__ import annotations

import threading

import pytest
from alembic import command
from sqlalchemy import column, insert, select, table

from tests.webapp.store.test_upgrade import at_revision
from webapp.store import CaseStore, Cost, Gone, Listing, OverQuota, Sharing, make_engine, upgrade
from webapp.store.engine import writing
from webapp.store.keeping import Keeper
from webapp.store.keys import digest_of
from webapp.store.listings import Wanted
from webapp.store.migrate import alembic_config
from webapp.store.schema import shares

ID = "0123456789abcdef"
BODY = '{"schema":1,"title":"my words","notes":["and these"],"flags":["mine"],"input":{"text":"the output"}}'
LISTING = Listing("my words", "qwen", "builtin", "all_hold", "pass", "the output", tags=["mine"], checks=["chunking"])


def share(store: CaseStore, listing: Listing | None = None, *, body: str = BODY) -> str:
    return store.save(ID, body, "digest", "1.0", listing).delete_key


def body_of(store: CaseStore) -> str:
    found = store.get(ID)
    assert found is not None
    return found.body


def found(store: CaseStore, words: str) -> list[str]:
    return [one.case_id for one in store.library.search(Wanted((words,))).rows]


def test_each_sharer_has_a_key_and_the_last_one_takes_the_text(store: CaseStore) -> None:
    keys = [share(store) for _ in range(3)]
    assert len({*keys}) == 3
    for key in (keys[1], keys[0]):
        assert store.withdraw(ID, key)
        assert not store.withdraw(ID, key)
        assert "the output" in body_of(store)
    assert store.withdraw(ID, keys[2])
    with pytest.raises(Gone):
        store.get(ID)
    with store.engine.connect() as connection:
        assert connection.execute(select(shares)).all() == []


def test_a_key_opens_its_own_case_alone(store: CaseStore) -> None:
    key = share(store)
    store.save("f" * 16, "{}", "digest", "1.0")
    assert not store.withdraw("f" * 16, key)
    assert not store.has_key("f" * 16, key)
    assert store.has_key(ID, key)


def test_what_the_first_sharer_said_of_it_goes_with_them(store: CaseStore) -> None:
    first, second = share(store), share(store)
    total = store.spending.total()
    assert store.withdraw(ID, first)
    body = body_of(store)
    assert [words in body for words in ("my words", "these", "mine", "the output")] == [False, False, False, True]
    assert store.spending.total() == Cost(1, len(body))
    assert store.spending.total().bytes < total.bytes
    store.withdraw(ID, second)
    assert store.spending.total() == Cost()


def test_what_others_withdraw_leaves_the_words_of_the_first(store: CaseStore) -> None:
    share(store)
    store.withdraw(ID, share(store))
    assert body_of(store) == BODY


@pytest.mark.parametrize("body", ["no JSON", "[1]", '{"schema":1}'])
def test_a_body_without_such_words_stays_as_it_is(store: CaseStore, body: str) -> None:
    first, _ = share(store, body=body), share(store)
    store.withdraw(ID, first)
    assert body_of(store) == body


def test_it_leaves_the_library_with_the_last_who_listed_it(store: CaseStore) -> None:
    first, second, third = share(store, LISTING), share(store), share(store)
    assert not store.list_known(ID, LISTING, second)
    store.withdraw(ID, first)
    assert store.library.is_listed(ID)
    store.withdraw(ID, second)
    assert not store.library.is_listed(ID)
    assert "the output" in body_of(store)
    store.withdraw(ID, third)


def test_in_the_library_the_words_of_who_withdrew_are_not_found(store: CaseStore) -> None:
    first, second = share(store, LISTING), share(store)
    store.list_known(ID, LISTING, second)
    assert (found(store, "my words"), found(store, "the output")) == ([ID], [ID])
    store.withdraw(ID, first)
    assert (found(store, "my words"), found(store, "the output")) == ([], [ID])
    row = store.library.search(Wanted()).rows[0]
    assert (row.title, row.tags) == ("", [])
    assert store.library.search(Wanted(facets=(("check", "chunking"),))).total == 1


def test_what_was_listed_without_a_title_stays_found(store: CaseStore) -> None:
    listing = Listing("", "qwen", "builtin", "all_hold", "pass", "the output")
    first, second = share(store, listing), share(store)
    store.list_known(ID, listing, second)
    store.withdraw(ID, first)
    assert found(store, "the output") == [ID]


def test_whoever_asks_again_with_their_key_is_told_the_same(store: CaseStore) -> None:
    first, second = Sharing("a" * 22), Sharing("b" * 22)
    for sharing, created in ((first, True), (first, True), (second, False), (second, False)):
        assert store.save(ID, BODY, "digest", "1.0", sharing=sharing).created is created
    with store.engine.connect() as connection:
        assert len(connection.execute(select(shares)).all()) == 2


def test_a_share_counts_as_a_case_of_its_client_and_no_bytes(store: CaseStore) -> None:
    whose = store.spending.client("network 192.0.2.0/24", Cost(cases=1), Cost())
    share(store)
    store.save(ID, BODY, "digest", "1.0", sharing=Sharing(client=whose))
    with pytest.raises(OverQuota):
        store.save(ID, BODY, "digest", "1.0", sharing=Sharing(client=whose))
    assert store.spending.total() == Cost(1, len(BODY))


def test_purge_and_takedown_empty_it_whoever_shares_it(store: CaseStore) -> None:
    keys = [share(store), share(store)]
    Keeper(store).purge([ID])
    assert not any(store.withdraw(ID, key) for key in keys)
    key = share(store)
    Keeper(store).take_down(ID)
    assert not store.withdraw(ID, key)
    with store.engine.connect() as connection:
        assert connection.execute(select(shares)).all() == []


def test_sharing_and_withdrawing_at_once_leaves_what_is_shared(store: CaseStore) -> None:
    kept: list[str] = []

    def work(number: int) -> None:
        for turn in range(3):
            key = share(store)
            if number or turn:
                assert store.withdraw(ID, key)
            else:
                kept.append(key)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "the output" in body_of(store)
    assert store.withdraw(ID, kept[0])
    with pytest.raises(Gone):
        store.get(ID)
    assert store.spending.total() == Cost()


def test_cases_from_before_have_the_key_that_they_had_and_back(database_url: str) -> None:
    at_revision(engine := make_engine(database_url), "0004")
    names = ("id", "body", "outcome_digest", "version", "created", "deleted", "delete_key_hash")
    rows = [
        ("a" * 16, BODY, "d", "1", "x", None, digest_of("mine")),
        ("b" * 16, "", "d", "1", "x", "then", digest_of("old")),
        ("c" * 16, "", "d", "1", "x", "then", "taken down"),
    ]
    with writing(engine).begin() as connection:
        given = [dict(zip(names, row, strict=True)) for row in rows]
        connection.execute(insert(table("cases", *map(column, names))), given)
    upgrade(engine)
    store = CaseStore(engine)
    assert Keeper(store).counts().taken_down == 1
    with writing(engine).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0004")
        old = connection.exec_driver_sql("SELECT delete_key_hash FROM cases ORDER BY id")
        found = [*old.scalars()]
    assert found == [digest_of("mine"), "", "taken down"]
    upgrade(engine)
    assert store.withdraw("a" * 16, "mine")
    store.close()
