"""Bring a database to the schema this version knows, or refuse one that has another.

A SQLite file is somebody's own and is migrated at every start: nobody else would do it. PostgreSQL is shared, perhaps
by servers of the version before, and somebody has to choose the moment and have a backup: it is migrated by command
only, and a server that finds another schema there says so and does not start.

The migrations are files of this package, run by Alembic without a configuration file, so an installed wheel carries
them. Alembic itself is imported only where there is something to migrate: nearly never, and it takes a fifth of a
second. All of them run in one transaction that holds the write lock from its start: two servers that start together
on one database migrate it once, and a migration that fails leaves the database as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from parsers.vocabulary.types import UsageError
from webapp.store.engine import in_memory, writing

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"
_STAMP = "alembic_version"  # the table in which Alembic keeps the revision of a database
_POSTGRESQL_LOCK = 0x7C15_BEC7  # any number; the same in every version, so that all of them wait for each other


class Upgraded(NamedTuple):
    """The schema revision found (None in an empty database) and the one left behind."""

    before: str | None
    after: str


def upgrade(engine: Engine) -> Upgraded:
    """Migrate to the newest revision of this version. Idempotent, safe to run from several processes at once.

    Raises UsageError when the database is newer than this version, or cannot be opened.
    """
    with _usable(engine):
        return _upgrade(engine)


def require_current(engine: Engine) -> str:
    """The schema of the database, which is this version's. Raises UsageError, which names the command, where it has
    another, or cannot be opened."""
    with _usable(engine), engine.connect() as connection:
        found = _revision(connection)
        if found.before != found.after:
            raise UsageError(f"the database {_shown(engine)} {_said(engine, found)} `toolcall-inspector db upgrade`")
        return found.after


@contextmanager
def _usable(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise UsageError(f"cannot use the database {_shown(engine)}: {error.orig}") from error
    finally:
        if not in_memory(engine.url):
            engine.dispose()  # a server may fork after this, and a connection must not be shared across a fork


def _upgrade(engine: Engine) -> Upgraded:
    with engine.connect() as connection:
        found = _revision(connection)
    if found.before == found.after:
        return found
    with writing(engine).begin() as connection:
        return _migrate(connection)


def _migrate(connection: Connection) -> Upgraded:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _POSTGRESQL_LOCK})
    found = _revision(connection)  # again, now that nobody else can change it
    from alembic import command

    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return found


def _revision(connection: Connection) -> Upgraded:
    before, known = _stamped(connection), known_revisions()
    if before is not None and before not in known:
        raise UsageError(
            f"the database {_shown(connection.engine)} has schema {before}, newer than this version's"
            f" {known[-1]}; install the newer toolcall-inspector, or set TOOLCALL_INSPECTOR_DATABASE_URL to another"
            " database"
        )
    return Upgraded(before, known[-1])


def _stamped(connection: Connection) -> str | None:
    """The revision that Alembic wrote into the database; None where it never did."""
    if not inspect(connection).has_table(_STAMP):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {_STAMP}")).scalar_one_or_none()  # noqa: S608
    return found


@cache
def known_revisions() -> tuple[str, ...]:
    """All revisions that this version knows, the oldest first, by the names of their files: `r0012_counted.py`."""
    return tuple(sorted(path.name[1:5] for path in (MIGRATIONS / "versions").glob("r[0-9]*_*.py")))


def _shown(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=True)


def _said(engine: Engine, found: Upgraded) -> str:
    """What is wrong with a schema, and what to do before the command that mends it."""
    if found.before is None:
        return f"has no schema yet, and this version needs {found.after}: run"
    copy = "a copy of its file" if engine.dialect.name == "sqlite" else "pg_dump"
    return (
        f"has schema {found.before}, and this version needs {found.after}, which no server changes by itself where many"
        " share it: stop those that use it, make a backup (with the version that was installed before, or by"
        f" {copy}), and run"
    )


def alembic_config() -> Config:
    """Return what alembic.ini would say. To run a command, put an open connection into `attributes["connection"]`."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config
