"""The lists, the health check, the description, and errors of addresses and methods."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from parsers.formats.model import builtin_formats
from webapp.api.answers import Health, ParserInfo, TokenizerRow
from webapp.api.operations import API, OPERATIONS

Client = Any  # FlaskClient, whose answers' JSON is typed as perhaps absent


def test_health_says_ok_and_the_version(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, TypeAdapter(Health).validate_python(answer.json)["status"]) == (200, "ok")


def test_parsers_are_listed_with_their_policies(client: Client) -> None:
    rows = TypeAdapter(list[ParserInfo]).validate_python(client.get(f"{API}/parsers").json)
    assert [(row["name"], row["kind"]) for row in rows if row["kind"] != "table"] == [
        ("response_template", "response_template")
    ]
    tables = [row for row in rows if row["kind"] == "table"]
    assert [row["name"] for row in tables] == list(builtin_formats())
    for row in tables:
        fmt = builtin_formats()[row["name"]]
        assert row["example"] == fmt.example
        assert [policy["name"] for policy in row["policies"]] == list(fmt.policies)
        assert [p["name"] for p in row["policies"] if p["default"] not in p["values"]] == []


def test_tokenizers_are_listed(client: Client) -> None:
    rows = TypeAdapter(list[TokenizerRow]).validate_python(client.get(f"{API}/tokenizers").json)
    assert [(row["name"], row["vocab_size"]) for row in rows][:1] == [("embedded", 2048)]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v2/parsers", 404, "not_found"),
        ("GET", "/api/v1/replay", 405, "method_not_allowed"),
        ("DELETE", "/api/v1/cases", 405, "method_not_allowed"),
        ("POST", "/api/v1/parsers", 405, "method_not_allowed"),
    ],
)
@pytest.mark.replays
def test_a_wrong_address_or_method_is_an_error_in_json(
    client: Client, method: str, path: str, status: int, code: str
) -> None:
    answer = client.open(path, method=method)
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code)
    assert (status == 405) == ("Allow" in answer.headers)


@pytest.mark.replays
def test_every_route_is_described_and_nothing_else(client: Client) -> None:
    rules = [rule for rule in client.application.url_map.iter_rules() if rule.endpoint.startswith("api.")]
    routes = {(re.sub(r"<(\w+)>", r"{\1}", rule.rule), method) for rule in rules
              for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}  # fmt: skip
    paths = client.get(f"{API}/openapi.json").json["paths"]
    assert {(path, method.upper()) for path, methods in paths.items() for method in methods} == routes
    assert len(OPERATIONS) == len(routes)


@pytest.mark.replays
def test_the_description_is_openapi_3_1_whose_references_all_lead_somewhere(client: Client) -> None:
    document = client.get(f"{API}/openapi.json").json
    assert document["openapi"] == "3.1.0"
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known
    assert "#/components/schemas/Case" in set(references(document["paths"]))


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


@pytest.mark.replays
def test_every_operation_says_what_it_takes_and_answers(client: Client) -> None:
    document = client.get(f"{API}/openapi.json").json
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            assert one["summary"], path
            assert ("requestBody" in one) == (method == "post")
            assert {"default"} < one["responses"].keys()
            named = {row["name"] for row in one.get("parameters", []) if row["in"] == "path"}
            assert named == set(re.findall(r"{(\w+)}", path))


@pytest.mark.replays
def test_the_description_is_plain_json_without_python_in_it(client: Client) -> None:
    text = json.dumps(client.get(f"{API}/openapi.json").json)
    assert "<class" not in text
    assert "webapp" not in text
