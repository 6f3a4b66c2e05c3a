"""The index and what is drawn from it: every look-up agrees with the trace itself."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.vocabulary.trace import Hold, Ownership, StateView, Step, Trace
from parsers.vocabulary.types import Piece, Span
from webapp.page.inspect.index import build, index_of, neighbours
from webapp.page.inspect.pane_tokens import CHARACTERS_AT_LEAST, TOKENS_AT_MOST
from webapp.page.inspect.window import STEPS_EACH_SIDE, steps_around, window_around

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>'


def a_trace(steps: list[tuple[int, int, list[Hold]]]) -> Trace:
    """A trace of steps (start, end, holds) without events."""
    trace = Trace("p", (), {"by": "token"}, "text", "x" * steps[-1][1])
    for number, (start, end, holds) in enumerate(steps, start=1):
        view = StateView("S", tuple(holds))
        trace.steps = [*trace.steps, Step(number, Span(start, end), (), "S", tuple(holds), (), (), None, view)]
    trace.partition = [Ownership(0, steps[-1][1], "content")]
    return trace


def test_a_hold_lasts_until_its_first_character_is_let_go() -> None:
    hold = Hold(1, 3, "lexer", "")
    trace = a_trace([(0, 1, []), (1, 2, [hold]), (2, 3, [hold]), (3, 4, [Hold(3, 4, "lexer", "")]), (4, 4, [])])
    assert list(build(trace, ()).releases) == [1, 4, 4, 5, 5]


@pytest.mark.parametrize(("offset", "step"), [(0, 1), (1, 2), (3, 4), (99, 5)])
def test_the_step_of_a_character(offset: int, step: int) -> None:
    trace = a_trace([(0, 1, []), (1, 2, []), (2, 3, []), (3, 4, []), (4, 4, [])])
    assert build(trace, ()).step_at(offset) == step


def test_tokens_without_text_belong_to_the_step_that_comes_with_them() -> None:
    trace = a_trace([(0, 3, []), (3, 4, []), (4, 4, [])])
    trace.chunking = {"by": "cuts"}
    index = build(trace, [Piece("ab"), Piece(""), Piece("c"), Piece("d")])
    assert [index.step_of_piece(at) for at in range(4)] == [1, 1, 1, 2]


def test_token_by_token_every_token_is_its_step(make: Any) -> None:
    run = make.run("Zürich 😀 <tool_call>")
    assert [index_of(run).step_of_piece(at) for at in range(len(run.pieces))] == [*range(1, len(run.pieces) + 1)]


def test_channels_spell_the_message(make: Any) -> None:
    run = make.run(f"<think>hm</think>Hello {CALL}")
    message, index = run.trace.message, index_of(run)
    assert index.reasoning.text == message.reasoning
    assert index.content.text == message.content
    assert index.calls[0].arguments.text == message.tool_calls[0].arguments
    assert index.calls[0].name.text == "f"
    assert index.calls[0].complete


def test_channel_lengths_are_those_of_the_steps(make: Any) -> None:
    run = make.run("one two three")
    for step in run.trace.steps:
        assert index_of(run).content.length_at(step.index) == step.content_length


def test_the_nearest_places_before_and_after() -> None:
    places = [3, 7, 9]
    assert [neighbours(places, at) for at in (3, 7, 8, 9)] == [(None, 7), (3, 9), (7, 9), (7, None)]


@pytest.mark.parametrize(
    ("step", "total", "shown"),
    [
        (1, 85, (1, 85)),
        (1, 86, (1, 33)),
        (29, 200, (1, 45)),
        (30, 200, (14, 46)),
        (180, 200, (164, 200)),
        (5, 9, (1, 9)),
    ],
)
def test_few_steps_are_shown_and_not_counted(step: int, total: int, shown: tuple[int, int]) -> None:
    assert steps_around(step, total) == shown


@pytest.mark.parametrize("step", [1, 60, 200, 401])
def test_a_window_holds_its_step_and_is_bounded(step: int) -> None:
    trace = a_trace([(at, min(at + 1, 400), []) for at in range(401)])
    index = build(trace, [Piece("x")] * 400)
    window = window_around(index, step)
    assert window.holds(step)
    assert window.last - window.first == 2 * STEPS_EACH_SIDE
    assert 0 <= window.token_first < window.token_last <= 400


def test_the_tokens_of_a_window_are_bounded_around_the_cursor() -> None:
    trace = a_trace([(0, 5000, []), (5000, 5001, []), (5001, 5001, [])])
    trace.chunking = {"by": "cuts"}
    window = window_around(build(trace, [Piece("x")] * 5001), 2)
    assert window.token_last - window.token_first == TOKENS_AT_MOST
    assert window.token_last == 5001


@pytest.mark.parametrize(("size", "step"), [(1, 1), (1, 2000), (1, 4000), (3, 2000), (20, 2000)])
def test_short_tokens_around_the_window_fill_the_pane(size: int, step: int) -> None:
    trace = a_trace([(at * size, (at + 1) * size, []) for at in range(4000)])
    window = window_around(build(trace, [Piece("x" * size)] * 4000), step)
    tokens = window.token_last - window.token_first
    assert tokens == TOKENS_AT_MOST or tokens * size >= CHARACTERS_AT_LEAST
    assert tokens <= max(TOKENS_AT_MOST, 2 * STEPS_EACH_SIDE + 1)
    assert window.token_first <= step - 1 < window.token_last


def test_all_the_text_of_a_window_is_in_its_tokens(make: Any) -> None:
    run = make.run("word " * 600)
    window = window_around(index_of(run), 300)
    text = "".join(piece.text for piece in run.pieces[window.token_first : window.token_last])
    assert run.trace.text[window.start : window.end] in text


def test_an_output_without_text_still_has_its_end(make: Any) -> None:
    run = make.run("", parser="passthrough")
    assert index_of(run).total == 1
    assert window_around(index_of(run), 1).holds(1)


def test_events_are_counted_before_each_step(make: Any) -> None:
    run = make.run(CALL)
    assert index_of(run).events == sum(len(step.events) for step in run.trace.steps)


def test_calls_are_found_by_their_characters(make: Any) -> None:
    run = make.run(CALL + CALL)
    second = run.trace.text.rindex('"a"')
    calls = [index_of(run).call_at(at) for at in (0, second)]
    assert [call and call.number for call in calls] == [None, 1]
