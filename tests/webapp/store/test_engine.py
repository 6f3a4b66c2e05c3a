from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy.pool import Pool

from parsers.vocabulary.types import UsageError
from webapp.store import engine as module
from webapp.store import make_engine
from webapp.store.engine import in_memory, writing

PRAGMAS = [
    ("journal_mode", "wal"),
    ("synchronous", 2),
    ("foreign_keys", 1),
    ("secure_delete", 1),
    ("busy_timeout", 10_000),
]


@pytest.mark.parametrize(("name", "value"), PRAGMAS)
def test_sqlite_is_opened_to_keep_what_it_acknowledged(name: str, value: object, tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    with engine.connect() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() == value
    engine.dispose()


def test_a_writer_takes_the_lock_at_the_start_and_a_reader_does_not(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    other = sqlite3.connect(tmp_path / "x.sqlite3", timeout=0, isolation_level=None)
    with engine.begin():
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    with writing(engine).begin(), pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.close()
    engine.dispose()


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    with contextlib.suppress(ZeroDivisionError), writing(engine).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (n)")
        raise ZeroDivisionError
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one() == 0
    engine.dispose()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_has_one_connection(url: str) -> None:
    engine = make_engine(url)
    pool: Pool = engine.pool
    assert in_memory(engine.url)
    assert (pool.size(), pool._max_overflow) == (1, 0)  # type: ignore[attr-defined]


URLS = [
    ("nonsense", "cannot be read; it looks like sqlite:////"),
    ("postgresql://h:port/d", "cannot be read"),
    ("unheard-of://h/d", "cannot be read"),
    ("mysql://u:secret@h/d", "cannot keep cases in mysql; use"),
]


@pytest.mark.parametrize(("url", "message"), URLS)
def test_a_url_that_cannot_work_is_a_usage_error(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        make_engine(url)
    assert "secret" not in str(caught.value)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
    monkeypatch.setattr(module, "create_engine", Mock(side_effect=missing))
    with pytest.raises(UsageError, match="PostgreSQL needs the Python package psycopg"):
        make_engine("postgresql+psycopg://h/d")


def busy(code: int = sqlite3.SQLITE_BUSY) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = code
    return error


def test_the_switch_to_wal_is_tried_again_while_another_process_makes_it() -> None:
    connection = Mock()
    connection.execute.side_effect = [busy(), busy(), *[Mock() for _ in module.PRAGMAS]]
    module._set_pragmas(connection, None)
    asked = [call.args[0] for call in connection.execute.call_args_list]
    assert asked == ["PRAGMA journal_mode=WAL"] * 2 + [f"PRAGMA {pragma}" for pragma in module.PRAGMAS]


GIVEN_UP = [(sqlite3.SQLITE_BUSY, -1.0), (sqlite3.SQLITE_READONLY, 10.0)]


@pytest.mark.parametrize(("code", "seconds"), GIVEN_UP, ids=["after the deadline", "another error"])
def test_a_connection_that_cannot_be_set_up_is_closed(
    code: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", seconds)
    connection = Mock()
    connection.execute.side_effect = busy(code)
    with pytest.raises(sqlite3.OperationalError):
        module._set_pragmas(connection, None)
    connection.close.assert_called_once_with()
    assert connection.execute.call_count == 1
