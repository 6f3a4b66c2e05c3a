from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from pydantic import TypeAdapter

from parsers.cases.corpus import case_texts
from tests.webapp.api.conftest import CALL
from webapp.api.answers import LibraryCases, LibraryImport
from webapp.api.operations import MOST_ROWS, OPERATIONS
from webapp.page.library import importing

CASES, IMPORT = TypeAdapter[Any](LibraryCases), TypeAdapter[Any](LibraryImport)
Case = Callable[..., dict[str, Any]]


def numbered(number: int) -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"Case {number}. {CALL}"}, "flags": ["n"]}


def lines(*numbers: int) -> bytes:
    return "\n".join(json.dumps(numbered(number)) for number in numbers).encode()


def found(client: FlaskClient, query: str = "") -> dict[str, Any]:
    answer = client.get(f"/api/v1/library{query}")
    assert answer.status_code == 200
    made: dict[str, Any] = CASES.validate_python(answer.get_json())
    return made


@pytest.mark.replays
def test_a_case_is_listed_where_the_request_says_so(client: FlaskClient, case: Case) -> None:
    client.post("/api/v1/cases", json=case())
    assert found(client) == {"total": 0, "more": None, "cases": []}
    client.post("/api/v1/cases?listed=0", json=numbered(1))
    saved = client.post("/api/v1/cases?listed=1", json=numbered(2)).get_json()
    assert saved["listed"] is True
    (row,) = found(client)["cases"]
    assert (row["id"], row["parser"], row["engine"], row["verdict"]) == (saved["id"], "qwen", "builtin", "all_hold")
    assert (row["severity"], row["tags"], row["title"]) == ("pass", ["n"], "")


@pytest.mark.parametrize("word", ["", "0", "false"])
def test_words_that_turn_listing_off_list_nothing(client: FlaskClient, word: str) -> None:
    assert client.post(f"/api/v1/cases?listed={word}", json=numbered(1)).get_json()["listed"] is False
    assert client.post(f"/api/v1/library/import?listed={word}", data=lines(1, 2)).status_code == 200
    assert found(client)["total"] == 0


@pytest.mark.parametrize("word", ["no", "off", "on", "2", "-1", "01", "%20"])
@pytest.mark.parametrize("path", ["/api/v1/cases?", "/api/v1/library/import?name=x.jsonl&"])
def test_a_word_that_neither_lists_nor_leaves_it_is_refused_and_stores_nothing(
    client: FlaskClient, path: str, word: str
) -> None:
    answer = client.post(f"{path}listed={word}", data=lines(1), content_type="application/json")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (422, "not_possible")
    assert answer.get_json()["error"]["message"].startswith("listed=")
    assert client.post("/api/v1/cases", json=numbered(1)).status_code == 201
    assert found(client)["total"] == 0


def test_every_switch_of_the_description_takes_the_words_that_it_names(client: FlaskClient) -> None:
    names = {name for one in OPERATIONS for name, key in one.query.items() if "true" in key.schema.get("enum", ())}
    assert names == {"listed", "run", "accept"}
    stored = client.post("/api/v1/cases?run=true&listed=true", json=numbered(1)).get_json()
    assert stored["listed"] is True
    assert client.post("/api/v1/cases?run=maybe", json=numbered(1)).status_code == 422
    export = f"/api/v1/cases/{stored['id']}/export/pytest"
    statuses = [client.get(f"{export}?accept={word}").status_code for word in ("true", "false", "yes")]
    assert statuses == [200, 422, 422]


def test_an_import_lists_where_the_request_says_so(client: FlaskClient) -> None:
    path = "/api/v1/library/import?name=some.jsonl"
    first = IMPORT.validate_python(client.post(path, data=lines(1) + b"\n{}").get_json())
    assert (first["stored"], first["known"], first["left"]) == (1, 0, 0)
    assert [one["name"] for one in first["failed"]] == ["some.jsonl::2"]
    second = client.post(f"{path}&listed=1&tags=a,b", data=lines(1, 2)).get_json()
    assert (second["stored"], second["known"]) == (1, 1)
    assert [row["tags"] for row in found(client)["cases"]] == [["a", "b", "n"], ["n"]]
    again = client.post(f"{path}&listed=1", data=lines(1, 2)).get_json()
    assert (again["known"], found(client)["total"]) == (2, 2)


