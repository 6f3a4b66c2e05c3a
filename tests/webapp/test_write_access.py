from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from flask import Flask

from webapp.app import create_app
from webapp.security import SAFE_METHODS
from webapp.services import EXTENSION
from webapp.settings import Settings, get_settings, setting_rows
from webapp.tokenizers.embedded import model
from webapp.write_access import SHARES, WRITES, may_write

SECRET = "of sixteen or more characters: é"
CASE = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "hello"}}
# What is posted and stored nowhere: everybody may.
FREE = {
    *("api.between", "api.find", "api.intake", "api.replay"),
    *("page.compare_differ", "page.compare_open", "page.compare_posted", "page.compare_put", "page.comparison_posted"),
    *("page.copy_posted", "page.engine_ask", "page.export_posted", "page.find_cancel", "page.find_posted"),
    *("page.find_proof", "page.format_case", "page.format_check", "page.format_file", "page.format_inspect"),
    *("page.format_share", "page.intake", "page.left", "page.live", "page.run", "page.share_posted", "page.template"),
    *("page.tokenizer_cancel", "page.tokenizer_try"),
    *("api.guests_check", "api.guests_find", "api.guests_outputs", "api.redact_case", "page.new", "page.redact_posted"),
}  # fmt: skip


def basic(secret: str, name: str = "anybody") -> str:
    return "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()


def as_wsgi(header: str) -> str:
    """A header as WSGI gives it: each byte is a character."""
    return header.encode().decode("latin-1")


AUTHORIZED = [f"Bearer {SECRET}", f"bearer  {SECRET} ", basic(SECRET), basic(SECRET, "")]
REFUSED = ["", SECRET, f"Bearer {SECRET}x", "Bearer", basic(""), basic("x"), "Basic !", "Basic //8=", "Digest x"]


@pytest.fixture
def make_app(tmp_path: Path) -> Iterator[Callable[..., Flask]]:
    made: list[Flask] = []

    def make(**settings: Any) -> Flask:
        made.append(create_app(get_settings(data_dir=tmp_path, **settings)))
        return made[-1]

    yield make
    for app in made:
        app.extensions[EXTENSION].searches.close()
        app.extensions[EXTENSION].store.close()


@pytest.mark.parametrize("authorization", AUTHORIZED)
def test_whoever_has_the_secret_may_write(authorization: str) -> None:
    assert may_write(Settings(write_secret=SECRET), {"Authorization": as_wsgi(authorization)})


@pytest.mark.parametrize("authorization", REFUSED)
def test_whoever_has_it_not_may_not(authorization: str) -> None:
    assert not may_write(Settings(write_secret=SECRET), {"Authorization": authorization, "X-Remote-User": "me"})


HEADERS = [({"X-Remote-User": "me"}, True), ({"X-Remote-User": " "}, False), ({"X-User": "me"}, False), ({}, False)]


@pytest.mark.parametrize(("headers", "may"), HEADERS)
def test_the_header_that_the_setting_names_is_trusted_and_no_other(headers: dict[str, str], may: bool) -> None:
    assert may_write(Settings(write_header="X-Remote-User"), headers) is may


def test_where_both_are_set_either_is_enough() -> None:
    settings = Settings(write_secret=SECRET, write_header="X-Remote-User")
    assert may_write(settings, {"X-Remote-User": "me"})
    assert may_write(settings, {"Authorization": as_wsgi(f"Bearer {SECRET}")})
    assert not may_write(settings, {})


def test_secrets_are_compared_in_constant_time_and_at_one_length(monkeypatch: pytest.MonkeyPatch) -> None:
    compare = Mock(return_value=False)
    monkeypatch.setattr("webapp.write_access.hmac.compare_digest", compare)
    may_write(Settings(write_secret=SECRET), {"Authorization": "Bearer x"})
    assert [len(given) for given in compare.call_args.args] == [32, 32]


