"""`POST /api/v1/replay`: the run of a case, and every way in which a body can be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from pydantic import TypeAdapter

from parsers.cases.io import load_case
from parsers.cases.run import run_json
from parsers.formats.model import builtin_formats
from parsers.vocabulary.types import UsageError
from tests.amount import every
from webapp.api.answers import ErrorBody, ReplayResult
from webapp.api.views import MOST_CHUNKINGS
from webapp.runs.runner import Runner
from webapp.settings import get_settings

Client = Any  # FlaskClient, whose answers' JSON is typed as perhaps absent
URL = "/api/v1/replay"
CHUNKINGS = ({"by": "token"}, {"by": "char", "holdback_chars": 3}, {"by": "whole"})
CaseMaker = Callable[..., dict[str, Any]]
AppMaker = Callable[..., Any]


@pytest.fixture
def client(shared_app: Any) -> Client:
    """Nothing is stored, so one application is enough for all."""
    return shared_app.test_client()


def error_of(answer: Any) -> dict[str, Any]:
    """The error of an answer, which has to have the shape all errors have."""
    TypeAdapter(ErrorBody).validate_python(answer.json)
    found: dict[str, Any] = answer.json["error"]
    return found


def test_the_answer_is_the_object_of_run_json(client: Client, case: CaseMaker) -> None:
    answer = client.post(URL, json=case())
    run = Runner(get_settings(), keep=False).run_checked(load_case(case()))
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert answer.json == json.loads(json.dumps(run_json(run)))


@pytest.mark.replays
@pytest.mark.parametrize(("name", "chunking"), every(8, product(builtin_formats(), CHUNKINGS)))
def test_every_answer_is_as_described(shared_app: Any, case: CaseMaker, name: str, chunking: dict[str, Any]) -> None:
    fmt = builtin_formats()[name]
    keys = {"parser": {"name": fmt.name}, "input": {"text": fmt.example * 2 + "<tool_call>"}, "replay": [chunking]}
    TypeAdapter(ReplayResult).validate_python(shared_app.test_client().post(URL, json=case(**keys)).json)


@pytest.mark.replays
def test_a_run_of_many_steps_arrives_whole(client: Client, case: CaseMaker) -> None:
    answer = client.post(URL, json=case(input={"text": "ab" * 700}, tokenizer={"name": "characters"}))
    assert [step["index"] for step in answer.json["steps"]] == list(range(1, 1402))
    assert len(answer.json["deltas"]) == 1401


def test_an_empty_output_has_one_step(client: Client, case: CaseMaker) -> None:
    answer = client.post(URL, json=case(input={"text": ""})).json
    assert (len(answer["steps"]), answer["deltas"], answer["partition"]) == (1, [None], [])


def test_nothing_is_stored(make_app: AppMaker, case: CaseMaker) -> None:
    app = make_app()
    assert app.test_client().post(URL, json=case()).status_code == 200
    assert app.extensions["inspector"].store.count() == 0


def test_a_byte_order_mark_and_a_charset_do_no_harm(client: Client, case: CaseMaker) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(case()).encode()
    assert client.post(URL, data=body, content_type="application/json; charset=utf-8").status_code == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_of_another_type_is_415(client: Client, case: CaseMaker, kind: str | None) -> None:
    answer = client.post(URL, data=json.dumps(case()), content_type=kind)
    assert (answer.status_code, error_of(answer)["code"]) == (415, "unsupported_media_type")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON: Expecting value at line 1, column 1"),
        (b'{\n  "schema": }', "at line 2, column 13"),
        (b'{"a": 1, "a": 2}', 'key "a" is given twice'),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": \xff}', "byte 6"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "too many digits"),
    ],
)
def test_a_body_that_is_no_json_is_400_with_the_place(client: Client, body: bytes, words: str) -> None:
    answer = client.post(URL, data=body, content_type="application/json")
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["field"]) == (400, "bad_json", None)
    assert words in error["message"]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"schema": 2}, "/schema"),
        ({"sceham": 1}, "/sceham"),
        ({"input": {"text": "\ud800"}}, "/input/text"),
        ({"input": {}}, "/input"),
        ({"input": {"tokens": [[1]]}}, "/input/tokens/0"),
        ({"input": {"stream": [{}]}, "parser": {"name": "qwen"}}, "/parser/name"),
        ({"parser": {"name": "nobody"}}, "/parser/name"),
        ({"parser": {"name": "qwen", "policy": {"recovery": "x"}}}, "/parser/policy/recovery"),
        ({"parser": {"name": "qwen", "engine": "vllm"}}, "/parser/engine"),
        ({"tokenizer": {"name": "nobody"}}, "/tokenizer/name"),
        ({"context": {"tool_choice": {"name": "f"}}}, "/context/tool_choice"),
        ({"replay": [{"by": "token"}, {"by": "cuts", "cuts": [999]}]}, "/replay/1/cuts"),
        ({"replay": [{"by": "char"}] * (MOST_CHUNKINGS + 1)}, "/replay"),
        ({"checks": ["chunking", "nothing"]}, "/checks/1"),
    ],
)
def test_a_wrong_field_is_422_with_its_pointer(
    client: Client, case: CaseMaker, keys: dict[str, Any], field: str
) -> None:
    answer = client.post(URL, json=case(**keys))
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["field"]) == (422, "invalid_case", field)
    assert error["message"]


@pytest.mark.parametrize("body", ["[]", '"text"', "null", "1"])
def test_json_that_is_no_case_is_422(client: Client, body: str) -> None:
    answer = client.post(URL, data=body, content_type="application/json")
    assert (answer.status_code, error_of(answer)["field"]) == (422, None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda data: data["states"]["CONTENT"]["rows"][0].update(to="NOWHERE"), "/states/CONTENT/rows/0/to"),
        (lambda data: data.pop("initial"), "/initial"),
        (lambda data: data["terminals"].clear(), "/states/AFTER_CALL/rows/0/on"),
    ],
)
def test_a_format_that_cannot_run_is_422_with_the_place_in_it(
    client: Client, case: CaseMaker, change: Callable[[Any], Any], field: str
) -> None:
    data = json.loads(builtin_formats()["qwen"].model_dump_json(by_alias=True, exclude_defaults=True))
    change(data)
    answer = client.post(URL, json=case(parser={"name": "qwen", "format": data}))
    assert (answer.status_code, error_of(answer)["field"]) == (422, f"/parser/format{field}")


@pytest.mark.replays
@pytest.mark.parametrize(
    ("settings", "keys", "words"),
    [
        ({"max_text_bytes": 10}, {"input": {"text": "é" * 6}}, "has 12 bytes; the limit is 10 bytes"),
        (
            {"max_tokens": 5},
            {"input": {"text": "abcdef"}, "tokenizer": {"name": "characters"}},
            "has 6 tokens; the limit is 5 tokens",
        ),
        (
            {"max_tokens": 5},
            {"input": {"text": "ab"}, "replay": [{"by": "cuts", "cuts": [1] * 6}]},
            "has 6 deltas; the limit is 5 deltas",
        ),
        ({"max_text_bytes": 9, "max_request_bytes": 99}, {"notes": ["x" * 99]}, "the limit is 99 bytes"),
    ],
)
def test_over_a_limit_is_413_with_size_limit_and_setting(
    make_app: AppMaker,
    case: CaseMaker,
    settings: dict[str, int],
    keys: dict[str, Any],
    words: str,
) -> None:
    answer = make_app(**settings).test_client().post(URL, json=case(**keys))
    error = error_of(answer)
    assert (answer.status_code, error["code"]) == (413, "too_large")
    assert words in error["message"]
    assert "TOOLCALL_INSPECTOR_MAX_" in error["message"]


@pytest.mark.replays
@pytest.mark.parametrize(("strict", "calls"), [(True, 0), (False, 1)])
def test_the_server_decides_strict_where_the_case_does_not(
    make_app: AppMaker, case: CaseMaker, strict: bool, calls: int
) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>'
    answer = make_app(strict=strict).test_client().post(URL, json=case(input={"text": text}))
    assert len(answer.json["message"]["tool_calls"]) == calls


def test_a_page_of_another_site_is_refused(client: Client, case: CaseMaker) -> None:
    answer = client.post(URL, json=case(), headers={"Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, error_of(answer)["code"]) == (403, "cross_origin")


def test_a_mistake_without_a_place_is_422_too(
    make_app: AppMaker, case: CaseMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise UsageError("this cannot be done")

    monkeypatch.setattr("webapp.api.views.with_defaults", refuse)
    answer = make_app().test_client().post(URL, json=case())
    assert answer.status_code == 422
    assert error_of(answer) == {"code": "not_possible", "message": "this cannot be done", "field": None}


def test_a_bug_of_ours_tells_nothing_of_the_code(
    make_app: AppMaker, case: CaseMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise RuntimeError("secret of the code")

    monkeypatch.setattr("webapp.runs.runner.checked_in_parts", fail)
    answer = make_app().test_client().post(URL, json=case())
    assert (answer.status_code, error_of(answer)["code"]) == (500, "internal_error")
    assert "secret" not in answer.get_data(as_text=True)