@pytest.mark.parametrize(
    ("first", "again", "listed"),
    [
        ({}, {}, True),
        ({}, {"title": "Mine"}, True),
        ({"title": "T", "notes": ["n"], "flags": ["f"]}, {"title": "T", "notes": ["n"], "flags": ["f", "g"]}, True),
        ({"title": "T"}, {}, False),
        ({"notes": ["secret"]}, {"title": "T"}, False),
        ({"flags": ["f"]}, {"flags": []}, False),
    ],
)
@pytest.mark.replays
def test_a_case_is_listed_later_where_its_first_words_are_known(
    client: FlaskClient, case: Case, first: dict[str, Any], again: dict[str, Any], listed: bool
) -> None:
    assert client.post("/api/v1/cases", json=case(**first)).get_json()["listed"] is False
    answer = client.post("/api/v1/cases?listed=1", json=case(**again))
    assert (answer.status_code, answer.get_json()["listed"]) == (200, listed)
    rows = found(client)["cases"]
    assert [(row["title"], row["tags"]) for row in rows] == (
        [(first.get("title", ""), first.get("flags", []))] * listed
    )
    client.post("/api/v1/cases", json=case(**again))
    assert len(found(client)["cases"]) == listed


def test_what_an_import_stores_has_a_key_that_withdraws_it(client: FlaskClient) -> None:
    kept = client.post("/api/v1/cases", json=numbered(1)).get_json()
    done = IMPORT.validate_python(client.post("/api/v1/library/import?name=x.jsonl", data=lines(1, 2)).get_json())
    (new,) = done["cases"]
    assert (new["name"], done["stored"], done["known"]) == ("x.jsonl::2", 1, 1)
    assert new["id"] != kept["id"]
    address, key = f"/api/v1/cases/{new['id']}", new["delete_key"]
    assert client.delete(f"/api/v1/cases/{kept['id']}", headers={"Delete-Key": key}).status_code == 403
    assert client.delete(address, headers={"Delete-Key": key}).get_json() == {"deleted": new["id"], "stays": False}
    assert client.get(address).status_code == 410


@pytest.mark.replays
def test_an_import_that_lists_a_case_of_others_shares_it_with_a_key_of_its_own(
    client: FlaskClient,
) -> None:
    kept = client.post("/api/v1/cases", json=numbered(1)).get_json()
    path = "/api/v1/library/import?name=x.jsonl&listed=1"
    done = IMPORT.validate_python(client.post(path, data=lines(1)).get_json())
    (row,) = done["cases"]
    assert (done["stored"], done["known"], row["id"], found(client)["total"]) == (0, 1, kept["id"], 1)
    assert client.post(path, data=lines(1)).get_json()["cases"] == []
    address = f"/api/v1/cases/{kept['id']}"
    gone = client.delete(address, headers={"Delete-Key": row["delete_key"]}).get_json()
    assert (gone, found(client)["total"]) == ({"deleted": kept["id"], "stays": True}, 0)
    assert client.delete(address, headers={"Delete-Key": kept["delete_key"]}).get_json()["stays"] is False


def test_an_import_of_a_case_whose_words_it_does_not_know_neither_lists_nor_shares_it(client: FlaskClient) -> None:
    kept = client.post("/api/v1/cases", json={**numbered(1), "title": "Hidden"}).get_json()
    done = client.post("/api/v1/library/import?listed=1", data=lines(1)).get_json()
    assert (done["known"], done["cases"], found(client)["total"]) == (1, [], 0)
    gone = client.delete(f"/api/v1/cases/{kept['id']}", headers={"Delete-Key": kept["delete_key"]}).get_json()
    assert gone["stays"] is False


def test_an_import_without_time_says_what_is_left(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "CHECKS_SHARE", 0.0)
    done = client.post("/api/v1/library/import", data=lines(1, 2, 3)).get_json()
    assert (done["stored"], done["left"]) == (1, 2)


def test_an_import_goes_on_where_it_is_told_and_takes_what_it_is_told(client: FlaskClient) -> None:
    done = client.post("/api/v1/library/import?skip=1&most=1", data=lines(1, 2, 3)).get_json()
    assert (done["stored"], done["left"]) == (1, 1)
    again = client.post("/api/v1/library/import", data=lines(1, 2, 3)).get_json()
    assert (again["stored"], again["known"], again["left"]) == (2, 1, 0)


