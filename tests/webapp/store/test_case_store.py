from __future__ import annotations

import gc
import re
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from parsers.vocabulary.types import UsageError
from webapp.store import CaseStore, Gone, Saved, make_engine, open_store, upgrade

ID = "0123456789abcdef"
BODY = '{"input":{"text":["<tool_call>\\u0000\u6771\U0001f600"]},"schema":1}'
SECRET = "the text somebody wants back"


def saved_key(store: CaseStore, case_id: str = ID, body: str = BODY) -> str:
    key = store.save(case_id, body, "digest", "1.0").delete_key
    assert key is not None
    return key


def test_a_saved_case_is_read_back_as_it_was(store: CaseStore) -> None:
    saved = store.save(ID, BODY, "digest", "1.0")
    case = store.get(ID)
    assert case is not None
    assert (case.id, case.body, case.outcome_digest, case.version) == (ID, BODY, "digest", "1.0")
    assert (saved.id, saved.created) == (ID, True)


def test_an_unknown_id_is_none(store: CaseStore) -> None:
    assert store.get(ID) is None
    assert store.count() == 0


def test_a_case_is_dated_by_the_clock_it_is_given(database_url: str) -> None:
    upgrade(engine := make_engine(database_url))
    store = CaseStore(engine, now=lambda: "2026-01-31T09:00:00.000Z")
    saved_key(store)
    case = store.get(ID)
    store.close()
    assert case is not None
    assert case.created == "2026-01-31T09:00:00.000Z"


def test_a_case_is_dated_in_utc(store: CaseStore) -> None:
    before = datetime.now(UTC)
    saved_key(store)
    case = store.get(ID)
    assert case is not None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", case.created)
    assert abs(datetime.fromisoformat(case.created) - before) < timedelta(minutes=1)


def test_saving_the_same_content_again_changes_nothing(store: CaseStore) -> None:
    saved_key(store)
    before = store.get(ID)
    again = store.save(ID, BODY.replace("}", ',"title":"other"}'), "new digest", "2.0")
    assert again == Saved(ID, False, again.delete_key)
    assert store.get(ID) == before
    assert store.count() == 1


def test_delete_keys_are_random_and_128_bits(store: CaseStore) -> None:
    keys = {saved_key(store, f"{n:016}") for n in range(20)}
    assert len(keys) == 20
    assert all(re.fullmatch(r"[\w-]{22}", key) for key in keys)


def test_only_a_hash_of_the_delete_key_is_kept(store: CaseStore) -> None:
    key = saved_key(store)
    with store.engine.connect() as connection:
        rows = [connection.exec_driver_sql(f"SELECT * FROM {name}").one() for name in ("cases", "shares")]
    assert not [value for row in rows for value in row if key in str(value)]


def test_the_delete_key_deletes_once(store: CaseStore) -> None:
    key = saved_key(store)
    assert store.withdraw(ID, key) is True
    assert store.withdraw(ID, key) is False
    assert store.count() == 0


@pytest.mark.parametrize("key", ["", "wrong", "\udc80", "x" * 22])
def test_a_wrong_key_deletes_nothing(key: str, store: CaseStore) -> None:
    saved_key(store)
    assert store.withdraw(ID, key) is False
    assert store.get(ID) is not None


def test_no_key_deletes_an_unknown_case(store: CaseStore) -> None:
    key = saved_key(store)
    assert store.withdraw("f" * 16, key) is False


def test_a_deleted_case_is_gone_and_its_body_empty(store: CaseStore) -> None:
    key = store.save(ID, BODY, "digest", "1.0", message="{}").delete_key
    assert getattr(store.get(ID), "message", "") == "{}"
    store.withdraw(ID, str(key))
    with pytest.raises(Gone, match=f"case {ID} was deleted on 2"):
        store.get(ID)
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT body, message FROM cases").one() == ("", None)


def test_saving_a_deleted_case_again_revives_it_with_a_new_key(store: CaseStore) -> None:
    old = saved_key(store)
    store.withdraw(ID, old)
    saved = store.save(ID, BODY, "later digest", "2.0")
    assert (saved.created, saved.delete_key != old) == (True, True)
    case = store.get(ID)
    assert case is not None
    assert (case.body, case.outcome_digest, case.version) == (BODY, "later digest", "2.0")
    assert store.withdraw(ID, old) is False
    assert store.withdraw(ID, str(saved.delete_key)) is True


@pytest.mark.parametrize(("case_id", "body"), [("", BODY), (ID[:-1], BODY), (ID + "0", BODY), (ID, "")])
def test_a_case_needs_an_id_and_a_body(case_id: str, body: str, store: CaseStore) -> None:
    with pytest.raises(UsageError, match="an id of 16 characters"):
        store.save(case_id, body, "digest", "1.0")


def test_a_row_the_database_refuses_is_not_taken_for_one_it_has(store: CaseStore) -> None:
    with pytest.raises(IntegrityError):
        store.save(ID, BODY, None, "1.0")  # type: ignore[arg-type]
    assert store.count() == 0


def test_a_megabyte_of_text_is_kept(store: CaseStore) -> None:
    body = '"' + "\u6771" * 1_000_000 + '"'
    saved_key(store, body=body)
    case = store.get(ID)
    assert case is not None
    assert case.body == body


def test_nothing_of_a_deleted_text_stays_in_the_files(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'cases.sqlite3'}")
    key = saved_key(store, body=SECRET * 1000)
    saved_key(store, "f" * 16)
    assert [path.name for path in tmp_path.iterdir() if SECRET.encode() in path.read_bytes()] != []
    store.withdraw(ID, key)
    assert [path.name for path in tmp_path.iterdir() if SECRET.encode() in path.read_bytes()] == []
    store.close()


def test_a_store_in_memory_is_one_database_for_every_thread() -> None:
    store = open_store("sqlite://")
    threads = [threading.Thread(target=saved_key, args=(store, f"{n:016}")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.count() == 8
    store.close()


def test_one_delete_key_used_by_many_at_once_deletes_once(store: CaseStore) -> None:
    key = saved_key(store)
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(store.withdraw(ID, key))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True]


def test_a_forgotten_store_closes_its_connections(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'cases.sqlite3'}")
    saved_key(store)
    pool = store.engine.pool
    assert pool.checkedin() == 1  # type: ignore[attr-defined]
    del store
    gc.collect()
    assert pool.checkedin() == 0  # type: ignore[attr-defined]
