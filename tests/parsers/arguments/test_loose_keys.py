"""Arguments that stand beside the name, without a key of their own."""

from __future__ import annotations

import json

import pytest

from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, dropped, owners, tool, trace_of

TYPED = {"n": {"type": "integer"}, "s": {"type": "string"}, "id": {"type": "string"}}


def qwen(inner: str) -> str:
    return f"<tool_call>{inner}</tool_call>"


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        ('{"name": "f", "a": 1}', '{"a": 1}'),
        ('{"a": 1, "name": "f", "b": {"c": [2, "x"]}}', '{"a": 1, "b": {"c": [2, "x"]}}'),
        ('{"name": "f", "a": "</tool_call>"}', '{"a": "</tool_call>"}'),
        ('{"name": "f"}', "{}"),
        ('{"name": "f", "id": 7, "type": "function"}', "{}"),
        ('{"name": "f", "id": 7, "a": 1}', '{"a": 1}'),
        ('{"name": "f", "a": 1, "arguments": {"b": 2}, "c": 3}', '{"b": 2}'),
        ('{"name": "f", "a": 1, "name": "g"}', '{"a": 1, "name": "g"}'),
    ],
)
def test_further_keys_are_the_arguments_where_no_key_holds_them(inner: str, arguments: str) -> None:
    text = qwen(inner)
    for size in (1, 6, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        trace = trace_of("qwen", *pieces)
        assert calls(trace.message) == [("f", arguments)]
        assert trace.message.tool_calls[0].complete


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        ('{"name": "f", "n": "5", "s": 7}', {"n": 5, "s": "7"}),
        ('{"id": "x", "name": "f"}', {"id": "x"}),
    ],
)
def test_they_are_coerced_to_the_schema_and_may_be_declared(inner: str, arguments: object) -> None:
    trace = trace_of("qwen", *qwen(inner), context=tool(TYPED))
    assert json.loads(trace.message.tool_calls[0].arguments) == arguments


def test_a_pair_with_a_marker_inside_is_not_coerced() -> None:
    text = qwen('{"name": "f", "n": <|im_end|>"5"}')
    trace = trace_of("qwen", text, context=tool(TYPED))
    assert calls(trace.message) == [("f", '{"n": "5"}')]


def test_malformed_keys_are_no_arguments() -> None:
    trace = trace_of("qwen", qwen('{"name": "f", "a": }'))
    assert calls(trace.message) == [("f", "{}")]
    assert "malformed_call" in codes(trace)


def test_what_the_output_cuts_off_is_left_out_with_its_reason() -> None:
    trace = trace_of("qwen", '<tool_call>{"name": "f", "a": 1, "b')
    assert calls(trace.message) == [("f", "")]
    assert [text for text, _ in dropped(trace)] == ['"a": 1', '"b']


def test_they_wait_with_a_reason() -> None:
    trace = trace_of("qwen", '<tool_call>{"name": "f", "a": 1', "}")
    assert [hold.reason for hold in trace.steps[0].holds] == ["These may be the arguments, if no key holds them."]


def test_every_character_of_them_belongs_to_the_arguments() -> None:
    trace = trace_of("qwen", qwen('{"name": "f", "a": 1}'), context=Context(tools=(Tool("f"),)))
    assert ('"a": 1', "arguments") in owners(trace)


def test_a_bare_object_needs_an_arguments_key() -> None:
    text = '{"name": "f", "a": 1}'
    assert trace_of("llama", text).message.content == text


@pytest.mark.parametrize("inner", ['{"s": "x", n: 3}', '{"s": "x", n: 3, "id": "y"}', '{"n": 1, s: x, z: true}'])
def test_a_key_without_quotes_has_no_schema_of_the_key_before_it(inner: str) -> None:
    text = qwen(f'{{"name": "f", "arguments": {inner}}}')
    for size in (1, 5, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert calls(trace_of("qwen", *pieces, context=tool(TYPED)).message) == [("f", inner)]