def test_pages_follow_each_other(client: FlaskClient) -> None:
    client.post("/api/v1/library/import?listed=1", data=lines(1, 2, 3))
    first = found(client, "?limit=2")
    link = client.get("/api/v1/library?limit=2").headers["Link"]
    assert link.endswith(f'/api/v1/library?limit=2&before={first["more"]}>; rel="next"')
    last = found(client, f"?limit=2&before={first['more']}")
    assert "Link" not in client.get(f"/api/v1/library?limit=2&before={first['more']}").headers
    assert ([len(one["cases"]) for one in (first, last)], first["total"], last["more"]) == ([2, 1], 3, None)
    assert found(client, "?q=Case%202")["total"] == 1


def test_what_is_found_is_exported(client: FlaskClient) -> None:
    client.post("/api/v1/library/import?listed=1", data=lines(1, 2))
    answer = client.get("/api/v1/library/export?q=Case%202")
    assert (answer.mimetype, len(case_texts(answer.text))) == ("application/jsonl", 1)
    assert client.get("/api/v1/library/export?format=zip").data[:2] == b"PK"


def test_a_collection_is_looked_in_alone(client: FlaskClient) -> None:
    client.post("/api/v1/library/import?listed=1", data=lines(1, 2))
    made = client.post("/library/collections", data={"title": "T", "q": "Case 2"}).headers["Location"]
    collection = made.rpartition("/")[2]
    assert found(client, f"?collection={collection}")["total"] == 1
    assert client.get(f"/api/v1/library/export?collection={collection}").text.count("\n") == 1


WRONG = [
    ("/api/v1/library?before=x", 422),
    ("/api/v1/library?limit=0", 422),
    (f"/api/v1/library?limit={MOST_ROWS + 1}", 422),
    ("/api/v1/library?collection=none", 404),
    ("/api/v1/library/export?format=tar", 422),
]


@pytest.mark.replays
@pytest.mark.parametrize(("path", "status"), WRONG)
def test_what_cannot_be_asked_is_said(client: FlaskClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert (answer.status_code, bool(answer.get_json()["error"]["message"])) == (status, True)


@pytest.mark.parametrize(
    ("path", "key", "schema"),
    [
        ("library", "limit", {"type": "integer", "minimum": 1, "maximum": MOST_ROWS}),
        ("library/export", "format", {"type": "string", "enum": ["jsonl", "zip"], "default": "jsonl"}),
        ("library/import", "skip", {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
    ],
)
@pytest.mark.replays
def test_the_description_says_which_values_a_key_has_at_this_route(
    shared_app: Flask, path: str, key: str, schema: dict[str, Any]
) -> None:
    (route,) = shared_app.test_client().get("/api/v1/openapi.json").get_json()["paths"][f"/api/v1/{path}"].values()
    assert [one["schema"] for one in route["parameters"] if one["name"] == key] == [schema]


@pytest.mark.replays
def test_the_description_says_what_travels(shared_app: Flask) -> None:
    paths = shared_app.test_client().get("/api/v1/openapi.json").get_json()["paths"]
    answers = paths["/api/v1/library/export"]["get"]["responses"]["200"]["content"]
    assert set(answers) == {"application/jsonl", "application/zip"}
    assert set(paths["/api/v1/library/import"]["post"]["requestBody"]["content"]) == {"application/octet-stream"}


@pytest.mark.replays
@pytest.mark.parametrize("path", ["library", "library/export"])
def test_a_verdict_that_there_is_not_is_refused_with_those_there_are(client: FlaskClient, path: str) -> None:
    answer = client.get(f"/api/v1/{path}?q=verdict:nonsense")
    assert answer.status_code == 422
    assert answer.get_json()["error"]["message"].startswith("There is no verdict 'nonsense'. There are: all_hold, ")
    assert client.get(f"/api/v1/{path}?q=verdict:text_lost").status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/library", "/api/v1/library/export"])
def test_a_search_that_is_too_long_is_refused(client: FlaskClient, path: str) -> None:
    answer = client.get(path, query_string={"q": " ".join(f"tag:{number}" for number in range(13))})
    said = "This search is for 13 parts, and 12 is the most: nothing was looked for."
    assert (answer.status_code, answer.get_json()["error"]["message"]) == (422, said)
