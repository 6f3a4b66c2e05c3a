"""The description of the API is what it does: a request for each status of each route, held to the description.

The table is complete, or a test fails; every answer has the body and the headers that the description gives it, and no
others but those that all answers of the server have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask
from pydantic import TypeAdapter
from werkzeug.exceptions import RequestEntityTooLarge, ServiceUnavailable, TooManyRequests

from tests.webapp.api.conftest import CALL
from webapp.api.operations import API, OPERATIONS
from webapp.api.repeated import HEADER
from webapp.api.views import DELETE_KEY
from webapp.security import HEADERS, REFUSAL
from webapp.services import EXTENSION
from webapp.store.answers import Busy
from webapp.tokenizers.embedded import model

Request = dict[str, Any]
NOBODY = "0123456789abcdef"
CASE: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": CALL}}
GUEST = {"case": json.dumps(CASE)}
GENERIC = {*HEADERS, "Content-Type", "Content-Length", "Content-Encoding", "Date", "Vary", "Cache-Control"}
TAG = {"headers": {"If-None-Match": "*"}}
BUSY = {"environ_overrides": {REFUSAL: ServiceUnavailable("Too many wait.", retry_after=2)}}
MANY = {"environ_overrides": {REFUSAL: TooManyRequests("As much as may be is stored.", retry_after=2)}}
LARGE = {"environ_overrides": {REFUSAL: RequestEntityTooLarge("The request is too large.")}}
ELSEWHERE = {"headers": {"Origin": "https://elsewhere.example"}}
STRANGER = {"headers": {"Host": "stranger.example"}}
PLAIN = {"data": "{}", "content_type": "text/plain"}
KEYED = {"headers": {HEADER: "x" * 16}}
WORKING = {**KEYED, "at_work": True}
BROKEN = {"data": "{", "content_type": "application/json"}


def takes_case(good: Request, path: str = "") -> dict[int, Request]:
    """What each route does whose body is a case; `good` is what it answers 200 to."""
    return {200: good, 400: BROKEN, 403: {"json": CASE, **ELSEWHERE}, 413: {"json": CASE, **LARGE}, 415: PLAIN,
            422: {"json": {**CASE, "sceham": 1}, "path": path}, 503: {"json": CASE, **BUSY}}  # fmt: skip


LIST: dict[int, Request] = {200: {}, 304: TAG, 400: STRANGER, 422: {"path": "?limit=0"}}
REQUESTS: dict[str, dict[int, Request]] = {
    "healthz": {200: {}, 400: STRANGER},
    "readyz": {200: {}, 400: STRANGER, 503: BUSY},
    "parsers": {**LIST, 200: {"path": "?limit=2"}, 304: {"path": "?limit=2", **TAG}},
    "tokenizers": LIST,
    "engines": LIST,
    "add_tokenizer": {
        201: {"data": model()},
        200: {"before": {"data": model()}, "data": model()},
        400: STRANGER,
        403: ELSEWHERE,
        413: LARGE,
        422: {"data": b"<html>"},
        429: MANY,
        503: BUSY,
    },
    "delete_tokenizer": {
        200: {"before": {"data": model(), "path": f"{API}/tokenizers"}, "with_key": True},
        400: STRANGER,
        403: ELSEWHERE,
        404: {},
        422: {"path": "?key=1"},
    },
    "intake": {200: {"data": CALL}, 400: STRANGER, 403: ELSEWHERE, 413: LARGE, 422: {"path": "?output=9", "data": CALL},
               503: BUSY},
    "replay": takes_case({"json": CASE}),
    "between": takes_case({"json": CASE, "path": "?beside=json"}, "?beside=json"),
    "find": takes_case({"json": CASE}),
    "redact_case": takes_case({"json": CASE}),
    "guests_check": takes_case({"json": GUEST}),
    "guests_find": takes_case({"json": GUEST}),
    "guests_outputs": takes_case({"json": {"format": "qwen", "count": 1}}),
    "library": {200: {"stored": True}, 304: TAG, 400: STRANGER, 404: {"path": "?collection=none"},
                422: {"path": "?key=1"}},
    "export_cases": {200: {"stored": True}, 400: STRANGER, 404: {"path": "?collection=none"},
                     422: {"path": "?key=1"}},
    "import_cases": {200: {"data": json.dumps(CASE)}, 400: STRANGER, 403: ELSEWHERE, 413: LARGE,
                     409: {"data": "x", **WORKING}, 422: {"path": "?key=1"}, 429: MANY, 503: BUSY},
    "save_case": {
        **takes_case({"before": {"json": CASE}, "json": CASE}),
        201: {"json": CASE},
        409: {"json": CASE, **WORKING},
        429: MANY,
        410: {"before": {"json": CASE, **KEYED}, "gone": True, "json": CASE, **KEYED},
    },
    "case": {200: {"stored": True}, 304: {"stored": True, **TAG}, 400: STRANGER, 404: {}, 410: {"deleted": True},
             422: {"path": "?key=1"}},
    "delete_case": {
        200: {"before": {"json": CASE, "path": f"{API}/cases"}, "with_key": True},
        400: STRANGER,
        403: {"stored": True},
        404: {},
        410: {"deleted": True},
        422: {"path": "?key=1"},
        503: BUSY,
    },
    "export": {200: {"stored": True}, 304: {"stored": True, **TAG}, 400: STRANGER, 404: {}, 410: {"deleted": True},
               422: {"stored": True, "target": "pytest"}, 503: BUSY},
    "openapi": {200: {}, 304: TAG, 400: STRANGER, 422: {"path": "?key=1"}},
}  # fmt: skip
TABLE = [(one.name, status) for one in OPERATIONS for status in one.answers]


@pytest.fixture
def app(request: pytest.FixtureRequest) -> Flask:
    """An application of its own where it matters what is kept there already."""
    alone = request.node.callspec.params["name"] in ("add_tokenizer", "save_case")
    found: Flask = request.getfixturevalue("make_app")() if alone else request.getfixturevalue("shared_app")
    return found


@pytest.fixture(scope="module")
def document(shared_app: Flask) -> dict[str, Any]:
    return shared_app.test_client().get(f"{API}/openapi.json").json or {}


def test_the_table_has_a_request_for_each_status_of_each_route() -> None:
    assert {(name, status) for name, requests in REQUESTS.items() for status in requests} == set(TABLE)


@pytest.mark.parametrize(("name", "status"), TABLE)
@pytest.mark.replays
def test_an_answer_is_as_the_description_says(
    app: Flask, document: dict[str, Any], name: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation, wanted = next(one for one in OPERATIONS if one.name == name), dict(REQUESTS[name][status])
    if wanted.pop("at_work", False):
        monkeypatch.setattr(app.extensions[EXTENSION].store.answers, "claim", lambda *_: Busy())
    answer = asked(app, operation.method, operation.path, wanted)
    assert answer.status_code == status, answer.get_data(as_text=True)[:300]
    described = document["paths"][re.sub(r"<(\w+)>", r"{\1}", operation.path)][operation.method.lower()]
    response = described["responses"][str(status)]
    required = {header for header, one in response.get("headers", {}).items() if one["required"]}
    assert required <= {*answer.headers.keys()}
    assert {*answer.headers.keys()} <= GENERIC | {*response.get("headers", {})}
    if "content" not in response:
        assert answer.data == b""
        return
    schema = response["content"][answer.mimetype]["schema"]
    body = answer.json if answer.mimetype == "application/json" else answer.get_data(as_text=True)
    jsonschema_rs.validator_for({**schema, "components": document["components"]}).validate(body)


ASKED = sorted({one.takes for one in OPERATIONS} - {None, bytes}, key=lambda one: str(one.__name__))


@pytest.mark.parametrize("model", ASKED, ids=lambda one: one.__name__)
def test_a_number_is_no_switch_and_a_switch_no_number_in_what_is_asked(model: type) -> None:
    assert [*loose(TypeAdapter(model).core_schema)] == []


def loose(schema: Any, place: str = "", *, strict: bool = False) -> Iterator[str]:
    """Where a model of pydantic takes other values for a number or a switch."""
    if isinstance(schema, list | tuple):
        for one in schema:
            yield from loose(one, place, strict=strict)
    if not isinstance(schema, dict):
        return
    strict = schema.get("config", {}).get("strict", strict)
    if schema.get("type") in ("int", "float", "bool") and not schema.get("strict", strict):
        yield place
    for key, one in schema.items():
        if key not in ("config", "metadata", "default"):
            yield from loose(one, f"{place}/{key}", strict=strict)


def asked(app: Flask, method: str, path: str, wanted: Request) -> Any:
    """The answer to a request of the table, after what has to be there for it."""
    given, client = dict(wanted), app.test_client()
    found = {"case_id": NOBODY, "target": given.pop("target", "case"), "fingerprint": NOBODY}
    if before := given.pop("before", None):
        was: Any = client.post(before.get("path", path), **{key: before[key] for key in before.keys() - {"path"}}).json
        found["fingerprint"] = was.get("fingerprint", "")
        if given.pop("with_key", False):
            given["headers"] = {DELETE_KEY: was["delete_key"]}
            found["case_id"] = was.get("id", NOBODY)
        assert not given.pop("gone", False) or app.extensions[EXTENSION].store.withdraw(was["id"], was["delete_key"])
    stored, deleted = given.pop("stored", False), given.pop("deleted", False)
    if stored or deleted:
        kept: Any = client.post(f"{API}/cases", json={**CASE, "tools": [{"name": "f"}] * deleted}).json
        found["case_id"] = kept["id"]
        store = app.extensions[EXTENSION].store
        assert not deleted or store.withdraw(kept["id"], kept["delete_key"])
    address = re.sub(r"<(\w+)>", lambda match: found[match[1]], path) + given.pop("path", "")
    return client.open(address, method=method, **given)
