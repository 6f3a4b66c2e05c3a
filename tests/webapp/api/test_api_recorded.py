"""Cases with a recorded stream over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.corpus import case_data


def case(name: str, **more: Any) -> dict[str, Any]:
    return case_data(f"recorded/{name}") | more


def test_a_stream_is_replayed_and_saved_as_it_is(client: FlaskClient) -> None:
    given = case("stop-with-calls")
    found: Any = client.post("/api/v1/replay", json=given).json
    assert (found["parser"], found["finish_reason"], found["chunking"]["by"]) == ("recorded", "stop", "recorded")
    assert [one["check"] for one in found["findings"]] == ["finish_reason"]
    made: Any = client.post("/api/v1/cases", json=given).json
    saved: Any = client.get(f"/api/v1/cases/{made['id']}").json
    assert saved["input"] == {"stream": given["input"]["stream"]}


def test_a_search_of_a_stream_is_over_at_once(client: FlaskClient) -> None:
    found: Any = client.post("/api/v1/find", json=case("stop-with-calls")).json
    assert (found["replays"], found["complete"], found["minimized"]) == (1, True, None)
    assert "nothing was searched" in found["verdict"]["details"][-1]


def test_another_parser_or_chunking_is_refused_with_its_place(client: FlaskClient) -> None:
    parser = client.post("/api/v1/replay", json=case("right", parser={"name": "qwen"}))
    chunking = client.post("/api/v1/replay", json=case("right", replay=[{"by": "whole"}]))
    said = [(answer.status_code, answer.get_json()["error"]["field"]) for answer in (parser, chunking)]
    assert said == [(422, "/parser/name"), (422, "/replay/0")]


@pytest.mark.replays
def test_a_stream_of_too_many_chunks_is_too_large(client: FlaskClient) -> None:
    many = case("right", input={"stream": [{}] * 300_000})
    answer: Any = client.post("/api/v1/replay", json=many)
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")
