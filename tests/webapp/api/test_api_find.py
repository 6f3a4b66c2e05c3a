"""`POST /api/v1/find`: what a search found, and how a search that cannot be told ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from pydantic import TypeAdapter

from parsers.cases.find import CaseSearch, find_json
from parsers.cases.io import load_case
from parsers.formats.model import builtin_formats
from tests.amount import every
from webapp.api.answers import ErrorBody, FindResult
from webapp.children.jobs import Failure
from webapp.jobs import searches
from webapp.jobs.searches import Busy, Searches
from webapp.runs.prepare import prepare
from webapp.settings import get_settings

Client = Any
URL = "/api/v1/find"
CaseMaker = Callable[..., dict[str, Any]]
AppMaker = Callable[..., Any]


NAMES, ENDS = ("qwen_coder", "harmony", "llama"), ("", "<tool_call>", '{"name": "f", "arguments": {')


def error_of(answer: Any) -> dict[str, Any]:
    TypeAdapter(ErrorBody).validate_python(answer.json)
    found: dict[str, Any] = answer.json["error"]
    return found


@pytest.mark.replays
def test_the_answer_is_the_object_of_find_json(client: Client, case: CaseMaker) -> None:
    answer = client.post(URL, json=case())
    loaded = load_case(case())
    search = CaseSearch(loaded, pieces=prepare(loaded, get_settings()).stored)
    assert list(search.run())[-1].stage == "done"
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert answer.json == json.loads(json.dumps(find_json(search.result())))


@pytest.mark.replays
@pytest.mark.parametrize(("name", "end"), every(8, product(NAMES, ENDS)))
def test_every_answer_is_as_described(client: Client, case: CaseMaker, name: str, end: str) -> None:
    output = {"text": builtin_formats()[name].example + end}
    found = TypeAdapter(FindResult).validate_python(
        client.post(URL, json=case(parser={"name": name}, input=output)).json
    )
    assert found["complete"]
    assert found["replays"] > 100


@pytest.mark.replays
def test_the_searches_of_the_server_have_its_limits(make_app: AppMaker, case: CaseMaker) -> None:
    answer = make_app(max_tokens=5).test_client().post(URL, json=case())
    assert (answer.status_code, error_of(answer)["code"]) == (413, "too_large")
    assert "TOOLCALL_INSPECTOR_MAX_TOKENS" in error_of(answer)["message"]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"schema": 2}, "/schema"),
        ({"parser": {"name": "nobody"}}, "/parser/name"),
        ({"replay": [{"by": "cuts", "cuts": [999]}]}, "/replay/0/cuts"),
        ({"checks": ["nothing"]}, "/checks/0"),
    ],
)
def test_a_wrong_field_is_422_with_its_pointer(
    client: Client, case: CaseMaker, keys: dict[str, Any], field: str
) -> None:
    answer = client.post(URL, json=case(**keys))
    assert (answer.status_code, error_of(answer)["code"], error_of(answer)["field"]) == (422, "invalid_case", field)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Busy(), 503, "service_unavailable"),
        (searches.error_of(Failure("cancelled", "The search was cancelled.")), 503, "service_unavailable"),
        (searches.error_of(Failure("late", "No result in time.")), 503, "service_unavailable"),
        (searches.error_of(Failure("ended", "The process ended.")), 503, "service_unavailable"),
        (searches.error_of(Failure("bug", "The search failed.")), 500, "search_failed"),
    ],
)
@pytest.mark.replays
def test_a_search_that_gives_nothing_is_an_error_in_words(
    client: Client, case: CaseMaker, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, code: str
) -> None:
    def fail(*_args: object) -> None:
        raise error

    monkeypatch.setattr(Searches, "find", fail)
    answer = client.post(URL, json=case())
    assert (answer.status_code, error_of(answer)["code"]) == (status, code)
    assert error_of(answer)["message"] == (getattr(error, "description", None) or str(error))
    assert ("Retry-After" in answer.headers) == isinstance(error, Busy)
