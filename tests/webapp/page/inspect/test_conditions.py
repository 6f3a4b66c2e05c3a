"""Conditions on steps: what each holds at, and what is said of one that there is none of."""

from __future__ import annotations

from typing import Any

import pytest

from webapp.page.inspect.conditions import read_conditions, stops
from webapp.page.inspect.index import index_of

TEXT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b c"}}\n</tool_call>\n<tool_call>\n{"name": "g", "arg'


@pytest.fixture(scope="module")
def index(make: Any) -> Any:
    return index_of(make.run(TEXT, replay=[{"by": "char"}]))


def at(index: Any, words: str) -> list[str]:
    """The characters that were fed at the stops; empty for the end."""
    found = stops(index, words)
    assert not found.problem
    return [index.trace.text[step.span.start : step.span.end] for step in map(index.step, found.steps)]


@pytest.mark.parametrize(
    ("words", "fed"),
    [
        ("step < 4", ["H", "i", "."]),
        ("step<=2", ["H", "i"]),
        ("step >= 2 step < 4", ["i", "."]),
        ("step = 3", ["."]),
        ("held > 27 call:0", []),
        ("sent:content", ["H", "i", ".", "\n"]),
        ("sent:name", ['"', '"']),
        ("sent:args call:1", []),
        ("state:content -sent:content -held>0", []),
        ('text:"<tool_call>"', [">", ">"]),
        ('text:"b c"', ["c"]),
        ("text:", []),
        ("row:r0", [">"]),
        ("json:whole", [">"]),
        ("json:broken", [""]),  # the call that is cut off, at the end
        ("CallStart", ['"', '"']),
        ('"contenttext"', ["H", "i", ".", "\n"]),
        ("err:no_such", []),
        ("dropped:space", ['"']),
        ("sent:anything step<2", ["H"]),
        ("sent:nothing step<7", ["<", "t"]),
    ],
)
def test_a_condition_holds_at_its_steps(index: Any, words: str, fed: list[str]) -> None:
    assert at(index, words) == fed


def test_words_that_name_no_condition_are_said_and_stop_nowhere(index: Any) -> None:
    found = stops(index, "held > 3 color:red")
    assert found.steps == []
    assert found.problem.startswith(
        "There is no condition color: – there are held > 20, step > 9, gap > 60ms, state, sent,"
    )


def test_no_words_are_no_condition(index: Any) -> None:
    assert stops(index, "  ").steps == []
    assert read_conditions("") == ([], "")


def test_of_very_many_stops_the_first_are_listed_and_the_others_counted(index: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("webapp.page.inspect.conditions._STOPS_LISTED", 10)
    found = stops(index, "step > 0")
    assert found.steps == list(range(1, 11))
    assert found.more == index.total - 10
