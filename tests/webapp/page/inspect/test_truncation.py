"""The truncation pane: the result at a cut, what it costs, and the strip over all cuts."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from parsers.search.truncation import CutRecord, CutRecords
from parsers.vocabulary.types import Message, ToolCall
from webapp.page.inspect.inspect_page import Links, ViewState, replay_page, view_of
from webapp.page.inspect.truncation import (
    CALLS_SHOWN,
    CHANGES_SHOWN,
    TEXT_SHOWN,
    cut_result,
    cut_strip,
    records_of,
    shape_words,
)
from webapp.page.search.search_page import Search, SearchPanes

CALL = '<tool_call>{"name": "f", "arguments": {"a": "b c"}}</tool_call>'
TEXT = f"<think>Hm.</think>Hi.\n{CALL}\n{CALL}"
CHECKED = SearchPanes(Search("idle", automatic=False))
EXAMPLE = "/example/two-calls-with-prose"
ASKED = {"HX-Request": "true", "HX-Request-Type": "partial"}


def cut_before(run: Any, text: str) -> Any:
    return cut_result(run, TEXT.index(text))


def test_a_cut_call_is_cut_off_and_the_rest_is_missing(make: Any) -> None:
    found = cut_before(make.run(TEXT), ' c"}}')
    ((_, call, arguments),) = found.calls
    assert (call.name, arguments.text, call.complete) == ("f", '{"a": "b', False)
    assert arguments.against == "8 of 12 characters"
    assert found.missing == ["call 1 (`f`)"]
    assert (found.finish, found.problem) == ("length", "")
    assert found.words == "reasoning, content, 1 call, cut off"
    assert (found.before[-9:], found.after[:5]) == ('{"a": "b', ' c"}}') or found.after.startswith(' c"}}')


def test_the_texts_stand_beside_those_of_the_whole_output(make: Any) -> None:
    run = make.run(TEXT)
    assert [part.against for part in cut_before(run, "m.</think>").parts] == ["1 of 3 characters", "0 of 4 characters"]
    assert [part.same for part in cut_result(run, len(TEXT)).parts] == [True, True]
    marker = cut_result(run, TEXT.index("<tool_call>") + 5)
    assert marker.parts[1].against.endswith("more than in the whole output")
    assert marker.words == "reasoning, content"
    assert cut_result(make.run("x", "passthrough"), 1).parts[0].against == ""


def test_all_calls_complete(make: Any) -> None:
    found = cut_result(make.run(TEXT), len(TEXT))
    assert (found.words, found.missing) == ("reasoning, content, 2 calls, complete", [])
    assert [arguments.against for _, _, arguments in found.calls] == ["as in the whole output"] * 2


def whole_of(run: Any, *calls: ToolCall, content: str = "") -> Any:
    run.trace.message = Message(content=content, tool_calls=list(calls))
    return run


def test_a_result_the_whole_output_does_not_have_says_so(make: Any) -> None:
    run = whole_of(make.fresh(f"Hi {CALL}"), content="Ho there")
    found = cut_result(run, len(f"Hi {CALL}"))
    assert found.parts[1].against == "differs from character 1 on; the whole output has `o there`"
    assert found.calls[0][2].against == "the whole output has no such call"
    assert found.problem.startswith("Call 0 (`f`) is reported as complete")
    named = cut_result(whole_of(run, ToolCall(None, "g", '{"a": "b c"}')), len(f"Hi {CALL}"))
    assert (named.calls[0][2].against, named.calls[0][2].same) == ("the whole output has `g` here", False)


def test_long_texts_and_many_calls_are_folded(make: Any) -> None:
    run = make.run("word " * 900, "passthrough")
    part = cut_result(run, 4_000).parts[1]
    assert (len(part.text), part.folded) == (TEXT_SHOWN, 2_000)
    many = make.run(CALL * (CALLS_SHOWN + 5))
    found = cut_result(many, len(CALL) * (CALLS_SHOWN + 5))
    assert (found.calls_before, len(found.calls), found.calls[0][0]) == (5, CALLS_SHOWN, 5)
    assert cut_result(many, 3).missing == ["call 0 (`f`)", "call 1 (`f`)", "call 2 (`f`)", "22 more calls"]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (CutRecord(1, 0, 0, 0, 0), "nothing"),
        (CutRecord(1, 2, 3, 0, 0), "reasoning, content"),
        (CutRecord(1, 0, 0, 1, 0), "1 call, cut off"),
        (CutRecord(1, 0, 1, 3, 2), "content, 3 calls, 2 of them complete"),
    ],
)
def test_a_result_in_words(record: CutRecord, words: str) -> None:
    assert shape_words(record) == words


def test_the_strip_rises_where_calls_begin_and_are_complete(make: Any) -> None:
    run = make.run(TEXT)
    strip = cut_strip(records_of(run), len(TEXT))
    assert strip.most == 2
    assert strip.begun.startswith("M0 36H0V36H")
    begins = json.loads(strip.jumps)
    assert len(begins) == len(strip.changes) == int(strip.note.split(", ")[1].split()[0])
    assert strip.note.startswith(f"{len(TEXT)} cuts, ")
    assert strip.words.startswith(
        f"What comes out when the output is cut after one of its {len(TEXT)} characters: from 1 on "
    )
    assert records_of(run) is records_of(run)


def test_problems_are_columns_and_long_lists_are_shortened() -> None:
    said = ["no", "no", None] * 30
    records = [CutRecord(at, at, 0, 0, 0, said[at % 90]) for at in range(1, 200, 2)]
    strip = cut_strip(CutRecords(records, every=False), 200)
    assert strip.note.startswith("100 cuts of 200 tried, ")
    assert strip.note.endswith(" problems")
    assert (strip.most, strip.begun) == (0, "")
    assert len(strip.changes) == CHANGES_SHOWN
    assert strip.more > 0
    assert "more change" in strip.words
    assert strip.problems[0][1] >= 0.1


def test_a_cut_that_nobody_chose_is_at_the_cursor(make: Any, runner: Any) -> None:
    run = make.run(TEXT)
    offsets = [
        replay_page(
            view_of(runner, run.case, ViewState(step=1, cut=cut)), CHECKED, Links("", ViewState())
        ).truncation.offset
        for cut in (None, 0)
    ]
    assert offsets == [run.trace.steps[0].span.end, 1]
    chosen = replay_page(view_of(runner, run.case, ViewState(cut=10_000)), CHECKED, Links("", ViewState())).truncation
    assert chosen.offset == len(TEXT)
    assert chosen.neighbours == (json.loads(chosen.strip().jumps)[-1], None)
    assert chosen.result().offset == len(TEXT)


def test_an_engine_that_is_only_watched_has_a_smaller_budget(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []

    def records(replayer: Any, whole: Any, budget: int) -> CutRecords:
        budgets.append(budget)
        return CutRecords()

    monkeypatch.setattr("webapp.page.inspect.truncation.cut_records", records)
    for black_box in (False, True):
        run = make.fresh("x", "passthrough")
        run.choice.black_box = black_box
        records_of(run)
    assert budgets[1] * 4 == budgets[0]


@pytest.mark.replays
def test_without_being_asked_the_page_replays_no_cut(client: FlaskClient) -> None:
    page = html.unescape(client.get(f"{EXAMPLE}?step=18").text)
    pane = page[page.index('id="truncation"') :]
    assert re.search(
        rf'<a href="{EXAMPLE}\?step=18&cut=\d+" class="button" data-cut="\d+">Cut it at the cursor</a>', pane
    )
    assert "data-cuts=" not in pane


@pytest.mark.replays
def test_a_cut_is_a_link_a_form_and_two_buttons(client: FlaskClient) -> None:
    page = html.unescape(client.get(f"{EXAMPLE}?step=18&cut=120").text)
    pane = page[page.index('id="truncation"') :]
    assert '<input id="cut-at" form="cursor" name="cut" value="120"' in pane
    for direction in ("previous", "next"):
        assert re.search(rf'<a href="{EXAMPLE}\?step=18&cut=\d+"[^>]* data-cut-jump="{direction}"', pane)
    assert "<code>length</code> <span" in pane
    assert "instead of <code>tool_calls</code>" in pane
    assert "of 27 characters" in pane
    assert f"{EXAMPLE}?step=19&cut=120" in page


@pytest.mark.replays
def test_the_tab_counts_the_results_once_somebody_looked(client: FlaskClient) -> None:
    count = r'data-count="truncation"( hidden)?>(\d+)<'
    assert re.findall(count, client.get(f"{EXAMPLE}?cut=120").text) == [("", "5")]
    assert re.findall(count, client.get("/example/unfinished-json").text) == [(" hidden", "0")]


@pytest.mark.replays
def test_the_first_result_has_none_before_it(client: FlaskClient) -> None:
    page = client.get(f"{EXAMPLE}?cut=1").text
    assert 'aria-label="Previous cut with another result, none" data-cut-jump="previous"' in page


@pytest.mark.replays
@pytest.mark.parametrize(
    ("target", "has", "lacks"), [("div#cut", "cut-place", "data-cuts="), ("div#truncated", "data-cuts=", 'id="strip"')]
)
def test_htmx_gets_the_part_it_asks_for(client: FlaskClient, target: str, has: str, lacks: str) -> None:
    part = client.get(f"{EXAMPLE}?cut=120", headers={**ASKED, "HX-Target": target}).text
    assert has in part
    assert lacks not in part


@pytest.mark.replays
def test_a_run_without_address_posts_its_cut(client: FlaskClient, make: Any) -> None:
    case = make.case(TEXT).model_dump_json(by_alias=True, exclude_defaults=True)
    page = html.unescape(client.post("/run", data={"case": case, "cut": "40"}).text)
    assert 'name="go" value="cut=' in page
    assert 'value="40" inputmode="numeric" size="6"' in page


def test_an_empty_output_cannot_be_cut(client: FlaskClient, make: Any) -> None:
    case = make.case("").model_dump_json(by_alias=True, exclude_defaults=True)
    page = client.post("/run", data={"case": case, "cut": "4"}).text
    assert "The output is empty: there is nothing to cut." in page
    assert 'id="cut"' not in page
