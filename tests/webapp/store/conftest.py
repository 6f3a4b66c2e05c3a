"""A fresh store per test: on SQLite always, on PostgreSQL too under `make test-team`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgresql import WANTED
from webapp.store import CaseStore, make_engine, open_store, upgrade


@pytest.fixture(params=["sqlite", *(["postgresql"] if WANTED else [])])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'cases.sqlite3'}"
    made: str = request.getfixturevalue("postgresql").database()
    return made


@pytest.fixture
def migrated(database_url: str) -> str:
    """The address of a database that somebody brought to the schema of this version."""
    engine = make_engine(database_url)
    upgrade(engine)
    engine.dispose()
    return database_url


@pytest.fixture
def store(migrated: str) -> Iterator[CaseStore]:
    opened = open_store(migrated)
    yield opened
    opened.close()
