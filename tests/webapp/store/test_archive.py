from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, inspect, select

from parsers.vocabulary.types import UsageError
from tests.postgresql import Cluster
from tests.webapp.store.test_upgrade import HEAD
from webapp.store import CaseStore, Cost, Listing, make_engine, open_store, upgrade
from webapp.store.archive import backup, restore
from webapp.store.engine import writing
from webapp.store.listings import Wanted
from webapp.store.schema import PASSING, collected, collections, metadata, tried

LISTING = Listing("T", "qwen", "builtin", "all_hold", "pass", "</tool_call> é", tags=["x"], checks=["chunking"])
TIME = "2026-01-31T09:00:00.000Z"


def filled(store: CaseStore) -> str:
    """A store with a row of each kind; the delete key of the listed case."""
    key = store.save("a" * 16, '{"text":"\\u0000é"}', "digest", "1.0", LISTING).delete_key
    store.save("b" * 16, '{"text":"unlisted"}', "digest", "1.0")
    gone = store.save("c" * 16, "{}", "digest", "1.0", LISTING).delete_key
    store.withdraw("c" * 16, str(gone))
    with writing(store.engine).begin() as connection:
        row = {"id": "d" * 16, "title": "Gate", "created": TIME, "delete_key_hash": "h"}
        connection.execute(insert(collections).values(**row))
        connection.execute(insert(collected).values(collection="d" * 16, number=1))
        said = {
            "engine": "builtin",
            "version": "1",
            "words": "passes",
            "severity": "pass",
            "detail": "",
            "created": TIME,
        }
        connection.execute(insert(tried).values(number=1, **said))
    return str(key)


def rows(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    with engine.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in metadata.sorted_tables
            if table not in PASSING
        }


def written(engine: Engine) -> str:
    backup(engine, file := io.StringIO())
    return file.getvalue()


def empty(url: str) -> Engine:
    engine = make_engine(url)
    upgrade(engine)
    return engine


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Engine]:
    yield (engine := empty(f"sqlite:///{tmp_path / 'other.sqlite3'}"))
    engine.dispose()


def test_a_backup_restores_every_row_and_the_index(store: CaseStore, other: Engine) -> None:
    key = filled(store)
    file = io.StringIO()
    assert backup(store.engine, file) == sum(map(len, rows(store.engine).values()))
    restore(other, io.StringIO(file.getvalue()))
    assert CaseStore(other).spending.total() == store.spending.total() == Cost(2, 38)
    assert rows(other) == rows(store.engine)
    again = CaseStore(other)
    assert [one.case_id for one in again.library.search(Wanted(texts=("</tool",))).rows] == ["a" * 16]
    assert [(one.counts, one.last) for one in again.results.all()] == [({"pass": 1}, TIME)]
    assert (again.library.counts(), again.library.counts().total) == (store.library.counts(), 1)
    assert again.save("e" * 16, "{}", "digest", "1.0", LISTING).created
    assert again.withdraw("a" * 16, key)


def test_sqlite_moves_to_postgresql(tmp_path: Path, postgresql: Cluster) -> None:
    own = open_store(f"sqlite:///{tmp_path / 'own.sqlite3'}")
    filled(own)
    shared = empty(postgresql.database())
    restore(shared, io.StringIO(written(own.engine)))
    assert rows(shared) == rows(own.engine)
    made = {one["name"] for one in inspect(shared).get_indexes("listed_grams")}
    assert made == {"listed_grams_grams"}, "it is made anew at the end"
    team = CaseStore(shared)
    team.save("e" * 16, "{}", "digest", "1.0", LISTING)
    assert [one.case_id for one in team.library.search(Wanted(texts=("é",))).rows] == ["e" * 16, "a" * 16]
    own.close()
    team.close()


def test_pg_dump_and_pg_restore_keep_everything_too(tmp_path: Path, postgresql: Cluster) -> None:
    store = CaseStore(empty(postgresql.database()))
    filled(store)
    dump, copy = tmp_path / "cases.dump", postgresql.database()
    postgresql.run("pg_dump", "--format", "custom", "--file", str(dump), str(store.engine.url.database))
    postgresql.run("pg_restore", "--dbname", copy.rpartition("/")[2], "--role", "inspector", str(dump))
    again = open_store(copy)
    assert rows(again.engine) == rows(store.engine)
    assert [one.case_id for one in again.library.search(Wanted(texts=("</tool",))).rows] == ["a" * 16]
    assert again.save("e" * 16, "{}", "digest", "1.0", LISTING).created
    again.close()
    store.close()


