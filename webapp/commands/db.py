"""`db`: the database of shared cases."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import TextIO

import click
from sqlalchemy import Engine

from parsers.vocabulary.types import UsageError
from webapp.commands import kept_cases, kept_clients
from webapp.settings import get_settings
from webapp.store import archive, make_engine
from webapp.store import upgrade as upgrade_engine

STDIO = "-"


@click.group(no_args_is_help=True)
def db() -> None:
    """Look after the database of shared cases."""


@db.command()
def upgrade() -> None:
    """Bring the database to the schema of this version.

    A SQLite file is brought there at every start as well; a PostgreSQL database by this command only.
    """
    with _engine() as engine:
        done = upgrade_engine(engine)
        was = "had it already" if done.before == done.after else f"had {done.before or 'none'}"
        click.echo(f"{_shown(engine)}: schema {done.after} ({was})")


@db.command()
@click.argument("file", metavar="FILE")
def backup(file: str) -> None:
    """Write everything the database holds to FILE (- for standard output), while servers go on writing.

    FILE is readable by its owner alone, and must not be there yet.
    """
    with _engine() as engine:
        count = archive.backup(engine, sys.stdout) if file == STDIO else _written(engine, Path(file))
        click.echo(f"{_shown(engine)}: {count:,} rows backed up", err=file == STDIO)


@db.command()
@click.argument("file", metavar="FILE")
def restore(file: str) -> None:
    """Fill an empty database from a backup (- for standard input), be it from SQLite or PostgreSQL.

    The database is brought to the schema of this version first.
    """
    with _engine() as engine:
        upgrade_engine(engine)
        if file == STDIO:
            count = archive.restore(engine, sys.stdin)
        else:
            with _opened(Path(file)) as given:
                count = archive.restore(engine, given)
        click.echo(f"{_shown(engine)}: {count:,} rows restored")


for _command in (
    kept_cases.count, kept_cases.listing, kept_cases.purge, kept_cases.takedown, kept_clients.clients, kept_clients.ban,
):  # fmt: skip
    db.add_command(_command)


def _written(engine: Engine, path: Path) -> int:
    """Write a backup beside its place first, under a name that nobody has, so that FILE is whole or not there; what
    fails leaves nothing, but for what is killed, which is in nobody's way."""
    if path.exists():
        raise UsageError(f"{path} is there already; give a new name")
    part = None
    try:
        descriptor, part = mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)  # its owner's alone
        with os.fdopen(descriptor, "w", encoding="utf-8") as made:
            count = archive.backup(engine, made)
            made.flush()
            os.fsync(made.fileno())
        Path(part).rename(path)
        part = None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        if part is not None:
            Path(part).unlink()
    return count


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with path.open(encoding="utf-8") as given:
            yield given
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def _engine() -> Iterator[Engine]:
    settings = get_settings()
    settings.make_data_dir()
    engine = make_engine(settings.database_url)
    try:
        yield engine
    finally:
        engine.dispose()


def _shown(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=True)
