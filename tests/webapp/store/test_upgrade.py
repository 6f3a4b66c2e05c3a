from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect

from parsers.vocabulary.types import UsageError
from webapp.store import make_engine, open_store, upgrade
from webapp.store.engine import writing
from webapp.store.migrate import alembic_config
from webapp.store.schema import metadata

HEAD = "0001"


def set_revision(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")


def test_an_empty_database_is_brought_to_the_newest_schema(database_url: str) -> None:
    engine = make_engine(database_url)
    assert upgrade(engine) == (None, HEAD)
    assert inspect(engine).get_table_names() == ["alembic_version", "cases"]
    engine.dispose()


def test_upgrading_again_does_nothing(database_url: str) -> None:
    store = open_store(database_url)
    store.save("0" * 16, "{}", "digest", "1.0")
    assert upgrade(store.engine) == (HEAD, HEAD)
    assert store.count() == 1
    store.close()


def test_a_database_in_memory_outlives_its_upgrade() -> None:
    store = open_store("sqlite://")
    assert upgrade(store.engine) == (HEAD, HEAD)
    assert store.count() == 0
    store.close()


def test_the_migrations_build_the_tables_the_code_expects(database_url: str) -> None:
    engine = make_engine(database_url)
    upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused(database_url: str) -> None:
    engine = make_engine(database_url)
    upgrade(engine)
    set_revision(engine, "9999")
    with pytest.raises(UsageError, match=r"has schema 9999, newer than this version's 0001; install the newer"):
        upgrade(engine)
    set_revision(engine, HEAD)
    assert upgrade(engine) == (HEAD, HEAD)
    engine.dispose()


def test_the_first_revision_can_be_taken_back(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    upgrade(engine)
    with writing(engine).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_a_file_that_is_no_database_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite3").write_bytes(b"no database at all " * 100)
    engine = make_engine(f"sqlite:///{tmp_path / 'x.sqlite3'}")
    with pytest.raises(UsageError, match=r"cannot use the database sqlite:///.*: file is not a database"):
        upgrade(engine)
    engine.dispose()


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unable to open database file"):
        open_store(f"sqlite:///{tmp_path / 'missing' / 'x.sqlite3'}")
