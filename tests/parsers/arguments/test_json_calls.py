"""Calls in a JSON array, or one call object: what becomes a call, what stays text, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parsers.parsing import Calls, calls, codes, dropped, owners, rows, small, tool, trace_of

F = '{"name": "f", "arguments": {"a": 1}}'
G = '{"name": "g", "arguments": {}}'
ONE, TWO = ("f", '{"a": 1}'), ("g", "{}")
CODEC = {"name": "json_calls"}
BARE = {"name": "json_calls", "options": {"name_keys": ["name", "function"], "require_arguments": True}}


def states(codec: dict[str, Any], begin: list[dict[str, Any]]) -> dict[str, Any]:
    """Content, an open call, and what is between calls."""
    return {
        "TEXT": {"text": "content", "rows": [*begin, {"on": "END", "to": "TEXT"}]},
        "CALL": {
            "codec": codec,
            "rows": [
                {"on": "ITEM_END", "to": "CALLS", "emit": ["CallEnd"]},
                {"on": "A", "to": "CALL", "emit": ["CallEnd", "CallStart"]},
                {"on": "REJECT", "to": "TEXT"},
                {"on": "END", "to": "CALL", "emit": ["CallEnd"]},
            ],
        },
        "CALLS": {
            "codec": codec,
            "rows": [
                {"on": "ITEM", "to": "CALL", "emit": ["CallStart"]},
                {"on": "A", "to": "CALL", "emit": ["CallStart"]},
                {"on": "DONE", "to": "TEXT"},
                {"on": "OTHER", "to": "TEXT", "diagnostic": "malformed_array", "note": "No call."},
                {"on": "END", "to": "CALLS"},
            ],
        },
    }


MARKED = small(states(CODEC, [{"on": "A", "to": "CALL", "emit": ["CallStart"]}]), {"A": "<a>"})
OPENERS = [{"on": on, "to": "CALL", "emit": ["CallStart"], "keep": "text"} for on in ("OBJECT", "ARRAY")]
ANYWHERE = small(states(BARE, OPENERS), {"OBJECT": "{", "ARRAY": "[", "A": "<a>"})


@pytest.mark.parametrize(
    ("text", "found", "content", "said"),
    [
        (f"<a>[{F}]", [ONE], None, []),
        (f"<a> [ {F} , {G} ] x", [ONE, TWO], " x", []),
        (f"<a>{F} x", [ONE], " x", []),
        (f"<a>[{G}]<a>{F}", [TWO, ONE], None, []),
        ('<a>[{"id": 1, "arguments": {"a": 1}, "name": "f", "x": [{}]}]', [ONE], None, []),
        ('<a>[{"name": "g"}]', [TWO], None, []),
        (f"<a>[{F} {G},]", [ONE, TWO], None, []),
        (f"<a>[{F}}}}}, {G}]", [ONE, TWO], None, ["surplus_closer"]),
        (f"<a>[{F}}}, {G}}}]", [ONE, TWO], None, ["surplus_closer", "surplus_closer"]),
        ('<a>[{"name": "f", "arguments": {"a": 1}] x', [ONE], " x", ["malformed_call"]),
        (f"<a>[{F}, 5, {G}] x", [ONE], f"5, {G}] x", ["malformed_array"]),
        (f"<a>[{F}: ", [ONE], ": ", ["malformed_array"]),
        (f'<a>[{F}, {{"a": 1}}, {G}] x', [ONE], f'{{"a": 1}}, {G}] x', ["rejected_call"]),
        (f"<a>[{F}, <a>{G}", [ONE, TWO], None, ["missing_array_end"]),
        (f"<a>[{F} ", [ONE], None, ["missing_array_end"]),
        ("<a>[]", [], "<a>[]", ["rejected_call"]),
        ("<a>[1]", [], "<a>[1]", ["rejected_call"]),
        ("<a>[[1]]", [], "<a>[[1]]", ["rejected_call"]),
        ("<a> prose", [], "<a> prose", ["rejected_call"]),
        ("<a>{} {", [], "<a>{} {", ["rejected_call"]),
        ("<a>", [], "<a>", ["rejected_call"]),
        ("<a>[ ", [], "<a>[ ", ["rejected_call"]),
        ('<a>[{"name": "f", "arguments": "{\\"a\\": 1}"}]', [("f", '{"a": 1}')], None, ["double_encoded"]),
        ('<a>[{"name": "f", "arguments": {"a": "<a>]"}}]', [("f", '{"a": "<a>]"}')], None, []),
        (f'<a>[{{"name": "f", "arguments": {{"a": 1<a>{G}', [("f", '{"a": 1'), TWO], None, ["incomplete_call"]),
    ],
)
def test_calls_after_a_marker(text: str, found: Calls, content: str | None, said: list[str]) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of(MARKED, *texts)
        assert calls(trace.message) == found
        assert trace.message.content == content
        assert codes(trace) == said


@pytest.mark.parametrize(
    ("text", "found", "content"),
    [
        (F, [ONE], None),
        (f"x {F} y", [ONE], "x  y"),
        (f"x [{F}, {G}] y", [ONE, TWO], "x  y"),
        ('[{"function": "f", "parameters": {"a": 1}}]', [ONE], None),
        (f'{{"x": {F}}}', [], f'{{"x": {F}}}'),
        ('[1, {"a": 2}] {"name": "f"} {x} [', [], '[1, {"a": 2}] {"name": "f"} {x} ['),
        (f'[{{"a": 2}}, {F}]', [ONE], '[{"a": 2}, ]'),
        ('[{"name": "f", "arguments": [1]}]', [], '[{"name": "f", "arguments": [1]}]'),
        ('[{"name": "f", "argum', [], '[{"name": "f", "argum'),
    ],
)
def test_calls_anywhere(text: str, found: Calls, content: str | None) -> None:
    """What is no call stays text at its place; what follows is looked at afresh."""
    for texts in ((text,), tuple(text)):
        message = trace_of(ANYWHERE, *texts).message
        assert (calls(message), message.content) == (found, content)


WRAPPED = small(states({"name": "json_calls", "options": {"wrapper_keys": ["function", "tool_call"]}}, [
    {"on": "A", "to": "CALL", "emit": ["CallStart"]},
]), {"A": "<a>"})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f'{{"tool_call": {F}}}', [ONE]),
        (f'[{{"type": "function", "function": {F}, "id": 1}}, {{"function": {G}}}]', [ONE, TWO]),
        (f'{{"tool_call": {{"function": {F}}}}}', [ONE]),
        (f'{{"function": {F}, "extra": {{"name": "x", "arguments": 5}}, "name": "y"}}', [ONE]),
        ('{"function": {"arguments": {"a": 1}}, "name": "f"}', [ONE]),
        ('{"function": {"name": "f"}, "arguments": {"a": 1}}', [ONE]),
        ('{"name": "g", "function": {"arguments": {"a": 1}}}', [TWO]),
        ('{"arguments": {}, "function": {"name": "x"}, "name": "g"}', [TWO]),
        ('{"function": [{"name": "x"}], "name": "g"}', [TWO]),
        ('{"function": "x", "name": "g"}', [TWO]),
        ('{"x": {"name": "f", "arguments": {}}}', []),
        ('{"x": {"function": {"name": "f"}}}', []),
        ('{"function": {"x": 1}}', []),
    ],
)
def test_the_call_may_stand_under_a_key_of_its_own(text: str, found: Calls) -> None:
    for texts in ((f"<a>{text}",), tuple(f"<a>{text}")):
        message = trace_of(WRAPPED, *texts).message
        assert (calls(message), message.content) == (found, None if found else f"<a>{text}")


def test_every_call_begins_and_ends_with_a_row_of_its_own() -> None:
    assert rows(trace_of(MARKED, f"<a>[{F}, {G}]")) == [
        ("TEXT", "A", "CALL"),
        ("CALL", "ITEM_END", "CALLS"),
        ("CALLS", "ITEM", "CALL"),
        ("CALL", "ITEM_END", "CALLS"),
        ("CALLS", "DONE", "TEXT"),
        ("TEXT", "END", "TEXT"),
    ]


def test_brackets_keys_and_separators_are_structure() -> None:
    found = owners(trace_of(MARKED, f"<a>[{F}, {G}]"))
    texts = [text for text, owner in found if owner == "marker"]
    assert texts == ['<a>[{"name": "', '", "arguments": ', '}, {"name": "', '", "arguments": ', "}]"]
    assert {owner for _, owner in found} == {"marker", "name", "arguments"}


def test_surplus_brackets_after_the_calls_are_dropped_where_the_format_waits_for_a_closer() -> None:
    made = states(CODEC, [{"on": "A", "to": "CALL", "emit": ["CallStart"]}])
    made["CALLS"]["rows"] = [row for row in made["CALLS"]["rows"] if row["on"] != "DONE"]
    waiting = small(made, {"A": "<a>"})
    for text, what in ((f"<a>[{F}]]}} x", "]}"), (f"<a>{F}}} x", "}")):
        trace = trace_of(waiting, *text)
        assert dropped(trace) == [(what, "surplus closing bracket after the arguments")]
        assert (calls(trace.message), trace.message.content) == ([ONE], "x")
        assert codes(trace) == ["surplus_closer", "malformed_array"]


def test_a_format_without_a_row_for_the_end_of_a_call_keeps_reading() -> None:
    made = states(CODEC, [{"on": "A", "to": "CALL", "emit": ["CallStart"]}])
    made["CALL"] = {"codec": CODEC, "rows": [{"on": "END", "to": "CALL", "emit": ["CallEnd"]}]}
    made.pop("CALLS")
    one_state = small(made, {"A": "<a>"})
    assert calls(trace_of(one_state, *f"<a>{F} }}").message) == [ONE]
    made["CALL"]["rows"].append({"on": "DONE", "to": "CALL", "note": "Read on."})
    assert dropped(trace_of(small(made, {"A": "<a>"}), *f"<a>{F} }}")) == [
        ("}", "surplus closing bracket after the arguments")
    ]
    for texts in ((f"<a>[{F}, {G}] x",), tuple(f"<a>[{F}, {G}] x")):
        message = trace_of(one_state, *texts).message
        assert (calls(message), message.content) == ([ONE], f"{G}] x")


@pytest.mark.parametrize(
    ("text", "policy", "found", "complete"),
    [
        ('<a>[{"name": "f"', "as_streamed", [("f", "")], False),
        ('<a>[{"name": "f"', "close", [("f", "{}")], False),
        ('<a>[{"name": "f", "arguments": {"a": "x', "as_streamed", [("f", '{"a": "x')], False),
        ('<a>[{"name": "f", "arguments": {"a": "x', "close", [("f", '{"a": "x"}')], False),
        (f"<a>[{F}, ", "close", [ONE], True),
        (f'<a>[{F}, {{"name": "g", "arguments": {{"b', "drop", [ONE], True),
    ],
)
def test_an_array_that_is_cut_off(text: str, policy: str, found: Calls, complete: bool) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of(MARKED, *texts, policy={"truncated_call": policy}).message
        assert calls(message) == found
        assert [call.complete for call in message.tool_calls] == [complete]


def test_values_are_coerced_to_the_schema_of_their_own_call() -> None:
    context = tool({"q": {"type": "integer"}})
    text = '<a>[{"name": "f", "arguments": {"q": "1"}}, {"arguments": {"q": "2"}, "name": "f"}, {"name": "g", "x": 0, '
    text += '"arguments": {"q": "3"}}]'
    message = trace_of(MARKED, *text, context=context).message
    assert calls(message) == [("f", '{"q": 1}'), ("f", '{"q": 2}'), ("g", '{"q": "3"}')]


@pytest.mark.parametrize(("policy", "content"), [("drop", None), ("text", G)])
def test_a_call_that_is_not_wanted_leaves_the_others_alone(policy: str, content: str | None) -> None:
    context = tool({})
    trace = trace_of(MARKED, *f"<a>[{F}, {G}, {F}]", policy={"unknown_tool": policy}, context=context)
    assert (calls(trace.message), trace.message.content) == ([ONE, ONE], content)
    assert [call.name for call in trace.rejected_calls] == ["g"]


def test_a_call_is_sent_as_soon_as_its_name_is_known_and_grows() -> None:
    trace = trace_of(MARKED, "<a>[", '{"name": "f", "argu', 'ments": {"a": "x', 'y"}', "}, ", '{"name": "g"', "}]")
    assert [len(step.events) > 0 for step in trace.steps[:7]] == [False, True, True, True, True, True, True]
    assert [hold.kind for hold in trace.steps[0].view.holds] == ["tentative"]
    said = [str(step.view.codec or "") or None for step in trace.steps[:7]]
    assert said == [
        "in the array, before its first object",
        "in the call object, depth 1, key name",
        "arguments, in a string, depth 1",
        "in the call object, depth 1, key arguments",
        "in the array",
        "in the call object, depth 1, key name",
        None,
    ]


def test_the_codec_says_where_it_is_before_and_after_the_calls() -> None:
    assert str(trace_of(MARKED, "<a>").steps[0].view.codec) == "before the calls"
    waiting = states(CODEC, [{"on": "A", "to": "CALL", "emit": ["CallStart"]}])
    waiting["CALLS"] = {"codec": CODEC, "rows": [{"on": "END", "to": "CALLS"}]}
    assert str(trace_of(small(waiting, {"A": "<a>"}), f"<a>{F}").steps[0].view.codec) == "after the calls"


def test_a_value_that_waits_for_its_schema_is_held_with_the_reason() -> None:
    trace = trace_of(MARKED, '<a>[{"name": "f", "arguments": {"q": "1', context=tool({"q": {"type": "integer"}}))
    assert [hold.reason for hold in trace.steps[0].view.holds] == [
        "The schema wants integer: the value is checked when it is whole."
    ]
