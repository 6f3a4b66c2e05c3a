"""What a driver raises is the trouble that it means, and a statement that is wrong is none."""

from __future__ import annotations

import errno
import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as NoConnection

from webapp.trouble import Trouble, trouble_of


def of_sqlite(code: int) -> DBAPIError:
    original = sqlite3.OperationalError("no")
    original.sqlite_errorcode = code
    return OperationalError("SELECT 1", {}, original)


def of_postgresql(state: str | None, kind: type[DBAPIError] = OperationalError) -> DBAPIError:
    original: Any = SimpleNamespace(sqlstate=state)
    return kind("SELECT 1", {}, original)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (of_sqlite(sqlite3.SQLITE_FULL), Trouble.FULL),
        (of_sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT), Trouble.BUSY),
        (of_sqlite(sqlite3.SQLITE_READONLY_DBMOVED), Trouble.READ_ONLY),
        (of_sqlite(sqlite3.SQLITE_CORRUPT), Trouble.DAMAGED),
        (of_sqlite(sqlite3.SQLITE_NOTADB), Trouble.DAMAGED),
        (of_sqlite(sqlite3.SQLITE_IOERR_WRITE), Trouble.AWAY),
        (of_sqlite(sqlite3.SQLITE_CANTOPEN), Trouble.AWAY),
        (of_sqlite(sqlite3.SQLITE_ERROR), None),
        (of_postgresql("53100"), Trouble.FULL),
        (of_postgresql("25006"), Trouble.READ_ONLY),
        (of_postgresql("57P01"), Trouble.AWAY),
        (of_postgresql("08006"), Trouble.AWAY),
        (of_postgresql(None), Trouble.AWAY),
        (of_postgresql(None, ProgrammingError), None),
        (of_postgresql("42P01", ProgrammingError), None),
        (of_postgresql("23505", IntegrityError), None),
        (NoConnection("no connection in time"), Trouble.BUSY),
        (OSError(errno.ENOSPC, "No space left on device"), Trouble.FULL),
        (OSError(errno.EROFS, "Read-only file system"), Trouble.READ_ONLY),
        (OSError("without a number"), None),
        (ValueError("a bug"), None),
    ],
)
def test_what_is_raised_is_the_trouble_that_it_means(error: BaseException, trouble: Trouble | None) -> None:
    assert trouble_of(error) is trouble
