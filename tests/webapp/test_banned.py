"""From a client that is banned nothing is taken; it may read, and others go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from webapp.app import create_app
from webapp.services import EXTENSION, Services
from webapp.settings import get_settings
from webapp.store import bans
from webapp.store.keys import digest_of

SECRET = "of sixteen or more characters"
CASE = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "hello"}}
ELSEWHERE = {"environ_overrides": {"REMOTE_ADDR": "198.51.100.9"}}
WITH_SECRET = {"headers": {"Authorization": f"Bearer {SECRET}"}}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    monkeypatch.setattr(bans, "KNOWN_SECONDS", 0.0)
    app = create_app(get_settings(data_dir=tmp_path, write_secret=SECRET))
    yield app.test_client()
    app.extensions[EXTENSION].searches.close()
    app.extensions[EXTENSION].store.close()


def parts(client: FlaskClient) -> Services:
    found: Services = client.application.extensions[EXTENSION]
    return found


@pytest.mark.replays
def test_a_banned_client_may_read_and_no_more(client: FlaskClient) -> None:
    assert client.post("/api/v1/cases", json=CASE, **WITH_SECRET).status_code == 201
    (spent,) = parts(client).store.spending.today()
    parts(client).store.bans.add(spent.client, for_today=True)
    refused = client.post("/api/v1/replay", json=CASE, **WITH_SECRET)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (403, "forbidden")
    assert "takes no requests like this from you" in refused.text
    assert client.get("/library", **WITH_SECRET).status_code == 200
    assert client.post("/api/v1/replay", json=CASE).status_code == 200
    assert client.post("/api/v1/replay", json=CASE, **ELSEWHERE).status_code == 200


def test_a_banned_secret_opens_nothing_wherever_it_comes_from(client: FlaskClient) -> None:
    parts(client).store.bans.add(digest_of(SECRET), for_today=False)
    assert client.post("/api/v1/cases", json=CASE, **WITH_SECRET).status_code == 403
    assert client.post("/api/v1/cases", json=CASE, **WITH_SECRET, **ELSEWHERE).status_code == 403
    assert client.post("/api/v1/replay", json=CASE).status_code == 200
