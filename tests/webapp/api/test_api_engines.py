"""Entered engines over the API and on the page: listed, run, searched by way of this process, and nothing else."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.webapp.engines.entering import own
from webapp.engines import sources
from webapp.engines.entered import entered
from webapp.engines.entries import Entry, write_entry
from webapp.engines.patience import Patience
from webapp.services import EXTENSION

TEXT = "You there!"
pytestmark = pytest.mark.usefixtures("fake_engine")


def case(name: str, engine: str = "fake") -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": name, "engine": engine}, "input": {"text": TEXT}}


def test_their_parsers_are_listed(client: FlaskClient) -> None:
    rows = {row["name"]: row for row in client.get("/api/v1/parsers").json or ()}
    assert (rows["fake:upper"]["kind"], rows["fake:upper"]["title"]) == ("engine", "fake 1.0")


@pytest.mark.replays
def test_a_case_is_replayed_by_one(client: FlaskClient) -> None:
    answer = client.post("/api/v1/replay", json=case("upper"))
    assert (answer.status_code, answer.json["message"]["content"]) == (200, TEXT.upper())  # type: ignore[index]


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({}, {"verdict": "required", "link": None, "expects": False, "differences": []}),
        (
            {"fake": {"verdict": "known_bug", "link": "https://a.example/1", "expect": {"content": "right"}}},
            {
                "verdict": "known_bug",
                "link": "https://a.example/1",
                "expects": True,
                "differences": [{"field": "content", "expected": "right", "actual": TEXT.upper()}],
            },
        ),
        (
            {"fake": {"expect": {"content": "x"}}, "fake:upper": {"expect": {"content": TEXT.upper()}}},
            {"expects": True},
        ),
        ({"other": {"verdict": "known_bug"}}, {"verdict": "required"}),
    ],
)
@pytest.mark.parametrize("task", ["replay", "find"])
@pytest.mark.replays(but=("find-known0-told0",))
def test_what_a_case_knows_of_its_engine_is_told_with_what_differs(
    client: FlaskClient, task: str, known: dict[str, Any], told: dict[str, Any]
) -> None:
    answer = client.post(f"/api/v1/{task}", json={**case("upper"), "engines": known})
    said = answer.json["known"]  # type: ignore[index]
    keys = ("verdict", "link", "notes", "expects", "departs")
    assert said == {"differences": [], **{key: said[key] for key in keys}, **told, "engine": "fake"}
    assert (said["departs"] is None) == (not said["differences"])


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        (case("x", "nope"), "/parser/engine", "engine 'nope' is not available here; available: builtin"),
        (case("nope"), "/parser/name", "fake has no parser 'nope'"),
    ],
)
@pytest.mark.parametrize("task", ["replay", "find"])
@pytest.mark.replays
def test_another_name_is_422(client: FlaskClient, task: str, given: dict[str, Any], place: str, words: str) -> None:
    answer = client.post(f"/api/v1/{task}", json=given)
    assert answer.status_code == 422
    error = answer.json["error"]  # type: ignore[index]
    assert (error["field"], error["message"].startswith(words)) == (place, True)


@pytest.mark.replays
def test_a_search_in_a_child_asks_this_process(client: FlaskClient) -> None:
    before = entered().spent
    answer = client.post("/api/v1/find", json=case("raises"))
    assert (answer.status_code, answer.json["verdict"]["kind"]) == (200, "parser_failed")  # type: ignore[index]
    assert entered().spent > before


@pytest.mark.replays
def test_nobody_waits_for_an_engine_that_hangs_and_nothing_of_that_is_kept(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("/api/v1/replay", "/api/v1/find", "/run")
    with monkeypatch.context() as resting:
        resting.setattr(Patience, "rest", "the last 2 replays hung")
        for path in paths[:2]:
            answer = client.post(path, json=case("upper"))
            assert answer.status_code == 503
            assert "Engine fake does not answer: the last 2 replays hung." in answer.json["error"]["message"]  # type: ignore[index]
        assert client.post(paths[0], json=case("upper")).headers["Retry-After"] == "30"
        page = client.post(paths[2], data={"text": TEXT, "parser": "fake:upper"})
        assert (page.status_code, "Engine fake does not answer" in page.text) == (503, True)
    assert [client.post(path, json=case("upper")).status_code for path in paths[:2]] == [200, 200]


@pytest.mark.replays
def test_what_an_engine_did_may_be_asked_again_once_it_is_asked_who_it_is(client: FlaskClient) -> None:
    def fault() -> str:
        answer = client.post("/api/v1/replay", json=case("crashes")).json
        return str(answer["findings"][0]["message"])  # type: ignore[index]

    before, stamp = fault(), entered().stamp("fake")
    assert (fault(), entered().stamp("fake")) == (before, stamp)
    assert client.post("/engines/fake/ask").status_code == 303
    assert entered().stamp("fake") != stamp


@pytest.mark.replays
def test_the_page_offers_and_runs_them(client: FlaskClient) -> None:
    assert '<option value="fake:upper">fake:upper (1.0)</option>' in client.get("/").text
    page = client.post("/run", data={"text": TEXT, "parser": "fake:upper"}, follow_redirects=True)
    assert (page.status_code, "THERE" in page.text) == (200, True)
    assert '<option value="fake:upper" selected>' in page.text


@pytest.mark.replays
def test_the_page_tells_of_a_name_that_is_not_entered(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": TEXT, "parser": "nope:upper"})
    assert (page.status_code, "is not available here" in page.text) == (422, True)


def test_a_file_that_cannot_be_used_is_told_where_an_engine_is_asked_for(client: FlaskClient, tmp_path: Path) -> None:
    file = client.application.extensions[EXTENSION].settings.data_dir / "engines.toml"
    file.write_text("[")
    answer = client.post("/api/v1/replay", json=case("upper"))
    assert (answer.status_code, "cannot be read" in answer.text) == (422, True)


@pytest.mark.replays
def test_what_a_parser_shows_of_itself_is_in_its_steps(client: FlaskClient) -> None:
    """Not in those of one that shows nothing, nor of ours."""
    settings = client.application.extensions[EXTENSION].settings
    write_entry(settings, "mine", own("Plain"))
    steps = client.post("/api/v1/replay", json=case("Plain", "mine")).json["steps"]  # type: ignore[index]
    shown = [step["observed"] for step in steps]
    seen = {"name": "Plain.seen", "before": "''", "after": "'You'", "grown": None}
    assert [one for one in shown[0]["changed"] if one["name"] == "Plain.seen"] == [seen]
    assert [type(one["micros"]) for one in shown] == [int] * len(steps)
    for given in (case("upper"), {**case("qwen"), "parser": {"name": "qwen"}}):
        assert "observed" not in client.post("/api/v1/replay", json=given).json["steps"][0]  # type: ignore[index]


OWN = """
class Own:
    def begin(self, request):
        pass
    def feed(self, text, ids):
        return {{"content": {said}}}
    def finish(self, reason):
        return None
"""


@pytest.mark.replays
def test_a_body_that_was_answered_is_answered_anew_where_the_parser_was_edited(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "FRESH_SECONDS", -1)
    monkeypatch.setattr(sources, "FRESH_TIMES", 0)
    path, settings = tmp_path / "own_of_somebody.py", client.application.extensions[EXTENSION].settings
    path.write_text(OWN.format(said="text"), "utf-8")
    values = {"class": "own_of_somebody:Own", "python": sys.executable, "path": str(tmp_path), "seconds": 20}
    write_entry(settings, "own", Entry.model_validate(values))
    (name,) = [one.name for one in entered(settings).card("own").parsers]
    asked = partial(client.post, "/api/v1/replay?fields=message", json=case(name, "own"))
    assert [asked().json["message"]["content"] for _ in range(2)] == [TEXT, TEXT]  # type: ignore[index]
    path.write_text(OWN.format(said="text.upper()"), "utf-8")
    assert asked().json["message"]["content"] == TEXT.upper()  # type: ignore[index]
