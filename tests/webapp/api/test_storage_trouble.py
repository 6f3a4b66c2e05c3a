"""A database that is full, locked, read-only or damaged is answered in words, loses nothing, and works again after."""

from __future__ import annotations

import errno
import io
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Engine, event

from tests.webapp.api.conftest import CALL, after, application, close, locked
from webapp.readiness import FREE_BYTES
from webapp.services import EXTENSION
from webapp.store import CaseStore
from webapp.store.keeping import Keeper

WORDS = "x" * 40_000
Pragma = Callable[[str], None]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    monkeypatch.setattr("webapp.store.engine.BUSY_SECONDS", 0.2)
    found = application(tmp_path)
    yield found
    close(found)


@pytest.fixture
def store(app: Flask) -> CaseStore:
    found: CaseStore = app.extensions[EXTENSION].store
    return found


@pytest.fixture
def pragma(store: CaseStore) -> Iterator[Pragma]:
    """Sets something of every connection from now on, until the test ends."""
    engine: Engine = store.engine
    said = [""]

    def at_start(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA {said[0]}" if said[0] else "SELECT 1").close()

    def set_to(words: str) -> None:
        said[0] = words
        engine.dispose()

    event.listen(engine, "connect", at_start)
    yield set_to
    set_to("")


def save(app: Flask, text: str) -> Any:
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}
    return app.test_client().post("/api/v1/cases", json=case)


def ready(app: Flask) -> Any:
    return app.test_client().get("/readyz?probe=1")


def error_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json["error"]["code"]


def pages(store: CaseStore) -> int:
    with store.engine.connect() as connection:
        return int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())


@pytest.mark.replays
def test_a_full_disk_is_507_and_what_was_acknowledged_is_there(app: Flask, store: CaseStore, pragma: Pragma) -> None:
    kept = save(app, CALL)
    assert kept.status_code == 201
    pragma(f"max_page_count={pages(store)}")
    refused = save(app, WORDS)
    assert error_of(refused) == (507, "storage_full")
    assert "what was stored before it is safe" in refused.json["error"]["message"]
    assert app.test_client().get(f"/c/{kept.json['id']}.json").status_code == 200
    pragma("")
    assert save(app, WORDS).status_code == 201


@pytest.mark.replays
def test_the_page_says_so_too(app: Flask, store: CaseStore, pragma: Pragma) -> None:
    save(app, CALL)
    pragma(f"max_page_count={pages(store)}")
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": WORDS}}
    page = app.test_client().post("/cases", data={"case": json.dumps(case), "title": "Mine"})
    assert page.status_code == 507
    assert "The disk of this server is full." in page.text


@pytest.mark.replays
def test_a_database_that_others_lock_is_503_and_works_once_they_are_done(app: Flask, store: CaseStore) -> None:
    save(app, CALL)
    with sqlite3.connect(str(store.engine.url.database), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = save(app, WORDS)
        assert error_of(refused) == (503, "storage_unavailable")
        assert refused.headers["Retry-After"] == "5"
        other.execute("ROLLBACK")
    other.close()
    assert save(app, WORDS).status_code == 201


@pytest.mark.replays
def test_a_database_that_cannot_be_written_is_503_and_can_be_read(app: Flask, pragma: Pragma) -> None:
    kept = save(app, CALL).json["id"]
    pragma("query_only=ON")
    assert error_of(save(app, WORDS)) == (503, "storage_unavailable")
    assert app.test_client().get(f"/c/{kept}.json").status_code == 200
    refused = ready(app)
    assert error_of(refused) == (503, "not_ready")
    assert "cannot be written" in refused.json["error"]["message"]
    pragma("")
    assert ready(app).json["status"] == "ready"


def test_a_damaged_database_is_503_and_runs_go_on(app: Flask, store: CaseStore, tmp_path: Path) -> None:
    kept = save(app, CALL).json["id"]
    path, whole = Path(str(store.engine.url.database)), tmp_path / "whole"
    store.engine.dispose()
    shutil.copy(path, whole)
    path.write_bytes(b"no database at all, but some words" * 500)
    found = app.test_client().get(f"/c/{kept}.json")
    assert found.status_code == 503
    assert "damaged" in found.text
    case = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
    assert app.test_client().post("/api/v1/replay", json=case).status_code == 200
    shutil.copy(whole, path)
    assert app.test_client().get(f"/c/{kept}.json").status_code == 200


def test_a_disk_that_is_nearly_full_is_not_ready(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ready(app).status_code == 200
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=FREE_BYTES - 1))
    assert error_of(ready(app)) == (503, "not_ready")


def test_a_folder_that_is_away_is_not_ready(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_folder: Path) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr("shutil.disk_usage", away)
    assert "does not answer" in ready(app).json["error"]["message"]


def test_what_is_no_trouble_of_storage_is_a_bug(app: Flask, store: CaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ValueError("a bug")

    def odd(*_: object) -> None:
        raise OSError("no number")

    app.testing = False
    monkeypatch.setattr(store, "probe", broken)
    assert error_of(ready(app)) == (500, "internal_error")
    monkeypatch.setattr(store, "probe", odd)
    assert error_of(ready(app)) == (500, "internal_error")


def test_a_case_that_was_taken_down_is_410_on_the_page_and_in_the_api(app: Flask, store: CaseStore) -> None:
    kept = save(app, CALL).json["id"]
    Keeper(store).take_down(kept)
    refused = save(app, CALL)
    assert error_of(refused) == (410, "gone")
    assert refused.json["error"]["message"].startswith("Whoever runs this server took this case down on 20")
    assert app.test_client().get(f"/c/{kept}").status_code == 410


def case_line(text: str) -> str:
    return json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}})


@pytest.mark.replays
@pytest.mark.parametrize("stored", [1, 2])
def test_a_comparison_of_which_a_text_cannot_be_stored_is_taken_back_or_named(
    app: Flask, store: CaseStore, monkeypatch: pytest.MonkeyPatch, stored: int
) -> None:
    given = {"case": case_line("one"), "go": "b_text=paste:1&c_text=paste:2"}
    beside = {f"beside.{number}": case_line(f"beside {number}") for number in (1, 2)}
    with monkeypatch.context() as trouble:
        trouble.setattr(store, "save", after(stored, store.save))
        answer = app.test_client().post("/cases", data={**given, **beside})
    assert (answer.status_code, "Nothing was stored by this request" in answer.text, store.count()) == (503, True, 0)
    monkeypatch.setattr(store, "save", after(stored, store.save))
    monkeypatch.setattr(store, "withdraw", locked)
    told = app.test_client().post("/cases", data={**given, **beside})
    found = re.findall(r"the case (\S+) with the delete key ([\w-]+)", told.text)
    assert (told.status_code, len(found), "Nothing was stored" in told.text) == (503, stored, False)
    assert all(store.has_key(case_id, key) for case_id, key in found)


def test_the_page_of_imports_says_what_was_stored_before_the_trouble_and_goes_on_there(
    app: Flask, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(map(case_line, "abc")).encode()
    monkeypatch.setattr(store, "save", after(2, store.save))
    page = app.test_client().post("/library/import", data={"file": (io.BytesIO(lines), "x.jsonl")}).text
    assert "2 stored, 0 known already," in page
    assert "it did not come to 1" in page
    assert "The database of this server was locked by others for too long." in page
    assert 'name="skip" value="2"' in page
    keys = [line.split() for line in re.findall(r"(\w{16} [\w-]{20,})\n", page)]
    assert len(keys) == 2
    assert all(store.withdraw(case_id, key) for case_id, key in keys)
