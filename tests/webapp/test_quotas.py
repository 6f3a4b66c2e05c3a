"""Who is over a quota gets 429, a sentence and when to try again; nothing is stored, nothing typed is lost."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp.app import create_app
from webapp.services import EXTENSION
from webapp.settings import get_settings
from webapp.tokenizers.embedded import model

API = "/api/v1"
TYPED = {"title": "A <title>", "note": "two\nlines", "tags": "mine, yours", "listed": "1"}
ELSEWHERE = {"environ_overrides": {"REMOTE_ADDR": "198.51.100.9"}}
MakeClient = Callable[..., FlaskClient]


def case(text: str) -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}}


@pytest.fixture
def make_client(tmp_path: Path) -> Iterator[MakeClient]:
    made: list[Flask] = []

    def make(**settings: Any) -> FlaskClient:
        made.append(create_app(get_settings(data_dir=tmp_path, **settings)))
        return made[-1].test_client()

    yield make
    for app in made:
        app.extensions[EXTENSION].searches.close()
        app.extensions[EXTENSION].store.close()


def stored(client: FlaskClient) -> int:
    count: int = client.application.extensions[EXTENSION].store.count()
    return count


DEFAULTS = [
    ({}, 0),
    ({"host": "::1"}, 0),
    ({"host": "192.0.2.1"}, 300),
    ({"host": "0.0.0.0"}, 300),
    ({"public_url": "https://inspector.example"}, 300),
]


@pytest.mark.parametrize(("settings", "most"), DEFAULTS)
def test_there_are_quotas_where_others_reach_the_server(settings: dict[str, Any], most: int) -> None:
    assert get_settings(**settings).client_cases == most
    assert (get_settings(**settings).most_cases > 0) == (most > 0)


WORDS = [
    ({"client_cases": 1}, "at most 1 cases a day from one client (TOOLCALL_INSPECTOR_CLIENT_CASES)", 86_400),
    ({"client_bytes": 600}, "at most 600 bytes of cases a day", 86_400),
    ({"most_cases": 1}, "keeps at most 1 cases (TOOLCALL_INSPECTOR_MOST_CASES), and has them", 3_600),
]


@pytest.mark.parametrize(("settings", "words", "seconds"), WORDS)
def test_the_api_says_so_and_when_to_try_again(
    make_client: MakeClient, settings: dict[str, Any], words: str, seconds: int
) -> None:
    client = make_client(**settings)
    assert client.post(f"{API}/cases", json=case("one")).status_code == 201
    answer = client.post(f"{API}/cases", json=case("two"))
    assert (answer.status_code, answer.json and answer.json["error"]["code"]) == (429, "too_many_requests")
    assert words in answer.get_json()["error"]["message"]
    assert 0 < int(answer.headers["Retry-After"]) <= seconds
    assert stored(client) == 1


def test_another_client_may_go_on_and_a_forged_address_makes_none(make_client: MakeClient) -> None:
    client = make_client(client_cases=1)
    forged = {"headers": {"X-Forwarded-For": "198.51.100.9"}}
    assert client.post(f"{API}/cases", json=case("one")).status_code == 201
    assert client.post(f"{API}/cases", json=case("two"), **forged).status_code == 429
    assert client.post(f"{API}/cases", json=case("two"), **ELSEWHERE).status_code == 201


def test_behind_a_proxy_clients_are_told_apart_by_what_it_adds(make_client: MakeClient) -> None:
    client = make_client(client_cases=1, proxies=1)
    for address, status in (("192.0.2.1", 201), ("192.0.2.77", 429), ("1.1.1.1, 192.0.3.1", 201)):
        headers = {"X-Forwarded-For": address}
        assert client.post(f"{API}/cases", json=case(address), headers=headers).status_code == status


def test_the_page_keeps_what_was_typed(make_client: MakeClient) -> None:
    client = make_client(client_cases=1)
    assert client.post("/cases", data={"case": json.dumps(case("one")), **TYPED}).status_code == 201
    answer = client.post("/cases", data={"case": json.dumps(case("two")), **TYPED})
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, True)
    page = answer.text
    assert "Nothing was stored." in page
    assert "go on after midnight UTC" in page
    for words in ('value="A &lt;title&gt;"', "two\nlines</textarea>", 'value="mine, yours"', 'value="1" checked'):
        assert words in page
    assert "two&#34;" in page  # the case itself
    scripted = client.post("/cases", data={"case": json.dumps(case("two"))}, headers={"HX-Request-Type": "partial"})
    assert (scripted.status_code, "<main" in scripted.text, "Nothing was stored." in scripted.text) == (
        429,
        False,
        True,
    )


def test_a_comparison_is_stored_whole_or_not_at_all(make_client: MakeClient) -> None:
    client = make_client(client_cases=2)
    given = {"case": json.dumps(case("one")), "go": "b_text=paste:1&c_text=paste:2"}
    beside = {f"beside.{number}": json.dumps(case(f"beside {number}")) for number in (1, 2)}
    answer = client.post("/cases", data={**given, **beside})
    assert (answer.status_code, stored(client)) == (429, 0)
    assert "beside 2" in answer.text


def test_an_import_stops_where_there_is_no_more_room_and_can_go_on(make_client: MakeClient) -> None:
    client = make_client(client_cases=2)
    lines = "\n".join([json.dumps(case(str(number))) for number in range(4)]).encode()
    page = client.post("/library/import", data={"file": (io.BytesIO(lines), "x.jsonl"), "tags": "t"}).text
    assert "2 stored" in page
    assert "no room was left for 2" in page
    assert 'name="skip" value="2"' in page
    again = {"file": (io.BytesIO(lines), "x.jsonl"), "skip": "2", "tags": "t"}
    answer = client.post("/library/import", data=again)
    assert (answer.status_code, 'name="skip" value="2"' in answer.text, 'value="t"' in answer.text) == (429, True, True)
    asked = f"{API}/library/import?name=x.jsonl"
    assert client.post(asked, data=lines, **ELSEWHERE).get_json()["left"] == 0
    assert client.post(asked.replace("x.", "y."), data=lines.replace(b'"0"', b'"9"')).status_code == 429


def test_uploads_are_counted_whatever_comes_of_them(make_client: MakeClient) -> None:
    client = make_client(client_uploads=2)
    assert client.post(f"{API}/tokenizers", data=b"<html>").status_code == 422
    assert client.post(f"{API}/tokenizers", data=model()).status_code == 201
    answer = client.post(f"{API}/tokenizers", data=model())
    assert (answer.status_code, int(answer.headers["Retry-After"]) > 0) == (429, True)
    typed = {"title": "My name", "tokenizer_file": (io.BytesIO(model()), "tokenizer.json")}
    page = client.post("/tokenizers", data=typed)
    assert (page.status_code, 'value="My name"' in page.text, "at most 2 tokenizers a day" in page.text) == (
        429,
        True,
        True,
    )


def test_downloads_from_the_hub_are_counted_before_they_begin(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_client(client_uploads=1, hub=True)
    monkeypatch.setattr(client.application.extensions[EXTENSION].hub, "start", start := Mock())
    assert client.post("/tokenizers/hub", data={"repository": "no name"}).status_code == 422
    client.post("/tokenizers/hub", data={"repository": "owner/name"})
    answer = client.post("/tokenizers/hub", data={"repository": "owner/other"})
    assert (answer.status_code, 'value="owner/other"' in answer.text, start.call_count) == (429, True, 1)


def test_no_more_tokenizers_are_kept_than_the_setting_says(make_client: MakeClient) -> None:
    client = make_client(most_uploads=1)
    assert client.post(f"{API}/tokenizers", data=model()).status_code == 201
    other = json.loads(model())
    other["model"]["merges"].pop()
    answer = client.post(f"{API}/tokenizers", data=json.dumps(other).encode())
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, True)


def test_a_collection_counts_as_a_case(make_client: MakeClient) -> None:
    client = make_client(client_cases=2)
    client.post(f"{API}/cases?listed=1", json=case("one"))
    assert client.post("/library/collections", data={"title": ""}).status_code == 422
    assert client.post("/library/collections", data={"title": "mine"}).status_code == 201
    assert client.post("/library/collections", data={"title": "mine"}).status_code == 429


@pytest.mark.parametrize(
    ("words", "pointer"),
    [({"title": "x" * 501}, "/title"), ({"notes": ["x" * 50_001]}, "/notes"), ({"flags": ["x"] * 101}, "/flags")],
)
def test_words_beside_the_output_have_limits_where_they_are_stored(
    make_client: MakeClient, words: dict[str, Any], pointer: str
) -> None:
    client = make_client()
    answer = client.post(f"{API}/cases", json={**case("one"), **words})
    assert (answer.status_code, answer.get_json()["error"]["field"]) == (422, pointer)
    assert client.post(f"{API}/replay", json={**case("one"), **words}).status_code == 200
