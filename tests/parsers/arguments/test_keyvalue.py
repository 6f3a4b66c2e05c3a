"""Gemma's arguments: keys without quotes, strings between delimiters, and everything that may be forgotten."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.arguments import ARGUMENT_PARSERS
from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, small, tokens, tool, trace_of

S = '<|"|>'
OPEN, CLOSE = "<|tool_call>", "<tool_call|>"
ENDS = ("<|tool_call>", "<tool_call|>", S)


def block(inner: str) -> str:
    return f"{OPEN}call:f{inner}{CLOSE}".replace("$", S)


@pytest.mark.parametrize(
    ("inner", "written", "said"),
    [
        ("", "{}", ["missing_arguments"]),
        ("{}", "{}", []),
        (" { } ", "{}", []),
        ("{a:1}", '{"a": 1}', []),
        ("{a:$x$}", '{"a": "x"}', []),
        ("{a:$$}", '{"a": ""}', []),
        ("{ a : 1 , b : $x$ , }", '{"a": 1, "b": "x"}', []),
        ("{a:-1.5e3,b:true,c:false,d:null}", '{"a": -1.5e3, "b": true, "c": false, "d": null}', []),
        ("{a:1.,b:.5,c:007,d:TRUE}", '{"a": "1.", "b": ".5", "c": "007", "d": "TRUE"}', []),
        ("{a:New York,b:a:b,c:x{y[z}", '{"a": "New York", "b": "a:b", "c": "x{y[z"}', []),
        ('{a:"x",b:"x"y",c:"}', '{"a": "x", "b": "\\"x\\"y\\"", "c": "\\""}', []),
        ("{a:None,b:[None],c:$None$}", '{"a": null, "b": [null], "c": "None"}', []),
        ("{a:[],b:[1,$x$,[true]]}", '{"a": [], "b": [1, "x", [true]]}', []),
        ("{a:{},b:{c:{d:$y$}}}", '{"a": {}, "b": {"c": {"d": "y"}}}', []),
        ("{a:[1,,2,]}", '{"a": [1, 2]}', []),
        ("{$a b$:1,'c':2,\"d\":3}", '{"a b": 1, "c": 2, "d": 3}', []),
        ("{:1}", '{"": 1}', []),
        ("{a:$}],{<tool_call|>$}", '{"a": "}],{<tool_call|>"}', []),
        ("{a:$x)}$}", '{"a": "x)}"}', []),
        ("{a:$}} $,b:$} <tool_call|> x$}", '{"a": "}} ", "b": "} <tool_call|> x"}', []),
        ('{a:$"\\\n$}', '{"a": "\\"\\\\\\n"}', []),
        ("(a:1)", '{"a": 1}', []),
        ("(a:f(x,b:[g(y)])", '{"a": "f(x", "b": ["g(y)"]}', []),
        ("(a:)", '{"a": ""}', []),
        ("{a:,b:}", '{"a": "", "b": ""}', []),
        ("{$a$,$b$}", '{"a": "", "b": ""}', []),
        ("{$a$ $x$}", '{"a": "x"}', []),
        ("{a$x$}", '{"a": "x"}', []),
        ("{a{b:1},c[2]}", '{"a": {"b": 1}, "c": [2]}', []),
        ("{a:$x$ b:$y$}", '{"a": "x", "b": "y"}', ["missing_structure"]),
        ("{a:$x$$b$:1}", '{"a": "x", "b": 1}', ["missing_structure"]),
        ("{a:[$x$$y$ 1]}", '{"a": ["x", "y", 1]}', ["missing_structure"] * 2),
        ("{a:x$,b:1}", '{"a": "x", "b": 1}', ["missing_structure"]),
        ("{a:[1,2}", '{"a": [1, 2]}', ["missing_structure"]),
        ("{a:[{b:1],c:2}", '{"a": [{"b": 1}], "c": 2}', ["missing_structure"]),
        ("{a:1", '{"a": 1}', ["missing_structure"]),
        ("{a:1,", '{"a": 1}', ["missing_structure"]),
        ("{a:", '{"a": ""}', ["missing_structure"]),
        ("{a:[", '{"a": []}', ["missing_structure"]),
        ("{$a$", '{"a": ""}', ["missing_structure"]),
        ("{{a:1}}", '{"a": 1}', ["surplus_bracket"]),
        ("{a:1]}", '{"a": 1}', ["surplus_bracket"]),
        ("{a:1]),b:2]}", '{"a": 1, "b": 2}', ["surplus_bracket"]),
        ("{a:1}}]", '{"a": 1}', ["surplus_closer"]),
        ("{a:1}$", '{"a": 1}', []),
        ("{a,b:1}", '{"b": 1}', []),
        ("{a:1,b}", '{"a": 1}', []),
        ("{a:1,b", '{"a": 1}', ["missing_structure"]),
        ("{[a:1}", '{"a": 1}', ["surplus_bracket"]),
    ],
)
def test_arguments_are_read_as_they_are_meant(inner: str, written: str, said: list[str]) -> None:
    text = block(inner)
    for texts in ((text,), tuple(text)):
        trace = trace_of("gemma4", *texts)
        assert calls(trace.message) == [("f", written)]
        assert trace.message.tool_calls[0].complete
        assert (codes(trace), trace.message.content) == (said, None)
        json.loads(written)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"{OPEN}{CLOSE}", f"{OPEN}{CLOSE}"),
        (f"{OPEN}call:{CLOSE}", f"{OPEN}call:{CLOSE}"),
        (f"{OPEN}what now?{CLOSE}", f"{OPEN}what now?"),
        (f"{OPEN}call:?{CLOSE}", f"{OPEN}call:?"),
        (f"{OPEN}call:f x{CLOSE}", f"{OPEN}call:f x"),
        (f"{OPEN}call:{S}f{S}{{}}", f"{OPEN}call:{S}f{S}{{}}"),
        (f"{OPEN}call:f{S}", f"{OPEN}call:f{S}"),
        (f"{OPEN}call:f", f"{OPEN}call:f"),
        (f"{OPEN}call:f<turn|>g{{}}", f"{OPEN}call:fg{{}}"),
        ("call: me", "call: me"),
        ("call:f", "call:f"),
        ("call:f{", "call:f{"),
        ("call:f{x", "call:f{x"),
        ("call:f{x,y}", "call:f{x,y}"),
        ("call:f{x[1]}", "call:f{x[1]}"),
        ("call:f{[1]}", "call:f{[1]}"),
        ("call:f{x}", "call:f{x}"),
        ("call:f{x{y:1}}", "call:f{x{y:1}}"),
        ("call:f{,x:1}", "call:f{,x:1}"),
        (f"call:f{{x{S}y", f"call:f{{x{S}y"),
        ("call:f{x<turn|>y:1}", "call:f{xy:1}"),
        (f"call:f{CLOSE}", f"call:f{CLOSE}"),
    ],
)
def test_what_is_no_call_is_content(text: str, content: str) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("gemma4", *texts).message
        assert (message.tool_calls, message.content) == ([], content)


@pytest.mark.parametrize("text", ["call:f{}", "call:f{ }", "call:f{{}}", "call:f({})", "x call:f{}"])
def test_without_its_marker_a_call_needs_a_key_or_a_closed_brace(text: str) -> None:
    for texts in ((text,), tuple(text)):
        assert calls(trace_of("gemma4", *texts).message) == [("f", "{}")]
    assert calls(trace_of("gemma4", *f"call:f{{{S}a{S}:1}}").message) == [("f", '{"a": 1}')]


@pytest.mark.parametrize(
    ("inner", "streamed", "closed", "left_out"),
    [
        ("{", "{", "{}", []),
        ("{a", "{", "{}", ["a"]),
        ("{a:", "{", "{}", ["a"]),
        ("{a:12", "{", "{}", ["a", "12"]),
        ("{a:1,", '{"a": 1', '{"a": 1}', []),
        ("{a:1,b:[2,{c:$x", '{"a": 1, "b": [2, {"c": "x', '{"a": 1, "b": [2, {"c": "x"}]}', []),
        ("{a:$x}", '{"a": "x}', '{"a": "x}"}', []),
        ('{a:$x<|"', '{"a": "x', '{"a": "x"}', ['<|"']),
        ("{a:$x<tool_c", '{"a": "x', '{"a": "x"}', ["<tool_c"]),
        ("{a:$x$", '{"a": "x"', '{"a": "x"}', []),
        ("{a:$x}<tool_call|> and so on", '{"a": "x}<tool_call|> and so on', '{"a": "x}<tool_call|> and so on"}', []),
        ("{a:$x<tool_call|>", '{"a": "x<tool_call|>', '{"a": "x<tool_call|>"}', []),
        ("{$a", "{", "{}", ["a"]),
        ("{$a$:", "{", "{}", ["a"]),
        ("{$a<tool_call|>", "{", "{}", ["a<tool_call|>"]),
    ],
)
def test_an_output_that_ends_inside_a_call(inner: str, streamed: str, closed: str, left_out: list[str]) -> None:
    text = f"{OPEN}call:f{inner}".replace("$", S)
    for texts in ((text,), tuple(text)):
        trace = trace_of("gemma4", *texts)
        assert calls(trace.message) == [("f", streamed)]
        assert not trace.message.tool_calls[0].complete
        assert [piece for piece, _ in dropped(trace)] == left_out
        shut = trace_of("gemma4", *texts, policy={"truncated_call": "close"})
        assert calls(shut.message) == [("f", closed)]
        json.loads(closed)


@pytest.mark.parametrize("after", ["", " \n", "<turn|>", " <|tool_response>\n<turn|>", CLOSE])
@pytest.mark.parametrize(
    ("inner", "written"),
    [
        ("{a:$Tokyo}", '{"a": "Tokyo"}'),
        ("{a:$Tokyo }\n", '{"a": "Tokyo"}'),
        ("{a:[1,{b:$x}]}", '{"a": [1, {"b": "x"}]}'),
        ("(a:$x)", '{"a": "x"}'),
    ],
)
def test_a_string_that_is_not_closed_ends_with_its_call(inner: str, written: str, after: str) -> None:
    text = f"{OPEN}call:f{inner}{CLOSE}{after}".replace("$", S)
    for texts in ((text,), tuple(text)):
        trace = trace_of("gemma4", *texts)
        assert calls(trace.message) == [("f", written)]
        assert (trace.message.tool_calls[0].complete, trace.message.content) == (True, None)
        assert codes(trace) == ["unterminated_string"]


@pytest.mark.parametrize(
    ("inner", "written"),
    [
        (("{a:", "$", "Tokyo}"), '{"a": "Tokyo"}'),
        (("{a:", "$", "Tokyo"), '{"a": "Tokyo'),
        (("{a:", "$", "}", "so"), '{"a": "}so'),
        (("{a:", "$", "Tokyo}", CLOSE, "so", "$", "}"), '{"a": "Tokyo}<tool_call|>so"}'),
    ],
)
def test_the_end_of_the_call_by_its_id_in_an_open_string_is_read_as_it_is_typed(
    inner: tuple[str, ...], written: str
) -> None:
    special = {OPEN: 48, CLOSE: 49, S: 52}
    parts = [OPEN, "call:f", *[S if part == "$" else part for part in inner], CLOSE]
    fed = tokens(*[(part, special[part], "special") if part in special else part for part in parts])
    trace = trace_of("gemma4", fed=fed, mode="ids", markers=special)
    typed = trace_of("gemma4", *parts)
    assert calls(trace.message)[0][1].startswith(written)
    assert (trace.message, owners(trace)) == (typed.message, owners(typed))


@pytest.mark.parametrize(
    ("kind", "inner", "written"),
    [
        ("integer", "{a:$3$}", '{"a": 3}'),
        ("integer", "{a:three}", '{"a": "three"}'),
        ("string", "{a:3}", '{"a": "3"}'),
        ("boolean", "{a:True}", '{"a": true}'),
        ("array", "{a:$[1]$}", '{"a": [1]}'),
    ],
)
def test_values_are_coerced_to_their_schema(kind: str, inner: str, written: str) -> None:
    context = tool({"a": {"type": kind}})
    assert calls(trace_of("gemma4", *block(inner), context=context).message) == [("f", written)]


@pytest.mark.parametrize(
    ("inner", "found", "content"),
    [
        ("{a:1<turn|>2}", '{"a": 1}', None),
        ("{a<turn|>:1}", '{"a": 1}', None),
        ("{a:$x}<turn|>}$}", '{"a": "x}<turn|>}"}', None),
    ],
)
def test_a_token_that_ends_a_turn_ends_a_word(inner: str, found: str, content: str | None) -> None:
    text = block(inner)
    for texts in ((text,), tuple(text)):
        message = trace_of("gemma4", *texts).message
        assert message.content == content
        assert [call.arguments for call in message.tool_calls] == [found]


def test_strings_are_sent_as_they_arrive_but_for_brackets_that_may_close_the_call() -> None:
    trace = trace_of("gemma4", *block("{a:$xy)z$}"))
    sent = ["".join(part.arguments or "" for part in delta.tool_calls) if delta else "" for delta in trace.deltas]
    assert [text for text in sent if text] == ["{", '"a": "', "x", "y", ")z", '"', "}"]


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        ("{a:12", "A word is read whole."),
        ("{ab", "A word is read whole."),
        ("{$a", "A key is sent with its value."),
        ("{a:", "A key is sent with its value."),
        ("{a:$x}", "Brackets that may close the call, if its string was not closed."),
        ("{i:$x}", "The schema wants integer: the value is written when it is whole."),
    ],
)
def test_what_waits_says_why(inner: str, reason: str) -> None:
    text = f"{OPEN}call:f{inner}".replace("$", S)
    trace = trace_of("gemma4", *text, "", context=tool({"i": {"type": "integer"}}))
    assert [hold.reason for hold in trace.steps[-2].holds] == [reason]


def test_the_codec_says_where_it_stands() -> None:
    trace = trace_of("gemma4", *block("{a:[$x$]}"))
    said = list(dict.fromkeys([str(step.view.codec) for step in trace.steps if step.view.state == "CALL"]))
    assert said == [
        "in the name",
        "between tokens, depth 1",
        "between tokens, depth 2",
        "in a string, depth 2",
        "after the arguments",
    ]
    assert "after the name" in [str(step.view.codec) for step in trace_of("gemma4", *f"{OPEN}call:f ").steps]


def test_keys_and_values_own_their_characters() -> None:
    trace = trace_of("gemma4", block("{'a':$x$,b:7}"))
    assert [text for text, owner in owners(trace) if owner == "arguments"] == ["a", "x", "b", "7"]
    assert [text for text, owner in owners(trace) if owner == "name"] == ["f"]


def test_without_an_end_of_the_call_a_string_only_ends_at_its_delimiter() -> None:
    states = {
        "TOP": {"text": "content", "rows": [{"on": "GO", "to": "CALL", "emit": ["CallStart"]}]},
        "CALL": {"codec": {"name": "keyvalue", "options": {"string": "|"}}, "rows": [{"on": "STOP", "to": "TOP"}]},
    }
    fmt = small(states, {"GO": "<go>", "STOP": "<stop>"})
    assert calls(trace_of(fmt, *"<go>f{a:|x}<stop>|}<stop>").message) == [("f", '{"a": "x}<stop>"}')]
    assert calls(trace_of(fmt, *"<go>f{a:|x}<stop>").message) == [("f", '{"a": "x}<stop>')]


def test_the_delimiter_is_what_a_string_cannot_hold() -> None:
    assert ARGUMENT_PARSERS["keyvalue"].closers({"string": "<escape>"}) == ("<escape>",)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ue000"), max_size=8).filter(
    lambda text: not any(end in text for end in ENDS)
)
literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join([f"{S}{key}{S}:{written(one)}" for key, one in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([written(one) for one in value]) + "]"
    return f"{S}{value}{S}" if isinstance(value, str) else json.dumps(value)


@pytest.mark.replays
@given(st.dictionaries(texts, literals, max_size=3))
def test_whatever_is_written_is_read_back(arguments: dict[str, object]) -> None:
    text = block(written(arguments).replace("$", "\ue000")).replace("\ue000", "$")
    for pieces in ((text,), tuple(text)):
        (call,) = trace_of("gemma4", *pieces, context=Context()).message.tool_calls
        assert json.loads(call.arguments) == arguments
