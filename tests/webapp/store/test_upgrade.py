from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, column, insert, inspect, table

from parsers.vocabulary.types import UsageError
from tests.postgresql import Cluster
from webapp.store import CaseStore, make_engine, open_store, upgrade
from webapp.store.engine import writing
from webapp.store.migrate import alembic_config, known_revisions
from webapp.store.schema import metadata

HEAD = "0012"
TABLES = {
    *("alembic_version", "answered", "bans", "cases", "collected", "collections", "days"),
    *("facet_counts", "listed", "listed_labels", "rewriting", "shares", "spent", "totals", "tried", "tried_counts"),
}
GRAMS = "listed_grams"  # with the tables that FTS5 keeps it in


def set_revision(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")


def at_revision(engine: Engine, revision: str) -> None:
    """Migrate to an older schema, up in an empty database, else down."""
    with writing(engine).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        has = MigrationContext.configure(connection).get_current_revision()
        (command.upgrade if has is None else command.downgrade)(config, revision)


def test_an_empty_database_is_brought_to_the_newest_schema(database_url: str) -> None:
    engine = make_engine(database_url)
    assert upgrade(engine) == (None, HEAD)
    assert {name for name in inspect(engine).get_table_names() if not name.startswith(GRAMS)} == TABLES
    engine.dispose()


def test_the_names_of_the_files_say_the_revisions_that_alembic_finds_in_them() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    assert [one.revision for one in scripts.walk_revisions()] == [*reversed(known_revisions())]


def test_a_database_that_is_up_to_date_is_opened_without_alembic(migrated: str) -> None:
    program = "import sys, webapp.store; webapp.store.open_store(sys.argv[1]).close(); print('alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, migrated], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_upgrading_again_does_nothing(migrated: str) -> None:
    store = open_store(migrated)
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
        kept = {"compare_type": True, "include_name": lambda name, *_: not str(name).startswith(GRAMS)}
        context = MigrationContext.configure(connection, opts=kept)
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused(database_url: str) -> None:
    engine = make_engine(database_url)
    upgrade(engine)
    set_revision(engine, "9999")
    with pytest.raises(UsageError, match=rf"has schema 9999, newer than this version's {HEAD}; install the newer"):
        upgrade(engine)
    set_revision(engine, HEAD)
    assert upgrade(engine) == (HEAD, HEAD)
    engine.dispose()


def test_cases_stored_before_there_was_a_library_are_not_in_it(database_url: str) -> None:
    engine = make_engine(database_url)
    at_revision(engine, "0001")
    row = {"id": "0" * 16, "body": "{}", "outcome_digest": "d", "version": "1", "created": "x", "delete_key_hash": "h"}
    with writing(engine).begin() as connection:
        connection.execute(insert(table("cases", *map(column, row))).values(**row))
    assert upgrade(engine) == ("0001", HEAD)
    store = CaseStore(engine)
    assert (store.count(), store.library.counts().total, store.library.is_listed("0" * 16)) == (1, 0, False)
    store.close()


def test_the_library_can_be_taken_back_and_the_cases_stay(store: CaseStore) -> None:
    store.save("0" * 16, "{}", "digest", "1.0")
    with writing(store.engine).begin() as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
    assert store.count() == 1
    assert upgrade(store.engine) == ("0001", HEAD)


def test_postgresql_is_migrated_by_command_only(postgresql: Cluster) -> None:
    url = postgresql.database()
    with pytest.raises(UsageError, match=rf"has no schema yet, and this version needs {HEAD}.*run `.* db upgrade"):
        open_store(url)
    at_revision(engine := make_engine(url), "0001")
    with pytest.raises(
        UsageError, match=rf"has schema 0001, and this version needs {HEAD}.*before, or by pg_dump\), and"
    ):
        open_store(url)
    assert upgrade(engine) == ("0001", HEAD)
    open_store(url).close()
    engine.dispose()


def test_the_role_that_owns_the_database_is_enough(postgresql: Cluster) -> None:
    url = postgresql.database()
    upgrade(engine := make_engine(url))
    with engine.connect() as connection:
        can = connection.exec_driver_sql("SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user")
        assert can.scalar_one() is False
        assert connection.exec_driver_sql("SELECT count(*) FROM pg_extension").scalar_one() == 1  # plpgsql
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
