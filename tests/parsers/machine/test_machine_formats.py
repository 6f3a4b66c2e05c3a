"""Formats that begin, name, fill or end a call in unusual ways: nothing is lost and no call is left open."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.model import Format
from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, small, trace_of

OUTSIDE = "it belongs to a call, and none is open that waits for it"
TERMINALS = {"CALL": "<a>", "NEXT": "|", "OUT": "</a>"}


def row(on: str, to: str, *emit: str) -> dict[str, Any]:
    return {"on": on, "to": to, "emit": list(emit)}


def chain(*states: dict[str, Any], out: tuple[str, ...] = ("CallEnd",)) -> Format:
    """<a> begins a call in the first state, | moves to the next one, </a> ends the call in any; END has no row."""
    made: dict[str, Any] = {"TOP": {"text": "content", "rows": [row("CALL", "S0", "CallStart")]}}
    for number, state in enumerate(states):
        onward = f"S{min(number + 1, len(states) - 1)}"
        made[f"S{number}"] = {**state, "rows": [row("NEXT", onward), row("OUT", "TOP", *out)]}
    return small(made, TERMINALS)


NAME, ID, HEADER = ({"text": kind} for kind in ("name", "id", "header"))
SPAN = {"codec": {"name": "json_span"}}


@pytest.mark.parametrize(
    ("text", "found", "complete"),
    [("<a>f|{", [("f", "{")], False), ("<a>f|{}", [("f", "{}")], True), ("<a>f|", [("f", "")], False)],
)
def test_a_call_that_no_row_ends_is_ended_with_the_output(
    text: str, found: list[tuple[str, str]], complete: bool
) -> None:
    trace = trace_of(chain(NAME, SPAN), text)
    assert calls(trace.message) == found
    assert [call.complete for call in trace.message.tool_calls] == [complete]


def test_a_call_that_begins_inside_another_ends_it() -> None:
    states = {
        "TOP": {"text": "content", "rows": [row("CALL", "NAME", "CallStart")]},
        "NAME": {**NAME, "rows": [row("NEXT", "ARGUMENTS")]},
        "ARGUMENTS": {**SPAN, "rows": [row("CALL", "NAME", "CallStart")]},
    }
    trace = trace_of(small(states, TERMINALS), "<a>f|{}<a>g|{<a>h")
    assert calls(trace.message) == [("f", "{}"), ("g", "{")]
    assert trace.message.content == "<a>h"


def test_an_id_after_the_name_waits_and_reaches_nobody_once_the_call_was_sent() -> None:
    trace = trace_of(chain(NAME, ID, SPAN), "<a>f|i", "d|{}</a>")
    assert [hold.reason for hold in trace.steps[0].holds] == ["A name or an id is sent whole."]
    assert calls(trace.message) == [("f", "{}")]
    assert dropped(trace) == [("id", OUTSIDE)]


def test_of_two_ids_the_last_one_counts() -> None:
    trace = trace_of(chain(ID, ID, NAME, SPAN), "<a>one|two|f|{}</a>")
    assert [(call.id, call.name) for call in trace.message.tool_calls] == [("two", "f")]
    assert dropped(trace) == [("one", "another call id follows")]


def test_a_second_name_reaches_nobody() -> None:
    trace = trace_of(chain(NAME, NAME, SPAN), "<a>f|g|{}</a>")
    assert calls(trace.message) == [("f", "{}")]
    assert dropped(trace) == [("g", OUTSIDE)]


def test_a_name_that_the_output_cuts_off_after_the_call_was_named_is_dropped() -> None:
    trace = trace_of(chain(NAME, HEADER), "<a>f| g")
    assert calls(trace.message) == [("f", "")]
    assert dropped(trace) == [(" g", "cut off before its end")]


@pytest.mark.parametrize("text", ["<a>f|{}</a>", '<a>f|{"a": 1}'])
def test_arguments_after_the_end_of_the_call_reach_nobody(text: str) -> None:
    states = {
        "TOP": {"text": "content", "rows": [row("CALL", "NAME", "CallStart")]},
        "NAME": {**NAME, "rows": [row("NEXT", "ARGUMENTS", "CallEnd")]},
        "ARGUMENTS": {**SPAN, "rows": [row("OUT", "TOP")]},
    }
    trace = trace_of(small(states, TERMINALS), text)
    assert calls(trace.message) == [("f", "{}")]
    assert {reason for _, reason in dropped(trace)} == {OUTSIDE}


def test_a_call_object_outside_any_call_reaches_nobody() -> None:
    trace = trace_of(small({"TOP": {"codec": {"name": "json_call"}}}), '{"name": "f", "arguments": {"a": 1}}')
    assert trace.message.tool_calls == []
    assert dropped(trace) == [("f", OUTSIDE), ('{"a": 1}', OUTSIDE)]


def test_text_that_fits_nowhere_in_a_call_without_a_name_keeps_its_place() -> None:
    fmt = chain({"text": "structure"}, NAME, SPAN)
    for text, content in (("<a> what|f|{}</a>", "what"), ("<a> what", "<a> what")):
        for texts in ((text,), tuple(text)):
            trace = trace_of(fmt, *texts)
            assert trace.message.content == content
            assert "dropped" not in [owner for _, owner in owners(trace)]


def test_text_that_fits_nowhere_is_content_until_the_state_is_left() -> None:
    fmt = small({"TOP": {"text": "structure", "rows": [row("NEXT", "TOP")]}}, TERMINALS)
    for texts in ((" a b | c ",), tuple(" a b | c ")):
        trace = trace_of(fmt, *texts)
        assert trace.message.content == "a b c "
        assert codes(trace) == ["stray_text", "stray_text"]


def test_white_space_in_a_name_state_is_structure() -> None:
    trace = trace_of(chain(NAME, NAME, SPAN), "<a> |f|{}</a>")
    assert calls(trace.message) == [("f", "{}")]
    assert owners(trace)[0] == ("<a> |", "marker")


@pytest.mark.parametrize(("finish", "kept"), [(None, False), ("length", False), ("stop", True), ("tool_calls", True)])
def test_a_stop_token_that_the_server_left_out_leaves_no_call_open(finish: str | None, kept: bool) -> None:
    text = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}'
    for policy in ("text", "drop"):
        trace = trace_of("harmony", text, policy={"truncated_call": policy}, context=Context(finish_reason=finish))
        assert calls(trace.message) == ([("f", '{"a": 1}')] if kept else [])
