"""Calls as Python writes them: what is a call, what its values mean as JSON, and what happens where it goes wrong."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.arguments.python_text import python_number, unescape
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, rows, tokens, tool, trace_of


def value(text: str, context: Context | None = None) -> str:
    """The JSON that one argument becomes, cut everywhere."""
    whole = trace_of("pythonic", f"[f(a={text})]", context=context)
    fine = trace_of("pythonic", *f"[f(a={text})]", context=context)
    assert calls(fine.message) == calls(whole.message)
    (call,) = whole.message.tool_calls
    assert call.complete
    return call.arguments.removeprefix('{"a": ').removesuffix("}")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1", "1"),
        ("-5", "-5"),
        ("+5", "5"),
        ("1_000", "1000"),
        ("007", "7"),
        ("00", "0"),
        ("-0", "-0"),
        ("1.5e-3", "1.5e-3"),
        ("1E5", "1E5"),
        ("1_0.0_5e1_0", "10.05e10"),
        ("5.", "5.0"),
        ("-.5", "-0.5"),
        ("0x1F", "31"),
        ("-0b101", "-5"),
        ("0o17", "15"),
        ("0x" + "f" * 300, '"0x' + "f" * 300 + '"'),
        ("1__0", '"1__0"'),
        ("1_", '"1_"'),
        (".", '"."'),
        ("5j", '"5j"'),
        ("True", "true"),
        ("false", "false"),
        ("None", "null"),
        ("null", "null"),
        ("celsius", '"celsius"'),
        ("Unit.C", '"Unit.C"'),
        ("2024-01-31", '"2024-01-31"'),
        ("[]", "[]"),
        ("[1, 'a', [2,],]", '[1, "a", [2]]'),
        ("{}", "{}"),
        ("{'a': 1, \"b\": [True], 3: {}, None: x, k: '',}", '{"a": 1, "b": [true], "3": {}, "null": "x", "k": ""}'),
        ("{'': 1, 'a' 'b': 2}", '{"": 1, "ab": 2}'),
        ("{'\\x41': 1}", '{"A": 1}'),
        ("()", "[]"),
        ("(1)", "1"),
        ("('a')", '"a"'),
        ("(1,)", "[1]"),
        ("(1, 2)", "[1, 2]"),
        ("((1, 2), (3), ())", "[[1, 2], 3, []]"),
        ("([1], {'k': (2)})", '[[1], {"k": 2}]'),
        ("{1, 2}", "[1, 2]"),
        ("{'x'}", '["x"]'),
        ("{'', \"y\",}", '["", "y"]'),
        ("{True, None, x}", '[true, null, "x"]'),
        ("{(1, 2), 3}", "[[1, 2], 3]"),
        ("[{1}, {'k': {'a\\n'}}]", '[[1], {"k": ["a\\n"]}]'),
    ],
)
def test_values_of_every_kind(text: str, written: str) -> None:
    assert value(text) == written
    json.loads(written)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("''", ""),
        ('""', ""),
        ("'x'", "x"),
        ("'\"'", '"'),
        ("'\\''", "'"),
        ("''''''", ""),
        ("'''a'b''c\\''''", "a'b''c'"),
        ('"""two\nlines"""', "two\nlines"),
        ("'a' \"b\" '''c'''", "abc"),
        ("'a'''", "a"),
        ("'' ''", ""),
        ("'a\nb'", "a\nb"),
        ("'a\\\nb'", "ab"),
        ("'\\a\\b\\f\\n\\r\\t\\v\\\\'", "\a\b\f\n\r\t\v\\"),
        ("'\\0\\12\\1234\\18'", "\0\nS4\x018"),
        ("'\\x41\\x4\\xzz'", "A\\x4\\xzz"),
        ("'\\u00e9\\u00e\\U0001F600\\U0001F60'", "é\\u00e😀\\U0001F60"),
        ("'\\U00110000\\U0000d83d'", "\\U00110000\\U0000d83d"),
        ("'\\ud83d\\ude00\\ud83d\\ude0'", "😀\\ud83d\\ude0"),
        ("'\\ud83d\\ud83d\\ude00\\ude00'", "\\ud83d😀\\ude00"),
        ("'\\ud83dx\\ud83d\\n\\ud83d\\x41'", "\\ud83dx\\ud83d\n\\ud83dA"),
        ("'\\N{BULLET}\\N{no such thing}\\N{a'", "•\\N{no such thing}\\N{a"),
        ("'\\Nx\\N{bad_name}'", "\\Nx\\N{bad_name}"),
        ("'\\N{" + "a" * 100 + "}'", "\\N{" + "a" * 100 + "}"),
        ("'\\q\\\\'", "\\q\\"),
        ("'\u2028😀'", "\u2028😀"),
    ],
)
def test_strings_as_python_means_them(text: str, meaning: str) -> None:
    assert json.loads(value(text)) == meaning


@pytest.mark.replays
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.text("'\"\\ \nux{}N0", max_size=12))
def test_any_text_python_writes_is_read_back(text: str) -> None:
    assert json.loads(value(repr(text))) == text == ast.literal_eval(repr(text))


@pytest.mark.replays
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab'\"\\", max_size=3), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_literal_python_writes_is_read_back(literal: object) -> None:
    assert json.loads(value(repr(literal))) == literal


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("'sed -n '1,9p' f.py'", "sed -n '1,9p' f.py"),
        ("'it's'", "it's"),
        ('"say "hi" now"', 'say "hi" now'),
        ("'a ' b'", "a ' b"),
        ("'a' x 'b'", "a' x 'b"),
        ("'''a''' b'''", "a''' b"),
    ],
)
def test_a_quote_that_nothing_fitting_follows_is_text(text: str, meaning: str) -> None:
    trace = trace_of("pythonic", *f"[f(a={text})]")
    assert json.loads(trace.message.tool_calls[0].arguments) == {"a": meaning}
    assert codes(trace) == ["unescaped_quote"]


@pytest.mark.parametrize(
    "text",
    [
        *("[", "[1]", "[]", "[ ]", "[x]", "[x y(a=1)]", "[x (a=1)]", "[link](url)", "[f(1)]", "[f('a')]", "[f(*a)]"),
        *(
            "[f(**a)]",
            "[f(a)]",
            "[f(a, b=1)]",
            "[f(a==1)]",
            "[f(a b=1)]",
            "[f(=1)]",
            "[f(a+b)]",
            "[f(",
            "[f(a",
            "[f(a ",
        ),
        *("[-f(a=1)]", "[1f(a=1)]", "[f[0](a=1)]", "[f(,)]", "[f(])", "['f(a=1)']"),
    ],
)
def test_what_no_call_begins_with_is_content(text: str) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("pythonic", *texts).message
        assert (message.content, message.tool_calls) == (text, [])


@pytest.mark.parametrize(
    ("text", "found", "content", "said"),
    [
        ("[f(a=1, 2)]", [("f", '{"a": 1')], "2)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=1, **k)]", [("f", '{"a": 1')], "**k)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=1 b=2)]", [("f", '{"a": 1')], "b=2)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=1, b==2)]", [("f", '{"a": 1')], "=2)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=)]", [("f", "{")], ")]", ["malformed_list", "incomplete_call"]),
        ("[f(a=x=1)]", [("f", "{")], "=1)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=g(1))]", [("f", "{")], "(1))]", ["malformed_list", "incomplete_call"]),
        ("[f(a=b'x')]", [("f", "{")], "'x')]", ["malformed_list", "incomplete_call"]),
        ("[f(a=1:2)]", [("f", '{"a": 1')], ":2)]", ["malformed_list", "incomplete_call"]),
        ("[f(a={'k' 1})]", [("f", "{")], "1})]", ["malformed_list", "incomplete_call"]),
        ("[f(a={k 1})]", [("f", "{")], "1})]", ["malformed_list", "incomplete_call"]),
        ("[f(a={[]: 1})]", [("f", '{"a": [[]')], ": 1})]", ["malformed_list", "incomplete_call"]),
        ("[f(a={'x': 1, 'y'})]", [("f", '{"a": {"x": 1')], "})]", ["malformed_list", "incomplete_call"]),
        ("[f(a={'x', 'y': 1})]", [("f", '{"a": ["x", "y"')], ": 1})]", ["malformed_list", "incomplete_call"]),
        ("[f(a=(1, 2}, b=3)]", [("f", '{"a": [1, 2')], "}, b=3)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=1}, b=3)]", [("f", '{"a": 1')], "}, b=3)]", ["malformed_list", "incomplete_call"]),
        ("[f(a=1), 5]", [("f", '{"a": 1}')], "5]", ["malformed_list"]),
        ("[f(a=1),, g()]", [("f", '{"a": 1}')], ", g()]", ["malformed_list"]),
        ("[f(a=1); g()]", [("f", '{"a": 1}')], "; g()]", ["malformed_list"]),
        ("[f(a=1), and more]", [("f", '{"a": 1}')], "and more]", ["rejected_call"]),
        ("[f(a=1), g(2)]", [("f", '{"a": 1}')], "g(2)]", ["rejected_call"]),
    ],
)
def test_trouble_after_a_call_was_sent_leaves_the_rest_as_text(
    text: str, found: list[tuple[str, str]], content: str, said: list[str]
) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("pythonic", *texts)
        assert calls(trace.message) == found
        assert trace.message.content == content
        assert sorted(codes(trace)) == sorted(said)


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        ("[f(a=[1, 2)]", [("f", '{"a": [1, 2]}')], ["missing_close"]),
        ("[f(a={'k': [1}, b=2)]", [("f", '{"a": {"k": [1]}, "b": 2}')], ["missing_close"]),
        ("[f(a=(1, [2)]", [("f", '{"a": [1, [2]]}')], ["missing_close", "missing_close"]),
        ("[f(a=1]", [("f", '{"a": 1}')], ["missing_close"]),
        ("[f(a=1,]", [("f", '{"a": 1}')], ["missing_close"]),
        ("[f(a=1) g(b=2)]", [("f", '{"a": 1}'), ("g", '{"b": 2}')], []),
        ("[f(a=1),]", [("f", '{"a": 1}')], []),
        ("[f(a=1)", [("f", '{"a": 1}')], ["missing_list_end"]),
        ("[f(a=1,)]", [("f", '{"a": 1}')], []),
        ("[f(a=1", [("f", "{")], ["truncated_call"]),
    ],
)
def test_brackets_that_were_forgotten_are_closed_where_a_later_one_shows_it(
    text: str, found: list[tuple[str, str]], said: list[str]
) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("pythonic", *texts)
        assert (calls(trace.message), trace.message.content, codes(trace)) == (found, None, said)


@pytest.mark.parametrize(
    ("text", "streamed", "closed", "left_out"),
    [
        ("[f(a=", "{", "{}", ["a"]),
        ("[f(a=1, b", '{"a": 1', '{"a": 1}', ["b"]),
        ("[f(a=1, b ", '{"a": 1', '{"a": 1}', ["b"]),
        ("[f(a=12", "{", "{}", ["a", "12"]),
        ("[f(a=1,", '{"a": 1', '{"a": 1}', []),
        ("[f(a='x", '{"a": "x', '{"a": "x"}', []),
        ("[f(a='x'", '{"a": "x"', '{"a": "x"}', []),
        ("[f(a=''", '{"a": ""', '{"a": ""}', []),
        ("[f(a='", '{"a": "', '{"a": ""}', []),
        ("[f(a='x\\u00", '{"a": "x', '{"a": "x"}', ["\\u00"]),
        ("[f(a='''x''", '{"a": "x', '{"a": "x"}', ["''"]),
        ("[f(a=[1, {'k': 'v", '{"a": [1, {"k": "v', '{"a": [1, {"k": "v"}]}', []),
        ("[f(a=[1, {'k", '{"a": [1', '{"a": [1]}', ["k"]),
        ("[f(a=[1, {'k':", '{"a": [1, {', '{"a": [1, {}]}', ["k"]),
        ("[f(a=('x", "{", "{}", ["a", "x"]),
        ("[f(a=({'k': 1, 'l'", "{", "{}", ["a", "k", "1", "l"]),
        ("[f(a=('x', 'y", '{"a": ["x", "y', '{"a": ["x", "y"]}', []),
    ],
)
def test_an_output_that_ends_inside_a_call(text: str, streamed: str, closed: str, left_out: list[str]) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("pythonic", *texts)
        assert calls(trace.message) == [("f", streamed)]
        assert not trace.message.tool_calls[0].complete
        assert [piece for piece, _ in dropped(trace)] == left_out
        shut = trace_of("pythonic", *texts, policy={"truncated_call": "close"})
        assert calls(shut.message) == [("f", closed)]
        json.loads(closed)


@pytest.mark.parametrize(
    ("text", "found", "complete"),
    [
        ("<|python_start|>[f(a=12<|python_end|>", '{"a": 12}', True),
        ("<|python_start|>[f(a=[1, {'k': (2<|python_end|>", '{"a": [1, {"k": 2}]}', True),
        ("<|python_start|>[f(a='x'<|python_end|>", '{"a": "x"}', True),
        ("<|python_start|>[f(a=<|python_end|>", "{", False),
        ("<|python_start|>[f(a=1, b<|python_end|>", '{"a": 1}', True),
    ],
)
def test_the_end_of_a_block_ends_a_call(text: str, found: str, complete: bool) -> None:
    for texts in ((text,), tuple(text)):
        (call,) = trace_of("llama4_pythonic", *texts).message.tool_calls
        assert (call.arguments, call.complete) == (found, complete)


@pytest.mark.parametrize(
    ("schema", "text", "written"),
    [
        ({"type": "integer"}, "'3'", "3"),
        ({"type": "integer"}, "'x' 'y'", '"xy"'),
        ({"type": "integer"}, "'\\x33'", "3"),
        ({"type": "integer"}, "''", '""'),
        ({"type": "string"}, "3", '"3"'),
        ({"type": "string"}, "True", '"true"'),
        ({"type": ["integer", "null"]}, "'null'", "null"),
        ({"type": "object"}, "'{\"a\": 1}'", '{"a": 1}'),
        ({"type": "array", "items": {"type": "integer"}}, "('1', '2')", "[1, 2]"),
        ({"type": "array", "items": {"type": "integer"}}, "['1', '2']", "[1, 2]"),
        ({"type": "array", "items": {"type": "integer"}}, "'[\"1\"]'", "[1]"),
        ({"type": "integer"}, "('1')", "1"),
        ({"type": "object", "properties": {"k": {"type": "integer"}}}, "{'k': '1', 'l': '1'}", '{"k": 1, "l": "1"}'),
    ],
)
def test_values_are_coerced_to_their_schema(schema: dict[str, object], text: str, written: str) -> None:
    assert value(text, tool({"a": schema})) == written


@pytest.mark.parametrize(
    ("kind", "text", "streamed"), [("integer", "'ab", '{"a": "ab'), ("integer", "'12", "{"), ("integer", "('ab", "{")]
)
def test_a_string_that_waited_is_cut_off(kind: str, text: str, streamed: str) -> None:
    context = tool({"a": {"type": kind}})
    assert calls(trace_of("pythonic", *f"[f(a={text}", context=context).message) == [("f", streamed)]
    shut = trace_of("pythonic", *f"[f(a={text}", context=context, policy={"truncated_call": "close"})
    assert calls(shut.message) == [("f", "{}")]


def test_strings_are_sent_character_by_character_and_other_values_whole() -> None:
    trace = trace_of("pythonic", *"[f(a='xy', b=12)]")
    sent = ["".join(part.arguments or "" for part in delta.tool_calls) if delta else "" for delta in trace.deltas]
    assert [text for text in sent if text] == ['{"a": "', "x", "y", '"', ', "b": 12}']


def held(trace: Trace, text: str) -> list[str]:
    """Why codec and lexer hold after the step in which the output so far ends with `text`."""
    step = next(step for step in trace.steps if trace.text[: step.span.end].endswith(text))
    return [hold.reason for hold in step.holds]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[f(a=12", "A word or a name is read whole."),
        ("[f(a=1, bc", "A word or a name is read whole."),
        ("[f(a=1, bc=", "A word or a name is read whole."),
        (
            "[f(a='x\\",
            "An escape sequence is sent whole, and the character after a quote says whether it ends the string.",
        ),
        (
            "[f(a='x'",
            "An escape sequence is sent whole, and the character after a quote says whether it ends the string.",
        ),
        ("[f(a= ", "A key is sent with its value."),
        ("[f(a=('x", "A bracket is an array if a comma follows its first value."),
        ("[f(i='x", "The schema wants integer: the value is written when it is whole."),
    ],
)
def test_what_waits_says_why(text: str, reason: str) -> None:
    assert held(trace_of("pythonic", *text, context=tool({"i": {"type": "integer"}})), text) == [reason]


def test_the_reader_says_where_it_stands() -> None:
    trace = trace_of("pythonic", *"[f(a='x', b=[1")
    said = [str(step.view.codec) for step in trace.steps]
    assert list(dict.fromkeys(said)) == [
        "before the calls",
        "in a name",
        "arguments, between tokens, depth 0",
        "arguments, in a word, depth 0",
        "arguments, in a string, depth 0",
        "arguments, between tokens, depth 1",
        "arguments, in a word, depth 1",
    ]
    assert "between calls" in [str(step.view.codec) for step in trace_of("pythonic", *"[f(), ").steps]


def test_every_call_is_a_transition_of_its_own() -> None:
    moved = [trigger for _, trigger, _ in rows(trace_of("pythonic", "[f(), g(a=1)]"))]
    assert moved == ["LIST", "ITEM_END", "ITEM", "ITEM_END", "DONE", "END"]


def test_keys_and_values_own_their_characters() -> None:
    trace = trace_of("pythonic", "[f(a='x\\n', b=(7))]")
    assert [text for text, owner in owners(trace) if owner == "arguments"] == ["a", "x\\n", "b", "7"]
    assert [text for text, owner in owners(trace) if owner == "name"] == ["f"]


@pytest.mark.parametrize(("text", "found"), [("\\", None), ("\\1", None), ("\\N", None), ("\\N{", None)])
def test_half_an_escape_sequence_waits(text: str, found: None) -> None:
    assert unescape(text) is found


def test_words_that_are_no_numbers() -> None:
    assert [python_number(text) for text in ("", "-", "e5", "_1", "0x", "1.2.3", "--1", "inf", "nan")] == [None] * 9


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        ('[f(a="x', '{"a": "x<|x|>y"}'),
        ('[f(a="x\\', '{"a": "x\\\\<|x|>y"}'),
        ('[f(a=""', '{"a": ""'),
    ],
)
def test_a_token_that_is_no_text_ends_an_empty_string_and_no_other(begun: str, found: str) -> None:
    fed = tokens(begun, ("<|x|>", 9, "special"), 'y")]')
    trace = trace_of("pythonic", fed=fed, mode="ids", markers={})
    assert [call.arguments for call in trace.message.tool_calls] == [found]
