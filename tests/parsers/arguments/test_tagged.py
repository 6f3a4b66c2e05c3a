"""Arguments as tags around keys and bare values, in qwen_coder and in a format with tags around values too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.formats.model import Format
from parsers.vocabulary.events import CallArguments
from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, small, tokens, tool, trace_of

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


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("\nuse </parameter> inside\n</parameter>\n", "use </parameter> inside"),
        ("\n</parameter>\nis how it ends\n</parameter>\n", "</parameter>\nis how it ends"),
        ("\n<function=g><parameter=b>1</parameter></function> here\n</parameter>", None),
        ("x</parameter>y</parameter>", "x</parameter>y"),
        ("</parameter></parameter>", "</parameter>"),
        ("x</parameter> \n\t", "x"),
        ("x</par</parameter>", "x</par"),
    ],
)
def test_a_closing_tag_that_no_tag_follows_is_text_of_the_value(value: str, read: str | None) -> None:
    read = "<function=g><parameter=b>1</parameter></function> here" if read is None else read
    text = f"{HEAD}<parameter=a>{value}{TAIL}"
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen_coder", *texts)
        assert [json.loads(raw) for _, raw in calls(trace.message)] == [{"a": read}]
        assert codes(trace) == []
        assert trace.message.tool_calls[0].complete


@pytest.mark.parametrize(
    ("inner", "arguments", "gone"),
    [
        ("<parameter=a>\nx</parameter>\n", {"a": "x"}, []),
        ("<parameter=a>\nx</parameter>\n<parameter=b>\ny\n</parameter>\n", {"a": "x", "b": "y"}, []),
        ("<parameter=a>\nx</parameter>y</parameter> z ", {"a": "x</parameter>y"}, ["z"]),
        ("<parameter=i>\n4</parameter> z\n<parameter=a>y</parameter>", {"i": 4, "a": "y"}, ["z"]),
    ],
)
@pytest.mark.parametrize("tail", [TAIL, "</function>", "</function> Done.", "</function><|im_end|>"])
def test_where_no_tag_follows_any_closing_tag_the_last_one_ends_the_value(
    inner: str, arguments: dict[str, Any], gone: list[str], tail: str
) -> None:
    for texts in ((HEAD + inner + tail,), tuple(HEAD + inner + tail)):
        trace = trace_of("qwen_coder", *texts, context=tool(SCHEMA))
        assert [json.loads(raw) for _, raw in calls(trace.message)] == [arguments]
        assert "unclear_value_close" in codes(trace)
        assert trace.message.tool_calls[0].complete
        assert [text for text, _ in dropped(trace)] == gone
        assert trace.message.content == ("Done." if "Done." in tail else None)


@pytest.mark.parametrize("policy", ["keep", "text", "drop"])
def test_a_call_to_an_unknown_tool_is_read_once_where_its_end_is_unclear(policy: str) -> None:
    text = f"{HEAD}<parameter=a>\nx</parameter> y</function>"
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen_coder", *texts, policy={"unknown_tool": policy}, context=tool({}, "g"))
        assert trace.message.content == (text if policy == "text" else None)
        assert len(trace.message.tool_calls) == (policy == "keep")


@pytest.mark.parametrize(
    ("value", "streamed"),
    [
        ("x</parameter>", "x"),
        ("x</parameter> y", "x"),
        ("x</parameter> y</parameter> z", "x</parameter> y"),
        ("\nx</parameter> y</parameter> z", "x</parameter> y"),
    ],
)
def test_what_follows_a_closing_tag_waits_for_what_says_whether_it_is_text(value: str, streamed: str) -> None:
    trace = trace_of("qwen_coder", f"{HEAD}<parameter=a>{value}", "</parameter>\n</function>")
    sent = [event.text for event in trace.steps[0].events if isinstance(event, CallArguments)]
    assert json.loads("".join(sent) + '"}') == {"a": streamed}
    assert [hold.reason for hold in trace.steps[0].holds] == ["What follows says whether the value ends here."]


@pytest.mark.parametrize(("reason", "value"), [("length", "x</parameter> y"), ("stop", "x")])
def test_an_output_that_was_cut_off_behind_a_closing_tag_was_in_the_value(reason: str, value: str) -> None:
    text = f"{HEAD}<parameter=a>x</parameter> y"
    for texts in ((text,), tuple(text)):
        trace = trace_of(
            "qwen_coder", *texts, policy={"truncated_call": "close"}, context=Context(finish_reason=reason)
        )
        assert [json.loads(raw) for _, raw in calls(trace.message)] == [{"a": value}]


def test_an_entity_waits_behind_a_closing_tag_too() -> None:
    text = f"{HEAD}<parameter=a>\nx&am</parameter> &amp; y\n</parameter>\n{TAIL}"
    trace = trace_of("qwen_coder", *text, policy=ENTITIES)
    assert [json.loads(raw) for _, raw in calls(trace.message)] == [{"a": "x&am</parameter> & y"}]
    assert not [reason for _, reason in dropped(trace)]


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


def test_a_closing_tag_by_its_id_ends_the_value_whatever_follows() -> None:
    closer = ("</arg_value>", 7)
    fed = tokens(("<tool_call>", 1), "f", ("<arg_key>", 2), "a</arg_key><arg_value>x", closer, " y", closer)
    trace = trace_of("glm47_moe", fed=fed, mode="ids", markers={"</arg_value>": 7, "<tool_call>": 1, "<arg_key>": 2})
    assert trace.message.tool_calls[0].arguments == '{"a": "x"'
    assert dropped(trace) == [("y</arg_value>", "text between parameters")]


def test_a_turn_that_ends_by_id_ends_the_value_at_its_last_closing_tag() -> None:
    fed = tokens(HEAD, "<parameter=a>\nx</parameter>\n</function>", ("<|im_end|>", 9, "special"))
    trace = trace_of("qwen_coder", fed=fed, mode="ids", markers={"<|im_end|>": 9})
    assert calls(trace.message) == [("f", '{"a": "x"}')]
    assert trace.message.tool_calls[0].complete


def test_a_token_left_out_behind_a_closing_tag_does_not_bring_text_back() -> None:
    fed = tokens(HEAD, "<parameter=i>4</parameter>", ("<|other|>", 9, "special"), " y</function>")
    trace = trace_of("qwen_coder", fed=fed, mode="ids", context=tool(SCHEMA))
    assert calls(trace.message) == [("f", '{"i": 4}')]


@pytest.mark.parametrize("policy", [{"truncated_call": "text"}, {"invalid_call": "strict"}])
def test_what_is_read_again_behind_a_value_is_content_once(policy: dict[str, str]) -> None:
    text = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter> tail"
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen_coder", *texts, policy=policy)
        assert (trace.message.content, trace.message.tool_calls) == (text, [])


@pytest.mark.parametrize(("value", "arguments"), [("keep", {"a": "1", "b": "2"}), ("drop", {"b": "2"})])
def test_a_value_without_its_closing_tag_is_kept_or_left_out(value: str, arguments: dict[str, str]) -> None:
    text = HEAD + "<parameter=a>\n1\n" + parameter("b", "2") + TAIL
    trace = trace_of("qwen_coder", *text, policy={"unclosed_value": value})
    assert json.loads(trace.message.tool_calls[0].arguments) == arguments
    assert codes(trace) == ["missing_value_close"]


CODE = "<parameter=code>\nx = 1\n<parameter={0}>\n2\n</parameter>\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("limit", {"code": "x = 1", "limit": 2}),
        ('"limit"', {"code": "x = 1", "limit": 2}),
        ("other", {"code": "x = 1\n<parameter=other>\n2"}),
        ("code", {"code": "x = 1\n<parameter=code>\n2"}),
        ("no name", {"code": "x = 1\n<parameter=no name>\n2"}),
        ("", {"code": "x = 1\n<parameter=>\n2"}),
    ],
)
def test_a_tag_in_an_open_value_begins_a_parameter_that_is_declared_and_is_text_else(
    name: str, arguments: dict[str, Any]
) -> None:
    context = tool({"code": {"type": "string"}, "limit": {"type": "integer"}})
    text = HEAD + CODE.format(name) + TAIL
    for parts in ([text], [*text], [text[at : at + 7] for at in range(0, len(text), 7)]):
        trace = trace_of("qwen_coder", *parts, context=context)
        assert json.loads(trace.message.tool_calls[0].arguments) == arguments
        assert codes(trace) == (["missing_value_close"] if "limit" in arguments else [])
        assert not dropped(trace)


@pytest.mark.parametrize(
    ("cut", "arguments"),
    [
        ("\n<parameter=lim", '{"code": "x = 1'),
        ("\n<parameter=oth", '{"code": "x = 1\\n<parameter=oth'),
        ("\n<par", None),
    ],
)
def test_the_output_ends_in_a_tag_inside_a_value(cut: str, arguments: str | None) -> None:
    context = tool({"code": {"type": "string"}, "limit": {"type": "integer"}})
    text = f"{HEAD}<parameter=code>\nx = 1{cut}"
    whole, parts = [trace_of("qwen_coder", *one, context=context).message for one in ([text], [*text])]
    assert whole == parts
    assert arguments is None or whole.tool_calls[0].arguments.startswith(arguments)


ENDED = f"{HEAD}<parameter=a>\nx\n{TAIL}\n"


def test_what_may_be_text_of_a_value_that_is_cut_off_is_text_of_it() -> None:
    for texts in ((f"{ENDED}y",), tuple(f"{ENDED}y")):
        trace = trace_of("qwen_coder", *texts, context=Context(finish_reason="length"))
        assert calls(trace.message) == [("f", json.dumps({"a": f"x\n{TAIL}\ny"})[:-2])]


def test_the_value_of_a_call_that_is_not_wanted_ends_where_the_call_seems_to() -> None:
    trace = trace_of("qwen_coder", f"{ENDED}y", policy={"unknown_tool": "drop"}, context=tool({}, "other"))
    assert (trace.message.content, calls(trace.message)) == ("\ny", [])


def test_the_next_call_by_its_id_shows_that_the_last_one_had_ended() -> None:
    before = ENDED.removeprefix("<tool_call>")
    fed = tokens(("<tool_call>", 1), f"{before}So.\n", ("<tool_call>", 1), f"\n<function=g>\n{TAIL}")
    trace = trace_of("qwen_coder", fed=fed, mode="ids", markers={"<tool_call>": 1})
    assert (calls(trace.message), trace.message.content) == ([("f", '{"a": "x"}'), ("g", "{}")], "\nSo.\n")


def test_what_waits_behind_the_end_of_a_call_is_held_with_a_reason() -> None:
    trace = trace_of("qwen_coder", *f"{ENDED}y")
    held = [hold.reason for step in trace.steps for hold in step.view.holds]
    assert "What follows says whether the value ends here." in held