def test_storing_is_refused_without_the_secret_and_replaying_is_not(make_app: Callable[..., Flask]) -> None:
    client = make_app(write_secret=SECRET).test_client()
    refused = client.post("/api/v1/cases", json=CASE)
    assert (refused.status_code, refused.json and refused.json["error"]["code"]) == (401, "unauthorized")
    assert refused.headers["WWW-Authenticate"].startswith("Basic realm=")
    assert client.post("/api/v1/replay", json=CASE).status_code == 200
    allowed = client.post("/api/v1/cases", json=CASE, headers={"Authorization": basic(SECRET)})
    assert allowed.status_code == 201
    bearer = {"Authorization": as_wsgi(f"Bearer {SECRET}")}
    assert client.post("/api/v1/cases", json=CASE, headers=bearer).status_code == 200
    saved = allowed.get_json()
    assert client.get(f"/c/{saved['id']}").status_code == client.get(f"/c/{saved['id']}/delete").status_code == 200
    assert client.post(f"/c/{saved['id']}/delete", data={"key": saved["delete_key"]}).status_code == 401


def test_whom_the_proxy_did_not_sign_in_is_refused_and_not_asked(make_app: Callable[..., Flask]) -> None:
    client = make_app(write_header="X-Remote-User").test_client()
    refused = client.post("/api/v1/cases", json=CASE)
    assert (refused.status_code, "WWW-Authenticate" in refused.headers) == (403, False)
    assert client.post("/api/v1/cases", json=CASE, headers={"X-Remote-User": "me"}).status_code == 201


@pytest.mark.parametrize(
    ("writes", "words", "upload"), [("no_sharing", "stores no cases", 201), ("none", "stores and deletes nothing", 403)]
)
def test_a_server_that_stores_nothing_says_so(
    make_app: Callable[..., Flask], writes: str, words: str, upload: int
) -> None:
    client = make_app(writes=writes).test_client()
    refused = client.post("/api/v1/cases", json=CASE)
    assert refused.status_code == 403
    assert f"This server {words}. " in refused.text
    assert client.post("/api/v1/replay", json=CASE).status_code == 200
    assert client.post("/api/v1/tokenizers", data=model()).status_code == upload
    page = client.post("/share", data={"case": json.dumps(CASE)}).text
    assert "This server stores no cases." in page
    assert "Create a permalink" not in page
    assert SHARES < WRITES


@pytest.mark.parametrize(
    ("writes", "uploads", "imports"), [("all", True, True), ("no_sharing", True, False), ("none", False, False)]
)
def test_pages_offer_only_what_the_server_takes(
    make_app: Callable[..., Flask], writes: str, uploads: bool, imports: bool
) -> None:
    client = make_app(writes=writes).test_client()
    tokenizers, library = client.get("/tokenizers").text, client.get("/library").text
    assert ('action="/tokenizers"' in tokenizers) == uploads
    assert ('href="/library/import"' in library) == imports
    assert ("This server stores no cases." in library) != imports


def test_every_address_that_takes_more_than_questions_is_a_write_or_free(make_app: Callable[..., Flask]) -> None:
    rules = make_app().url_map.iter_rules()
    unsafe = {rule.endpoint for rule in rules if (rule.methods or set()) - SAFE_METHODS}
    assert unsafe == WRITES | FREE
    assert set() == WRITES & FREE


@pytest.mark.parametrize("name", ["", "Host", "X_User", "authorization", "X-User:", "1"])
def test_a_header_that_a_client_sends_by_itself_is_no_setting(name: str) -> None:
    with pytest.raises(ValueError, match=r"a header that no client sends|String should"):
        Settings(write_header=name)


def test_the_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for secret, shown in ((SECRET, "***"), (None, "not set")):
        rows = {row.env: row.value for row in setting_rows(Settings(write_secret=secret))}
        assert rows["TOOLCALL_INSPECTOR_WRITE_SECRET"] == shown
    monkeypatch.setenv("TOOLCALL_INSPECTOR_WRITE_SECRET", "too short")
    with pytest.raises(Exception, match="WRITE_SECRET") as caught:
        get_settings()
    assert "too short" not in str(caught.value)
