"""The pages of entered engines: what is listed, the matrix of a parser, and a case of it as a run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from parsers.cases.case import Case
from tests.webapp.engines.entering import fake, own
from tests.webapp.page.dom import page as tree
from webapp.app import create_app
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import Entry, file_of, keep_card, write_entry
from webapp.engines.patience import Patience
from webapp.page.engines import conformance_matrix
from webapp.services import EXTENSION
from webapp.settings import Settings, get_settings
from webapp.store.results import Result


@pytest.fixture(scope="module")
def settings(app: Flask) -> Iterator[Settings]:
    """Two engines that read qwen's format by a parser of one name, and one that was not asked yet."""
    made: Settings = app.extensions[EXTENSION].settings
    use_engines(made)
    write_entry(made, "fake", fake())
    write_entry(made, "qwen", own("Hermes"))
    write_entry(made, "again", own("Hermes"))
    write_entry(made, "silent", fake("dies"))
    for name in ("fake", "qwen", "again"):
        entered(made).card(name)
    yield made
    file_of(made).unlink()
    use_engines(get_settings())


def test_without_any_it_says_how_one_is_entered(tmp_path: Path) -> None:
    page = tree(create_app(Settings(data_dir=tmp_path)).test_client().get("/engines").text)
    assert page.one(".empty").words == "No engine is entered yet."
    assert "engines add NAME --python PATH" in page.one(".formats-head").words


@pytest.mark.replays
def test_a_run_of_an_engine_is_compared_with_its_stream_in_one_delta(client: FlaskClient, settings: Settings) -> None:
    case = {"schema": 1, "parser": {"name": "upper", "engine": "fake"}, "input": {"text": "Hi"}}
    stored = client.post("/api/v1/cases", json=case).get_json()["id"]
    page = tree(client.get(f"/c/{stored}/compare", follow_redirects=True).text)
    assert [said.words for said in page.all(".side-words")] == [
        "fake:upper, token by token",
        "fake:upper, in one delta",
    ]
    assert "With the engines" not in page.one("#matrix").words


def test_each_engine_is_listed_with_its_parsers_and_the_formats_they_read(
    client: FlaskClient, settings: Settings
) -> None:
    page = tree(client.get("/engines").text)
    sections = {one.one("h2 code").words: one for one in page.all(".engines-page section")}
    assert list(sections) == ["fake", "qwen", "again", "silent"]
    assert facts(page, "fake") == {
        "Runs": shlex.join(fake().command),
        "Health": "answers",
        "Last run": "none since this server started",
        "Reads": "text and token ids; deltas, and whole outputs",
        "Contract": "vllm",
        "Its server": "holds text back where stop strings ask for it, sends several tokens a delta, sends deltas"
        " without text",
        "Reasoning": "1 parser: thinks",
    }
    row = sections["qwen"].all("tbody tr")[0]
    assert row.words.startswith("hermes qwen")
    assert "again" in row.words
    assert row.one("td a[aria-label]").attrs["href"] == "/engines/qwen/hermes"
    assert "was not asked yet" in sections["silent"].words


def test_an_engine_is_asked_who_it_is(client: FlaskClient, settings: Settings) -> None:
    engines = entered(settings)
    now = engines.card("again")
    keep_card(settings, "again", engines.entries()["again"], now.model_copy(update={"version": "0.0.1"}))
    heads = [one.words for one in tree(client.get("/engines").text).all(".engine-head h2")]
    assert f"again {now.name} 0.0.1" in heads
    done = client.post("/engines/again/ask")
    assert (done.status_code, done.location, engines.card("again")) == (303, "/engines", now)
    failed = client.post("/engines/silent/ask")
    assert failed.status_code == 422
    assert "engine silent does not start" in tree(failed.text).one(".engines-page .problem").words
    said = facts(tree(client.get("/engines").text), "silent")["Health"]
    assert said.startswith("not running: engine silent does not start: ")


def facts(page: Any, name: str) -> dict[str, str]:
    """What the page of all says of an engine."""
    section = page.one(f"section[aria-labelledby=engine-{name}]")
    said = {one.one("dt").words: one.one("dd").words for one in section.all(".engine-facts div")}
    return {name: words.replace(" :", ":").replace(" ,", ",") for name, words in said.items()}


