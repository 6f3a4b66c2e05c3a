"""The source pane of the page of an entered engine's parser."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from tests.webapp.engines import line_parsers
from tests.webapp.page.dom import Node
from tests.webapp.page.dom import page as tree
from webapp.engines.entered import entered, use_engines
from webapp.engines.entries import Entry, write_entry
from webapp.services import EXTENSION
from webapp.settings import get_settings

FILE = Path(line_parsers.__file__)
SOURCE = FILE.read_text("utf-8").splitlines()
GIVEN = {"class": "line_parsers:Sender", "python": sys.executable, "path": str(FILE.parent), "seconds": 20}
OUTPUT = "ab<?"
PARTIAL = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#lines"}


def where(text: str) -> str:
    """The address of the line that has a text."""
    return f"{FILE.name}:{next(number for number, one in enumerate(SOURCE, 1) if text in one)}"


@pytest.fixture(scope="module")
def address(app: Flask) -> Iterator[str]:
    """A stored case of an engine whose lines are told."""
    settings = app.extensions[EXTENSION].settings
    use_engines(settings)
    write_entry(settings, "own", Entry.model_validate(GIVEN))
    entered(settings).card("own")
    parser = {"name": "Sender", "engine": "own"}
    case = {"schema": 1, "parser": parser, "input": {"text": OUTPUT}, "replay": [{"by": "char"}]}
    yield f"/c/{app.test_client().post('/api/v1/cases', json=case).get_json()['id']}"
    use_engines(get_settings())


def pane(app: Flask, address: str, query: str) -> Node:
    """The pane as the page has it; its block alone says the same."""
    client = app.test_client()
    whole = tree(client.get(f"{address}?{query}").text).one("#lines")
    part = tree(client.get(f"{address}?{query}", headers=PARTIAL).text)
    assert part.words == whole.words
    return whole.one(".source")


@pytest.mark.replays
def test_lines_that_ran_are_marked_with_what_they_did(app: Flask, address: str) -> None:
    made = pane(app, address, "step=1")
    assert made.one("h3").words == f"Sender.feed {FILE.name}"
    first, *_, last = made.all("li.source-line.ran")
    assert first.one(".source-values code").text == "self.buffer '' → 'a'"
    assert last.one(".source-values code").text == "returned {'content': 'a'}"
    assert [node.attrs["id"] for node in made.all("li.sent")] == ["sender"]
    assert made.one(".source-note").words == f"Sent by {where('        return {')} 5 lines ran"


@pytest.mark.replays
def test_what_ran_often_says_so_and_what_is_left_out_is_counted(app: Flask, address: str) -> None:
    made = pane(app, address, "step=5")
    assert made.one(".source-note").words.endswith("10,002 lines ran; the last 8,502 are not shown")
    assert [node.text for node in made.all(".source-values span") if "times" in node.text] == ["750 times", "749 times"]


@pytest.fixture(scope="module")
def filling(app: Flask, address: str) -> str:
    """A stored case of an engine that puts its message together by several lines."""
    settings = app.extensions[EXTENSION].settings
    write_entry(settings, "filling", Entry.model_validate({**GIVEN, "class": "sending_parsers:Filling"}))
    entered(settings).card("filling")
    parser = {"name": "Filling", "engine": "filling"}
    case = {"schema": 1, "parser": parser, "input": {"text": "abc!"}, "replay": [{"by": "whole"}]}
    return f"/c/{app.test_client().post('/api/v1/cases', json=case).get_json()['id']}"


@pytest.mark.parametrize(
    ("part", "put"),
    [
        ("content:0", "filling: first"),
        ("content:3", "filling: second"),
        ("name:1:0", "filling: call"),
        ("arguments:0:0", "filling: call"),
        ("", "filling: second"),
    ],
)
@pytest.mark.replays
def test_a_character_of_the_message_leads_to_its_line(app: Flask, filling: str, part: str, put: str) -> None:
    lines = FILE.with_name("sending_parsers.py").read_text("utf-8").splitlines()
    at, back = [1 + next(at for at, one in enumerate(lines) if one.endswith(word)) for word in (put, "filling: return")]
    made = pane(app, filling, f"step=1&part={part}")
    said = made.one(".source-note").words
    assert said.startswith(f"Put there by sending_parsers.py:{at} returned by sending_parsers.py:{back}")
    assert ("of the chosen character" in said) == bool(part)
    assert (made.attrs["data-about"], [one.attrs["id"] for one in made.all("li.put")]) == (part, ["putter"])


@pytest.mark.replays
def test_the_characters_of_an_engines_message_can_be_asked_about(app: Flask, filling: str) -> None:
    page = tree(app.test_client().get(f"{filling}?step=1&part=content:2").text)
    runs = page.all("#message .run[data-part]")
    assert {(one.attrs["data-part"], one.attrs["data-in-part"]) for one in runs} == {
        ("content", "0"),
        ("name:0", "0"),
        ("arguments:0", "0"),
        ("name:1", "0"),
        ("arguments:1", "0"),
    }
    (field,) = page.all('#cursor input[name="part"]')
    assert (field.attrs["value"], field.attrs["data-view"]) == ("content:2", "part")
    other = tree(app.test_client().post("/run", data={"text": "ab", "parser": "qwen"}).text)
    assert (bool(other.all("#message .run")), other.all("#message [data-part]")) == (True, [])


def test_a_step_that_does_not_repeat_says_so(app: Flask, address: str, tmp_path: Path) -> None:
    settings = app.extensions[EXTENSION].settings
    (tmp_path / "chance.py").write_text(
        "import random\nclass Chance:\n    def begin(self, request): pass\n"
        "    def feed(self, text, ids):\n        return {'content': text + str(random.random())}\n"
        "    def finish(self, reason): pass\n",
        "utf-8",
    )
    write_entry(settings, "chance", Entry.model_validate({**GIVEN, "class": "chance:Chance", "path": str(tmp_path)}))
    entered(settings).card("chance")
    case = {"schema": 1, "parser": {"name": "Chance", "engine": "chance"}, "input": {"text": "ab"}}
    stored = f"/c/{app.test_client().post('/api/v1/cases', json=case).get_json()['id']}"
    made = tree(app.test_client().get(f"{stored}?step=1").text).one("#lines .source")
    assert "Run again the parser sent something else at this step" in made.one(".notice").words
    assert made.one(".source-note").words.startswith("Which line sent it is not known")
    assert pane(app, address, "step=1").all(".notice") == []


def test_a_step_that_sends_nothing_says_so(app: Flask, address: str) -> None:
    made = pane(app, address, "step=3")
    assert made.one(".source-note").words == "Nothing was sent 8 lines ran"
    assert made.all("#sender") == []


@pytest.mark.parametrize(
    ("text", "step", "said", "previous", "following"),
    [
        ("self.buffer += text", 2, "ran at 3 other steps", "step=1", "step=3"),
        ("self.buffer += text", 1, "ran at 3 other steps", None, "step=2"),
        ("self.buffer += text", 4, "ran at 3 other steps", "step=3", None),
        ("raise ValueError", 2, "ran at no other step", None, None),
    ],
)
@pytest.mark.replays
def test_a_line_leads_to_the_other_steps_that_ran_it(
    app: Flask, address: str, text: str, step: int, said: str, previous: str | None, following: str | None
) -> None:
    at = where(text)
    made = pane(app, address, f"step={step}&where={at}").one(".source-asked")
    assert made.words == f"{at} {said}"
    ways = {node.attrs["aria-label"].split()[0]: node.attrs.get("href", "") for node in made.all("[aria-label]")}
    for direction, to in (("Previous", previous), ("Next", following)):
        assert (f"{to}&" in ways.get(direction, "")) == (to is not None)
        assert (f"where={at}" in ways.get(direction, "")) == (to is not None)


def test_the_number_of_a_line_asks_about_it(app: Flask, address: str) -> None:
    numbers = pane(app, address, "step=1").all("a.source-number")
    assert numbers[0].attrs["data-where"] == where("self.buffer += text")
    assert all(f"where={node.attrs['data-where']}" in node.attrs["href"] for node in numbers)
    assert numbers[0].attrs["aria-label"] == f"Line {numbers[0].words}: other steps that ran it"


def test_the_attributes_of_a_step_are_shown_with_what_it_changed(app: Flask, address: str) -> None:
    part = tree(app.test_client().get(f"{address}?step=3&source=state", headers=PARTIAL).text)
    shown = part.one(".when-state")
    words = r"State, by its attributes: buffer 1 attribute changed at step 3, in [\d,]+ µs"
    assert re.fullmatch(words, shown.one(".source-note").words)
    assert [row.words for row in shown.all("tr.now")] == ["buffer '' → '<' now"]
    whole = tree(app.test_client().get(f"{address}?step=3&source=state").text)
    assert whole.one("#machine").attrs["data-show"] == "state"
    card = next(one for one in whole.all("#step .card") if one.attrs["data-at"] == "3")
    assert [row.words for row in card.all(".changed-list li")] == ["buffer '' → '<'"]


@pytest.mark.parametrize("view", ["diagram", "all", "table", "nonsense"])
@pytest.mark.replays
def test_without_declared_transitions_there_is_no_diagram(app: Flask, address: str, view: str) -> None:
    page = tree(app.test_client().get(f"{address}?source={view}").text)
    assert page.one("#machine").attrs["data-show"] == "lines"
    assert [tab.words for tab in page.all("#machine [data-tab]")] == ["Source", "State"]


def test_the_band_has_the_time_of_each_step(app: Flask, address: str) -> None:
    page = tree(app.test_client().get(address).text)
    assert [one.words for one in page.all(".overview-labels dt")] == ["Attributes", "Time", "Sent"]
    assert page.all(".band-cost")


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"verdict": "known_bug", "link": "https://a.example/1"}, "A known bug of own : https://a.example/1 ."),
        ({"verdict": "implementation_defined"}, "Left to the implementation of own ."),
        ({"link": "javascript:x", "notes": ["See there."]}, "Required of own : javascript:x. See there."),
    ],
)
@pytest.mark.replays
def test_what_a_case_knows_of_its_engine_stands_under_its_title(
    app: Flask, address: str, known: dict[str, Any], words: str
) -> None:
    client = app.test_client()
    case = {**client.get(f"/api/v1/cases/{address[3:]}").get_json(), "engines": {"own": known}}
    page = tree(client.get(f"/c/{client.post('/api/v1/cases', json=case).get_json()['id']}").text)
    assert page.one(".lead-note").words == words
    assert [one.attrs["href"] for one in page.all(".lead-note a")] == [
        link for link in [known.get("link")] if link and ":/" in link
    ]
