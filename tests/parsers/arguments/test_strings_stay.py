"""A value that is written as a string stays one wherever its schema allows strings, in every notation that has them;
text without a type is the first type that it can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.parsers.parsing import calls, tool, trace_of

# How a format writes a call of `f` whose argument `a` is the string X.
WRITTEN = {
    "qwen": '<tool_call>\n{"name": "f", "arguments": {"a": "X"}}\n</tool_call>',
    "deepseek_v31": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": "X"}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek_v32": '<｜DSML｜function_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">"X"'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    "mistral": '[TOOL_CALLS]f[ARGS]{"a": "X"}',
    "hunyuan_a13b": '<tool_calls>[{"name": "f", "arguments": {"a": "X"}}]</tool_calls>',
    "kimik2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"a": "X"}<|tool_call_end|><|tool_calls_section_end|>',
    "llama": '{"name": "f", "parameters": {"a": "X"}}',
    "granite": '<|tool_call|>[{"name": "f", "arguments": {"a": "X"}}]',
    "harmony": '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "X"}<|call|>',
    "gemma4": '<|tool_call>call:f{a:<|"|>X<|"|>}<tool_call|>',
    "functiongemma": "<start_function_call>call:f{a:<escape>X<escape>}<end_function_call>",
    "pythonic": "[f(a='X')]",
    "llama4_pythonic": '<|python_start|>[f(a="X")]<|python_end|>',
}
# The same where a value between tags has no type.
UNTYPED = {
    "qwen_coder": "<tool_call>\n<function=f>\n<parameter=a>\nX\n</parameter>\n</function>\n</tool_call>",
    "glm47_moe": "<tool_call>f<arg_key>a</arg_key><arg_value>X</arg_value></tool_call>",
    "minimax_m2": '<minimax:tool_call><invoke name="f"><parameter name="a">X</parameter></invoke></minimax:tool_call>',
    "minimax_m3": ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>X]<]minimax[>[</a>'
    "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
}
FREE = {"allOf": [{"description": "anything"}], "anyOf": [{"type": "integer"}, True]}
STAYS: list[tuple[Any, str]] = [
    ({"type": ["string", "integer"]}, "3"),
    ({"type": ["integer", "string"]}, "3"),
    ({"type": ["number", "string"]}, "4.0"),
    ({"type": ["string", "boolean"]}, "true"),
    ({"type": ["string", "null"]}, "null"),
    ({"type": ["array", "string"]}, "[1]"),
    ({"type": ["object", "string"]}, "{}"),
    ({"type": "string", "nullable": True}, "null"),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3"),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}, "null"),
    ({"oneOf": [{"type": "integer"}, {"const": "3"}]}, "3"),
    ({"anyOf": [{"type": "integer"}, {"$ref": "https://example.org/text"}]}, "3"),
    ({"enum": ["3", 4]}, "3"),
    ({"enum": [3, "4", None]}, "4"),
    ({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]}, "[1]"),
    ({"type": ["decimal", "integer"]}, "3"),
    (FREE, "3"),
]
CHANGES: list[tuple[Any, str, str]] = [
    ({"type": "integer"}, "3", "3"),
    ({"type": ["integer", "null"]}, "null", "null"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", "3"),
    ({"enum": [3, 4]}, "3", "3"),
    ({"const": 3, "type": "integer"}, "3", "3"),
    ({"type": ["string", "integer"], "enum": [3, 4]}, "3", "3"),
    ({"allOf": [{"type": ["string", "integer"]}, {"type": "integer"}]}, "3", "3"),
    ({"type": "integer", "anyOf": [{"minimum": 1}, {"maximum": 9}]}, "3", "3"),
    ({"type": "array"}, "[1]", "[1]"),
    ({"properties": {"k": {"type": "integer"}}}, "{}", "{}"),
    ({"anyOf": [{"type": "integer"}, False]}, "3", "3"),
]


def written(fmt: str, text: str, schema: Any, *, whole: bool) -> str:
    said = (WRITTEN | UNTYPED)[fmt].replace("X", text)
    texts = (said,) if whole else tuple(said)
    ((_, arguments),) = calls(trace_of(fmt, *texts, context=tool({"a": schema})).message)
    return json.dumps(json.loads(arguments)["a"])


@pytest.mark.replays
@pytest.mark.parametrize("fmt", WRITTEN)
@pytest.mark.parametrize(("schema", "text"), STAYS)
def test_a_string_that_its_schema_allows_is_never_changed(fmt: str, schema: Any, text: str) -> None:
    for whole in (True, False):
        assert written(fmt, text, schema, whole=whole) == f'"{text}"'


@pytest.mark.parametrize("fmt", WRITTEN)
@pytest.mark.parametrize(("schema", "text", "found"), CHANGES)
def test_a_string_where_none_is_allowed_is_read_as_what_is(fmt: str, schema: Any, text: str, found: str) -> None:
    for whole in (True, False):
        assert written(fmt, text, schema, whole=whole) == found


@pytest.mark.replays
@pytest.mark.parametrize("fmt", UNTYPED)
@pytest.mark.parametrize(
    ("schema", "text", "found"),
    [
        ({"type": ["string", "integer"]}, "3", "3"),
        ({"type": ["string", "number"]}, "3.5", "3.5"),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["string", "boolean"]}, "true", "true"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "x3", '"x3"'),
        ({"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]}, "null", '"null"'),
        ({"type": "string"}, "3", '"3"'),
    ],
)
def test_text_without_a_type_is_the_first_type_that_it_can_be(fmt: str, schema: Any, text: str, found: str) -> None:
    for whole in (True, False):
        assert written(fmt, text, schema, whole=whole) == found


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"type": "array", "items": {"type": ["integer", "string"]}}, '["1", 2]'),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, '["1", 2]'),
        ({"patternProperties": {"^k": {}}, "additionalProperties": {"type": "integer"}}, '{"k": "1"}'),
        ({"type": "object", "properties": {"k": True}, "additionalProperties": {"type": "integer"}}, '{"k": "1"}'),
        (
            {"anyOf": [{"properties": {"k": {"type": "integer"}}}, {"properties": {"k": {"type": "string"}}}]},
            '{"k": "1"}',
        ),
        ({"anyOf": [{"items": {"type": "integer"}}, {"items": {"type": "string"}}]}, '["1", 2]'),
    ],
)
def test_a_string_inside_a_value_is_held_to_all_that_its_schema_allows(schema: Any, arguments: str) -> None:
    said = WRITTEN["qwen"].replace('"X"', arguments)
    assert calls(trace_of("qwen", said, context=tool({"a": schema})).message) == [("f", f'{{"a": {arguments}}}')]


@pytest.mark.parametrize(
    ("schema", "word", "found"),
    [
        ({"type": ["string", "integer"]}, "3", "3"),
        ({"type": ["string", "boolean"]}, "TRUE", "true"),
        ({"type": ["string", "null"]}, "Null", "null"),
        ({"type": ["string", "null"]}, "Nulls", '"Nulls"'),
        ({"type": ["string", "null"]}, '"null"', '"null"'),
    ],
)
def test_a_bare_word_of_gemma_has_no_type(schema: Any, word: str, found: str) -> None:
    said = f"<|tool_call>call:f{{a:{word}}}<tool_call|>"
    assert calls(trace_of("gemma4", said, context=tool({"a": schema})).message) == [("f", f'{{"a": {found}}}')]


def test_a_string_beside_other_types_is_sent_as_it_comes() -> None:
    said = ['<tool_call>{"name": "f", "arguments": {"a": "x', "y", '"}}</tool_call>']
    trace = trace_of("qwen", *said, context=tool({"a": {"type": ["string", "integer"]}}))
    sent = [[part.arguments for part in delta.tool_calls] if delta else [] for delta in trace.deltas]
    assert sent[1] == ["y"]
