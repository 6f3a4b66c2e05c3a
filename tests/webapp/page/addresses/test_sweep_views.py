"""The pages of sweeps: which there are, how far one is, the report of one, and nothing beyond the operator's folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.webapp.page.dom import page as tree
from webapp.app import create_app
from webapp.page.library.gallery import gallery
from webapp.services import EXTENSION
from webapp.settings import Settings
from webapp.sweeps.sweep_folder import Folder
from webapp.sweeps.sweep_reports import write_reports
from webapp.sweeps.swept import Asked, planned, sweep

CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {}}}}}]
OUTPUTS = (CALL, CALL.replace('"f"', '"g"'), CALL.replace("1}", "1,}"))
SECRET = {"plan.json", "shards", "studied"}
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep, with two signatures of which one is new."""
    folder: Path = tmp_path_factory.mktemp("made")
    corpus = folder / "corpus.jsonl"
    rows = [{"output": text, "tools": TOOLS, "parser": "qwen"} for text in OUTPUTS]
    corpus.write_text("".join([json.dumps(row) + "\n" for row in [*rows, {}]]))
    made, kept = planned(Asked((str(corpus),))), Folder(folder / "out")
    found = sweep(made, kept)
    one = found.report["signatures"][0]
    row = {key: one[key] for key in ("check", "severity", "about", "parser", "words")}
    new = {**row, "before": 0, "after": 1, "ids": [one["id"]]}
    write_reports(kept, made, found, {"new": [new], "gone": [], "more": [], "fewer": [], "same": 1, "comparable": True})
    return kept.path


@pytest.fixture
def root(swept: Path, tmp_path: Path) -> Path:
    """The operator's folder: a sweep, two of two engines, one that runs, and what is none."""
    folder = tmp_path / "sweeps"
    for name in ("done", "both/base", "both/head", ".hidden", "running"):
        shutil.copytree(swept, folder / name)
    (folder / "running" / "report.json").unlink()
    _change(folder / "running" / "plan.json", shards=3)
    (folder / "none").mkdir()
    (folder / "file").write_text("")
    return folder


def _change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.fixture
def client(root: Path, tmp_path: Path) -> Iterator[FlaskClient]:
    app: Flask = create_app(Settings(data_dir=tmp_path / "data", sweeps=root))
    yield app.test_client()
    app.extensions[EXTENSION].store.close()


