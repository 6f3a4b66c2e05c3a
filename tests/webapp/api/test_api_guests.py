"""Parsers that the client serves, over HTTP: what is wanted, what is answered, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.webapp.engines.entering import own
from tests.webapp.guests.serving import Hermes, Naive, case_text, served
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.services import EXTENSION
from webapp.settings import get_settings

GUESTS = "/api/v1/guests/"


def asked(client: FlaskClient, task: str, body: Any, kind: str = "application/json") -> Any:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(GUESTS + task, data=text, content_type=kind)


def answered(client: FlaskClient, task: str, kind: type, **keys: Any) -> tuple[dict[str, Any], int]:
    """The answer once the guest has said all that is wanted, and how many requests that took."""
    card, ask = served(kind)
    known: list[dict[str, Any]] = []
    for number in range(60):
        answer = asked(client, task, {"case": case_text(**keys), "card": card, "known": known})
        assert answer.status_code == 200, answer.json
        if "wanted" not in answer.json:
            return answer.json, number + 1
        known += [{"of": one["of"], "answer": ask(one["run"])} for one in answer.json["wanted"]]
    raise AssertionError("it never ends")


@pytest.mark.parametrize(("kind", "outcome"), [(Naive, "FAIL"), (Hermes, "ok")])
@pytest.mark.replays
def test_a_case_is_checked_in_a_few_requests(client: FlaskClient, kind: type, outcome: str) -> None:
    found, requests = answered(client, "check", kind)
    assert (found["outcome"], requests < 20) == (outcome, True)


@pytest.mark.replays
def test_a_smaller_case_is_found(client: FlaskClient) -> None:
    found, _ = answered(client, "find", Naive, checks=["chunking"])
    assert json.loads(found["case"])["parser"] == {"name": "hermes"}


@pytest.mark.replays
def test_without_a_guest_there_is_an_answer_at_once(client: FlaskClient) -> None:
    assert asked(client, "check", {"case": case_text()}).json["outcome"] == "ok"
    found = asked(client, "outputs", {"format": "qwen", "seed": 1, "count": 2}).json
    assert (found["format"], len(found["cases"])) == ("qwen", 2)


@pytest.mark.replays
def test_an_engine_that_is_entered_at_this_server_may_be_named(make_app: Callable[..., Flask]) -> None:
    app = make_app()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "mine", own("Hermes"))
    try:
        found = asked(app.test_client(), "check", {"case": case_text(), "engine": "mine"}).json
        assert (found["outcome"], found["why"]) == ("ok", "")
    finally:
        use_engines(get_settings())


@pytest.mark.parametrize(
    ("task", "body", "kind", "status", "words"),
    [
        ("check", "{", "application/json", 400, "The body cannot be read: not JSON: "),
        ("check", b"\xff", "application/json", 400, "it is not UTF-8 text: byte 0 is not. Send one JSON object."),
        ("check", {"case": case_text(), "python": "/bin/sh"}, "application/json", 422, "/python: there is no such key"),
        ("check", {}, "application/json", 422, "/case: is missing; docs/pytest-plugin.md says what is asked"),
        (
            "check",
            {"case": case_text(), "seconds": False},
            "application/json",
            422,
            "/seconds: must be a number",
        ),
        (
            "check",
            '{"case": "{}", "seconds": NaN}',
            "application/json",
            422,
            "/seconds: must be",
        ),
        (
            "outputs",
            {"format": "qwen", "count": True},
            "application/json",
            422,
            "/count: must be a whole number",
        ),
        (
            "outputs",
            {"format": "qwen", "reasoning": 1},
            "application/json",
            422,
            "/reasoning: must be true or false",
        ),
        ("check", "{}", "text/plain", 415, "Send what is asked as application/json."),
        ("find", {"case": "{}"}, "application/json", 422, "schema"),
        ("find", {"case": case_text(), "engine": "sh"}, "application/json", 422, "engine 'sh' is not entered here"),
        ("outputs", {"format": "nope"}, "application/json", 422, "there is no parser 'nope'"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    client: FlaskClient, task: str, body: Any, kind: str, status: int, words: str
) -> None:
    answer = asked(client, task, body, kind)
    assert (answer.status_code, words in answer.json["error"]["message"]) == (status, True), answer.json


def test_what_a_guest_says_is_believed_as_little_as_of_any_engine(client: FlaskClient) -> None:
    card, _ = served(Naive)
    wanted = asked(client, "check", {"case": case_text(), "card": card}).json["wanted"]
    known = [{"of": one["of"], "answer": {"replays": "none"}} for one in wanted]
    found = asked(client, "check", {"case": case_text(), "card": card, "known": known}).json
    assert (found["outcome"], "does not speak the protocol" in found["why"]) == ("unusable", True)
