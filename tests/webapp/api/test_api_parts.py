"""`POST /api/v1/replay` for a part of a run: its steps, its keys, JSON Lines, and what is too large for an answer."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from parsers.cases.run import CaseRun, run_parts
from webapp.api.answers import ErrorBody, ReplayPart, StepAnswer
from webapp.api.operations import API
from webapp.api.parts import KEYS, QUERY
from webapp.runs import run_text

Client = Any  # FlaskClient, whose answers' JSON is typed as perhaps absent
URL = f"{API}/replay"
CaseMaker = Callable[..., dict[str, Any]]
AppMaker = Callable[..., Any]
TOO_LARGE = "The answer has more than {most:,} bytes (TOOLCALL_INSPECTOR_ANSWER_BYTES)"
FEWER = "fewer of its {steps:,} steps with ?steps=none or ?steps=1-500, "
OTHERWISE = (
    "some of its keys with ?fields=message (findings take a dozen replays more), or JSON Lines with ?format=jsonl."
)
LONG = {"input": {"text": "ab" * 700}, "tokenizer": {"name": "characters"}}


@pytest.fixture
def ask(client: Client, case: CaseMaker) -> Callable[[str], Any]:
    """The answer to a query on the same case."""
    return lambda query: client.post(f"{URL}?{query}", json=case())


@pytest.fixture(scope="module")
def shared_ask(shared_app: Any) -> Callable[[str], Any]:
    body = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": '<tool_call>{"name": "f", "arguments": {}}'}}
    return lambda query: shared_app.test_client().post(f"{URL}?{query}", json=body).json


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[CaseRun]:
    """The runs that were written as JSON."""
    seen: list[CaseRun] = []

    def counted(run: CaseRun, *steps: range) -> dict[str, Any]:
        seen.append(run)
        return run_parts(run, *steps)

    monkeypatch.setattr(run_text, "run_parts", counted)
    return seen


@given(size=st.integers(1, 30))
@pytest.mark.replays
def test_ranges_of_steps_put_together_are_the_whole(shared_ask: Callable[[str], Any], size: int) -> None:
    whole, deltas, steps = shared_ask("steps=all"), [], []
    for first in range(1, len(whole["steps"]) + 1, size):
        part = shared_ask(f"steps={first}-{first + size - 1}")
        deltas += part.pop("deltas")
        steps += part.pop("steps")
        assert part == {key: whole[key] for key in part}
        assert [*part] == [*whole][:-2]
    assert (deltas, steps) == (whole["deltas"], whole["steps"])


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "count"),
    [("steps=1-1", 1), ("steps=2-4", 3), ("steps=1-999999999", None), ("steps=998-999", 0), ("steps=all", None)],
)
def test_a_range_counts_from_1_and_ends_with_the_run(ask: Callable[[str], Any], query: str, count: int | None) -> None:
    whole, found = ask("").json, ask(query).json
    first = 0 if "all" in query else int(query[6:].split("-")[0]) - 1
    expected = whole["steps"][first:] if count is None else whole["steps"][first : first + count]
    assert (found["steps"], len(found["deltas"])) == (expected, len(expected))


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("", KEYS),
        ("steps=none", set(KEYS) - {"steps", "deltas"}),
        ("fields=findings,message", ["message", "findings"]),
        ("fields=deltas,parser&steps=1-2", ["parser", "deltas"]),
        ("fields=message&steps=none", ["message"]),
        ("fields=message,message", ["message"]),
    ],
)
def test_an_answer_has_the_keys_that_are_asked_for_in_their_order(
    ask: Callable[[str], Any], query: str, keys: list[str]
) -> None:
    found, whole = ask(query).json, ask("").json
    TypeAdapter(ReplayPart).validate_python(found)
    assert found == {key: whole[key] for key in keys} | {key: found[key] for key in {"deltas"} & set(found)}
    assert [*json.loads(ask(query).text)] == [key for key in json.loads(ask("").text) if key in keys]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "keys", "first", "last"),
    [
        ("", set(KEYS), 1, None),
        ("&steps=3-5", set(KEYS), 3, 5),
        ("&steps=none", set(KEYS), 1, 0),
        ("&fields=message,steps", {"message"}, 1, None),
        ("&fields=deltas&steps=2-2", set(), 2, 2),
        ("&fields=message,whole", {"message", "whole"}, 1, 0),
    ],
)
def test_json_lines_are_the_object_and_then_its_steps(
    ask: Callable[[str], Any], query: str, keys: set[str], first: int, last: int | None
) -> None:
    answer, whole = ask(f"format=jsonl{query}"), ask("").json
    assert (answer.status_code, answer.mimetype) == (200, "application/jsonl")
    head, *rows = map(json.loads, answer.text.splitlines())
    assert head == {key: whole[key] for key in keys - {"deltas", "steps"}}
    assert rows == whole["steps"][first - 1 : last]
    assert [row["delta"] for row in rows] == whole["deltas"][first - 1 : last]
    TypeAdapter(list[StepAnswer]).validate_python(rows)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("steps=", "steps= is no part of a replay: ask for none, all, or a range that counts from 1 and ascends"),
        ("steps=5", "steps=5 is no part"),
        ("steps=0-5", "steps=0-5 is no part"),
        ("steps=5-4", "steps=5-4 is no part"),
        ("steps=-5", "steps=-5 is no part"),
        ("steps=1-²", "steps=1-² is no part"),
        (f"steps=1-{'9' * 5_000}", f"steps=1-{'9' * 38}… is no part"),
        ("fields=", f"fields= is no key of a replay: give some of {', '.join(KEYS)}"),
        ("fields=message,step", "fields=step is no key"),
        ("fields=message&fields=steps", "fields is given 2 times: give it once"),
        ("steps=1-2&steps=3-4", "steps is given 2 times: give it once"),
        ("step=1-2", "step is no key of the query: give some of steps, fields, format"),
        ("format=xml", "format=xml is not known: ask for format=json or format=jsonl"),
        ("steps=none&fields=steps", "steps=none leaves out deltas and steps, which fields asks for"),
    ],
)
def test_a_wrong_parameter_is_422_before_anything_is_replayed(
    ask: Callable[[str], Any], query: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("webapp.runs.runner.Runner.run")
    answer = ask(query)
    TypeAdapter(ErrorBody).validate_python(answer.json)
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "not_possible")
    assert answer.json["error"]["message"].startswith(message)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("most", "query", "message"),
    [
        (100_000, "", f"{TOO_LARGE}: ask for {FEWER}{OTHERWISE}"),
        (182_130, "", f"{TOO_LARGE}: ask for {FEWER}{OTHERWISE}"),
        (100_000, "steps=1-1300", f"{TOO_LARGE}: ask for {FEWER}{OTHERWISE}"),
        (5_000, "steps=1-2", f"{TOO_LARGE}, even without its steps: ask for {OTHERWISE}"),
        (5_000, "steps=none", f"{TOO_LARGE}, even without its steps: ask for {OTHERWISE}"),
    ],
)
def test_an_answer_over_the_limit_is_413_and_says_what_to_ask_for(
    make_app: AppMaker, case: CaseMaker, written: list[CaseRun], most: int, query: str, message: str
) -> None:
    client = make_app(answer_bytes=most).test_client()
    answer = client.post(f"{URL}?{query}", json=case(**LONG))
    TypeAdapter(ErrorBody).validate_python(answer.json)
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "answer_too_large")
    assert answer.json["error"]["message"] == message.format(most=most, steps=1_401)
    known = len(written)
    assert client.post(f"{URL}?{query}", json=case(**LONG)).json == answer.json
    assert len(written) == known


@pytest.mark.replays
@pytest.mark.parametrize(
    "query", ["steps=1-20", "steps=none", "fields=message", "fields=message,findings", "format=jsonl"]
)
def test_what_the_413_says_is_answered(make_app: AppMaker, case: CaseMaker, query: str) -> None:
    client = make_app(answer_bytes=100_000).test_client()
    assert client.post(URL, json=case(**LONG)).status_code == 413
    answer = client.post(f"{URL}?{query}", json=case(**LONG))
    assert (answer.status_code, json.loads(answer.text.partition("\n")[0])["message"]["content"]) == (200, "ab" * 700)


@pytest.mark.replays
def test_a_limit_holds_to_the_byte(make_app: AppMaker, case: CaseMaker) -> None:
    size = len(make_app().test_client().post(URL, json=case(**LONG)).data)
    codes = [
        make_app(answer_bytes=most).test_client().post(URL, json=case(**LONG)).status_code for most in (size, size - 1)
    ]
    assert codes == [200, 413]


def test_no_check_is_run_where_the_steps_alone_are_too_many(
    make_app: AppMaker, case: CaseMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_app(answer_bytes=100_000).test_client()
    monkeypatch.delattr("webapp.runs.runner.Runner.checked")
    assert client.post(URL, json=case(**LONG)).status_code == 413


@pytest.mark.replays
@pytest.mark.parametrize("query", ["fields=message,steps", "fields=message&format=jsonl"])
def test_no_check_is_run_where_none_is_asked_for(
    client: Client, case: CaseMaker, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    asked = client.post(f"{URL}?{query}", json=case())
    whole = client.post(f"{URL}?fields=message,steps,findings,whole", json=case())
    monkeypatch.delattr("webapp.runs.runner.Runner.checked")
    again = client.post(f"{URL}?{query}", json=case(**LONG))
    assert (asked.status_code, again.status_code) == (200, 200)
    assert json.loads(asked.text.partition("\n")[0])["message"] == whole.json["message"]


@pytest.mark.replays
@pytest.mark.parametrize("query", ["steps=none", "format=jsonl"])
def test_checks_that_take_too_long_go_on_when_the_request_is_sent_again(
    make_app: AppMaker, case: CaseMaker, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    client, shares, sent = make_app().test_client(), [], 0
    monkeypatch.setattr("webapp.runs.runner.CHECKS_SHARE", 0)
    whole = client.post(f"{URL}?fields=message,reasons", json=case(**LONG)).json
    while (again := client.post(f"{URL}?{query}", json=case(**LONG))).status_code == 503:
        sent += 1
        assert (again.json["error"]["code"], again.headers["Retry-After"]) == ("checks_unfinished", "1")
        assert again.json["known"].items() >= whole.items()
        assert not again.json["known"].keys() & {"findings", "whole", "steps"}
        shares += [int(share) for share in re.findall(r"(\d+)%", again.json["error"]["message"])]
    monkeypatch.undo()
    assert shares == sorted(shares)
    assert sent > 3
    assert again.data == make_app().test_client().post(f"{URL}?{query}", json=case(**LONG)).data


def test_an_answer_is_written_once_however_it_is_sent(client: Client, case: CaseMaker, written: list[CaseRun]) -> None:
    plain = client.post(URL, json=case())
    packed = client.post(URL, json=case(), headers={"Accept-Encoding": "gzip"})
    assert (packed.headers["Content-Encoding"], gzip.decompress(packed.data)) == ("gzip", plain.data)
    assert len(written) == 1
    assert client.post(f"{URL}?steps=all&fields={','.join(KEYS)}", json=case()).data == plain.data
    assert len(written) == 1
    assert client.post(f"{URL}?steps=1-2", json=case()).data != plain.data
    assert len(written) == 2


def test_a_body_that_was_answered_is_not_read_again_but_its_type_and_query_are(
    client: Client, case: CaseMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = client.post(URL, json=case())
    monkeypatch.delattr("webapp.api.views.load_case")
    assert client.post(URL, json=case()).data == first.data
    assert client.post(URL, data=json.dumps(case()), content_type="text/plain").status_code == 415
    assert client.post(f"{URL}?steps=x", json=case()).status_code == 422
    assert client.post(URL, json=case(), headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


@pytest.mark.replays
def test_what_is_kept_counts_in_the_budget_of_runs(make_app: AppMaker, case: CaseMaker, written: list[CaseRun]) -> None:
    app = make_app()
    runner, used = app.extensions["inspector"].runner, [0]
    for query in ("", "steps=1-9", "steps=1-9"):
        app.test_client().post(f"{URL}?{query}", json=case())
        used.append(runner.used)
    assert used[0] < used[1] < used[2] == used[3]
    keeps_none = make_app(trace_cache_bytes=0).test_client()
    assert keeps_none.post(URL, json=case()).data == keeps_none.post(URL, json=case()).data
    assert len(written) == 4


@pytest.mark.replays
def test_the_parameters_are_described_as_they_are_read(client: Client) -> None:
    one = client.get(f"{API}/openapi.json").json["paths"][URL]["post"]
    known = {row["name"]: row for row in one["parameters"]}
    assert {name: row["description"] for name, row in known.items()} == {name: key.words for name, key in QUERY.items()}
    for row in known.values():
        jsonschema_rs.meta.validate(row["schema"])
        assert (row["in"], row.get("required", False)) == ("query", False)
    assert known["format"]["schema"]["enum"] == ["json", "jsonl"]
    assert (known["fields"]["schema"]["items"]["enum"], known["fields"]["explode"]) == ([*KEYS], False)
    pattern = known["steps"]["schema"]["pattern"]
    assert [bool(re.search(pattern, given)) for given in ("none", "all", "1-20", "0-5", "5", "1-2,4-5", "xall")] == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip
    assert set(one["responses"]["200"]["content"]) == {"application/json", "application/jsonl"}


def test_a_part_is_an_answer_of_its_own_in_the_description(client: Client) -> None:
    document = client.get(f"{API}/openapi.json").json
    schema = document["paths"][URL]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert {row["$ref"].rpartition("/")[2] for row in schema["anyOf"]} == {"ReplayResult", "ReplayPart"}
    schemas = document["components"]["schemas"]
    assert schemas["ReplayPart"]["properties"] == schemas["ReplayResult"]["properties"]
    assert (set(schemas["ReplayResult"]["required"]), "required" in schemas["ReplayPart"]) == (set(KEYS), False)
