"""Arguments as elements that nest behind a namespace marker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, tokens, tool, trace_of
from tests.parsers.properties.invariants import owned

NS = "]<]minimax[>["
HEAD = f'{NS}<tool_call>\n{NS}<invoke name="f">'
TAIL = f"{NS}</invoke>\n{NS}</tool_call>"
ITEMS = {"items": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}}


def tagged(text: str) -> str:
    """Elements with the namespace marker before every tag; { and } stand for the brackets of a tag."""
    return text.replace("{", f"{NS}<").replace("}", ">")


def arguments(inner: str, context: Context | None = None) -> Any:
    """The arguments of one call, however the text comes."""
    text = HEAD + tagged(inner) + TAIL
    found = []
    for texts in ((text,), tuple(text)):
        trace = trace_of("minimax_m3", *texts, context=context)
        assert [name for name, _ in calls(trace.message)] == ["f"]
        assert trace.message.tool_calls[0].complete
        found.append(json.loads(trace.message.tool_calls[0].arguments))
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("", {}),
        ("{a}x{/a}", {"a": "x"}),
        ("{ a }x{/ a }", {"a": "x"}),
        ("{a}x{/a}\n {b}y{/b}", {"a": "x", "b": "y"}),
        ('{a}say "é" \\ \n{/a}', {"a": 'say "é" \\ \n'}),
        ("{a}{/a}", {"a": ""}),
        ("{a}{b}x{/b}{/a}", {"a": {"b": "x"}}),
        ("{a}\n{b}x{/b}\n{/a}", {"a": {"b": "x"}}),
        ("{a}{item}x{/item}{item}y{/item}{/a}", {"a": ["x", "y"]}),
        ("{a}{b}x{/b}{b}y{/b}{/a}", {"a": {"b": ["x", "y"]}}),
        (
            "{a}{b}x{/b}\n{b}{c}1{/c}{c}2{/c}{/b}{d}z{/d}{/a}{e}w{/e}",
            {"a": {"b": ["x", {"c": ["1", "2"]}], "d": "z"}, "e": "w"},
        ),
        ("{a}{b}x{/b}{c}y{/c}{b}z{/b}{/a}", {"a": {"b": "z", "c": "y"}}),
        ("{a}{item}{item}x{/item}{/item}{/a}", {"a": [["x"]]}),
        ("{a}x</a>{b}y{/b}", {"a": "x", "b": "y"}),
        ("{a}x</a>y{/a}", {"a": "x</a>y"}),
        ("{a}x</a{/a}", {"a": "x</a"}),
        ("{a}x{b}y{/b}", {"a": "x", "b": "y"}),
        ("{a}{b}x{/a}{c}y{/c}", {"a": {"b": "x"}, "c": "y"}),
        ("{a}x{/b}{/a}", {"a": f"x{NS}</b>"}),
        ("{a}{/b}{/a}", {"a": f"{NS}</b>"}),
        ("{a}{b}{/b}{/c}{/a}", {"a": {"b": ""}}),
        ("{a}x", {"a": "x"}),
        ("{a}{b}", {"a": {"b": ""}}),
        (f"{{{'k' * 70}}}x</{'k' * 70}>{{/{'k' * 70}}}", {"k" * 70: f"x</{'k' * 70}>"}),
    ],
)
def test_elements_become_one_object(inner: str, expected: dict[str, Any]) -> None:
    assert arguments(inner) == expected


@pytest.mark.parametrize(
    ("schema", "inner", "expected"),
    [
        ({"a": {"type": "string"}}, "{a}\n{/a}", {"a": "\n"}),
        ({"a": {"type": "integer"}}, "{a}3{/a}", {"a": 3}),
        ({"a": {"type": ["string", "null"]}}, "{a}null{/a}", {"a": None}),
        ({"a": {"type": "array"}}, "{a}{/a}", {"a": []}),
        ({"a": {"type": "object"}}, "{a} \n{/a}", {"a": {}}),
        ({"a": {"type": ["array", "string"]}}, "{a}{/a}", {"a": ""}),
        ({"a": {"type": "integer"}}, "{a}{/a}", {"a": ""}),
        ({"a": {"type": "array", "items": {"type": "integer"}}}, "{a}{x}1{/x}{y}2{/y}{/a}", {"a": [1, 2]}),
        ({"a": {"type": "object"}}, "{a}{item}1{/item}{/a}", {"a": {"item": "1"}}),
        ({"a": {"type": ["array", "object"]}}, "{a}{item}1{/item}{/a}", {"a": ["1"]}),
        ({"a": {"type": ["array", "object"]}}, "{a}{n}1{/n}{/a}", {"a": {"n": "1"}}),
        (ITEMS, "{items}{item}{n}1{/n}{/item}{item}{n}2{/n}{/item}{/items}", {"items": [{"n": 1}, {"n": 2}]}),
        ({"a": {"type": "array", "items": {"type": "integer"}}}, '{a}["1", 2]{/a}', {"a": [1, 2]}),
    ],
)
def test_a_schema_decides_what_an_element_is(schema: dict[str, Any], inner: str, expected: dict[str, Any]) -> None:
    assert arguments(inner, tool(schema)) == expected


def cut(inner: str, context: Context | None = None, policy: dict[str, str] | None = None) -> Trace:
    text = HEAD + tagged(inner)
    whole = trace_of("minimax_m3", text, context=context, policy=policy)
    assert calls(whole.message) == calls(trace_of("minimax_m3", *text, context=context, policy=policy).message)
    return whole


@pytest.mark.parametrize(
    ("inner", "streamed", "closed"),
    [
        ("", "", "{}"),
        ("{a}x", '{"a": "x', '{"a": "x"}'),
        ("{a}x</a", '{"a": "x', '{"a": "x"}'),
        ("{a}x{/a}", '{"a": "x"', '{"a": "x"}'),
        ("{a}x{/a}{b", '{"a": "x"', '{"a": "x"}'),
        ("{a}x{/a", '{"a": "x', '{"a": "x"}'),
        ("{a} ", "{", "{}"),
        ("{a}{item}x{/item}", '{"a": ["x"', '{"a": ["x"]}'),
    ],
)
def test_a_call_that_is_cut_off(inner: str, streamed: str, closed: str) -> None:
    assert calls(cut(inner).message) == [("f", streamed)]
    assert calls(cut(inner, policy={"truncated_call": "close"}).message) == [("f", closed)]


def test_a_number_that_is_cut_off_is_no_value() -> None:
    context = tool({"a": {"type": "integer"}})
    assert calls(cut("{a}4", context).message) == [("f", "{")]
    assert [text for text, _ in dropped(cut("{a}4", context))] == ["a", "4"]


def test_words_between_elements_and_lone_closing_tags_are_dropped() -> None:
    trace = trace_of("minimax_m3", HEAD + tagged("one {a}x{/a} two{/b}{c}{d}y{/d} three{/c}") + TAIL)
    assert dropped(trace) == [
        ("one", "text between elements"),
        ("two", "text between elements"),
        (f"{NS}</b>", "a closing tag that closes nothing"),
        ("three", "text between elements"),
    ]
    assert calls(trace.message) == [("f", '{"a": "x", "c": {"d": "y"}}')]


@pytest.mark.parametrize("inner", ["{a}x{b}y{/b}", "{a}{b}x{/a}", "{a}x"])
def test_a_missing_closing_tag_is_reported(inner: str) -> None:
    assert codes(trace_of("minimax_m3", HEAD + tagged(inner) + TAIL)) == ["missing_value_close"]


def test_tags_are_structure_and_text_is_arguments() -> None:
    trace = trace_of("minimax_m3", HEAD + tagged("{a}\n{item}x{/item}\n{/a}") + TAIL)
    found = [(text, owner) for text, owner in owners(trace) if owner in ("arguments", "name")]
    assert found == [("f", "name"), ("a", "arguments"), ("x", "arguments")]


@pytest.mark.parametrize(
    ("inner", "reason", "codec"),
    [
        ("", None, "between arguments"),
        ("{a", "A tag is read whole.", "in a tag"),
        ("{a}", "A key is sent with its value.", "in a"),
        ("{a}x", None, "in a"),
        ("{a}x</", "What follows says whether this is part of the value.", "in a"),
        ("{b}{item}{c}4", "The schema wants integer: the value is written when it is whole.", "in b/item/c"),
    ],
)
def test_what_is_held_and_where_the_reader_stands(inner: str, reason: str | None, codec: str) -> None:
    schema = {"b": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "integer"}}}}}
    view = trace_of("minimax_m3", HEAD + tagged(inner), context=tool(schema)).steps[0].view
    assert str(view.codec) == codec
    assert [hold.reason for hold in view.holds] == ([] if reason is None else [reason])


@pytest.mark.parametrize(
    "parts",
    [
        ((f"{NS}<a"), "b>"),
        (f"{NS}</a", "b>"),
        (f"{NS}<a", ""),
        (f"{NS}<a>x{NS}</", "a>"),
        (f"{NS}</tool_", "call>"),
    ],
)
@pytest.mark.parametrize("head", [HEAD, HEAD[:-1] + "\n"])
def test_a_special_token_in_a_tag_is_left_out_of_it(parts: tuple[str, str], head: str) -> None:
    fed = tokens(head, parts[0], ("<|x|>", 9, "special"), parts[1])
    trace = trace_of("minimax_m3", fed=fed, mode="ids", markers={})
    spans = [(start, end) for start, end, _ in owned([event for _, event in trace.events()])]
    assert [start for start, _ in spans] == [0, *[end for _, end in spans[:-1]]]
    assert spans[-1][1] == len(trace.text)


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        ((f"{NS}<a>", " ", ("<|x|>", 9, "special"), "x", f"{NS}</a>"), '{"a": " <|x|>x"}'),
        ((f"{NS}<a>x",), '{"a": "x"}'),
        ((f"{NS}<a",), ""),
    ],
)
def test_a_closer_by_its_id_ends_an_element_and_a_special_token_is_text_of_it(begun: Any, found: str) -> None:
    closer = f"{NS}</invoke>"
    fed = tokens(HEAD, *begun, (closer, 5, "special"), f"{NS}</tool_call>")
    trace = trace_of("minimax_m3", fed=fed, mode="ids", markers={closer: 5})
    assert [call.arguments for call in trace.message.tool_calls] == [found]


def test_white_space_that_came_in_pieces_before_text_is_text() -> None:
    output = f"{HEAD}{NS}<a> \n x{NS}</a>{NS}</invoke>{NS}</tool_call>"
    for trace in (trace_of("minimax_m3", output), trace_of("minimax_m3", fed=tokens(*output))):
        assert [call.arguments for call in trace.message.tool_calls] == ['{"a": " \\n x"}']
