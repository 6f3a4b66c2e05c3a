"""Cases whose engine is not entered here: kept, shown with what they state, run by nobody, refused where asked to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask.testing import FlaskClient

from parsers.cases.io import load_case, loads
from tests.webapp.engines.entering import own
from webapp.engines.entries import write_entry
from webapp.services import EXTENSION

OUTPUT = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
LINK = "https://example.org/bugs/1"
WANTED = {"content": "Hm", "reasoning": None}
SAID = {"verdict": "known_bug", "link": LINK, "notes": ["Since last week."], "expect": WANTED}
ELSEWHERE: dict[str, Any] = {
    "schema": 1,
    "title": "Of another machine",
    "parser": {"name": "theirs", "engine": "elsewhere"},
    "input": {"text": OUTPUT},
    "engines": {"elsewhere": SAID, "third:hermes": {"link": "javascript:alert(1)"}},
}


def page(client: FlaskClient, address: str) -> BeautifulSoup:
    answer = client.get(address)
    assert answer.status_code == 200
    return BeautifulSoup(answer.text, "html.parser")


def saved(client: FlaskClient, case: dict[str, Any], query: str = "") -> dict[str, Any]:
    answer = client.post(f"/api/v1/cases{query}", json=case)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json or {})


def words(tag: Any) -> str:
    return " ".join(tag.get_text(" ").split())


def test_it_is_stored_as_written_and_run_by_nobody(client: FlaskClient) -> None:
    first, again = saved(client, ELSEWHERE), saved(client, ELSEWHERE)
    assert (first["ran"], first["id"]) == (False, again["id"])
    assert loads(client.get(f"/c/{first['id']}.json").data) == load_case(ELSEWHERE)
    assert client.get(f"/c/{first['id']}.txt").text == OUTPUT


def test_its_page_says_so_and_shows_what_it_states(client: FlaskClient) -> None:
    shown = page(client, f"/c/{saved(client, ELSEWHERE)['id']}")
    assert "elsewhere , which is not entered here, so nothing ran it" in words(shown)
    assert [words(one) for one in shown.select(".stated dt")] == [
        "elsewhere:theirs not run here",
        "third:hermes not run here",
    ]
    theirs, third = shown.select(".stated dd")
    assert words(theirs.select_one("p")) == f"Stated by the case: it has a known bug: {LINK} . Since last week."
    assert [words(one) for one in theirs.select("li")] == ["reasoning nothing", "content Hm"]
    assert [one["href"] for one in shown.select(".stated a")] == [LINK]
    assert "javascript:alert(1)" in words(third)
    assert words(shown.select_one(".unrun-output")).startswith("<tool_call>")


def test_a_frame_of_it_says_so_too_and_nothing_is_drawn(client: FlaskClient) -> None:
    case = {**ELSEWHERE, "notes": ["Seen there."], "input": {"text": f"Framed {OUTPUT}"}}
    case_id = saved(client, case, "?listed=1")["id"]
    shown = page(client, f"/c/{case_id}/embed")
    said = "Not run here: the engine elsewhere, which parses it, is not entered on this server."
    assert [words(shown.h1), words(shown.select_one(".embed-note"))] == [said, "Seen there."]
    assert words(shown.select_one(".embed-output")).startswith("Framed · <tool_call>")
    assert "As a client sees it" not in shown.text
    assert client.get(f"/c/{case_id}/preview.png").status_code == 404


def test_a_built_in_parser_reads_it_from_there(client: FlaskClient) -> None:
    stored = saved(client, ELSEWHERE)["id"]
    form = page(client, f"/c/{stored}").select_one("main form")
    assert form is not None
    (field,) = form.select("input[name=case]")
    case = json.loads(str(field["value"]))
    assert (case["parser"], case["parent"]) == ({"name": "auto"}, stored)
    assert client.post(str(form["action"]), data={"case": field["value"]}).status_code in (200, 303)


@pytest.mark.parametrize("task", ["cases?run=1", "replay", "find", "redact"])
def test_to_ask_for_a_run_of_it_is_refused(client: FlaskClient, task: str) -> None:
    answer = client.post(f"/api/v1/{task}", json=ELSEWHERE)
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "/parser/engine")  # type: ignore[index]


@pytest.mark.parametrize("what", ["edit", "compare", "export/markdown"])
def test_what_would_take_a_run_says_why_it_is_not_there(client: FlaskClient, what: str) -> None:
    answer = client.get(f"/c/{saved(client, ELSEWHERE)['id']}/{what}")
    assert (answer.status_code, "elsewhere" in answer.text) == (422, True)


@pytest.mark.replays
def test_one_that_its_engine_runs_by_now_is_run_and_has_no_drift(client: FlaskClient) -> None:
    case = {**ELSEWHERE, "parser": {"name": "Plain", "engine": "later"}, "engines": {"later": SAID, "third": {}}}
    stored = saved(client, case)["id"]
    write_entry(client.application.extensions[EXTENSION].settings, "later", own("Plain"))
    shown = page(client, f"/c/{stored}")
    assert shown.select_one("#inspector") is not None
    assert shown.select_one(".drift") is None
    assert [words(row) for row in shown.select(".stated dt")] == ["third not run here"]
    assert saved(client, case)["ran"] is True


@pytest.mark.replays
def test_what_a_case_states_of_others_is_beside_what_ran(client: FlaskClient) -> None:
    case = {**ELSEWHERE, "parser": {"name": "hermes"}}
    case["engines"] = {**case["engines"], "builtin": {"notes": ["Ours."]}}
    shown = page(client, f"/c/{saved(client, case)['id']}")
    assert [words(row) for row in shown.select(".lead .stated dt")] == [
        "elsewhere not run here",
        "third:hermes not run here",
    ]
    assert "Ours." in words(shown.select_one(".lead-note"))


@pytest.mark.replays
@pytest.mark.parametrize("listed", [1, 0])
def test_it_is_imported_and_listed_like_others(client: FlaskClient, listed: int) -> None:
    engine = f"imported-{listed}"
    body = json.dumps({**ELSEWHERE, "parser": {"name": "theirs", "engine": engine}}).encode()
    address = f"/api/v1/library/import?listed={listed}"
    first, again = (client.post(address, data=body).json for _ in range(2))
    assert (first["stored"], first["failed"], again["known"]) == (1, [], 1)  # type: ignore[index]
    found = client.get(f"/api/v1/library?q=engine:{engine}").json
    assert [one["verdict"] for one in found["cases"]] == ["not_run"] * listed  # type: ignore[index]
    assert client.get(f"/library?q=engine:{engine}").status_code == 200


@pytest.mark.parametrize(
    ("setting", "value", "more"),
    [
        ("max_text_bytes", 10, {}),
        ("max_tokens", 1, {"input": {"tokens": [[1, "a"], [2, "b"]]}}),
    ],
)
def test_its_output_has_the_limits_of_others(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, setting: str, value: int, more: dict[str, Any]
) -> None:
    settings = client.application.extensions[EXTENSION].settings
    monkeypatch.setitem(settings.__dict__, setting, value)
    answer = client.post("/api/v1/cases", json={**ELSEWHERE, **more})
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")  # type: ignore[index]


def test_words_that_are_too_long_are_refused(client: FlaskClient) -> None:
    answer = client.post("/api/v1/cases", json={**ELSEWHERE, "title": "x" * 501})
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "/title")  # type: ignore[index]
