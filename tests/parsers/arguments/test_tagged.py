"""Arguments as tags around keys and bare values, in qwen_coder and in a format with tags around values too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.formats.model import Format
from tests.parsers.parsing import calls, codes, dropped, owners, small, tool, trace_of

HEAD = "<tool_call>\n<function=f>\n"
TAIL = "</function>\n</tool_call>"


def parameter(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>\n"


def pairs(trim: str = "space", **more: Any) -> Format:
    """Calls as <c>name<k>key</k> <v>value</v></c>."""
    options = {"key_open": "<k>", "key_close": "</k>", "value_open": "<v>", "value_close": "</v>", "trim": trim, **more}
    states = {
        "TOP": {"text": "content", "rows": [{"on": "CALL", "to": "NAME", "emit": ["CallStart"]}]},
        "NAME": {
            "text": "name",
            "rows": [{"on": "KEY", "to": "ARGS"}, {"on": "DONE_CALL", "to": "ARGS"}],
        },
        "ARGS": {
            "codec": {"name": "tagged", "options": options},
            "rows": [
                {"on": "DONE_CALL", "to": "TOP", "emit": ["CallEnd"]},
                {"on": "END", "to": "TOP", "emit": ["CallEnd"]},
            ],
        },
    }
    return small(states, {"CALL": "<c>", "KEY": "|", "DONE_CALL": "</c>"})


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        ("", {}),
        (parameter("a", "x"), {"a": "x"}),
        (parameter("a", "x") + parameter("b", "y"), {"a": "x", "b": "y"}),
        ("<parameter=a>x</parameter>", {"a": "x"}),
        (parameter("a", "\nx\n"), {"a": "\nx\n"}),
        (parameter("a", ""), {"a": ""}),
        ("<parameter=a></parameter>", {"a": ""}),
        ("<parameter=a>\n\n\n</parameter>", {"a": "\n"}),
        (parameter("a", 'say "é" \\ <b>\t'), {"a": 'say "é" \\ <b>\t'}),
        ("<parameter= a >x</parameter>", {"a": "x"}),
        (parameter("a b.c", "x"), {"a b.c": "x"}),
        (parameter('q"', "x"), {'q"': "x"}),
        (parameter("a", "12"), {"a": "12"}),
        (parameter("a", "</function>"), {"a": "</function>"}),
        ("<parameter=a>\nx\n<parameter=b>\ny\n</parameter>\n", {"a": "x", "b": "y"}),
        ("<parameter=a>\nx\n", {"a": "x"}),
        ("lost" + parameter("a", "x") + " and more \n", {"a": "x"}),
    ],
)
def test_tagged_parameters_become_one_object(inner: str, arguments: dict[str, str]) -> None:
    text = HEAD + inner + TAIL
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen_coder", *texts)
        assert [(name, json.loads(raw)) for name, raw in calls(trace.message)] == [("f", arguments)]
        assert trace.message.tool_calls[0].complete


def test_words_between_parameters_are_dropped() -> None:
    text = f"{HEAD}\n two  words \n{parameter('a', 'x')}{TAIL}"
    for texts in ((text,), tuple(text)):
        assert dropped(trace_of("qwen_coder", *texts)) == [
            (word, "text between parameters") for word in ("two", "words")
        ]


SCHEMA = {
    "i": {"type": "integer"},
    "s": {"type": "string"},
    "b": {"type": "boolean"},
    "o": {"type": "object"},
    "m": {"type": ["integer", "string"]},
}


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("i", "42", "42"),
        ("i", " 42 ", "42"),
        ("i", "x", '"x"'),
        ("s", "42", '"42"'),
        ("b", "True", "true"),
        ("o", '{"a": 1}', '{"a": 1}'),
        ("m", "7", "7"),
        ("m", "seven", '"seven"'),
        ("unknown", "7", '"7"'),
    ],
)
def test_values_are_written_by_the_types_of_their_schema(key: str, value: str, written: str) -> None:
    text = HEAD + parameter(key, value) + TAIL
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen_coder", *texts, context=tool(SCHEMA))
        assert calls(trace.message) == [("f", f'{{"{key}": {written}}}')]


def test_values_inside_a_tagged_object_are_coerced_too() -> None:
    context = tool({"o": {"type": "object", "properties": {"n": {"type": "integer"}}}})
    text = HEAD + parameter("o", '{"n": "3", "x": "4"}') + TAIL
    assert calls(trace_of("qwen_coder", text, context=context).message) == [("f", '{"o": {"n": 3, "x": "4"}}')]


@pytest.mark.parametrize(
    ("cut", "streamed", "closed"),
    [
        ("", "", "{}"),
        ("<parameter=i", "", "{}"),
        ("<parameter=s>", '{"s": "', '{"s": ""}'),
        ("<parameter=s>\nx", '{"s": "x', '{"s": "x"}'),
        ("<parameter=s>\nx\n", '{"s": "x', '{"s": "x"}'),
        ("<parameter=s>\nx\n</par", '{"s": "x', '{"s": "x"}'),
        ("<parameter=s>\nx\n<para", '{"s": "x', '{"s": "x"}'),
        (parameter("s", "x"), '{"s": "x"', '{"s": "x"}'),
        (parameter("s", "x") + "<parameter=i>\n4", '{"s": "x"', '{"s": "x"}'),
        ("<parameter=m>\n4", "", "{}"),
        ("<parameter=m>\nab", '{"m": "ab', "{}"),
    ],
)
def test_an_output_that_ends_inside_its_parameters(cut: str, streamed: str, closed: str) -> None:
    for policy, arguments in (("as_streamed", streamed), ("close", closed)):
        for texts in ((HEAD + cut,), tuple(HEAD + cut)):
            trace = trace_of("qwen_coder", *texts, policy={"truncated_call": policy}, context=tool(SCHEMA))
            assert calls(trace.message) == [("f", arguments)]
            assert not trace.message.tool_calls[0].complete
            assert "lost" not in [reason for _, reason in dropped(trace)]


def test_a_missing_closing_tag_is_reported() -> None:
    assert codes(trace_of("qwen_coder", f"{HEAD}<parameter=a>\nx\n{TAIL}")) == ["missing_value_close"]


@pytest.mark.parametrize(
    ("trim", "value", "kept"),
    [
        ("space", " \n x y \n", "x y"),
        ("none", " x ", " x "),
        ("newline", "\nx\n", "x"),
        ("newline", "x\n", "x"),
        ("pair", "\nx\n", "x"),
        ("pair", "x\n", "x\n"),
        ("pair", "", ""),
        ("space", "", ""),
    ],
)
def test_what_surrounds_a_value_is_trimmed_as_the_format_says(trim: str, value: str, kept: str) -> None:
    text = f"<c>f|<k>a</k> <v>{value}</v></c>"
    for texts in ((text,), tuple(text)):
        trace = trace_of(pairs(trim), *texts)
        assert calls(trace.message) == [("f", json.dumps({"a": kept}))]


def test_a_value_with_a_type_is_trimmed_before_it_is_read() -> None:
    trace = trace_of(pairs(), "<c>f|<k>a</k><v> 4 </v></c>", context=tool({"a": {"type": "integer"}}))
    assert calls(trace.message) == [("f", '{"a": 4}')]
    assert (" ", "marker") in [(text[:1], owner) for text, owner in owners(trace)]


def test_before_its_value_a_key_waits() -> None:
    trace = trace_of(pairs(), "<c>f|<k>ab</k>", " ?<", "v>x")
    assert [hold.reason for hold in trace.steps[0].holds] == ["A parameter's name is sent with its value."]
    assert str(trace.steps[0].view.codec) == "before the value of ab"
    assert trace.message.tool_calls[0].arguments == '{"ab": "x'
    assert dropped(trace) == [("?", "text between parameters")]


@pytest.mark.parametrize("text", ["<c>f|<k>ab</k> ", "<c>f|<k>ab"])
def test_a_key_without_a_value_is_dropped_when_the_output_ends(text: str) -> None:
    trace = trace_of(pairs(), *text, policy={"truncated_call": "close"})
    assert calls(trace.message) == [("f", "{}")]
    assert ("ab", "cut off before its end") in dropped(trace)


ENTITIES = {"entity_decoding": "on"}


@pytest.mark.parametrize(
    ("value", "decoded"),
    [
        ("a &amp; b", "a & b"),
        ("&lt;x&gt;", "<x>"),
        ("AT&T", "AT&T"),
        ("&amp", "&amp"),
        ("&quot;", '"'),
        ("a&\n&", "a&\n&"),
    ],
)
def test_entities_in_values_are_decoded_where_the_policy_says_so(value: str, decoded: str) -> None:
    text = HEAD + parameter("a", value) + TAIL
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen_coder", *texts, policy=ENTITIES)
        assert [json.loads(raw) for _, raw in calls(trace.message)] == [{"a": decoded}]


def test_entities_in_a_value_that_waits_are_decoded_too() -> None:
    text = HEAD + parameter("o", "{&quot;a&quot;: 1}") + TAIL
    trace = trace_of("qwen_coder", *text, policy=ENTITIES, context=tool(SCHEMA))
    assert calls(trace.message) == [("f", '{"o": {"a": 1}}')]


def test_half_an_entity_waits_with_a_reason() -> None:
    trace = trace_of("qwen_coder", f"{HEAD}<parameter=a>\nx&am", policy=ENTITIES)
    assert [hold.reason for hold in trace.steps[0].holds] == ["May be the beginning of an HTML entity."]
    assert trace.message.tool_calls[0].arguments == '{"a": "x&am'


def test_white_space_before_a_closing_tag_waits_with_a_reason() -> None:
    trace = trace_of(pairs(), "<c>f|<k>a</k><v>x  ")
    assert [hold.reason for hold in trace.steps[0].holds] == ["White space that may belong to the closing tag."]


TYPED: dict[str, Any] = {
    "key_open": "<p name=",
    "key_close": ">",
    "string_close": ' string="true">',
    "json_close": ' string="false">',
    "value_open": "",
    "value_close": "</p>",
    "unquote": True,
}


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        ('<p name="a" string="true">5</p>', '{"a": "5"}'),
        ('<p name="i" string="true">5</p>', '{"i": "5"}'),
        ('<p name="n" string="false"> 5 </p>', '{"n": 5}'),
        ('<p name="n" string="false">"5"</p>', '{"n": "5"}'),
        ('<p name="n" string="false">{"b": [1, null]}</p>', '{"n": {"b": [1, null]}}'),
        ('<p name="i" string="false">"5"</p>', '{"i": 5}'),
        ('<p name="n" string="false">NaN</p>', '{"n": "NaN"}'),
        ('<p name="n" string="false">no json</p>', '{"n": "no json"}'),
        ('<p name="n">5</p>', '{"n": "5"}'),
        ("<p name='n'>5</p>", '{"n": "5"}'),
        ("<p name=n>5</p>", '{"n": "5"}'),
        ("<p name='n\">5</p>", '{"\'n\\"": "5"}'),
    ],
)
def test_a_key_may_be_quoted_and_may_say_the_type_of_its_value(inner: str, arguments: str) -> None:
    context = tool({"i": {"type": "integer"}, "a": {"type": "integer"}})
    for cut in (1, 7, 500):
        text = f"<c>f|{inner}</c>"
        pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
        assert calls(trace_of(pairs(**TYPED), *pieces, context=context).message) == [("f", arguments)]


def test_a_value_that_is_said_to_be_json_waits_and_says_so() -> None:
    text = '<c>f|<p name="n" string="false">[1'
    trace = trace_of(pairs(**TYPED), text)
    assert [hold.reason for hold in trace.steps[0].holds] == [
        "The value is said to be JSON: the value is written when it is whole."
    ]
    assert calls(trace.message) == [("f", "")]
    assert dropped(trace) == [("n", "cut off before its end"), ("[1", "cut off before its end")]


def test_a_value_that_waits_says_for_what() -> None:
    trace = trace_of("qwen_coder", f"{HEAD}<parameter=i>\n4", context=tool(SCHEMA))
    assert [hold.reason for hold in trace.steps[0].holds] == [
        "The schema wants integer: the value is written when it is whole."
    ]
    assert str(trace.steps[0].view.codec) == "in the value of i"
