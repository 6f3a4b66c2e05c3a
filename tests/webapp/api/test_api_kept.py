"""What a client may keep and repeat: pages of lists, tags of answers, and requests that are sent again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.webapp.api.conftest import CALL
from webapp.api.lists import cursor_of
from webapp.api.operations import API, MOST_ROWS, OPERATIONS
from webapp.services import EXTENSION
from webapp.tokenizers.embedded import model

Client = Any  # FlaskClient, whose answers' JSON is typed as perhaps absent
CASE: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
POSTS = [one for one in OPERATIONS if one.method == "POST"]
KEPT = [one.path.replace("<case_id>", "{}").replace("<target>", "sse") for one in OPERATIONS if one.tagged]
GUEST = {"json": {"case": json.dumps(CASE)}}
BODIES: dict[str, dict[str, Any]] = {
    **{"add_tokenizer": {"data": model()}, "intake": {"data": CALL}, "import_cases": {"data": json.dumps(CASE)}},
    **{"guests_check": GUEST, "guests_find": GUEST, "guests_outputs": {"json": {"format": "qwen", "count": 1}}},
}
QUERY = {"between": "?beside=json"}


@pytest.mark.replays
@pytest.mark.parametrize("limit", [1, 7, 1_000])
def test_pages_one_after_the_other_are_the_list(client: Client, limit: int) -> None:
    whole, found, address = client.get(f"{API}/parsers"), [], f"{API}/parsers?limit={limit}"
    while address:
        answer = client.get(address)
        assert 0 < len(answer.json) <= limit
        found += answer.json
        address = answer.headers.get("Link", "").partition(">")[0].lstrip("<")
    assert (found, "Link" in whole.headers) == (whole.json, False)


def test_the_next_page_is_at_the_address_that_others_reach_the_server_by(make_app: Callable[..., Flask]) -> None:
    client = make_app(public_url="https://inspector.example/tools").test_client()
    link = client.get(f"{API}/parsers?limit=1").headers["Link"]
    assert link.startswith(f"<https://inspector.example/tools{API}/parsers?limit=1&cursor=")
    assert link.endswith('>; rel="next"')


@pytest.mark.replays
def test_a_cursor_stays_where_it_is_when_rows_are_added(client: Client) -> None:
    first, *others = [row["name"] for row in client.get(f"{API}/tokenizers").json]
    client.post(f"{API}/tokenizers?name=mine", data=model())
    rows = client.get(f"{API}/tokenizers?cursor={cursor_of(first)}").json
    assert [row["name"] for row in rows if row["kind"] != "upload"] == others


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("limit=0", f"limit=0 is no number of rows: give 1 to {MOST_ROWS:,}"),
        ("limit=1001", "limit=1001 is no number of rows"),
        ("limit=007", "limit=007 is no number of rows"),
        ("limit=x", "limit=x is no number of rows"),
        (f"limit={'9' * 5_000}", "is no number of rows"),
        ("limit=²", "limit=² is no number of rows"),
        ("cursor=*", "this cursor is of no row that the list has now"),
        ("cursor=_____w", "this cursor is of no row that the list has now"),
        (f"cursor={cursor_of('nobody')}", "this cursor is of no row that the list has now"),
        ("limt=5", "limt is no key of the query: give some of limit, cursor"),
        (f"{'x' * 50}=5", f"{'x' * 40}… is no key of the query"),
    ],
)
@pytest.mark.replays
def test_a_page_that_there_is_not_is_a_sentence(client: Client, query: str, said: str) -> None:
    answer = client.get(f"{API}/parsers?{query}")
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "not_possible")
    assert said in answer.json["error"]["message"]


def test_a_route_without_a_query_says_so_and_health_takes_any(client: Client) -> None:
    answer = client.get(f"{API}/openapi.json?v=2")
    assert answer.json["error"]["message"] == "v is no key of the query: this address has none"
    assert client.get("/healthz?t=1").status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
@pytest.mark.parametrize("path", KEPT)
@pytest.mark.replays
def test_who_has_an_answer_is_not_sent_it_again(client: Client, path: str, encoding: str) -> None:
    stored = client.post(f"{API}/cases", json=CASE).json["id"]
    address, takes = path.format(stored), {"Accept-Encoding": encoding}
    answer = client.get(address, headers=takes)
    assert answer.headers["Cache-Control"] == "private, no-cache"
    for tag in (answer.headers["ETag"], f'"other", {answer.headers["ETag"]}', "*"):
        again = client.get(address, headers={**takes, "If-None-Match": tag})
        assert (again.status_code, again.data, "Accept-Encoding" in again.headers["Vary"]) == (304, b"", True)
    assert client.get(address, headers={**takes, "If-None-Match": '"other"'}).data == answer.data
    head = client.head(address, headers=takes)
    assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", answer.headers["ETag"])


def test_another_page_has_another_tag(client: Client) -> None:
    tags = {client.get(f"{API}/parsers{query}").headers["ETag"] for query in ("", "?limit=2", "?limit=3")}
    assert len(tags) == 3


def test_a_deleted_case_is_gone_for_whoever_has_it(make_app: Callable[..., Flask]) -> None:
    app = make_app()
    client: Client = app.test_client()
    saved = client.post(f"{API}/cases", json=CASE).json
    tag = client.get(f"{API}/cases/{saved['id']}").headers["ETag"]
    app.extensions[EXTENSION].store.withdraw(saved["id"], saved["delete_key"])
    assert client.get(f"{API}/cases/{saved['id']}", headers={"If-None-Match": tag}).status_code == 410


def test_an_error_has_no_tag(client: Client) -> None:
    answer = client.get(f"{API}/cases/0123456789abcdef", headers={"If-None-Match": "*"})
    assert (answer.status_code, "ETag" in answer.headers) == (404, False)


@pytest.mark.parametrize("one", POSTS, ids=[one.name for one in POSTS])
@pytest.mark.replays
def test_to_post_a_thing_again_changes_nothing(make_app: Callable[..., Flask], one: Any) -> None:
    app = make_app(find_seconds=5)
    client: Client = app.test_client()
    body = BODIES.get(one.name, {"json": CASE})
    first, second = [client.post(one.path + QUERY.get(one.name, ""), **body) for _ in range(2)]
    new = 201 in one.answers
    assert (first.status_code, second.status_code) == (201 if new else 200, 200)
    told = {key: value for key, value in first.json.items() if key != "delete_key"}
    again = {key: value for key, value in second.json.items() if key != "delete_key"}
    known = {"stored": 0, "known": told["stored"], "cases": []} if one.name == "import_cases" else {}
    assert again == {**told, **known}
    assert app.extensions[EXTENSION].store.count() == (one.name in ("save_case", "import_cases"))
    assert len([row for row in client.get(f"{API}/tokenizers").json if row["kind"] == "upload"]) == (
        one.name == "add_tokenizer"
    )
