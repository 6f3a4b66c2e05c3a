"""Where a message departs from what its case expects, a server's or a parser's, and what shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from parsers.cases.case import Expect
from parsers.cases.departure import Departure, departure
from parsers.cases.expect import Difference
from parsers.cases.io import load_case
from parsers.cases.run import run_case
from tests.webapp.page.streams import END, ROLE, STREAM, Payload, chunk, stream_case

CALL = {"name": "f", "arguments": {"x": 1}}
LONG = [ROLE, chunk({"content": "a" * 30}), chunk({"content": "b" * 60}), END]
WRONG_CALLS = "The server sent a wrong answer: 1 call: f came, right is "


def departed(stream: list[Payload], expect: dict[str, Any] | None, **more: Any) -> Departure | None:
    case = stream_case(stream, parser="recorded")
    read = None if expect is None else Expect.model_validate(expect)
    run = run_case(case.model_copy(update={"expect": read, **more}))
    return departure(run.case, run.trace)


@pytest.mark.parametrize(
    "expect",
    [
        None,
        {},
        {"content": "Hi", "tool_calls": [CALL], "finish_reason": "tool_calls"},
        {"tool_calls": [{"name": "f", "raw": '{"x": 1}'}]},
    ],
)
def test_an_answer_as_it_is_expected_does_not_depart(expect: dict[str, Any] | None) -> None:
    assert departed(STREAM, expect) is None


@pytest.mark.parametrize(
    ("expect", "found", "said"),
    [
        ({"content": "Ho"}, Departure("Content", "Hi", "Ho", 2, 1), "wrong content: `Hi` came, right is `Ho`."),
        (
            {"content": "Hi there"},
            Departure("Content", "Hi", "Hi there", 2, 2),
            "wrong content: `Hi` came, right is `Hi there`.",
        ),
        (
            {"reasoning": "why"},
            Departure("Reasoning", "", "why", 5),
            "wrong reasoning: nothing came, right is `why`.",
        ),
        (
            {"tool_calls": [{"name": "f", "arguments": {"x": 2}}]},
            Departure("Arguments of call 0", '{"x": 1}', '{"x": 2}', 4, 6),
            'wrong arguments of call 0: `{"x": 1}` came, right is `{"x": 2}`.',
        ),
        (
            {"tool_calls": [{"name": "g", "arguments": {"x": 1}}]},
            Departure("Name of call 0", "f", "g", 3),
            "wrong name of call 0: `f` came, right is `g`.",
        ),
        (
            {"finish_reason": "stop"},
            Departure("Finish reason", "tool_calls", "stop", 5),
            "wrong finish reason: `tool_calls` came, right is `stop`.",
        ),
    ],
)
def test_the_first_difference_is_told_with_the_chunk_that_shows_it(
    expect: dict[str, Any], found: Departure, said: str
) -> None:
    made = departed(STREAM, expect)
    assert made == found
    assert made.headline == f"The server sent {said}"


@pytest.mark.parametrize(
    ("calls", "right"),
    [([], "0 calls"), ([CALL, CALL], "2 calls: f, f"), ([{**CALL, "name": "g"}] * 3, "3 calls: g, g, g")],
)
def test_the_number_of_calls_comes_before_anything_else(calls: list[Any], right: str) -> None:
    made = departed(STREAM, {"content": "Ho", "tool_calls": calls})
    assert made == Departure("", "1 call: f", right, 5)
    assert made.headline == f"{WRONG_CALLS}{right}."


@pytest.mark.parametrize(
    ("expect", "places"),
    [
        ({"content": "Ho"}, ""),
        (
            {"content": "Ho", "tool_calls": [{"name": "g", "arguments": {"x": 2}}]},
            "Not as expected in all: `content`, `tool_calls[0].name`, `tool_calls[0].arguments`.",
        ),
    ],
)
def test_all_that_is_not_as_expected_is_named_where_it_is_more_than_one_thing(
    expect: dict[str, Any], places: str
) -> None:
    found = departed(STREAM, expect)
    assert found is not None
    assert {one.strip("`.") for one in found.places.split(": ")[-1].split(", ")} == {
        one.strip("`.") for one in places.split(": ")[-1].split(", ")
    }


def test_many_places_are_counted() -> None:
    found = Departure("Content", "a", "b", 1, differences=tuple([Difference(f"f{at}", "a", "b") for at in range(8)]))
    assert found.places == "Not as expected in all: `f0`, `f1`, `f2`, `f3`, `f4`, `f5` and 2 more."


def test_white_space_comes_behind_anything_else() -> None:
    made = departed(STREAM, {"content": "Hi\n", "tool_calls": [{"name": "g", "arguments": {"x": 1}}]})
    assert made is not None
    assert made.part == "Name of call 0"
    made = departed(STREAM, {"content": "Hi\n"})
    assert made is not None
    assert made.part == "Content"


def test_an_error_is_told_as_one() -> None:
    made = departed([*STREAM[:2], {"error": {"message": "no"}}], {"content": "Hi", "tool_calls": [CALL]})
    assert made == Departure("", "An error", "1 call: f", 3)
    assert made.headline == "The server sent a wrong answer: an error came, right is 1 call: f."


def test_of_long_texts_the_place_is_shown_where_they_part() -> None:
    made = departed(LONG, {"content": "a" * 30 + "c" * 60})
    before = "…" + "a" * 12
    assert made == Departure("Content", f"{before}{'b' * 31}…", f"{before}{'c' * 31}…", 3, len(before))


def test_what_a_case_does_not_compare_is_no_departure() -> None:
    expect = {"content": " Hi\n"}
    soft = stream_case(STREAM).compare.model_copy(update={"whitespace": "soft"})
    assert departed(STREAM, expect) is not None
    assert departed(STREAM, expect, compare=soft) is None


PARSED = 'Hi.<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>'
THE_CALL = {"kind": "tool_call", **CALL}


def of_parser(expect: dict[str, Any], **more: Any) -> Departure | None:
    given = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": PARSED}, "expect": expect, **more}
    run = run_case(load_case(given), compare=False)
    return departure(run.case, run.trace)


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({"content": "Hello."}, "Not as the case expects, in content: `Hi.` came, right is `Hello.`."),
        ({"reasoning": "Hm."}, "Not as the case expects, in reasoning: nothing came, right is `Hm.`."),
        ({"tool_calls": []}, "Not as the case expects: 1 call: f came, right is 0 calls."),
        (
            {"events": [THE_CALL, {"kind": "text", "text": "Hi."}]},
            "Not as the case expects, in order: `text, tool_call` came, right is `tool_call, text`.",
        ),
    ],
)
def test_a_parsers_message_is_told_beside_what_its_case_expects(expect: dict[str, Any], words: str) -> None:
    found = of_parser(expect)
    assert found is not None
    assert (found.headline, found.severity) == (words, "error")
    assert of_parser({"content": "Hi.", "tool_calls": [CALL]}) is None


def test_what_is_left_to_the_engine_is_no_error() -> None:
    found = of_parser({"content": "Hello."}, verdict="implementation_defined")
    assert found is not None
    assert found.severity == "info"
    assert (found.leads("pass"), found.leads("info"), found.leads("warning")) == (True, False, False)
    worse = replace(found, severity="error")
    assert (worse.leads("pass"), worse.leads("warning"), worse.leads("error")) == (True, True, False)
