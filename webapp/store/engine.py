"""Engines: how a database is opened, and nothing about what is in it.

SQLite is opened so that what was acknowledged survives a kill or a power cut and writers never deadlock:

==============  ===============  ====================================================================================
setting         value            why
==============  ===============  ====================================================================================
journal_mode    WAL              readers go on while one writer writes
synchronous     FULL             a commit returns after the log has reached the disk
busy_timeout    10 s             a second writer waits for the first
foreign_keys    ON               off by default in SQLite
secure_delete   ON               a deleted case's text is overwritten, not only unlinked
transactions    BEGIN IMMEDIATE  of engines that `writing()` made: the lock is taken at the start, so no transaction
                                 that has read can fail to upgrade its lock
==============  ===============  ====================================================================================

The driver's own implicit BEGIN is off (isolation_level None); the "begin" event below is the only one.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from parsers.vocabulary.types import UsageError

BUSY_SECONDS = 10.0
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON")


def make_engine(url: str) -> Engine:
    """An engine for `url`, SQLite or PostgreSQL. Nothing is opened yet.

    Raises UsageError for a URL that cannot be read, another database, or a driver that is not installed.
    """
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError) as error:
        raise UsageError("the database URL cannot be read; it looks like sqlite:////folder/cases.sqlite3") from error
    if backend == "sqlite":
        return _sqlite(parsed)
    if backend == "postgresql":
        return _postgresql(parsed)
    raise UsageError(f"cannot keep cases in {backend}; use a sqlite: or postgresql: URL")


def writing(engine: Engine) -> Engine:
    """The same engine and pool, for transactions that write."""
    return engine.execution_options(inspector_writes=True)


def in_memory(url: URL) -> bool:
    """Return whether the database lives in this process alone and ends with its connection."""
    return url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}


def _postgresql(url: URL) -> Engine:
    try:
        return create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise UsageError(f"PostgreSQL needs the Python package {error.name}, which is not installed") from error


def _sqlite(url: URL) -> Engine:
    options: dict[str, Any] = {"poolclass": QueuePool}
    if in_memory(url):
        # One connection is the database: everybody has to share it, one at a time.
        options |= {"pool_size": 1, "max_overflow": 0, "pool_timeout": BUSY_SECONDS}
    engine = create_engine(
        url,
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False},
        **options,
    )
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    try:
        for pragma in PRAGMAS:
            while not _set_pragma(connection, pragma, deadline):
                time.sleep(0.01)
    except sqlite3.Error:
        connection.close()
        raise


def _set_pragma(connection: sqlite3.Connection, pragma: str, deadline: float) -> bool:
    """Return whether the pragma was set, or should be tried again.

    The switch to WAL is refused at once, not after the busy timeout, when several processes open a new database
    together. Raises sqlite3.Error for any other trouble, and for that one after the deadline.
    """
    try:
        connection.execute(f"PRAGMA {pragma}").close()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
            raise
        return False
    return True


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("inspector_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
