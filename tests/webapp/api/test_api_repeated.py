"""Requests with an `Idempotency-Key`: the same one has the same answer, another one of the key has none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select

from tests.webapp.api.conftest import CALL, after, locked
from webapp.api import views
from webapp.api.operations import API
from webapp.api.repeated import HEADER, REPEATED, repeatable
from webapp.services import EXTENSION
from webapp.store import CaseStore
from webapp.store.schema import answered

URL = f"{API}/cases"
CASE: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
KEY = "8e03978e-40d5-43e8-bc93-6894a57f9324"
KEYED = {"headers": {HEADER: f'"{KEY}"'}}


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app()


@pytest.fixture
def client(app: Flask) -> Any:
    return app.test_client()


@pytest.fixture
def store(app: Flask) -> CaseStore:
    found: CaseStore = app.extensions[EXTENSION].store
    return found


@pytest.mark.replays
def test_the_same_request_has_the_same_answer_with_its_delete_key(client: Any, store: CaseStore) -> None:
    first, again = (client.post(URL, json=CASE, headers={HEADER: key}) for key in (f'"{KEY}"', KEY))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json
    assert {name: again.headers[name] for name in ("Location", "Cache-Control")} == {
        name: first.headers[name] for name in ("Location", "Cache-Control")
    }
    assert (client.post(URL, json=CASE).status_code, store.count()) == (200, 1)
    assert store.withdraw(first.json["id"], again.json["delete_key"])


@pytest.mark.replays
def test_an_answer_that_is_given_again_says_so(client: Any) -> None:
    said = [client.post(URL, json=CASE, **KEYED).headers.get(REPEATED) for _ in range(2)]
    assert said == [None, "true"]


SECRET = "a secret of some length"
ALICE, BOB = {"X-Remote-User": "alice"}, {"X-Remote-User": "bob"}
HUSH = {"Authorization": f"Bearer {SECRET}"}


@pytest.mark.replays
@pytest.mark.parametrize(("first", "second"), [(ALICE, BOB), (ALICE, HUSH), ({**ALICE, **HUSH}, {**BOB, **HUSH})])
def test_a_key_belongs_to_whoever_used_it(
    make_app: Callable[..., Flask], first: dict[str, str], second: dict[str, str]
) -> None:
    client = make_app(write_header="X-Remote-User", write_secret=SECRET).test_client()
    told: list[Any] = [client.post(URL, json=CASE, headers={HEADER: KEY, **who}) for who in (first, second, first)]
    assert [one.status_code for one in told] == [201, 200, 201]
    keys = [one.json["delete_key"] for one in told]
    assert (keys[0] == keys[2], keys[0] == keys[1]) == (True, False)
    other = {**CASE, "title": "Other", "input": {"text": "Another output."}}
    assert client.post(URL, json=other, headers={HEADER: KEY, "X-Remote-User": "carol"}).status_code == 201


def test_neither_the_key_nor_the_delete_key_is_in_the_database(client: Any, store: CaseStore) -> None:
    saved = client.post(URL, json=CASE, **KEYED).json
    with store.engine.connect() as connection:
        row = repr(connection.execute(select(answered)).one())
    assert saved["id"] in row
    assert (KEY in row, saved["delete_key"] in row) == (False, False)


def test_a_key_alone_does_not_give_the_delete_key(client: Any, store: CaseStore) -> None:
    keys = []
    for _ in range(2):
        saved = client.post(URL, json=CASE, **KEYED).json
        keys.append(saved["delete_key"])
        store.withdraw(saved["id"], saved["delete_key"])
        with store.engine.begin() as connection:
            connection.execute(delete(answered))
    assert len({*keys}) == 2


@pytest.mark.parametrize("known", [False, True])
def test_of_a_case_that_was_deleted_since_it_is_said_and_nothing_is_stored(
    client: Any, store: CaseStore, known: bool
) -> None:
    first = client.post(URL, json=CASE, **({} if known else KEYED))
    keyed = client.post(URL, json=CASE, **KEYED)
    assert keyed.status_code == (200 if known else 201)
    for one in (first, keyed):
        store.withdraw(one.json["id"], one.json["delete_key"])
    again = client.post(URL, json=CASE, **KEYED)
    assert (again.status_code, again.json["error"]["code"], store.count()) == (410, "gone", 0)
    assert "to store it again, make up a new key" in again.json["error"]["message"]
    assert client.post(URL, json=CASE, headers={HEADER: KEY[::-1]}).status_code == 201


def test_a_case_that_somebody_else_stored_since_has_no_delete_key(client: Any, store: CaseStore) -> None:
    first = client.post(URL, json=CASE, **KEYED).json
    store.withdraw(first["id"], first["delete_key"])
    assert client.post(URL, json=CASE).status_code == 201
    again = client.post(URL, json=CASE, **KEYED)
    assert (again.status_code, again.json["id"], "delete_key" in again.json) == (200, first["id"], False)


@pytest.mark.parametrize(
    ("path", "body"),
    [(URL, {**CASE, "title": "Other"}), (f"{URL}?listed=1", CASE), (f"{API}/library/import", CASE)],
)
def test_another_request_of_the_key_is_refused(client: Any, store: CaseStore, path: str, body: Any) -> None:
    client.post(URL, json=CASE, **KEYED)
    answer = client.post(path, json=body, **KEYED)
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "key_reused")
    assert store.count() == 1


@pytest.mark.parametrize(
    "key", ["", "short", '"short"', "x" * 256, '"not closed at all', 'a "quote" in the key', "ü" * 20]
)
def test_what_is_no_key_is_refused(client: Any, store: CaseStore, key: str) -> None:
    answer = client.post(URL, json=CASE, headers={HEADER: key})
    assert (answer.status_code, answer.json["error"]["code"], store.count()) == (400, "bad_request", 0)
    assert "16 to 255 characters" in answer.json["error"]["message"]


def test_a_request_that_failed_may_be_mended_and_sent_again(client: Any) -> None:
    assert client.post(URL, json={**CASE, "parser": {"name": "nobody"}}, **KEYED).status_code == 422
    assert client.post(URL, json=CASE, **KEYED).status_code == 201


def test_an_import_is_counted_once(client: Any, store: CaseStore) -> None:
    path, body = f"{API}/library/import?name=a.jsonl", json.dumps(CASE)
    first, again = (client.post(path, data=body, **KEYED) for _ in range(2))
    assert (first.json, again.json, store.count()) == (again.json, first.json, 1)
    assert first.json["stored"] == 1
    assert client.post(path, data=body).json["known"] == 1


def test_who_asks_while_it_is_at_work_is_told_to_wait(app: Flask, client: Any, store: CaseStore) -> None:
    seen: list[Any] = []
    view: Any = app.view_functions["api.save_case"]

    def meanwhile() -> Any:
        if not seen:
            seen.append(client.post(URL, json=CASE, **KEYED))
        return view.__wrapped__()

    app.view_functions["api.save_case"] = repeatable(meanwhile)
    assert client.post(URL, json=CASE, **KEYED).status_code == 201
    assert (seen[0].status_code, seen[0].json["error"]["code"], seen[0].headers["Retry-After"]) == (409, "at_work", "1")
    assert store.count() == 1


def test_a_case_that_was_stored_before_its_answer_was_lost_is_told_as_new(
    client: Any, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lost:
        lost.setattr(views, "jsonify", lambda _: 1 / 0)
        lost.setattr(store.answers, "reopen", lambda _: None)
        assert client.post(URL, json=CASE, **KEYED).status_code == 500
    assert store.count() == 1
    assert client.post(URL, json=CASE, **KEYED).status_code == 409
    monkeypatch.setattr("webapp.store.answers.ABANDONED_SECONDS", -1)
    again = client.post(URL, json=CASE, **KEYED)
    assert again.status_code == 201
    assert store.withdraw(again.json["id"], again.json["delete_key"])


def test_an_import_sent_again_tells_its_keys_again_and_the_database_has_none(client: Any, store: CaseStore) -> None:
    data = "\n".join([json.dumps({**CASE, "title": title, "input": {"text": title}}) for title in "ab"])
    url = f"{API}/library/import?name=x.jsonl"
    first, again = (client.post(url, data=data, **KEYED) for _ in range(2))
    assert again.json == first.json
    keys = [one["delete_key"] for one in first.json["cases"]]
    assert len({*keys}) == first.json["stored"] == 2
    with store.engine.connect() as connection:
        row = repr(connection.execute(select(answered)).one())
    assert [key in row for key in keys] == [False, False]
    gone, left = first.json["cases"]
    assert store.withdraw(gone["id"], gone["delete_key"])
    assert client.post(url, data=data, **KEYED).json["cases"] == [
        {"name": gone["name"], "id": gone["id"]},
        left,
    ]


LINES = "\n".join([json.dumps({**CASE, "input": {"text": text}}) for text in "abcd"])
IMPORT = f"{API}/library/import?name=x.jsonl&listed=1"


def test_an_import_that_meets_with_trouble_tells_what_it_stored_with_its_keys(
    client: Any, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as trouble:
        trouble.setattr(store, "save", after(2, store.save))
        done = client.post(IMPORT, data=LINES, **KEYED)
    assert (done.status_code, done.json["stored"], done.json["left"], store.count()) == (200, 2, 2, 2)
    assert client.post(IMPORT, data=LINES, **KEYED).json == done.json
    rest = client.post(f"{IMPORT}&skip=2", data=LINES).json
    assert (rest["stored"], rest["left"]) == (2, 0)
    assert all(store.withdraw(one["id"], one["delete_key"]) for one in [*done.json["cases"], *rest["cases"]])
    assert store.count() == 0


def test_an_import_that_meets_with_trouble_at_once_stored_nothing(
    client: Any, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as trouble:
        trouble.setattr(store, "save", locked)
        done = client.post(IMPORT, data=LINES, **KEYED)
    assert (done.status_code, "Nothing was stored by this request" in done.text, store.count()) == (503, True, 0)
    assert client.post(IMPORT, data=LINES, **KEYED).json["stored"] == 4


def test_an_import_that_was_cut_off_and_is_sent_again_tells_all_keys(
    client: Any, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = [json.dumps({**CASE, "input": {"tokens": [[1, text]]}}) for text in "xyz"]
    data = "\n".join([LINES, *exported])
    with monkeypatch.context() as bug:
        bug.setattr(store, "save", after(6, store.save, lambda *_, **__: 1 / 0))
        assert client.post(IMPORT, data=data, **KEYED).status_code == 500
    done = client.post(IMPORT, data=data, **KEYED).json
    assert (done["stored"], done["known"], len(done["cases"]), store.count()) == (7, 0, 7, 7)
    assert all(store.withdraw(one["id"], one["delete_key"]) for one in done["cases"])
    assert store.count() == 0


def test_what_is_stored_is_answered_where_the_answer_cannot_be_kept(
    client: Any, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as trouble:
        trouble.setattr(store.answers, "keep", locked)
        done = client.post(URL, json=CASE, **KEYED)
    assert (done.status_code, store.has_key(done.json["id"], done.json["delete_key"])) == (201, True)


def test_a_share_whose_listing_cannot_be_stored_is_taken_back_or_named(
    client: Any, store: CaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = client.post(URL, json=CASE).json
    with monkeypatch.context() as trouble:
        trouble.setattr(store, "list_known", locked)
        told = client.post(f"{URL}?listed=1", json=CASE)
        assert (told.status_code, "Nothing was stored" in told.text) == (503, True)
        trouble.setattr(store, "withdraw", locked)
        said = client.post(f"{URL}?listed=1", json=CASE).json["error"]["message"]
    found = re.search(r"Stored by this request were the case (\S+) with the delete key (\S+); the rest", said)
    assert found
    assert store.has_key(found[1], found[2])
    assert store.withdraw(found[1], found[2])
    assert store.withdraw(first["id"], first["delete_key"])
    assert store.count() == 0
