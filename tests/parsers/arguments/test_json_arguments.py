"""JSON arguments after a name (json_span, in kimik2), and one call object (json_call, in qwen and llama)."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context
from tests.parsers.parsing import calls, codes, dropped, owners, rows, tool, trace_of

HEAD = "<|tool_call_begin|>f:0<|tool_call_argument_begin|>"
END = "<|tool_call_end|>"
CUT = "cut off before its end"
SURPLUS = "surplus closing bracket after the arguments"


@pytest.mark.parametrize(
    ("text", "arguments", "complete", "content"),
    [
        (f'{HEAD} {{"a": [1, 2]}} {END}', '{"a": [1, 2]}', True, None),
        (f"{HEAD}{END}", "{}", True, None),
        (f"{HEAD} {END}", "{}", True, None),
        (f"{HEAD}[1]{END}", "[1]", True, None),
        (f'{HEAD}"x"{END}', '"x"', True, None),
        (f"{HEAD}city is Bern {END}", "city is Bern ", True, None),
        (f"{HEAD}{{}}}} ]{END}x", "{}", True, "x"),
        (f"{HEAD}{{}} so{END}x", "{}", True, "x"),
        (f"{HEAD}{{a: 'b'}}{END}", "{a: 'b'}", True, None),
        (f'{HEAD}{{"a": [1}}{END}', '{"a": [1}', False, None),
        (HEAD, "", False, None),
        (f"{HEAD}bare", "bare", False, None),
        (f'{HEAD}{{"a": "x', '{"a": "x', False, None),
        (f'{HEAD}{{"a": "x\\', '{"a": "x\\', False, None),
        (f"{HEAD}{{}}", "{}", True, None),
    ],
)
def test_json_after_a_name(text: str, arguments: str, complete: bool, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("kimik2", *texts).message
        assert calls(message) == [("f", arguments)]
        assert (message.tool_calls[0].complete, message.content) == (complete, content)


def test_surplus_closers_are_dropped_and_reported_once() -> None:
    trace = trace_of("kimik2", *f"{HEAD}{{}}}}]{END}")
    assert dropped(trace) == [("}]", SURPLUS)]
    assert codes(trace) == ["surplus_closer"]


@pytest.mark.parametrize("head", [HEAD, f"{HEAD} "])
def test_arguments_that_never_began_are_closed_into_an_empty_object(head: str) -> None:
    assert calls(trace_of("kimik2", head, policy={"truncated_call": "close"}).message) == [("f", "{}")]


@pytest.mark.parametrize(
    ("text", "closed", "lost"),
    [
        ('{"x": "lo', '{"x": "lo"}', []),
        ('{"a": 1, "b": ', '{"a": 1}', [', "b": ']),
        ('{"a": 1, "b', '{"a": 1}', [', "b']),
        ('{"a": 1,', '{"a": 1}', [","]),
        ('{"a": 1', "{}", ['"a": 1']),
        ('{"a": [1, {"b": "c"', '{"a": [1, {"b": "c"}]}', []),
        ("{", "{}", []),
        ('{"a": "x\\', '{"a": "x"}', ["\\"]),
        ('{"a": "x\\u00e', '{"a": "x"}', ["\\u00e"]),
        ('{"a": {}, ', '{"a": {}}', [", "]),
        ("[1, 2", "[1]", [", 2"]),
    ],
)
def test_cut_off_arguments_are_closed_by_appending(text: str, closed: str, lost: list[str]) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("kimik2", HEAD, *texts, policy={"truncated_call": "close"})
        assert calls(trace.message) == [("f", closed)]
        assert "".join(text for text, _ in dropped(trace)) == "".join(lost)
        assert not trace.message.tool_calls[0].complete


INTEGER = tool(
    {
        "a": {"type": "integer"},
        "s": {"type": "string"},
        "o": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"a": "1", "b": "2"}', '{"a": 1, "b": "2"}'),
        ('{"a": "x"}', '{"a": "x"}'),
        ('{"a" : 1.50 , "s" : 2}', '{"a" : 1.50 , "s" : "2"}'),
        ('{"s": true, "a": null}', '{"s": "true", "a": null}'),
        ('{"o": {"n": "3", "a": "4"}}', '{"o": {"n": 3, "a": "4"}}'),
        ('{"o": "{\\"n\\": \\"3\\"}"}', '{"o": {"n": 3}}'),
        ('{"o": [{"n": "3"}]}', '{"o": [{"n": "3"}]}'),
        ('{"\\u0061": "1"}', '{"\\u0061": 1}'),
        ('{"s": "a\\nb"}', '{"s": "a\\nb"}'),
    ],
)
def test_single_values_are_coerced_and_all_else_stays(text: str, arguments: str) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("kimik2", HEAD, *texts, END, context=INTEGER)
        assert calls(trace.message) == [("f", arguments)]


def test_items_are_coerced_by_the_schema_of_their_array() -> None:
    context = tool({"a": {"type": "array", "items": {"type": "integer"}}})
    assert calls(trace_of("kimik2", f'{HEAD}{{"a": ["1", 2, "x"]}}{END}', context=context).message) == [
        ("f", '{"a": [1, 2, "x"]}')
    ]


@pytest.mark.parametrize(
    ("text", "policy", "arguments"),
    [
        ('{"a": "1', "as_streamed", '{"a": '),
        ('{"a": "x', "as_streamed", '{"a": "x'),
        ('{"s": 1', "as_streamed", '{"s": '),
        ('{"a": "1', "close", "{}"),
        ('{"s": "b", "a": "1', "close", '{"s": "b"}'),
        ('{"s": "b", "a": "1"', "close", '{"s": "b", "a": 1}'),
    ],
)
def test_a_value_that_waits_when_the_output_ends_is_never_guessed(text: str, policy: str, arguments: str) -> None:
    context = tool({"a": {"type": "integer"}, "s": {"type": "string"}})
    trace = trace_of("kimik2", HEAD, *text, policy={"truncated_call": policy}, context=context)
    assert calls(trace.message) == [("f", arguments)]


def body(inner: str) -> str:
    return f"<tool_call>{inner}</tool_call>"


@pytest.mark.parametrize(
    ("inner", "found", "said"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', [("f", '{"a": 1}')], []),
        ('{"name": "f", "parameters": {"a": 1}}', [("f", '{"a": 1}')], []),
        ('{"arguments": {"a": 1}, "name": "f"}', [("f", '{"a": 1}')], []),
        ('{"arguments": {"name": "g"}, "name": "f"}', [("f", '{"name": "g"}')], []),
        ('{"id": {"name": "g"}, "name": "f", "x": [1, "y"], "arguments": {}}', [("f", "{}")], []),
        ('{"name": "f", "arguments": {}, "parameters": {"b": 1}}', [("f", "{}")], []),
        ('{"name": "f", "name": "g", "arguments": {}}', [("f", "{}")], []),
        ('{"na\\u006de": "f", "arguments": {}}', [("f", "{}")], []),
        ('{"name": "f\\u0031", "arguments": {}}', [("f1", "{}")], []),
        ('{"name": "f"}', [("f", "{}")], ["missing_arguments"]),
        ('{"name": "f",}', [("f", "{}")], ["missing_arguments"]),
        ('{"name": "f", "arguments": null}', [("f", "null")], []),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', [("f", '{"a": 1}')], ["double_encoded"]),
        ('{"arguments": "{\\"a\\": 1}", "name": "f"}', [("f", '{"a": 1}')], ["double_encoded"]),
        ('{"name": "f", "arguments": "[1]"}', [("f", '"[1]"')], ["double_encoded"]),
        ('{"arguments": "x", "name": "f"}', [("f", '"x"')], ["double_encoded"]),
        ('{"name": "f", "arguments": {}}}}', [("f", "{}")], ["surplus_closer"]),
        ('{"name": "f" "arguments": {"a": 1}}', [("f", '{"a": 1}')], ["malformed_call"]),
        ('{"name": "f", "arguments": {"a": "1" "b": 2}}', [("f", '{"a": "1" "b": 2}')], []),
        ('{"name": "f", "arguments": }', [("f", "{}")], ["malformed_call", "incomplete_call"]),
        ('{"name": "f", arguments: {"a": 1}}', [("f", "{}")], ["malformed_call", "incomplete_call"]),
        ('{"name": "f", "arguments": {"a": 1}', [("f", '{"a": 1}')], ["missing_object_end"]),
        ("[1]", [], ["rejected_call"]),
        ("{}", [], ["rejected_call"]),
        ('{"name": ""}', [], ["rejected_call"]),
        ('{"name": " ", "arguments": {}}', [], ["rejected_call"]),
        ('{"name": null, "arguments": {}}', [], ["rejected_call"]),
        ('{"name": 5, "arguments": {}}', [], ["rejected_call"]),
        ('{"arguments": {}}', [], ["rejected_call"]),
        ('{"arguments": {"a": 1 2}, "name": "f"}', [], ["rejected_call"]),
        ('{"arguments": , "name": "f"}', [], ["rejected_call"]),
        ('{"name": ["f"], "arguments": {}}', [], ["rejected_call"]),
        ('{name: "f"}', [], ["rejected_call"]),
    ],
)
def test_one_call_object(inner: str, found: list[tuple[str, str]], said: list[str]) -> None:
    text = body(inner)
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen", *texts)
        assert calls(trace.message) == found
        assert codes(trace) == said
        assert found or trace.message.content == text


@pytest.mark.parametrize(
    ("text", "policy", "arguments"),
    [
        ('<tool_call>{"name": "f"', "as_streamed", ""),
        ('<tool_call>{"name": "f"', "close", "{}"),
        ('<tool_call>{"name": "f", "arguments": ', "close", "{}"),
        ('<tool_call>{"name": "f", "arguments": {"a', "close", "{}"),
        ('<tool_call>{"arguments": {"a": 1}, "name": "f"', "close", '{"a": 1}'),
    ],
)
def test_a_call_object_that_is_cut_off(text: str, policy: str, arguments: str) -> None:
    trace = trace_of("qwen", *text, policy={"truncated_call": policy})
    assert calls(trace.message) == [("f", arguments)]


def test_early_arguments_are_coerced_once_the_name_is_known() -> None:
    text = '<tool_call>{"arguments": {"a": "1", "s": 2}, "name": "f"}</tool_call>'
    for texts in ((text,), tuple(text)):
        trace = trace_of("qwen", *texts, context=INTEGER)
        assert calls(trace.message) == [("f", '{"a": 1, "s": "2"}')]
        assert ("arguments", "arguments") not in owners(trace)


def test_a_marker_in_a_string_of_the_call_object_is_text() -> None:
    trace = trace_of("qwen", *body('{"name": "f", "note": "</tool_call>", "arguments": {"a": "</tool_call>"}}'))
    assert calls(trace.message) == [("f", '{"a": "</tool_call>"}')]


def test_text_after_the_object_is_content_and_ends_the_call() -> None:
    trace = trace_of("qwen", body('{"name": "f", "arguments": {}} and so on '))
    assert trace.message.content == "and so on </tool_call>"
    assert rows(trace)[1:3] == [("TOOL_CALL", "OTHER", "NEXT_OBJECT"), ("NEXT_OBJECT", "OTHER", "CONTENT")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"name": "f", "parameters": {"a": 1}}', [("f", '{"a": 1}')]),
        ('{"name": "f", "parameters": {}}', [("f", "{}")]),
        ('{"name": "f", "parameters": { \n }}', [("f", "{ \n }")]),
        ('{"parameters": {"a": 1}, "name": "f"}', [("f", '{"a": 1}')]),
        ('{"parameters": { "a": 1}, "name": "f"}', [("f", '{ "a": 1}')]),
        ('{"name": "f", "parameters": {"a": "x', [("f", '{"a": "x')]),
        ('{"name": "f", "parameters": {', [("f", "{")]),
        ('{"name": "f", "parameters": { ', [("f", "{ ")]),
        ('{"name": "f", "parameters": { <|eom_id|>', [("f", "{ ")]),
        ('{"name": "f", "parameters": ', []),
        ('{"name": "f", "parameters": [1]}', []),
        ('{"name": "f", "parameters": "x"}', []),
        ('{"name": "f", "parameters": {a: 1}}', []),
        ('{"name": "f", "parameters": { 1}}', []),
        ('{"name": "f"}', []),
        ('{"name": "John", "age": 30}', []),
        ("{x}", []),
        ("{{", []),
        ('{"parameters": {"name": "f"}}', []),
    ],
)
def test_a_bare_object_is_a_call_once_its_arguments_begin_as_an_object_does(
    text: str, found: list[tuple[str, str]]
) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("llama", *texts)
        assert calls(trace.message) == found
        assert found or trace.message.content == text


def test_only_objects_at_the_top_are_candidates() -> None:
    inner = '{"name": "f", "parameters": {}}'
    trace = trace_of("llama", f'{{"x": {inner}}} {inner}')
    assert calls(trace.message) == [("f", "{}")]
    assert trace.message.content == f'{{"x": {inner}}}'


def test_a_call_of_an_undeclared_tool_that_the_output_ends_inside_is_not_lost() -> None:
    context = Context(tools=INTEGER.tools)
    text = '{"name": "g", "parameters": {'
    trace = trace_of("llama", text, policy={"unknown_tool": "text"}, context=context)
    assert (trace.message.content, trace.message.tool_calls) == (text, [])


def test_a_deep_value_is_read_without_recursion() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    trace = trace_of("kimik2", HEAD, deep, END)
    assert calls(trace.message) == [("f", deep)]