@pytest.mark.replays
@pytest.mark.parametrize(
    ("more", "headers", "shown"),
    [
        ({}, {}, True),
        ({"proxies": 1}, {}, False),
        ({"host": "0.0.0.0"}, {}, False),
        ({"public_url": "https://a.example"}, {}, False),
        ({"write_secret": "s" * 40}, {}, False),
        ({"write_secret": "s" * 40}, {"Authorization": f"Bearer {'s' * 40}"}, True),
        ({"write_header": "X-Who"}, {"X-Who": "me"}, True),
    ],
)
def test_where_an_engine_lies_is_told_to_those_who_may_write(
    tmp_path: Path, more: dict[str, Any], headers: dict[str, str], shown: bool
) -> None:
    made = Settings(data_dir=tmp_path, **more)
    write_entry(made, "gone", Entry(command=("/no/such/worker",), environment={"KEY": "unspoken"}))
    client = create_app(made).test_client()
    asked = client.post("/engines/gone/ask", headers={"Sec-Fetch-Site": "same-origin", **headers})
    page = client.get("/engines", headers=headers)
    said = facts(tree(page.text), "gone")
    assert (said.get("Runs") == "/no/such/worker", "/no/such/worker" in page.text + asked.text) == (shown, shown)
    assert (asked.status_code, said["Health"].startswith("not running"), "unspoken" in page.text) == (422, True, False)
    assert bool(page.cache_control.no_store) is shown


def test_what_an_engine_did_last_is_told_with_links(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["passes", "passes", "differs", "slow"])
    monkeypatch.setattr(conformance_matrix, "tried", lambda case, settings: Result(next(words), "error", ""))
    monkeypatch.setattr(conformance_matrix, "_made", {})
    client.get("/engines/again/hermes?asks=0", headers=PART)
    page = tree(client.get("/engines").text)
    said = facts(page, "again")["Last run"]
    assert re.match(r"hermes \d+ not asked, 2 passes, 1 differs, 1 slow, \d{4}-\d\d-\d\d \d\d:\d\d UTC$", said), said
    section = page.one("section[aria-labelledby=engine-again]")
    assert section.one(".engine-facts a").attrs["href"] == "/engines/again/hermes"


def test_an_engine_by_its_name_alone_stands_on_the_page_of_all(client: FlaskClient) -> None:
    done = client.get("/engines/qwen")
    assert (done.status_code, done.location) == (302, "/engines#engine-qwen")
    assert tree(client.get("/engines").text).one("#engine-qwen").words.startswith("qwen")


def test_a_file_that_cannot_be_used_is_said(client: FlaskClient, settings: Settings, tmp_path: Path) -> None:
    file = file_of(settings)
    text = file.read_text("utf-8")
    file.write_text("[", "utf-8")
    try:
        assert "cannot be read" in tree(client.get("/engines").text).one(".engines-page .problem").words
    finally:
        file.write_text(text, "utf-8")


PART = {"HX-Request": "true", "HX-Request-Type": "partial"}


def all_cells(client: FlaskClient, address: str) -> list[list[str]]:
    """The words of the cells once every column was asked; the last answer has what the others left in this process."""
    columns = len(tree(client.get(address).text).all("table.matrix thead th")) - 1
    for column in range(columns):
        page = tree(client.get(f"{address}?asks={column}").text)
    rows = page.all("table.matrix tbody tr")
    return [[cell.words for cell in row.all("td")] for row in rows]


