"""What the rooms share: the database that new ones begin as, and PostgreSQL where `make test-team` asks for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.postgresql import WANTED, Cluster, cluster, programs
from webapp.store import cases, migrate
from webapp.store.engine import in_memory, make_engine


@pytest.fixture(scope="session", autouse=True)
def _migrated_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An application that begins with no database gets a copy of one: to make it is half of what its start costs.

    `migrate.upgrade` still looks at each, and is tested itself on databases without a schema.
    """
    made = tmp_path_factory.mktemp("migrated") / "template.sqlite3"
    migrate.upgrade(make_engine(f"sqlite:///{made}"))

    def upgrade(engine: Engine) -> migrate.Upgraded:
        file = Path(str(engine.url.database))
        if not in_memory(engine.url) and file.parent.is_dir() and not file.exists():
            shutil.copyfile(made, file)
        return migrate.upgrade(engine)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "upgrade", upgrade)
        yield


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A server of the tests' own. Where it is asked for and not there, that is a failure and no skipped test."""
    if not WANTED:
        pytest.skip("PostgreSQL is for `make test-team`")
    found = programs()
    assert found is not None, "no initdb: install PostgreSQL (Debian: postgresql)"
    with cluster(found) as running:
        yield running
