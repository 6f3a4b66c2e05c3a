"""The step pane and the events: what a step did, in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webapp.page.inspect.index import index_of
from webapp.page.inspect.step import card, log
from webapp.page.inspect.window import window_around

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'


def step_with(run: Any, text: str) -> int:
    """The step that fed the first character of `text`."""
    return int(index_of(run).step_at(run.trace.text.index(text)))


def test_a_card_says_what_is_held_and_why(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    found = card(index_of(run), step_with(run, "<tool"), dict(run.format.terminals))
    assert [item.text for item in found.held] == ["<"]
    assert found.reasons
    assert found.hold_band is not None
    assert found.hold_band[1] > found.hold_band[0]
    assert "Held 1 character." in found.announce


def test_a_card_says_how_much_is_held_and_when_it_is_let_go(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    index, terminals = index_of(run), dict(run.format.terminals)
    number = step_with(run, "ool_call>")
    found = card(index, number, terminals)
    assert (found.held_size, found.held_before.size, found.held_before.grew) == (3, 2, True)
    assert found.let_go is not None
    assert found.let_go_by == run.trace.text[found.let_go - 1]
    after = card(index, found.let_go, terminals)
    assert (after.held_size, after.let_go, after.held_before.grew) == (0, None, False)
    assert card(index, 1, terminals).held_before.size == 0


def test_a_card_names_the_rows_that_fired(make: Any) -> None:
    run = make.run(CALL)
    fired = next(step.index for step in run.trace.steps if step.transitions)
    found = card(index_of(run), fired, dict(run.format.terminals))
    assert (found.rules[0].step, found.rules[0].fired.sub) == (fired, 1)
    assert found.last_edge.split()[0] == found.rules[-1].fired.from_state
    later = card(index_of(run), fired + 1, dict(run.format.terminals))
    assert later.rules or (later.last_rule is not None and later.last_rule.step == fired)


def test_the_last_card_is_the_end_of_the_output(make: Any) -> None:
    run = make.run(CALL)
    found = card(index_of(run), index_of(run).total, dict(run.format.terminals))
    assert (found.title, found.note, found.node) == ("End of output", "finish reason tool_calls", "END")


def test_a_card_shows_the_delta_as_the_client_gets_it(make: Any) -> None:
    run = make.run("plain", parser="passthrough")
    assert json.loads(card(index_of(run), 1, {}).out) == {"content": run.pieces[0].text}


def test_reasoning_and_calls_are_counted_in_words(make: Any) -> None:
    run = make.run(f"<think>hm</think>{CALL}")
    drawn = [card(index_of(run), number, run.format.terminals) for number in range(1, index_of(run).total + 1)]
    said = " ".join(item.summary for item in drawn)
    assert "reasoning" in said
    assert "call 0 f" in said


def test_the_log_has_events_and_holds_and_can_be_filtered(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    view = window_around(index_of(run), 1)
    assert {"held", "ContentText", "CallArguments"} <= {line.kind for line in log(index_of(run), view, "").lines}
    assert {line.kind for line in log(index_of(run), view, "emit:arguments call:0").lines} == {"CallArguments"}
    assert log(index_of(run), view, "nowhere").note.startswith("0 matches of")


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("sent:args", {"CallArguments"}),
        ("sent:content", {"ContentText"}),
        ("sent:nothing -dropped: held > 0 -held>0", set()),
        ("held > 15", {"held"}),
        ('text:"</tool_call>"', {"Marker", "CallEnd"}),
        ("dropped:space", {"Dropped"}),
        ("json:whole", {"CallEnd"}),
        ("state:CONTENT -sent:content step < 9", {"held"}),
        ("begin", {"held"}),  # why it is held
        ("structure", {"Marker"}),
    ],
)
def test_a_filter_lists_the_lines_for_which_its_conditions_hold(make: Any, words: str, kinds: set[str]) -> None:
    index = index_of(make.run(CALL, tokenizer={"name": "characters"}))
    found = log(index, window_around(index, 1), words)
    assert {line.kind for line in found.lines} == kinds
    assert not found.problem


def test_a_filter_that_is_no_condition_is_said_and_lists_what_is_there(make: Any) -> None:
    index = index_of(make.run(CALL))
    found = log(index, window_around(index, 1), "colour:red")
    assert found.problem.startswith("There is no condition colour:")
    assert found.lines


def test_a_filter_that_matches_much_says_how_much_more(make: Any) -> None:
    run = make.run("a b " * 200, parser="passthrough", tokenizer={"name": "characters"})
    found = log(index_of(run), window_around(index_of(run), 1), "content")
    assert len(found.lines) == 300
    assert found.more == 500


def test_a_card_says_where_the_call_stands(make: Any) -> None:
    index = index_of(make.run(CALL))
    states = [card(index, number, {}).codec for number in range(1, index.total + 1)]
    assert [part for part in dict.fromkeys(state.rpartition("; ")[2] for state in states) if "call is" in part] == [
        "the call is tentative",
        "the call is open",
    ]
