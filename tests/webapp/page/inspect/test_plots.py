"""The overview band and the lag pane: small drawings of any output, every figure leads to its step."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.vocabulary.trace import Finding
from webapp.page.drawing import COLUMNS
from webapp.page.inspect.index import index_of
from webapp.page.inspect.plots import _short_names, _StateBar, lag_pane, lag_plot, overview
from webapp.page.library.gallery import gallery

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'
WAITING = 'Hi <b.\n<tool_call>\n{"name": "get_weather", "arguments": {"a": "b c"}}\n</tool_call>\n'
EXAMPLE = "/example/marker-split-across-tokens"


def test_the_overview_stays_small_and_covers_every_step(make: Any) -> None:
    run = make.run((CALL * 60)[:9000], parser="qwen")
    found = overview(index_of(run), [Finding("known_tool", "warning", "output", "m", step=3)], 2)
    assert (found.states[0].first, found.states[-1].last) == (1, index_of(run).total)
    assert all(a.last + 1 == b.first for a, b in zip(found.states, found.states[1:], strict=False))
    assert len(found.roles) <= 1000
    assert len(found.emissions) <= 301
    assert found.findings == [(round(250 / index_of(run).total, 3), "warning")]
    assert f"{index_of(run).total:,} steps" in found.words


@pytest.mark.replays
def test_no_stay_is_swallowed_however_many_steps_there_are(make: Any) -> None:
    run = make.run(CALL * 60, tokenizer={"name": "characters"})
    index = index_of(run)
    found = overview(index, [], 1).states
    assert index.total > 3 * COLUMNS
    states = [step.state for step in run.trace.steps]
    for bar in found:
        assert set(states[bar.first - 1 : bar.last]) == set(bar.state.split(", "))
    assert {bar.first for bar in found} <= {1, *index.changes}
    assert len(found) <= 2 * COLUMNS + 1


def test_labels_tell_states_apart() -> None:
    names = _short_names({"TOOL_NAME", "TOOL_TYPE", "CONTENT", "ALL_TOOLS_DONE", "TOOL_DONE"})
    assert names["TOOL_NAME"] == ("TOOL_NAME", "…NAME")
    assert names["TOOL_TYPE"] == ("TOOL_TYPE", "…TYPE")
    assert names["CONTENT"] == ("CONTENT",)
    assert names["ALL_TOOLS_DONE"] == ("ALL_TOOLS_DONE", "…TOOLS_DONE", "ALL_TOOLS…", "ALL…")
    assert names["TOOL_DONE"] == ("TOOL_DONE",)


def test_a_state_of_several_attributes_is_called_after_the_first_and_counts_the_others() -> None:
    names = _short_names({"call_open+args_sent+ended", "call_open", "name_sent"})
    assert names["call_open+args_sent+ended"] == ("call_open+args_sent+ended", "call_open +2")
    assert names["call_open"][0] == "call_open"


def test_a_narrow_band_has_shorter_labels() -> None:
    bar = _StateBar("call_open+args_sent", 1, 9, 0, 17.5, ("call_open+args_sent", "call_open +1"))
    assert (bar.label, bar.slim_label) == ("call_open+args_sent", "call_open +1")


def test_no_short_label_is_the_name_of_another_state() -> None:
    states = {"CALL", "CALL_ARGUMENTS", "ARGUMENTS", "CALL_HEADER, CALL", "HEADER"}
    for state, names in _short_names(states).items():
        assert not set(names[1:]) & states, state
        assert all("…" in name for name in names[1:])
    assert _short_names(states)["CALL_HEADER, CALL"] == ("CALL_HEADER, CALL",)


def test_what_is_held_has_a_lane_of_its_own(make: Any) -> None:
    held = overview(index_of(make.run(WAITING, tokenizer={"name": "characters"})), [], 1)
    assert (len(held.holds), held.most_held > 10) == (1, True)
    assert not overview(index_of(make.run("words")), [], 1).holds


def test_a_parser_of_unknown_state_has_its_deltas_in_the_first_lane(make: Any) -> None:
    case = gallery()["vllm-46042-thought-with-its-tags"].case
    found = overview(index_of(make.runner.run(case)), [], 2)
    assert found.by_delta
    assert [(bar.state, bar.first, bar.last) for bar in found.states][-2:] == [("delta 4", 4, 4), ("end", 5, 5)]
    assert "Deltas over 5 steps" in found.words
    assert not overview(index_of(make.run("words")), [], 1).by_delta


def test_an_output_that_came_at_once_has_its_delta_and_its_end_in_the_first_lane(make: Any) -> None:
    found = overview(index_of(make.run("words", replay=[{"by": "whole"}])), [], 1)
    assert [(bar.state, bar.x, bar.width) for bar in found.states] == [("delta 1", 0.0, 50.0), ("end", 50.0, 50.0)]


def test_labels_of_states_fit_or_are_cut(make: Any) -> None:
    run = make.run("x" + CALL)
    labels = {bar.label for bar in overview(index_of(run), [], 1).states}
    assert any(label and label in {bar.state for bar in overview(index_of(run), [], 1).states} for label in labels)


def bars(path: str) -> list[tuple[float, float, float, float]]:
    """(left, bottom, top, right) of every bar of a path."""
    number = r"(-?[\d.e+-]+)"
    found = re.findall(f"M{number} {number}V{number}H{number}V{number}z", path)
    return [tuple(map(float, bar[:4])) for bar in found]  # type: ignore[misc]


def test_the_words_name_the_channel_that_waits_longest_first(make: Any) -> None:
    pane = lag_pane(make.run(WAITING, tokenizer={"name": "characters"}), 1)
    assert pane[0].words.startswith("Name waits at most ")
    assert ", content at most 1" in pane[0].words
    assert pane[0].note == f"at most {pane[0].peak} characters"


def test_arguments_are_many(make: Any) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": "\\u00e4"}}</tool_call>'
    pane = lag_pane(make.run(text, replay=[{"by": "cuts", "cuts": [28, text.index("00e4")]}]), 1)
    assert pane[0].words == "Arguments wait at most 16 characters." or pane[0].words.startswith(
        "Arguments wait at most "
    )


@pytest.mark.parametrize(
    ("text", "note", "words"),
    [
        ("only words", "nothing waits", "Every character left in the step in which it arrived."),
        ("", "nothing waits", "Every character left in the step in which it arrived."),
    ],
)
def test_where_nothing_waits_it_says_so(make: Any, text: str, note: str, words: str) -> None:
    pane = lag_pane(make.run(text, "passthrough"), 1)
    assert (pane[0].note, pane[0].words) == (note, words)
    assert (pane[0].lags, pane[0].hold) == ([], None)


def test_a_parser_that_shows_only_its_deltas_has_no_plot(make: Any) -> None:
    run = make.fresh("words")
    run.trace.partition = []
    pane = lag_pane(run, 1)
    assert not pane[0].known
    assert pane[0].note == "not known for this parser"
    assert pane[0].words.startswith("This parser does not say")


def test_each_character_of_a_short_output_is_a_column(make: Any) -> None:
    run = make.run(WAITING, tokenizer={"name": "characters"})
    plot = lag_plot(index_of(run))
    (name,) = [shape for shape in plot.lags if shape.kind == "name"]
    low, high = WAITING.index("get_weather") * 1000 / len(WAITING), WAITING.index('", "arg') * 1000 / len(WAITING)
    assert min(bar[0] for bar in bars(name.path)) == pytest.approx(low, abs=0.01)
    assert max(bar[3] for bar in bars(name.path)) == pytest.approx(high, abs=0.01)
    assert min(bar[2] for bar in bars(name.path)) == 0
    assert {shape.kind for shape in plot.roles} == {"content", "marker", "name", "arguments", "dropped"}
    assert [shape.kind for shape in plot.holds] == ["held"]


def test_a_long_output_is_drawn_in_a_thousand_columns(make: Any) -> None:
    run = make.run("a <b " * 800, "qwen", tokenizer={"name": "characters"})
    plot = lag_plot(index_of(run))
    assert sum(len(bars(shape.path)) for shape in plot.lags) <= COLUMNS
    assert len(plot.longest) == 10 < plot.waiting
    assert [item[0].lag for item in plot.longest] == sorted((item[0].lag for item in plot.longest), reverse=True)


def test_the_plot_is_drawn_once_and_the_cursor_moves(make: Any) -> None:
    run = make.run(WAITING)
    first, last = lag_pane(run, 1), lag_pane(run, index_of(run).total)
    assert first[0] is last[0]
    assert (first[1] < 20, last[1]) == (True, 100)


@pytest.mark.replays
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
    assert json.loads(lag_pane(run, 1)[0].steps) == [1, 1, 2, 3, 3]
    long = json.loads(lag_pane(make.run("x " * COLUMNS, replay=[{"by": "char"}]), 1)[0].steps)
    assert (len(long), long[:3], long[-1]) == (COLUMNS, [1, 3, 5], 2 * COLUMNS - 1)
