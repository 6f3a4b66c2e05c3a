"""The search between the two sides of a comparison: offered where it makes sense, watched, stopped, and opened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from parsers.cases.io import load_case
from tests.webapp.children.processes import until
from tests.webapp.engines.entering import own
from webapp.app import create_app
from webapp.engines.entered import use_engines
from webapp.engines.entries import write_entry
from webapp.jobs.searches import SearchJob
from webapp.page.compare.differ import differ_of
from webapp.services import EXTENSION
from webapp.settings import Settings, get_settings

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
CASE = json.dumps({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": f"Hi.\n{CALL}"}})
OFFER = "Find where they differ"
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[FlaskClient]:
    settings = Settings(data_dir=tmp_path)
    write_entry(settings, "mine", own("Hermes"))
    app = create_app(settings)
    yield app.test_client()
    app.extensions[EXTENSION].searches.close()
    app.extensions[EXTENSION].store.close()
    use_engines(get_settings())


def asked(client: FlaskClient, data: dict[str, Any], **how: Any) -> str:
    answer = client.post("/compare/differ", data=data, **how)
    assert answer.status_code == 200, answer.text
    return answer.text


def carried(page: str) -> dict[str, str]:
    """What the form of the page sends again."""
    return {name: unescape(value) for name, value in re.findall(r'name="(first|second)" value="([^"]*)"', page)}


def found(client: FlaskClient, other: str) -> str:
    """The page once the search is over."""
    page = asked(client, {"case": CASE, "b_parser": other})
    form, pages = carried(page), [page]

    def over() -> bool:
        pages.append(asked(client, form, headers=PARTIAL))
        return "hx-trigger" not in pages[-1]

    until(over)
    assert "<title>" not in pages[-1]
    return pages[-1]


@pytest.mark.replays
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ({"b_parser": "mine:hermes"}, True),
        ({"b_parser": "mistral"}, True),
        ({"b_chunk": "char"}, False),
        ({"b_parser": "mistral", "c_parser": "kimi_k2"}, False),
    ],
)
def test_it_is_offered_for_two_parsers_of_one_output(client: FlaskClient, words: dict[str, str], offered: bool) -> None:
    assert (OFFER in client.post("/compare", data={"case": CASE, **words}).text) == offered


def test_the_smallest_output_is_shown_and_can_be_compared(client: FlaskClient) -> None:
    page = found(client, "mine:hermes")
    assert "qwen and mine:hermes differ" in page
    opened = dict(re.findall(r'name="(case|b_parser|b_chunk)" value="([^"]*)"', page))
    compared = client.post("/compare", data={name: unescape(value) for name, value in opened.items()})
    assert (compared.status_code, "The calls differ" in compared.text or "text differs" in compared.text) == (200, True)


@pytest.mark.replays
def test_where_none_is_found_that_is_said(client: FlaskClient) -> None:
    page = found(client, "hermes")
    assert re.search(r"No difference of qwen and hermes was found \([\d,]+ replays", page)


def test_one_that_is_stopped_can_be_begun_again(client: FlaskClient) -> None:
    form = carried(asked(client, {"case": CASE, "b_parser": "mine:hermes"}))
    stopped = asked(client, {**form, "stop": "1"})
    assert ("was cancelled" in stopped, "Search again" in stopped) == (True, True)
    assert 'name="stop"' in asked(client, {**form, "again": "1"})


def test_one_that_was_asked_no_more_is_not_taken_for_the_same() -> None:
    case = load_case(json.loads(CASE))
    found = {"differ": False, "found": None, "smallest": None, "replays": 2, "allowed": 0, "complete": False}
    job = cast(SearchJob, SimpleNamespace(failure=None, between={**found, "given_up": "Hangs"}))
    shown = differ_of((case, case), job)
    words = "Whether qwen and qwen differ is not known: the process of one does not survive its replays (Hangs)"
    assert (shown.words[: len(words)], shown.failed, shown.active) == (words, True, False)


@pytest.mark.replays
def test_what_cannot_be_searched_is_said(client: FlaskClient) -> None:
    form = carried(asked(client, {"case": CASE, "b_parser": "mine:hermes"}))
    second = json.loads(form["second"])
    second["parser"]["name"] = "nope"
    page: list[str] = []

    def over() -> bool:
        page[:] = [asked(client, {**form, "second": json.dumps(second)})]
        return "Search again" in page[0]

    until(over)
    assert "mine has no parser &#39;nope&#39;" in page[0]


def test_a_reload_has_no_case(client: FlaskClient) -> None:
    assert client.get("/compare/differ").status_code == 404
