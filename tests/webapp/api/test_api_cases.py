"""Stored cases: saving, fetching, exporting, and what is the same afterwards."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from parsers.cases.expect import accept
from parsers.cases.io import case_id, load_case, loads
from parsers.cases.stored_outcome import outcome_digest
from parsers.formats.model import builtin_formats
from tests.amount import every
from webapp.api.answers import ErrorBody, SavedCase
from webapp.api.views import DELETE_KEY
from webapp.runs.exports import TARGETS, outcome_of
from webapp.services import EXTENSION

Client = Any  # FlaskClient, whose answers' JSON is typed as perhaps absent
URL = "/api/v1/cases"
ID = "0123456789abcdef"
CaseMaker = Callable[..., dict[str, Any]]
AppMaker = Callable[..., Any]


def saved(client: Client, data: dict[str, Any]) -> str:
    answer = client.post(URL, json=data)
    assert answer.status_code in (200, 201), answer.json
    found: str = answer.json["id"]
    return found


def code_of(answer: Any) -> str:
    TypeAdapter(ErrorBody).validate_python(answer.json)
    found: str = answer.json["error"]["code"]
    return found


def test_a_new_case_is_201_with_a_link_and_a_delete_key(client: Client, case: CaseMaker) -> None:
    answer = client.post(URL, json=case())
    TypeAdapter(SavedCase).validate_python(answer.json)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert answer.json["url"] == f"http://localhost/c/{answer.json['id']}"
    assert answer.headers["Location"] == f"{URL}/{answer.json['id']}"
    assert len(answer.json["delete_key"]) > 20


def test_the_same_case_again_is_200_with_a_key_of_its_own(client: Client, case: CaseMaker) -> None:
    first, second = client.post(URL, json=case()), client.post(URL, json=case(title="Another title"))
    assert second.status_code == 200
    assert [first.json[name] == second.json[name] for name in ("id", "url", "listed", "delete_key")] == [1, 1, 1, 0]
    assert "title" not in client.get(f"{URL}/{first.json['id']}").json


@pytest.mark.replays
@pytest.mark.parametrize(("choice", "days"), [("day", 1), ("week", 7), ("month", 30)])
def test_a_share_ends_when_its_sharer_says(client: Client, case: CaseMaker, choice: str, days: int) -> None:
    answer = client.post(f"{URL}?expires={choice}", json=case()).json
    left = datetime.fromisoformat(answer["expires"]) - datetime.now(UTC)
    assert timedelta(days=days, minutes=-5) < left <= timedelta(days=days)
    assert client.post(f"{URL}?expires=never", json=case()).json["expires"] is None
    refused = client.post(f"{URL}?expires=year", json=case())
    assert (refused.status_code, refused.json["error"]["code"]) == (422, "not_possible")


def test_the_link_is_the_one_others_reach_the_server_by(make_app: AppMaker, case: CaseMaker) -> None:
    client = make_app(public_url="https://inspector.example/tools").test_client()
    answer = client.post(URL, json=case())
    assert answer.json["url"] == f"https://inspector.example/tools/c/{answer.json['id']}"


@pytest.mark.replays
def test_the_page_of_the_link_shows_the_case(client: Client, case: CaseMaker) -> None:
    page = client.get(f"/c/{saved(client, case(title='Zurich is lost'))}")
    assert (page.status_code, "Zurich is lost" in page.get_data(as_text=True)) == (200, True)


def test_the_delete_key_deletes_on_the_page_and_the_case_is_410_from_then_on(
    make_app: AppMaker, case: CaseMaker
) -> None:
    app = make_app()
    client, store = app.test_client(), app.extensions[EXTENSION].store
    answer = client.post(URL, json=case()).json
    assert store.withdraw(answer["id"], answer["delete_key"])
    for path in ("", "/export/jsonl"):
        gone = client.get(f"{URL}/{answer['id']}{path}")
        assert (gone.status_code, code_of(gone)) == (410, "gone")


@pytest.mark.replays
@pytest.mark.parametrize("name", every(8, builtin_formats(), start=2))
def test_a_stored_case_has_its_tokens_its_parser_and_the_same_outcome(
    shared_app: Any, case: CaseMaker, name: str
) -> None:
    app, client, fmt = shared_app, shared_app.test_client(), builtin_formats()[name]
    posted = case(input={"text": fmt.example}, parser={"name": fmt.name})
    before = client.post("/api/v1/replay", json=posted).json
    stored = app.extensions[EXTENSION].store.get(saved(client, posted))
    found = loads(stored.body)
    after = client.post("/api/v1/replay", json=json.loads(stored.body)).json
    assert found.parser.name == before["parser"] == fmt.name
    assert found.tokenizer is not None
    assert {*(found.tokenizer.vocab or {})} >= {*fmt.tokens} - {""}
    assert [after[key] for key in ("message", "steps", "findings")] == [
        before[key] for key in ("message", "steps", "findings")
    ]
    run = app.extensions["inspector"].runner.run_checked(load_case(posted))
    assert stored.outcome_digest == outcome_digest(outcome_of(run.trace, run.findings))


def test_a_stored_case_comes_back_as_it_is_and_saving_it_again_changes_nothing(client: Client, case: CaseMaker) -> None:
    name = saved(client, case(tokenizer={"name": "embedded", "revision": "r1"}, title="One", notes=["why"]))
    body = client.get(f"{URL}/{name}").json
    assert case_id(load_case(body)) == name == saved(client, body)
    assert (body["title"], body["notes"], body["tokenizer"]["revision"]) == ("One", ["why"], "r1")


@pytest.mark.parametrize(
    "given",
    [
        {"tokens": [[1, "a"], [2, "b", {"hex": "62"}]]},
        {"deltas": [{"text": "a", "ids": [1]}, {"text": "b"}]},
    ],
)
def test_tokens_and_deltas_of_a_server_are_stored_as_they_came(
    client: Client, case: CaseMaker, given: dict[str, Any]
) -> None:
    body = client.get(f"{URL}/{saved(client, case(input=given))}").json
    assert load_case(body).input == load_case(case(input=given)).input
    assert "tokenizer" not in body


@pytest.mark.parametrize("keys", [{"sceham": 1}, {"parser": {"name": "nobody"}}, {"input": {}}])
def test_a_case_that_cannot_be_replayed_is_not_stored(
    make_app: AppMaker, case: CaseMaker, keys: dict[str, Any]
) -> None:
    app = make_app()
    assert app.test_client().post(URL, json=case(**keys)).status_code == 422
    assert app.extensions[EXTENSION].store.count() == 0


@pytest.mark.parametrize("name", [ID, "short", "UPPER6789ABCDEFG", "%00"])
@pytest.mark.parametrize("path", ["", "/export/case"])
@pytest.mark.replays
def test_an_id_that_nobody_has_is_404(client: Client, name: str, path: str) -> None:
    answer = client.get(f"{URL}/{name}{path}")
    assert (answer.status_code, code_of(answer)) == (404, "not_found")


@pytest.mark.replays
@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_an_export_is_a_file_with_a_name_and_a_type(client: Client, case: CaseMaker, target: Any) -> None:
    expect = {"content": "", "tool_calls": [{"name": "get_weather", "arguments": {"city": "Zürich"}}]}
    name = saved(client, case(title="Umlaut in a name", expect=expect))
    answer = client.get(f"{URL}/{name}/export/{target.name}")
    if target.name == "transformers":
        assert (answer.status_code, "this case brings none along" in answer.text) == (422, True)
        return
    assert (answer.status_code, answer.mimetype) == (200, target.mimetype)
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    assert answer.headers["Content-Disposition"].endswith(f'{target.suffix}"')
    assert "Zürich" in answer.get_data(as_text=True)


def test_the_exported_case_is_the_stored_one(client: Client, case: CaseMaker) -> None:
    name = saved(client, case())
    assert client.get(f"{URL}/{name}/export/case").data == client.get(f"{URL}/{name}").data


def test_a_bug_report_names_the_permalink(client: Client, case: CaseMaker) -> None:
    name = saved(client, case())
    assert f"<http://localhost/c/{name}>" in client.get(f"{URL}/{name}/export/markdown").get_data(as_text=True)


@pytest.mark.parametrize(
    ("query", "name"),
    [("", "reasoning"), ("?dialect=reasoning_content", "reasoning_content"), ("?dialect=x", "reasoning")],
)
@pytest.mark.replays
def test_a_transcript_calls_reasoning_what_the_query_says(
    client: Client, case: CaseMaker, query: str, name: str
) -> None:
    stored = saved(client, case(parser={"name": "qwen"}, input={"text": "<think>Hm.</think>Hi"}))
    answer = client.get(f"{URL}/{stored}/export/sse{query}")
    assert answer.content_type == "text/event-stream; charset=utf-8"
    assert f'{{"role":"assistant","{name}":"' in answer.get_data(as_text=True)


def test_a_pytest_file_needs_an_expectation_or_todays_result_accepted(client: Client, case: CaseMaker) -> None:
    name = saved(client, case())
    refused = client.get(f"{URL}/{name}/export/pytest")
    assert (refused.status_code, code_of(refused)) == (422, "no_expectation")
    assert "?accept=1" in refused.json["error"]["message"]
    assert client.get(f"{URL}/{name}/export/pytest?accept=0").status_code == 422
    made = client.get(f"{URL}/{name}/export/pytest?accept=1")
    assert "Zürich" in ast.unparse(ast.parse(made.get_data(as_text=True)))


def test_accepting_puts_todays_result_into_the_exported_case(client: Client, case: CaseMaker) -> None:
    name = saved(client, case())
    found = loads(client.get(f"{URL}/{name}/export/jsonl?accept=1").data)
    run = client.application.extensions["inspector"].runner.run_checked(loads(client.get(f"{URL}/{name}").data))
    assert found.expect == accept(run.trace.message)


def test_an_export_that_does_not_exist_is_404_with_those_that_do(client: Client, case: CaseMaker) -> None:
    answer = client.get(f"{URL}/{saved(client, case())}/export/har")
    assert (answer.status_code, "case, pytest, markdown, html, jsonl" in answer.json["error"]["message"]) == (404, True)


@pytest.mark.replays
def test_a_share_is_withdrawn_by_its_key_and_the_last_one_takes_the_text(client: Client, case: CaseMaker) -> None:
    first, second = (client.post(URL, json=case()).get_json() for _ in range(2))
    address = f"{URL}/{first['id']}"
    wrong = client.delete(address, headers={DELETE_KEY: "no key"})
    assert (wrong.status_code, client.delete(address).status_code) == (403, 403)
    told = [client.delete(address, headers={DELETE_KEY: one["delete_key"]}).get_json() for one in (second, first)]
    assert told == [{"deleted": first["id"], "stays": stays} for stays in (True, False)]
    again = client.delete(address, headers={DELETE_KEY: first["delete_key"]})
    assert (again.status_code, client.get(address).status_code) == (410, 410)
    assert client.delete(f"{URL}/{'0' * 16}", headers={DELETE_KEY: first["delete_key"]}).status_code == 404
