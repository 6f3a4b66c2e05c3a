"""SQLite's index of substrings is rewritten without what was taken out: in parts, and in the end all of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from tests.webapp.store.test_listings import ids, listing
from webapp.store import CaseStore, Sharing, cases, grams, make_engine, upgrade
from webapp.store.grams import grams as grams_of
from webapp.store.keeping import Keeper
from webapp.store.listings import Wanted

MANY = 60
SECRET = "\u754c"  # a text of its own: one gram, that no other case has
DIGITS = f"{grams_of(SECRET).pop() & 0xFFFFFFFF:x}"[3:].encode()  # in the file terms lack what the one before has too
NOW = ["2026-01-01T00:00:00.000Z"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CaseStore]:
    """A library whose index is rewritten a page at a time."""
    upgrade(engine := make_engine(f"sqlite:///{tmp_path / 'cases.sqlite3'}"))
    found, chance = CaseStore(engine, now=lambda: NOW[-1]), random.Random(1)
    for number in range(MANY):
        found.save(f"{number:016}", "{}", "digest", "1.0", listing("".join(chance.choices("abcdefgh<>/", k=200))))
    monkeypatch.setattr(grams, "PAGES", 1)
    monkeypatch.setattr(cases, "TIDIED", 2)
    yield found
    found.close()


def secret(store: CaseStore, name: str, **more: str) -> str:
    sharing = Sharing(**more)  # type: ignore[arg-type]
    return store.save(name.ljust(16, "s"), "{}", "digest", "1.0", listing(SECRET + name), sharing=sharing).delete_key


def is_held(tmp_path: Path) -> bool:
    return any(DIGITS in path.read_bytes() for path in tmp_path.iterdir())


def is_clean(store: CaseStore) -> bool:
    with store.engine.connect() as connection:
        return store.library.is_clean(connection)


def test_what_is_withdrawn_is_found_no_more_and_goes_from_the_file_with_the_next_saves(
    store: CaseStore, tmp_path: Path
) -> None:
    assert store.withdraw("a".ljust(16, "s"), secret(store, "a"))
    assert (ids(store, Wanted(texts=(SECRET,))), is_clean(store), is_held(tmp_path)) == ([], False, True)
    saves = 0
    while not is_clean(store) and saves < 1000:
        store.save(f"x{saves:015}", "{}", "digest", "1.0")
        saves += 1
    assert 1 < saves < 1000
    assert not is_held(tmp_path)


def test_what_is_taken_out_while_the_index_is_rewritten_goes_with_the_next_time(
    store: CaseStore, tmp_path: Path
) -> None:
    keys = {name: secret(store, name) for name in "abc"}
    for name, key in keys.items():
        assert store.withdraw(name.ljust(16, "s"), key)
        store.save(name.ljust(16, "x"), "{}", "digest", "1.0", listing(f"{name}z" * 30))
    assert is_held(tmp_path)
    store.tidy()
    assert (is_clean(store), is_held(tmp_path)) == (True, False)
    assert len(ids(store, Wanted(texts=("azaz",)))) == 1


def test_however_many_expire_at_once_one_part_is_rewritten_beside_a_save_and_all_by_the_operator(
    store: CaseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcde":
        secret(store, name, expires="2026-01-02T00:00:00.000Z")
    monkeypatch.setattr(f"{__name__}.NOW", [*NOW, "2026-01-03T00:00:00.000Z"])
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *given: asked.append(f"{given[2]} {given[3]}"))
    store.save("x" * 16, "{}", "digest", "1.0")
    assert len([one for one in asked if "'delete'" in one]) == 5
    assert len([one for one in asked if "'merge'" in one or "'optimize'" in one]) == 1
    assert Keeper(store).purge(["x" * 16]) == 1
    assert (is_clean(store), is_held(tmp_path)) == (True, False)


def test_what_is_withdrawn_is_so_where_the_index_cannot_be_rewritten_now(
    store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(_connection: object) -> None:
        raise OperationalError("", {}, Exception("database is locked"))

    monkeypatch.setattr(store.library, "rewrite", locked)
    key = secret(store, "a")
    assert store.withdraw("a".ljust(16, "s"), key)
    assert (store.is_live("a".ljust(16, "s")), is_clean(store)) == (False, False)


def test_nothing_is_rewritten_where_nothing_was_taken_out(store: CaseStore) -> None:
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    store.save("x" * 16, "{}", "digest", "1.0", listing("more"))
    assert [one for one in asked if "merge" in one or "wal_checkpoint" in one] == []
    assert is_clean(store)
