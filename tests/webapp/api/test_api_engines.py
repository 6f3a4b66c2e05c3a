"""Entered engines over the API and on the page: listed, run, searched by way of this process, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.webapp.engines.entering import fake
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import write_entry
from webapp.services import EXTENSION
from webapp.settings import get_settings

TEXT = "You there!"


@pytest.fixture
def client(make_app: Callable[..., Flask]) -> Iterator[FlaskClient]:
    app = make_app()
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "fake", fake())
    entered(settings).card("fake")
    yield app.test_client()
    (settings.data_dir / "engines.toml").unlink()
    use_engines(get_settings())


def case(name: str, engine: str = "fake") -> dict[str, Any]:
    return {"schema": 1, "parser": {"name": name, "engine": engine}, "input": {"text": TEXT}}


def test_their_parsers_are_listed(client: FlaskClient) -> None:
    rows = {row["name"]: row for row in client.get("/api/v1/parsers").json or ()}
    assert (rows["fake:upper"]["kind"], rows["fake:upper"]["title"]) == ("engine", "fake 1.0")


def test_a_case_is_replayed_by_one(client: FlaskClient) -> None:
    answer = client.post("/api/v1/replay", json=case("upper"))
    assert (answer.status_code, answer.json["message"]["content"]) == (200, TEXT.upper())  # type: ignore[index]


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        (case("x", "nope"), "/parser/engine", "engine 'nope' is not available here; available: builtin"),
        (case("nope"), "/parser/name", "fake has no parser 'nope'"),
    ],
)
@pytest.mark.parametrize("task", ["replay", "find"])
def test_another_name_is_422(client: FlaskClient, task: str, given: dict[str, Any], place: str, words: str) -> None:
    answer = client.post(f"/api/v1/{task}", json=given)
    assert answer.status_code == 422
    error = answer.json["error"]  # type: ignore[index]
    assert (error["field"], error["message"].startswith(words)) == (place, True)


def test_a_search_in_a_child_asks_this_process(client: FlaskClient) -> None:
    before = entered().spent
    answer = client.post("/api/v1/find", json=case("raises"))
    assert (answer.status_code, answer.json["verdict"]["kind"]) == (200, "parser_failed")  # type: ignore[index]
    assert entered().spent > before


def test_the_page_offers_and_runs_them(client: FlaskClient) -> None:
    assert '<option value="fake:upper">fake:upper (1.0)</option>' in client.get("/").text
    page = client.post("/run", data={"text": TEXT, "parser": "fake:upper"}, follow_redirects=True)
    assert (page.status_code, "THERE" in page.text) == (200, True)
    assert '<option value="fake:upper" selected>' in page.text


def test_the_page_tells_of_a_name_that_is_not_entered(client: FlaskClient) -> None:
    page = client.post("/run", data={"text": TEXT, "parser": "nope:upper"})
    assert (page.status_code, "is not available here" in page.text) == (422, True)


def test_a_file_that_cannot_be_used_is_told_where_an_engine_is_asked_for(client: FlaskClient, tmp_path: Path) -> None:
    file = client.application.extensions[EXTENSION].settings.data_dir / "engines.toml"
    file.write_text("[")
    answer = client.post("/api/v1/replay", json=case("upper"))
    assert (answer.status_code, "cannot be read" in answer.text) == (422, True)
