"""The lag pane: what it says, that its drawing stays small, and that every figure leads to its step."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from webapp.page.lag import drawn, lag_pane
from webapp.page.overview import COLUMNS

CALL = 'Hi <b.\n<tool_call>\n{"name": "get_weather", "arguments": {"a": "b c"}}\n</tool_call>\n'
EXAMPLE = "/example/marker-split-across-tokens"


def bars(path: str) -> list[tuple[float, float, float, float]]:
    """(left, bottom, top, right) of every bar of a path."""
    number = r"(-?[\d.e+-]+)"
    found = re.findall(f"M{number} {number}V{number}H{number}V{number}z", path)
    return [tuple(map(float, bar[:4])) for bar in found]  # type: ignore[misc]


def test_the_words_name_the_channel_that_waits_longest_first(make: Any) -> None:
    pane = lag_pane(make.run(CALL, tokenizer={"name": "characters"}).index, 1)
    assert pane.words.startswith("Name waits at most ")
    assert ", content at most 1" in pane.words
    assert pane.note == f"at most {pane.drawn.peak} characters"


def test_arguments_are_many(make: Any) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": "\\u00e4"}}</tool_call>'
    pane = lag_pane(make.run(text, replay=[{"by": "cuts", "cuts": [28, text.index("00e4")]}]).index, 1)
    assert pane.words == "Arguments wait at most 16 characters." or pane.words.startswith("Arguments wait at most ")


@pytest.mark.parametrize(
    ("text", "note", "words"),
    [
        ("only words", "nothing waits", "Every character left in the step in which it arrived."),
        ("", "nothing waits", "Every character left in the step in which it arrived."),
    ],
)
def test_where_nothing_waits_it_says_so(make: Any, text: str, note: str, words: str) -> None:
    pane = lag_pane(make.run(text, "passthrough").index, 1)
    assert (pane.note, pane.words) == (note, words)
    assert (pane.drawn.lags, pane.drawn.hold) == ([], None)


def test_a_parser_that_shows_only_its_deltas_has_no_plot(make: Any) -> None:
    run = make.runner._run(make.case("words"), "own")
    run.trace.partition = []
    pane = lag_pane(run.index, 1)
    assert not pane.drawn.known
    assert pane.note == "not known for this parser"
    assert pane.words.startswith("This parser does not say")


def test_each_character_of_a_short_output_is_a_column(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    plot = drawn(run.index)
    (name,) = [shape for shape in plot.lags if shape.role == "name"]
    low, high = CALL.index("get_weather") * 1000 / len(CALL), CALL.index('", "arg') * 1000 / len(CALL)
    assert min(bar[0] for bar in bars(name.path)) == pytest.approx(low, abs=0.01)
    assert max(bar[3] for bar in bars(name.path)) == pytest.approx(high, abs=0.01)
    assert min(bar[2] for bar in bars(name.path)) == 0
    assert {shape.role for shape in plot.roles} == {"content", "marker", "name", "arguments", "dropped"}
    assert [shape.role for shape in plot.holds] == ["held"]


def test_a_long_output_is_drawn_in_a_thousand_columns(make: Any) -> None:
    run = make.run("a <b " * 800, "qwen", tokenizer={"name": "characters"})
    plot = drawn(run.index)
    assert sum(len(bars(shape.path)) for shape in plot.lags) <= COLUMNS
    assert len(plot.longest) == 10 < plot.waiting
    assert [item.lag for item in plot.longest] == sorted((item.lag for item in plot.longest), reverse=True)


def test_the_plot_is_drawn_once_and_the_cursor_moves(make: Any) -> None:
    run = make.run(CALL)
    first, last = lag_pane(run.index, 1), lag_pane(run.index, run.index.total)
    assert first.drawn is last.drawn
    assert (first.cursor < 20, last.cursor) == (True, 100)


def test_the_page_links_the_longest_wait_and_the_longest_hold_to_their_steps(client: FlaskClient) -> None:
    page = html.unescape(client.get(EXAMPLE).text)
    pane = page[page.index('id="lag"') :]
    assert re.search(r'The longest wait ends at <a href="[^"]*step=\d+[^"]*" data-step="\d+">step \d+</a>', pane)
    assert re.search(r'Longest hold: \d+ characters at <a href="[^"]*step=\d+', pane)
    assert 'aria-label="Over the characters of the output' in pane
    assert "<caption>Characters fed between arrival and emission, by channel</caption>" in pane
    assert "A call whose name is not known yet." in pane


def test_a_wait_without_a_reason_says_that_none_was_given(client: FlaskClient, make: Any) -> None:
    case = make.case("words", "passthrough").model_dump_json(by_alias=True, exclude_defaults=True)
    page = client.post("/run", data={"case": case}).text
    assert "Every character left in the step in which it arrived." in page
    assert "lag-plot" not in page


def test_a_click_leads_to_the_step_that_fed_the_character(make: Any) -> None:
    run = make.run("ab cd", replay=[{"by": "cuts", "cuts": [2, 3]}])
    assert json.loads(lag_pane(run.index, 1).drawn.steps) == [1, 1, 2, 3, 3]
    long = json.loads(lag_pane(make.run("x " * COLUMNS, replay=[{"by": "char"}]).index, 1).drawn.steps)
    assert (len(long), long[:3], long[-1]) == (COLUMNS, [1, 3, 5], 2 * COLUMNS - 1)