@pytest.mark.replays
def test_without_a_folder_there_is_no_page_and_no_link(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    client = app.test_client()
    assert client.get("/sweeps").status_code == client.get("/sweeps/done").status_code == 404
    assert 'href="/sweeps"' not in client.get("/gallery").text
    app.extensions[EXTENSION].store.close()


@pytest.mark.replays
def test_each_sweep_is_listed_with_its_sentence_or_how_far_it_is(client: FlaskClient, root: Path) -> None:
    answer = client.get("/sweeps")
    page = tree(answer.text)
    assert [one.words for one in page.all(".sweep-list h2")] == ["both/base", "both/head", "done", "running"]
    assert page.one("nav [aria-current]").words == "Sweeps"
    sentence = json.loads((root / "done" / "report.json").read_text())["sentence"]
    assert page.all(".sweep-list li p")[0].words == sentence
    assert page.one(".sweep-progress .quiet").words == "1 of 3 parts are done"
    assert page.one(".sweep-again a").attrs["hx-trigger"] == "load delay:2s"
    part = client.get("/sweeps", headers=PARTIAL).text
    assert ("<html" in part, 'id="sweep-list"' in part) == (False, True)


def test_where_all_are_done_nobody_asks_again(client: FlaskClient, root: Path) -> None:
    shutil.rmtree(root / "running")
    assert "hx-trigger" not in client.get("/sweeps").text
    shutil.rmtree(root)
    assert tree(client.get("/sweeps").text).one(".empty").words == "No sweep is in the folder yet."


def test_a_report_shows_its_signatures_and_opens_their_cases(client: FlaskClient, root: Path) -> None:
    report = json.loads((root / "done" / "report.json").read_text())
    page = tree(client.get("/sweeps/both/head").text)
    assert page.one("h1").words == report["sentence"]
    assert [one.words for one in page.all(".sweep-rows strong")] == [one["words"] for one in report["signatures"]]
    assert [one.words for one in page.all(".sweep-rows .badge")] == ["new"]
    assert [one.words for one in page.all(".facets a")] == ["all 2", "new 1", "known 1"]
    link = page.all(".sweep-rows a.open-case")[0].attrs["href"]
    assert link == f"/sweeps/both/head/cases/{report['signatures'][0]['id']}"
    assert client.get(link).status_code == 200
    assert "there is no output in it" in page.all(".sweep-part")[-1].words


@pytest.mark.parametrize(("kind", "shown"), [("new", 1), ("known", 1), ("all", 2), ("else", 2)])
@pytest.mark.replays
def test_signatures_may_be_those_that_are_new(client: FlaskClient, kind: str, shown: int) -> None:
    page = tree(client.get(f"/sweeps/done?show={kind}").text)
    assert len(page.all(".sweep-rows strong")) == shown


def test_a_thread_leads_to_the_example_here(client: FlaskClient, root: Path) -> None:
    tile = gallery()["vllm-31501-call-in-one-delta"]
    report = json.loads((root / "done" / "report.json").read_text())
    report["signatures"][0] |= {
        "threads": [{"example": tile.name, "words": tile.thread, "title": tile.title, "link": "javascript:1"}],
        "about": "parser",
        "parser": "mine:hermes",
    }
    report["signatures"][1]["smallest"]["case"] = None
    report["plan"] |= {"engine": {"name": "mine", "version": "vllm 9"}, "parser": "hermes"}
    (root / "done" / "report.json").write_text(json.dumps(report | {"repeated": 2, "cut_off": 3}))
    answer = client.get("/sweeps/done").text
    page = tree(answer)
    assert page.one(".sweep-facts a").attrs["href"] == f"/example/{tile.name}"
    assert "javascript:" not in answer
    assert "engine mine (vllm 9)" in page.one(".sweep-head p").words
    assert len(page.all(".sweep-rows a.open-case")) == 1


@pytest.mark.replays
def test_how_far_a_sweep_is_shows_until_its_report_is_there(client: FlaskClient, root: Path, swept: Path) -> None:
    page = tree(client.get("/sweeps/running").text)
    assert page.one("progress").attrs["value"] == "1"
    assert page.one(".sweep-head a").attrs["hx-get"] == "/sweeps/running"
    _change(root / "running" / "plan.json", shards=1)
    assert "the smallest cases are looked for" in client.get("/sweeps/running").text
    shutil.copy(swept / "report.json", root / "running")
    part = client.get("/sweeps/running", headers=PARTIAL).text
    assert ("<html" in part, "hx-trigger" in part, "sweep-rows" in part) == (False, False, True)


@pytest.mark.replays
@pytest.mark.parametrize(
    "change",
    [
        {"signatures": [{}]},
        {"signatures": 7},
        {"sentence": 7},
        {"blamed": {"nobody": 1}},
        {"plan": None},
        {"parsers": [{"name": "x"}]},
        {"skipped": [7]},
        {"outputs": "many"},
    ],
    ids=str,
)
def test_a_damaged_report_says_so(client: FlaskClient, root: Path, change: dict[str, Any]) -> None:
    _change(root / "done" / "report.json", **change)
    answer = client.get("/sweeps/done")
    assert (answer.status_code, "cannot be shown" in answer.text) == (200, True)
    assert client.get("/sweeps").status_code == 200
    assert client.get("/sweeps/done/cases/x").status_code == 404


@pytest.mark.replays
@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"shards": "x"}'])
def test_a_folder_without_a_plan_is_no_sweep(client: FlaskClient, root: Path, text: str) -> None:
    (root / "done" / "plan.json").write_text(text)
    assert client.get("/sweeps/done").status_code == 404
    assert "done" not in [one.words for one in tree(client.get("/sweeps").text).all(".sweep-list h2")]


def test_the_files_of_a_report_can_be_taken_and_no_others(client: FlaskClient, root: Path) -> None:
    names = [one.words for one in tree(client.get("/sweeps/done").text).all(".sweep-head .menu-list a")]
    there = {path.name for path in (root / "done").iterdir()}
    assert {*names} == there - {*SECRET, "cases"}
    for name in names:
        with client.get(f"/sweeps/done/files/{name}") as answer:
            assert answer.data == (root / "done" / name).read_bytes()
        assert answer.headers["Content-Disposition"] == f"attachment; filename={name}"
    for name in (*SECRET, "cases", "none", "..%2fplan.json", "shards%2f00000-000000.json"):
        assert client.get(f"/sweeps/done/files/{name}").status_code == 404


@pytest.mark.parametrize("name", ["none", "file", ".hidden", "..", "../sweeps/done", "both", "done/shards", "both/x"])
@pytest.mark.replays
def test_nothing_beside_the_sweeps_has_an_address(client: FlaskClient, name: str) -> None:
    assert client.get(f"/sweeps/{name.replace('/', '%2f')}").status_code == 404


def test_the_folder_may_be_one_sweep(root: Path, tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path / "other", sweeps=root / "done"))
    client = app.test_client()
    assert [one.words for one in tree(client.get("/sweeps").text).all(".sweep-list h2")] == ["done"]
    assert client.get("/sweeps/done").status_code == 200
    app.extensions[EXTENSION].store.close()
