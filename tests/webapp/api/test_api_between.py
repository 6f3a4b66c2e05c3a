"""The search between two parsers over the API: where they differ, and what cannot be searched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from pydantic import TypeAdapter

from tests.webapp.engines.entering import own
from webapp.api.answers import BetweenResult
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.services import EXTENSION
from webapp.settings import get_settings

TEXT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@pytest.fixture
def client(make_app: Callable[..., Flask]) -> Iterator[FlaskClient]:
    app = make_app()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "mine", own("Hermes"))
    yield app.test_client()
    (settings.data_dir / "engines.toml").unlink()
    use_engines(get_settings())


def asked(client: FlaskClient, beside: str | None, name: str = "qwen", **parser: Any) -> Any:
    names = ("beside", "reasoning_parser")
    query = {} if beside is None else dict(zip(names, beside.split("&"), strict=False))
    case = {"schema": 1, "parser": {"name": name, **parser}, "input": {"text": TEXT}}
    return client.post("/api/v1/between", json=case, query_string=query)


@pytest.mark.replays
def test_the_smallest_output_on_which_two_parsers_differ(client: FlaskClient) -> None:
    answer = asked(client, "mine:hermes")
    found = TypeAdapter(BetweenResult).validate_python(answer.json)
    assert (answer.status_code, found["differ"]) == (200, True)
    assert len(found["smallest"]["text"]) < len(TEXT)
    assert found["case"].parser.name == "qwen"
    replayed: Any = client.post("/api/v1/replay", json=answer.json["case"])
    again = replayed.json["message"]
    assert again == found["smallest"]["sides"][0]["message"] | {"tool_calls": again["tool_calls"]}


@pytest.mark.replays
def test_parsers_that_are_the_same_do_not_differ(client: FlaskClient) -> None:
    found = TypeAdapter(BetweenResult).validate_python(asked(client, "qwen").json)
    assert (found["differ"], found["found"], found["case"]) == (False, None, None)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("beside", "parser", "field", "words"),
    [
        (None, {}, None, "say which parser to search beside"),
        ("nope", {}, None, "beside=nope: there is no parser 'nope'"),
        ("nope:x", {}, None, "beside=nope:x: engine 'nope' is not"),
        ("mine:x", {}, None, "beside=mine:x: mine has no parser 'x'"),
        ("mine:hermes&r", {}, None, "beside=mine:hermes: mine has no reasoning parser 'r'; it has none"),
        ("qwen", {"name": "x", "engine": "mine"}, "/parser/name", "mine has no parser 'x'"),
        ("qwen", {"name": "x"}, "/parser/name", "there is no parser 'x'"),
    ],
)
def test_what_cannot_be_searched_is_422(
    client: FlaskClient, beside: str | None, parser: dict[str, str], field: str | None, words: str
) -> None:
    answer = asked(client, beside, **{"name": "qwen", **parser})
    assert answer.status_code == 422
    assert (answer.json["error"]["field"], answer.json["error"]["message"][: len(words)]) == (field, words)
