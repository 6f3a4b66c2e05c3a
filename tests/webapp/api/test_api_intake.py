"""POST /api/v1/intake: a recording in, cases out; and what /replay says to a recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter
from werkzeug.test import TestResponse

from webapp.api.answers import IntakeResult

Client = Any
URL = "/api/v1/intake"
CASE = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi"}}


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def sse(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n"


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = sse(chunk({"tool_calls": [CALL]}), chunk({}, 0, "tool_calls"))
TWO = sse(chunk({"content": "<tool_call>"}), chunk({"content": "Two"}, 1), chunk({}, 0, "stop"), chunk({}, 1, "stop"))
SECRET = 'curl http://localhost/v1 -H \'Authorization: Bearer sk-abc123\' -d \'{"model": "m", "messages": []}\'\n'


@pytest.fixture
def post(client: Client) -> Callable[..., dict[str, Any]]:
    """Posts and gives the answer, held to its model."""

    def send(**request: Any) -> dict[str, Any]:
        answer: TestResponse = client.post(URL, **request)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.get_json()
        TypeAdapter(IntakeResult).validate_json(answer.text)
        return found

    return send


Post = Callable[..., dict[str, Any]]


@pytest.mark.replays
@pytest.mark.parametrize("kind", [None, "text/plain", "application/octet-stream", "application/json"])
def test_a_log_becomes_a_case_that_replays(client: Client, post: Post, kind: str | None) -> None:
    found = post(data=CALLS, content_type=kind)
    assert (found["kind"], found["usable"]) == ("sse_log", True)
    assert [one["chunks"] for one in found["outputs"]] == [2]
    run = client.post("/api/v1/replay", json=found["cases"][0]).get_json()
    assert run["message"]["tool_calls"][0]["name"] == "f"


def test_a_secret_is_warned_of_and_not_answered(post: Post) -> None:
    found = post(data=SECRET + CALLS)
    assert "secret" in [warn["code"] for warn in found["warnings"]]
    assert "sk-abc123" not in json.dumps(found)


def test_every_output_has_its_case_or_one_is_asked_for(client: Client, post: Post) -> None:
    assert [one["case"] for one in post(json={"text": TWO})["outputs"]] == [0, 1]
    found = post(json={"text": TWO, "output": 1})
    assert ([one["label"] for one in found["outputs"]], len(found["cases"])) == (["choice 2"], 1)
    assert len(post(data=TWO, query_string={"output": "1"})["cases"]) == 1
    answer = client.post(URL, json={"text": TWO, "output": 2})
    assert (answer.status_code, answer.get_json()["error"]["field"]) == (422, "/output")


def test_what_is_missing_is_said_with_its_field(post: Post) -> None:
    found = post(json={"text": "[1, 2]"})
    assert (found["usable"], found["cases"], found["outputs"][0]["field"]) == (False, [], "tokenizer")
    assert "choose the model's own tokenizer" in found["outputs"][0]["problem"]


def test_a_case_is_answered_as_it_is(post: Post) -> None:
    assert post(json=CASE)["cases"][0]["input"] == {"text": ["Hi"]}
    found = post(data=json.dumps(CASE), query_string={"filename": "x.case.json", "take_as": "raw_text"})
    assert found["kind"] == "raw_text"


def test_json_that_has_other_keys_is_a_recording_itself(post: Post) -> None:
    assert post(json={"text": "Hi", "output_ids": [1], "meta_info": {}})["kind"] != "raw_text"
    assert post(json=chunk({"content": "Hi"}))["kind"] == "json_response"
    assert post(json={"text": "<tool_call>"})["kind"] == "raw_text"


@pytest.mark.replays
@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"json": {"text": 3}}, "/text"),
        ({"json": {"text": "x", "take_as": "nonsense"}}, "/take_as"),
        ({"json": {"text": "x"}, "query_string": {"take_as": "nonsense"}}, "/take_as"),
        ({"json": {"text": "x", "output": -1}}, "/output"),
        ({"data": "x", "query_string": {"output": "x"}}, "/output"),
        ({"data": "x", "query_string": {"output": "9" * 5_000}}, "/output"),
    ],
)
def test_a_wrong_field_is_named(client: Client, request_: dict[str, Any], field: str) -> None:
    answer = client.post(URL, **request_)
    assert (answer.status_code, answer.get_json()["error"]["field"]) == (422, field)


@pytest.mark.replays
@pytest.mark.parametrize("given", ["9" * 5_000, "-1", "x"])
def test_a_number_that_is_none_is_refused_in_our_words(client: Client, given: str) -> None:
    answer = client.post(URL, data="x", query_string={"output": given})
    assert answer.get_json()["error"]["message"].endswith(
        "a whole number of at most nine digits, from 0, says which output is meant"
    )


def test_an_output_that_makes_no_case_says_why(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsers.cases.case import CaseError

    def refuse(_data: object) -> None:
        raise CaseError("too odd", "/tools/0")

    monkeypatch.setattr("webapp.api.intake.load_case", refuse)
    assert post(json={"text": "Hi"})["outputs"][0]["problem"] == "/tools/0: too odd"


@pytest.mark.parametrize("body", [CALLS, "[1, 2]", '["a", "b"]', json.dumps(chunk({"content": "Hi"}))])
def test_a_recording_sent_to_replay_is_told_where_to_go(client: Client, body: str) -> None:
    answer = client.post("/api/v1/replay", data=body, content_type="application/json")
    error = answer.get_json()["error"]
    assert (answer.status_code, error["code"]) == (422, "not_a_case")
    assert "send it to /api/v1/intake" in error["message"]


def test_every_case_of_a_corpus_is_answered_or_what_is_wrong_with_it(client: Client, post: Post) -> None:
    cases = {"one": CASE, "bad": CASE | {"parser": {}}, "two": CASE | {"context": {"finish_reason": "stop"}}}
    found = post(data=json.dumps(cases))
    assert (found["kind"], found["usable"], len(found["cases"])) == ("corpus", True, 2)
    rows = [(one["label"], one["characters"], one["case"], one["finish_reason"]) for one in found["outputs"]]
    assert rows == [("one", 2, 0, None), ("bad", None, None, None), ("two", 2, 1, "stop")]
    assert found["outputs"][1]["problem"] == "/bad/parser/name: this key is required"
    assert found["cases"][1]["context"] == {"finish_reason": "stop"}
    chosen = post(json={"text": json.dumps(cases), "output": 2})
    assert ([one["label"] for one in chosen["outputs"]], len(chosen["cases"])) == (["two"], 1)
    answer = client.post(URL, json={"text": json.dumps(cases), "output": 3})
    assert answer.get_json()["error"]["message"].startswith("there is no output 3; there are 3")


def test_a_corpus_that_cannot_be_read_says_where(client: Client, post: Post) -> None:
    found = post(data="{", query_string={"filename": "x.cases.json"})
    assert (found["kind"], found["usable"], found["cases"]) == ("corpus", False, [])
    assert "a name in quotes is expected at line 1, column 2" in found["message"]
    refused = client.post("/api/v1/replay", json={"one": CASE, "two": CASE}).get_json()
    assert "no case but corpus of 2 cases: send it to /api/v1/intake" in refused["error"]["message"]