def test_the_page_of_a_matrix_asks_no_engine_and_each_column_asks_for_its_cells(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def counted(case: Case, settings: Settings) -> Result:
        asked.append(case.parser.engine)
        return Result("passes", "pass", "so many")

    monkeypatch.setattr(conformance_matrix, "tried", counted)
    monkeypatch.setattr(conformance_matrix, "_made", {})
    monkeypatch.setattr(conformance_matrix, "SECONDS", -1)
    page = tree(client.get("/engines/qwen/hermes").text)
    cells = {cell.words for cell in page.all("table.matrix td")}
    loaders = [one.attrs["hx-get"] for one in page.all("table.matrix thead [hx-trigger=load]")]
    assert (asked, cells, len(loaders)) == ([], {"not run yet"}, 3)
    assert [one.attrs["href"] for one in page.all("thead a")] == loaders, "without script somebody follows a link"
    sent = client.get(loaders[1], headers=PART).text
    part = tree(sent)
    assert (asked, sent.count("<td"), sent.count('hx-target="#cell-1-0"')) == (["again"], 1, 1)
    assert part.one("#cell-1-0").words.startswith("passes")
    following = part.one("#column-1 a").attrs["hx-get"]
    assert following == "/engines/qwen/hermes?asks=1&from=1"
    whole = tree(client.get(following).text)
    known = [[cell.words.split()[0] for cell in row.all("td")] for row in whole.all("table.matrix tbody tr")]
    assert known[:3] == [["not", "passes", "not"]] * 2 + [["not"] * 3]


@pytest.mark.parametrize("words", ["hangs", "slow", "out of memory", "no answer"])
def test_an_engine_that_did_not_answer_is_asked_for_no_more_cells(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    asked: list[str | None] = []

    def hung(case: Case, settings: Settings) -> Result:
        asked.append(case.parser.engine)
        return Result(words, "error", "it hung")

    monkeypatch.setattr(conformance_matrix, "tried", hung)
    monkeypatch.setattr(conformance_matrix, "_made", {})
    part = tree(client.get("/engines/qwen/hermes?asks=0", headers=PART).text)
    cells = [one.words.partition(" It")[0] for one in part.all("td")]
    assert (asked, cells[0].startswith(words), {*cells[1:]}) == (["qwen"], True, {"not asked"})
    column = part.one("#column-0")
    assert "hx-get" not in column.attrs
    assert column.one("a").attrs["href"] == "/engines/qwen/hermes?asks=0&from=0"
    later = tree(client.get("/engines/qwen/hermes").text)
    first = [row.all("td")[0].words.partition(" It")[0] for row in later.all("table.matrix tbody tr")]
    assert (first[0].startswith(words), {*first[1:]}, asked) == (True, {"not asked"}, ["qwen"])
    assert "hx-get" not in later.one("#column-0 a").attrs, "nobody waits for it again who does not ask"


def test_a_column_that_is_not_there_is_said(client: FlaskClient, settings: Settings) -> None:
    assert client.get("/engines/qwen/hermes?asks=3").status_code == 404


@pytest.mark.replays
def test_the_matrix_has_a_column_for_each_engine_with_that_parser(client: FlaskClient, settings: Settings) -> None:
    page = tree(client.get("/engines/qwen/hermes").text)
    heads = [one.words for one in page.all("table.matrix thead th")]
    assert [head.split()[0] for head in heads] == ["case", "qwen", "again", "built"]
    cells = [[cell.split()[0] for cell in row] for row in all_cells(client, "/engines/qwen/hermes")]
    assert cells[0] == ["passes", "passes", "passes"]
    assert all(row[0] == row[1] for row in cells)
    link = tree(client.get("/engines/qwen/hermes").text).all("tbody td a")[0].attrs["href"]
    run = tree(client.get(link).text)
    assert run.one("#inspector").attrs["data-parser"] == "qwen:hermes"


def test_a_revision_of_a_checkout_is_told_by_its_commit(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance_matrix, "SECONDS", -1)
    entry = entered(settings).entries()["again"]
    write_entry(settings, "again", entry.model_copy(update={"rev": "main", "commit": "0123456789abcdef"}))
    try:
        entered(settings).card("again")
        assert "at main (0123456789)" in tree(client.get("/engines").text).one(".engines-page").words
        heads = [one.words for one in tree(client.get("/engines/qwen/hermes").text).all("table.matrix thead th")]
        assert "main (0123456789)" in next(head for head in heads if head.startswith("again"))
    finally:
        write_entry(settings, "again", entry)
        entered(settings).card("again")


def test_an_engine_that_rests_has_no_result(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "rest", "the last 2 replays hung")
    monkeypatch.setattr(conformance_matrix, "_made", {})
    monkeypatch.setattr(conformance_matrix, "SECONDS", -1)
    cell = tree(client.get("/engines/qwen/hermes?asks=0").text).all("table.matrix tbody td")[0]
    assert cell.words.startswith("not asked")


def test_a_cell_is_made_once_until_the_engine_is_asked_again(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str | None] = []

    def counted(case: Case, settings: Settings) -> Result:
        made.append(case.parser.engine)
        return Result("slow" if case.parser.engine == "again" else "passes", "pass")

    monkeypatch.setattr(conformance_matrix, "tried", counted)
    monkeypatch.setattr(conformance_matrix, "SECONDS", -1)
    monkeypatch.setattr(conformance_matrix, "_made", {})
    monkeypatch.setattr(conformance_matrix, "MOST_CELLS", 3)
    for _ in range(2):
        for column in range(3):
            client.get(f"/engines/qwen/hermes?asks={column}")
    assert made == ["qwen", "again", None, "again"], "what was slow may do better"
    entered(settings).renew("qwen")
    client.get("/engines/qwen/hermes?asks=0")
    assert made[4:] == ["qwen"], "it was asked who it is"


def test_a_parser_of_an_unknown_format_has_no_cases(client: FlaskClient, settings: Settings) -> None:
    page = tree(client.get("/engines/fake/echo").text)
    assert "no case in a format that this parser is known to read" in page.one(".empty").words


@pytest.mark.parametrize(
    "address",
    [
        "/engines/nobody",
        "/engines/nobody/hermes",
        "/engines/qwen/nobody",
        "/engines/qwen/hermes/qwen/nothing",
        "/engines/qwen/hermes/nothing/nothing",
        "/engines/nobody/hermes/qwen/format-qwen",
    ],
)
def test_what_is_not_there_is_said(client: FlaskClient, settings: Settings, address: str) -> None:
    assert client.get(address).status_code == 404