def test_a_database_that_holds_something_is_not_written_over(store: CaseStore, other: Engine) -> None:
    filled(store)
    text, before = written(store.engine), rows(store.engine)
    with pytest.raises(UsageError, match=r"the database already holds cases, .*: restore into an empty one"):
        restore(store.engine, io.StringIO(text))
    assert rows(store.engine) == before


BROKEN: list[tuple[str, Callable[[list[str]], list[str]], str]] = [
    ("cut off", lambda lines: lines[:-1], "is cut off: it has 11 rows"),
    ("a row is missing", lambda lines: lines[:-2] + lines[-1:], "is cut off: it has 10 rows"),
    ("half a line", lambda lines: [*lines[:-1], lines[-1][:5]], "line 13 of the backup is not JSON"),
    ("no backup", lambda _: ['{"schema":1}\n'], "this file is no backup"),
    ("a list", lambda _: ["[]\n"], "this file is no backup"),
    ("text", lambda _: ["x"], "line 1 of the backup is not JSON"),
    ("newer", lambda lines: [lines[0].replace(f'"{HEAD}"', '"9999"'), *lines[1:]], "has schema 9999, this version"),
    ("strange", lambda lines: [lines[0], '["cases",1]\n'], "line 2 of the backup is no row of this schema"),
    ("other table", lambda lines: [lines[0], '["users"]\n'], "line 2 of the backup is no row of this schema"),
    ("a number", lambda lines: [lines[0], "1\n"], "line 2 of the backup is no row of this schema"),
    ("twice", lambda lines: [lines[0], lines[1], lines[1]], "cannot be restored"),
]


@pytest.mark.parametrize(("spoilt", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_is_no_whole_backup_leaves_nothing(
    spoilt: Callable[[list[str]], list[str]], message: str, store: CaseStore, other: Engine
) -> None:
    filled(store)
    lines = written(store.engine).splitlines(keepends=True)
    assert len(lines) == 13
    with pytest.raises(UsageError, match=message):
        restore(other, io.StringIO("".join(spoilt(lines))))
    assert sum(map(len, rows(other).values())) == 0


def test_a_backup_is_one_moment_while_others_write(store: CaseStore) -> None:
    filled(store)

    class Writing(io.StringIO):
        def write(self, words: str) -> int:
            if '["cases"' in words:
                store.save(f"{self.tell():016}", "{}", "digest", "1.0")
            return super().write(words)

    backup(store.engine, file := Writing())
    assert json.loads(file.getvalue().splitlines()[-1])["rows"] == 11
    assert store.count() == 2 + 3


def test_a_backup_file_belongs_to_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.cli import run

    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    assert run(["db", "upgrade"]) == 0
    assert run(["db", "backup", str(tmp_path / "b.jsonl")]) == 0
    assert os.stat(tmp_path / "b.jsonl").st_mode & 0o777 == 0o600
    assert run(["db", "backup", str(tmp_path / "b.jsonl")]) == 2
    assert [path.name for path in tmp_path.glob("b.*")] == ["b.jsonl"]
    assert run(["db", "backup", str(tmp_path / "none" / "b.jsonl")]) == 2
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATABASE_URL", f"sqlite:///{tmp_path / 'new.sqlite3'}")
    assert run(["db", "restore", str(tmp_path / "b.jsonl")]) == 0
    assert run(["db", "restore", str(tmp_path / "none.jsonl")]) == 2


def test_a_backup_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.cli import run

    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    assert run(["db", "backup", str(tmp_path / "b.jsonl")]) == 2
    assert list(tmp_path.glob("b.*")) == []


def test_a_backup_that_was_cut_off_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.cli import run

    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    assert run(["db", "upgrade"]) == 0
    (tmp_path / "b.jsonl.part").touch()  # as one that was killed left it
    with monkeypatch.context() as full:
        full.setattr(
            "webapp.commands.db.os.fsync", lambda _file: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left"))
        )
        assert run(["db", "backup", str(tmp_path / "b.jsonl")]) == 2
    assert run(["db", "backup", str(tmp_path / "b.jsonl")]) == 0
    assert sorted(path.name for path in tmp_path.glob("b.*")) == ["b.jsonl", "b.jsonl.part"]


def test_a_backup_goes_through_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from webapp.cli import run

    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATA_DIR", str(tmp_path))
    run(["db", "upgrade"])
    capsys.readouterr()
    assert run(["db", "backup", "-"]) == 0
    given = capsys.readouterr().out
    assert given.splitlines()[-1] == '{"rows": 0}'
    monkeypatch.setenv("TOOLCALL_INSPECTOR_DATABASE_URL", f"sqlite:///{tmp_path / 'new.sqlite3'}")
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    assert run(["db", "restore", "-"]) == 0
