"""The panes' view models, on real replays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Context, Tool
from webapp.page.cards import card, cards
from webapp.page.inspector import inspector, interesting_step
from webapp.page.log import log
from webapp.page.machine import machine
from webapp.page.overview import overview
from webapp.page.result import result
from webapp.page.roles import destinations, runs
from webapp.page.search import Search
from webapp.page.search_panes import SearchPanes
from webapp.page.state import Links, ViewState
from webapp.page.strip import strip
from webapp.page.window import window_around

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'


def step_with(run: Any, text: str) -> int:
    """The step that fed the first character of `text`."""
    return int(run.index.step_at(run.trace.text.index(text)))


@pytest.mark.parametrize("parser", ["qwen", "passthrough"])
def test_runs_tile_the_output_and_are_split_at_holds(make: Any, parser: str) -> None:
    run = make.run(CALL, parser)
    for step in run.trace.steps:
        found = runs(run.index, 0, len(CALL), step.holds)
        assert "".join(item.text for item in found) == CALL
        held = "".join(item.text for item in found if item.held)
        assert held == run.trace.held_text(step)


def test_the_ends_of_an_owner_are_marked_once(make: Any) -> None:
    run = make.run(CALL)
    found = runs(run.index, 0, len(CALL), (), cuts=range(len(CALL)))
    assert sum(item.first for item in found) == sum(item.last for item in found) == len(run.trace.partition)


def test_destinations_are_in_words(make: Any) -> None:
    run = make.run(CALL)
    place = CALL.index("b c")
    assert [item.text for item in destinations(run.index, place, place + 3)] == ["tool_calls[0].arguments"]
    assert [item.text for item in destinations(run.index, 0, 2)] == ["content"]
    assert destinations(run.index, len(CALL) - 1, len(CALL))[0].detail


def test_the_strip_spells_every_token_and_marks_the_cursor(make: Any) -> None:
    run = make.run("I say Zürich\n")
    drawn = strip(run.index, run.pieces, window_around(run.index, 2), 2)
    assert [token.current for token in drawn.tokens].index(True) == 1
    assert drawn.tokens[0].label.startswith("1, id ")
    assert "newline" in drawn.tokens[-1].label
    assert drawn.tokens[-1].breaks
    assert drawn.note == f"13 characters, {len(run.pieces)} tokens"


def test_a_token_without_text_shows_its_bytes(make: Any) -> None:
    run = make.run("Reykjavík é")
    drawn = strip(run.index, run.pieces, window_around(run.index, 1), 1)
    silent = [token for token, piece in zip(drawn.tokens, run.pieces, strict=True) if not piece.text]
    assert silent
    assert all(token.chip and token.chip.text == "C3 …" and "no text yet" in token.label for token in silent)


def test_facts_say_tokens_bytes_and_destination(make: Any) -> None:
    run = make.run("word " * 8, replay=[{"by": "token", "size": 5}])
    drawn = strip(run.index, run.pieces, window_around(run.index, 1), 1)
    assert drawn.facts[0].tokens == "1 to 5"
    assert drawn.facts[-1].tokens == "none: the output ended"
    assert drawn.facts[0].raw.startswith("77 6F")


def test_many_bytes_are_counted(make: Any) -> None:
    run = make.run("word " * 8, replay=[{"by": "whole"}])
    facts = strip(run.index, run.pieces, window_around(run.index, 1), 1).facts[0]
    assert facts.raw.endswith("… 40 in all")


def test_bytes_are_shown_in_rows(make: Any) -> None:
    run = make.run("0123456789é")
    rows = strip(run.index, run.pieces, window_around(run.index, 1), 1).hex_rows
    assert rows == [(0, "30 31 32 33 34 35 36 37", "01234567"), (8, "38 39 C3 A9", "89..")]


def test_a_card_says_what_is_held_and_why(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    found = card(run.index, step_with(run, "<tool"), dict(run.format.terminals))
    assert [item.text for item in found.held] == ["<"]
    assert found.reasons
    assert found.hold_band is not None
    assert found.hold_band[1] > found.hold_band[0]
    assert "Held 1 character." in found.announce


def test_a_card_names_the_rows_that_fired(make: Any) -> None:
    run = make.run(CALL)
    fired = next(step.index for step in run.trace.steps if step.transitions)
    found = card(run.index, fired, dict(run.format.terminals))
    assert found.rules[0].number == f"{fired}.1"
    assert found.last_edge.split()[0] == found.rules[-1].source
    later = card(run.index, fired + 1, dict(run.format.terminals))
    assert later.rules or (later.last_rule is not None and later.last_rule.step == fired)


def test_the_last_card_is_the_end_of_the_output(make: Any) -> None:
    run = make.run(CALL)
    found = card(run.index, run.index.total, dict(run.format.terminals))
    assert (found.title, found.note, found.node) == ("End of output", "finish reason tool_calls", "END")


def test_a_card_shows_the_delta_as_the_client_gets_it(make: Any) -> None:
    run = make.run("plain", parser="passthrough")
    assert json.loads(card(run.index, 1, {}).out) == {"content": run.pieces[0].text}


def test_reasoning_and_calls_are_counted_in_words(make: Any) -> None:
    run = make.run(f"<think>hm</think>{CALL}")
    drawn = cards(run.index, window_around(run.index, 1), dict(run.format.terminals))
    said = " ".join(item.summary for item in drawn)
    assert "reasoning" in said
    assert "call 0 f" in said


def test_the_result_tags_every_character_with_its_step(make: Any) -> None:
    run = make.run(CALL)
    found = result(run.index, window_around(run.index, 1), Context(), None)
    assert "".join(item.text for item in found.content) == run.trace.message.content
    assert "".join(item.text for item in found.calls[0].raw) == '{"a": "b c", "n": 3}'
    assert [(row.key, "".join(v.text for v in row.value)) for row in found.calls[0].arguments] == [
        ("a", '"b c"'),
        ("n", "3"),
    ]
    steps = [item.step for item in found.calls[0].raw]
    assert steps == sorted(steps)


def test_an_argument_points_at_its_output(make: Any) -> None:
    run = make.run(CALL)
    row = result(run.index, window_around(run.index, 1), Context(), None).calls[0].arguments[0]
    assert CALL[row.start : row.end] == '"b c"'
    assert f'data-select="{row.start}-{row.end}"' in row.attributes


def test_the_schema_speaks_about_each_member(make: Any) -> None:
    run = make.run(CALL)
    schema = {"properties": {"a": {"type": ["string", "null"]}, "b": True}}
    rows = result(run.index, window_around(run.index, 1), Context((Tool("f", schema),)), None).calls[0].arguments
    assert [(row.schema, row.unknown) for row in rows] == [("string or null", False), ("not in schema", True)]


def test_text_outside_the_window_is_folded(make: Any) -> None:
    run = make.run("word " * 900, parser="passthrough")
    found = result(run.index, window_around(run.index, 400), Context(), None)
    assert found.content[0].folded.endswith("from step 1 on")
    assert found.content[-1].folded
    folded = sum(int(item.folded.split()[0].replace(",", "")) for item in found.content if item.folded)
    assert folded + sum(len(item.text) for item in found.content) == 4500


def test_a_very_long_run_keeps_its_two_ends(make: Any) -> None:
    run = make.run("x" * 9000 + "end", parser="passthrough", replay=[{"by": "whole"}])
    found = result(run.index, window_around(run.index, 1), Context(), None)
    assert "more…" in found.content[0].text
    assert found.content[0].text.endswith("end")


def test_calls_outside_the_window_are_counted(make: Any) -> None:
    run = make.run(CALL * 60)
    found = result(run.index, window_around(run.index, run.index.total // 2), Context(), None)
    assert found.calls_before > 0
    assert found.calls_before + len(found.calls) + found.calls_after == 60


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ('<tool_call>{"name": "f", "arguments": {"a": "b', "not valid JSON"),
        ('<tool_call>{"name": "f", "arguments": {}}</tool_call>', ""),
    ],
)
def test_arguments_that_cannot_be_read_say_so(make: Any, output: str, problem: str) -> None:
    run = make.run(output)
    found = result(run.index, window_around(run.index, 1), Context(), None).calls[0].problem
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


def test_expected_and_actual_are_compared_part_by_part(make: Any) -> None:
    run = make.run(CALL)
    expect = {
        "content": "Hi.\n",
        "reasoning": None,
        "finish_reason": "stop",
        "tool_calls": [{"name": "f", "arguments": {"n": 3, "a": "b c"}}, {"name": "g", "raw": "{"}],
    }
    found = result(run.index, window_around(run.index, 1), Context(), expect).differences
    same = {item.part: item.same for item in found}
    assert same == {"content": same["content"], "reasoning": True, "finish": False, "call 0": True, "call 1": False}


def test_the_log_has_events_and_holds_and_can_be_filtered(make: Any) -> None:
    run = make.run(CALL, tokenizer={"name": "characters"})
    view = window_around(run.index, 1)
    assert {"held", "ContentText", "CallArguments"} <= {line.kind for line in log(run.index, view, "").lines}
    assert {line.kind for line in log(run.index, view, "emit:arguments call:0").lines} == {"CallArguments"}
    assert log(run.index, view, "nowhere").note.startswith("0 matches of")


def test_a_filter_that_matches_much_says_how_much_more(make: Any) -> None:
    run = make.run("a b " * 200, parser="passthrough", tokenizer={"name": "characters"})
    found = log(run.index, window_around(run.index, 1), "content")
    assert len(found.lines) == 300
    assert found.more == 500


def test_the_machine_shows_where_the_replay_was(make: Any) -> None:
    run = make.run(CALL)
    fired = next(step.index for step in run.trace.steps if step.transitions)
    found = machine(run.index, run.format, run.policy, fired)
    assert [node.node.name for node in found.nodes if node.current] == [run.index.step(fired).state]
    assert [arrow.key for arrow in found.arrows if arrow.last] == [card(run.index, fired, {}).last_edge]
    assert sum(row.times for row in found.rows) == sum(len(step.transitions) for step in run.trace.steps)
    assert "never visited" in found.note


def test_the_overview_stays_small_and_covers_every_step(make: Any) -> None:
    run = make.run((CALL * 60)[:9000], parser="qwen")
    found = overview(run.index, [Finding("known_tool", "warning", "output", "m", step=3)], 2)
    assert (found.states[0].first, found.states[-1].last) == (1, run.index.total)
    assert all(a.last + 1 == b.first for a, b in zip(found.states, found.states[1:], strict=False))
    assert len(found.roles) <= 1000
    assert len(found.emissions) <= 301
    assert [mark.step for mark in found.findings] == [3]
    assert f"{run.index.total:,} steps" in found.words


def test_labels_of_states_fit_or_are_cut(make: Any) -> None:
    run = make.run("x" + CALL)
    labels = {bar.label for bar in overview(run.index, [], 1).states}
    assert any(label and label in {bar.state for bar in overview(run.index, [], 1).states} for label in labels)


def test_a_page_starts_where_there_is_something_to_see(make: Any, runner: Any) -> None:
    cut = make.run('<tool_call>{"name": "f", "arguments": {"a": "b')
    assert interesting_step(cut.index) == cut.index.total
    warned = make.run(CALL, tools=[{"name": "g"}])
    runner.report(warned)
    assert interesting_step(warned.index) == warned.index.findings[0]


def test_a_page_without_report_says_so(make: Any) -> None:
    run = make.run(CALL)
    page = inspector(run, SearchPanes(Search("idle", automatic=True)), Links("/x", ViewState()))
    assert (page.checked.verdict, page.checked.quick, page.posted) == (None, None, False)
    assert json.loads(page.jumps)["emission"] == run.index.emissions
