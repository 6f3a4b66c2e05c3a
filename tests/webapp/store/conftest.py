"""A fresh store per test. SQLite always; PostgreSQL too where TEST_POSTGRESQL_URL names an empty database to use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.store import CaseStore, make_engine, open_store
from webapp.store.schema import metadata

POSTGRESQL = os.environ.get("TEST_POSTGRESQL_URL")


@pytest.fixture(params=["sqlite", *(["postgresql"] if POSTGRESQL else [])])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite" or not POSTGRESQL:
        return f"sqlite:///{tmp_path / 'cases.sqlite3'}"
    engine = make_engine(POSTGRESQL)
    with engine.begin() as connection:
        metadata.drop_all(connection)
        connection.exec_driver_sql("DROP TABLE IF EXISTS alembic_version")
    engine.dispose()
    return POSTGRESQL


@pytest.fixture
def store(database_url: str) -> Iterator[CaseStore]:
    opened = open_store(database_url)
    yield opened
    opened.close()
