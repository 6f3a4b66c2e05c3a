"""What is watched: what stands after a step, what the step changed, and the steps that are pinned."""

from __future__ import annotations

from typing import Any

import pytest

from webapp.page.inspect.index import index_of
from webapp.page.inspect.watch import MOST_PINS, read_pins, toggled, watch, watched
from webapp.page.inspect.window import window_around

CALL = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c", "n": 3}}\n</tool_call>\n'


@pytest.fixture(scope="module")
def index(make: Any) -> Any:
    return index_of(make.run(CALL, tokenizer={"name": "characters"}))


def after(index: Any, text: str) -> int:
    """The step that feeds the last character of a text."""
    return int(index.step_at(index.trace.text.index(text) + len(text) - 1))


def test_before_the_first_step_nothing_stands(index: Any) -> None:
    row = watched(index, 0)
    assert (row.step, row.state, row.held.length, row.call, row.content, row.changed) == (0, "", 0, "", 0, frozenset())


@pytest.mark.parametrize(
    ("fed", "state", "held", "call", "arguments", "changed"),
    [
        ("H", "CONTENT", "", "", "", {"content"}),
        ("<tool", "CONTENT", "<tool", "", "", {"held"}),
        ("<tool_call>", "TOOL_CALL", "<tool_call>", "", "", {"held", "state", "call"}),
        ('"name": "f"', "TOOL_CALL", "", "call 0, open", "", {"held", "call"}),
        ('"arguments": {', "TOOL_CALL", "", "call 0, open", "{", {"arguments"}),
        ('{"a": "b c"', "TOOL_CALL", "", "call 0, open", '{"a": "b c"', {"arguments"}),
        ('"n": 3', "TOOL_CALL", "", "call 0, open", '{"a": "b c", "n": 3', {"arguments"}),
    ],
)
def test_a_row_says_what_stands_after_a_step_and_what_that_changed(
    index: Any, fed: str, state: str, held: str, call: str, arguments: str, changed: set[str]
) -> None:
    row = watched(index, after(index, fed))
    assert (row.state, row.held.text, row.call, row.arguments.text) == (state, held, call, arguments)
    assert row.changed == changed


TWO = f"{CALL}{CALL}"
SECOND = TWO.rindex("<tool_call>")


@pytest.mark.parametrize(
    ("parser", "tools", "fed", "expected"),
    [
        ({}, [], SECOND - 2, ("call 0", "", '{"a": "b c", "n": 3}')),
        ({}, [], SECOND + 14, ("", "call 1: not sent yet, it may still be text", "")),
        ({}, [], SECOND + 24, ("call 1, open", "", "")),
        ({}, [], 20, ("", "call 0: not sent yet, it may still be text", "")),
        ({"invalid_call": "strict"}, [], SECOND + 50, ("", "call 1: not sent yet, it is judged when it is whole", "")),
        ({"unknown_tool": "text"}, ["g"], SECOND + 24, ("", "a call: to an unknown tool, it goes out as text", "")),
        ({"unknown_tool": "drop"}, ["g"], SECOND + 24, ("", "a call: to an unknown tool, it reaches nobody", "")),
    ],
)
def test_of_a_call_that_is_not_sent_that_is_said_and_not_what_another_call_had(
    make: Any, parser: dict[str, str], tools: list[str], fed: int, expected: tuple[str, str, str]
) -> None:
    case = make.case(TWO, tokenizer={"name": "characters"}, tools=[{"name": name} for name in tools])
    asked = case.model_copy(update={"parser": case.parser.model_copy(update={"policy": parser})})
    index = index_of(make.runner.run(asked))
    row = watched(index, int(index.step_at(fed)))
    assert (row.call, row.unsent, row.arguments.text) == expected


def test_of_a_long_text_the_end_is_shown(make: Any) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "' + "x" * 400 + '"}}\n</tool_call>'
    index = index_of(make.run(text))
    row = watched(index, index.total)
    assert (row.title, row.arguments.length, row.arguments.clipped) == ("end", 409, True)
    assert row.arguments.text.endswith('xxx"}')


def test_every_step_of_the_window_has_a_row_and_the_one_before_it(index: Any) -> None:
    view = window_around(index, 50)
    found = watch(index, view, (3, 10, 10_000))
    assert [row.step for row in found.rows] == [*range(view.first - 1, view.last + 1)]
    assert [row.step for row in found.pinned] == [3, 10]


@pytest.mark.parametrize(
    ("text", "pins"),
    [("", ()), ("15,3,15", (3, 15)), ("0,x,-1,7", (7,)), ("1234567890,2", (2,)), ("\u0663,4", (4,))],
)
def test_pins_are_read_from_an_address(text: str, pins: tuple[int, ...]) -> None:
    assert read_pins(text) == pins


def test_pins_are_not_more_than_a_page_can_show() -> None:
    assert len(read_pins(",".join(map(str, range(1, 99))))) == 30


def test_a_step_is_pinned_and_not_pinned() -> None:
    assert toggled((3, 15), 7) == "3,7,15"
    assert toggled((3, 15), 3) == "15"


def test_one_pin_more_than_there_may_be_is_not_taken() -> None:
    most = range(1, MOST_PINS + 1)
    assert read_pins(toggled(most, 99)) == tuple(most)
    assert toggled(most, 1) == ",".join(map(str, most[1:]))
