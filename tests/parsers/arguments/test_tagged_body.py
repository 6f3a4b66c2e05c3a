"""Arguments as typed tags, or as one JSON object in their place."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.formats.model import Format
from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, dropped, owners, small, tool, trace_of

OPTIONS = {
    "key_open": '<k n="',
    "key_close": '">',
    "string_close": '" t="s">',
    "json_close": '" t="j">',
    "json_closes": ['" t="n">', '" t="b">'],
    "value_close": "</k>",
    "implied_close": ['<k n="'],
    "trim": "none",
}


def body(**more: Any) -> Format:
    """Calls as <c>name|arguments</c>."""
    states = {
        "TOP": {"text": "content", "rows": [{"on": "CALL", "to": "NAME", "emit": ["CallStart"]}]},
        "NAME": {"text": "name", "rows": [{"on": "BAR", "to": "ARGS"}]},
        "ARGS": {
            "codec": {"name": "tagged_body", "options": {**OPTIONS, **more}},
            "rows": [
                {"on": "CALL_END", "to": "TOP", "emit": ["CallEnd"]},
                {"on": "OTHER", "to": "TOP", "emit": ["CallEnd"]},
                {"on": "END", "to": "TOP", "emit": ["CallEnd"]},
            ],
        },
    }
    return small(states, {"CALL": "<c>", "BAR": "|", "CALL_END": "</c>"})


TYPES = Context(
    tools=(
        Tool(
            "f",
            {
                "properties": {
                    "i": {"type": "integer"},
                    "s": {"type": "string"},
                    "m": {"type": ["integer", "string"]},
                    "o": {"type": "object", "properties": {"x": {"type": "integer"}}},
                }
            },
        ),
    )
)


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        ("", "{}"),
        (" \n", "{}"),
        ("{}", "{}"),
        ('\n{"a": "</c>", "b": 1}\n', '{"a": "</c>", "b": 1}'),
        ('<k n="a" t="s">{"x": 1}</k>', '{"a": "{\\"x\\": 1}"}'),
        ('<k n="a" t="n">1</k> <k n="b" t="b">true</k><k n="c" t="j">[1]</k>', '{"a": 1, "b": true, "c": [1]}'),
        ('<k n="a" t="n">soon</k>', '{"a": "soon"}'),
        ('<k n="a">1</k>', '{"a": "1"}'),
        ('<k n="a" t="s">x<k n="b" t="s">y</k>', '{"a": "x", "b": "y"}'),
    ],
)
def test_what_stands_first_says_how_the_arguments_are_written(inner: str, arguments: str) -> None:
    text = f"<c>f|{inner}</c>"
    for texts in ((text,), tuple(text)):
        trace = trace_of(body(), *texts)
        assert calls(trace.message) == [("f", arguments)]
        assert trace.message.tool_calls[0].complete


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [("s", "1", '"1"'), ("m", "1", '"1"'), ("z", "1", '"1"'), ("i", "1", "1"), ("o", '{"x": "2"}', '{"x": 2}')],
)
def test_a_value_said_to_be_a_string_is_one_where_its_schema_allows_it(key: str, value: str, written: str) -> None:
    text = f'<c>f|<k n="{key}" t="s">{value}</k></c>'
    for texts in ((text,), tuple(text)):
        assert calls(trace_of(body(), *texts, context=TYPES).message) == [("f", f'{{"{key}": {written}}}')]


def test_values_of_an_object_are_coerced_too() -> None:
    trace = trace_of(body(), '<c>f|{"i": "1", "o": {"x": "2"}}</c>', context=TYPES)
    assert calls(trace.message) == [("f", '{"i": 1, "o": {"x": 2}}')]


def test_text_after_the_object_ends_the_call() -> None:
    text = '<c>f|{"a": 1} and more</c>'
    for texts in ((text,), tuple(text)):
        trace = trace_of(body(), *texts)
        assert calls(trace.message) == [("f", '{"a": 1}')]
        assert trace.message.content == "and more</c>"


def test_a_parameter_after_the_object_is_dropped() -> None:
    trace = trace_of(body(), '<c>f|{"a": 1}<k n="</c>')
    assert calls(trace.message) == [("f", '{"a": 1}')]
    assert dropped(trace) == [('<k n="', "a parameter's tag at a JSON object")]


@pytest.mark.parametrize(
    ("inner", "policy", "arguments"),
    [
        ('{"a": "x', "as_streamed", '{"a": "x'),
        ('{"a": "x', "close", '{"a": "x"}'),
        ('<k n="a" t="s">x', "as_streamed", '{"a": "x'),
        ('<k n="a" t="s">x', "close", '{"a": "x"}'),
        (" ", "close", "{}"),
    ],
)
def test_arguments_that_are_cut_off_follow_the_policy(inner: str, policy: str, arguments: str) -> None:
    trace = trace_of(body(), f"<c>f|{inner}", policy={"truncated_call": policy})
    assert calls(trace.message) == [("f", arguments)]
    assert codes(trace) == ["truncated_call"]
    assert not trace.message.tool_calls[0].complete


@pytest.mark.parametrize(
    ("inner", "described", "reason"),
    [
        ("{", "between tokens, depth 1", None),
        ('{"i": "1', "in a string, depth 1", "The schema wants integer: the value is checked when it is whole."),
        ('<k n="i', "in a parameter's name", "A parameter's name is sent whole."),
        ('<k n="i">1', "in the value of i", "The schema wants integer: the value is written when it is whole."),
    ],
)
def test_the_view_says_where_the_reader_stands(inner: str, described: str, reason: str | None) -> None:
    step = trace_of(body(), f"<c>f|{inner}", context=tool({"i": {"type": "integer"}})).steps[0]
    assert str(step.view.codec) == described
    assert [hold.reason for hold in step.holds] == ([] if reason is None else [reason])


def test_every_character_of_an_object_has_an_owner() -> None:
    assert owners(trace_of(body(), '<c>f| {"a": 1} </c>')) == [
        ("<c>", "marker"),
        ("f", "name"),
        ("| ", "marker"),
        ('{"a": 1}', "arguments"),
        (" </c>", "marker"),
    ]


SECTION = "<ifm|tool_calls><ifm|tool_call>{}</ifm|tool_call></ifm|tool_calls>"
WAYS = {
    "json": SECTION.format('{"name": "f", "arguments": {"q": "x"}}'),
    "tags": SECTION.format("f<ifm|arg_key>q</ifm|arg_key><ifm|arg_value>x</ifm|arg_value>"),
    "typed_tags": SECTION.format(
        "f<ifm|arg_key>q</ifm|arg_key><ifm|arg_type>string</ifm|arg_type><ifm|arg_value>x</ifm|arg_value>"
    ),
}


@pytest.mark.parametrize("asked", ["any", *WAYS])
@pytest.mark.parametrize("written", WAYS)
def test_a_call_in_another_notation_than_the_request_asks_for_is_none(asked: str, written: str) -> None:
    policy = {"call_notation": asked, "malformed_call": "reject"}
    for texts in ((WAYS[written],), tuple(WAYS[written])):
        found = calls(trace_of("k2_horizon", *texts, policy=policy).message)
        assert found == ([("f", '{"q": "x"}')] if asked in ("any", written) else [])
    assert calls(trace_of("k2_horizon", WAYS["typed_tags"], policy={"call_notation": "tags"}).message) != []
