"""Ids mode: a recorded marker is a marker by its id alone, wherever text would not be."""

from __future__ import annotations

import json

import pytest

from parsers.formats.model import load_format
from parsers.selection.registry import get_format
from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, owners, rows, small, tokens, trace_of

QWEN = {"<think>": 1, "</think>": 2, "<tool_call>": 3, "</tool_call>": 4}
START, END = ("<tool_call>", 3), ("</tool_call>", 4)
CALL = '{"name": "f", "arguments": {"a": 1}}'
MISTRAL = {"[TOOL_CALLS]": 9, "[ARGS]": 32}
TOOLS = ("[TOOL_CALLS]", 9, "special")


def test_a_marker_by_its_id_begins_a_call() -> None:
    trace = trace_of("qwen", fed=tokens("hi ", START, CALL, END, "bye"), mode="ids", markers=QWEN)
    assert calls(trace.message) == [("f", '{"a": 1}')]
    assert trace.message.content == "hi bye"


def test_the_same_characters_typed_by_ordinary_tokens_are_text() -> None:
    trace = trace_of("qwen", fed=tokens("<tool", "_call>", CALL, "</tool_call>"), mode="ids", markers=QWEN)
    assert trace.message.content == f"<tool_call>{CALL}</tool_call>"


def test_a_marker_that_is_no_token_of_the_vocabulary_is_found_in_the_text() -> None:
    trace = trace_of("qwen", fed=tokens("<tool", "_call>", CALL), mode="ids", markers={"<think>": 1})
    assert calls(trace.message) == [("f", '{"a": 1}')]


def test_held_text_before_a_marker_is_text_of_the_old_state() -> None:
    trace = trace_of("qwen", fed=tokens("x<tool_", START, CALL), mode="ids", markers={"<tool_call>": 3})
    assert trace.message.content == "x<tool_"
    assert trace.steps[0].holds == ()


def test_an_added_marker_inside_a_json_string_is_text() -> None:
    fed = tokens(START, '{"name": "f", "arguments": {"a": "x\\', END, '"}}', END)
    trace = trace_of("qwen", fed=fed, mode="ids", markers=QWEN)
    assert calls(trace.message) == [("f", '{"a": "x\\</tool_call>"}')]


def test_a_special_marker_inside_a_json_string_is_text_of_it() -> None:
    fed = tokens(TOOLS, 'f{"a": "x', TOOLS, 'y"}', TOOLS, "g{}")
    trace = trace_of("mistral", fed=fed, mode="ids", markers=MISTRAL)
    assert calls(trace.message) == [("f", '{"a": "x[TOOL_CALLS]y"}'), ("g", "{}")]
    assert codes(trace) == ["special_in_value"]


def test_a_special_marker_is_text_of_a_value_that_waits_for_its_end() -> None:
    context = Context(tools=(Tool("f", {"properties": {"a": {"type": "integer"}}}), Tool("g")))
    fed = tokens(TOOLS, 'f{"a": "12', TOOLS, '"}')
    trace = trace_of("mistral", fed=fed, mode="ids", markers=MISTRAL, context=context)
    assert calls(trace.message) == [("f", '{"a": "12[TOOL_CALLS]"}')]


@pytest.mark.parametrize("text", ["<|im_end|>", "<|unknown|>"])
@pytest.mark.parametrize(
    ("fmt", "before", "after", "arguments"),
    [
        ("qwen", '{"name": "f", "arguments": {"a": "x', 'y"}}', '{"a": "x$y"}'),
        ("qwen_coder", "<function=f><parameter=a>x", "y</parameter></function>", '{"a": "x$y"}'),
    ],
)
def test_a_special_token_inside_a_value_is_text_of_it_if_more_of_it_follows(
    fmt: str, before: str, after: str, arguments: str, text: str
) -> None:
    special = (text, 9, "special")
    trace = trace_of(fmt, fed=tokens(START, before, special, after, END), mode="ids", markers=QWEN)
    assert calls(trace.message) == [("f", arguments.replace("$", text))]
    assert codes(trace) == ["special_in_value"]


@pytest.mark.parametrize("before", ['{"name": "f", "arguments": {"a": "x', '{"name": "f", "arguments": {"a": "x\\'])
def test_tokens_that_end_a_turn_inside_a_value_are_markers_where_the_output_ends(before: str) -> None:
    ends = ("<|im_end|>", 9, "special"), ("<|endoftext|>", 10, "special")
    trace = trace_of("qwen", fed=tokens(START, before, *ends), mode="ids", markers=QWEN)
    assert trace.message.tool_calls[0].arguments == before.partition('"arguments": ')[2]
    assert owners(trace)[-1] == ("<|im_end|><|endoftext|>", "marker")
    held = trace.steps[-2].holds[-1]
    assert (trace.text[held.start : held.end], held.reason) == (
        "<|im_end|><|endoftext|>",
        "It ends the turn, unless more text follows.",
    )


def test_a_marker_without_a_row_in_the_state_is_text() -> None:
    trace = trace_of("qwen", fed=tokens("a", END, "b"), mode="ids", markers=QWEN)
    assert trace.message.content == "a</tool_call>b"


def test_a_marker_without_a_row_inside_a_call_goes_to_the_codec() -> None:
    fed = tokens(START, "{", ("<think>", 1), CALL, END)
    trace = trace_of("qwen", fed=fed, mode="ids", markers=QWEN)
    assert trace.message.tool_calls == []
    assert trace.rejected_calls[0].start == 0


def test_a_marker_inside_a_tagged_value_is_value_and_can_still_show_its_end() -> None:
    head = "<function=f>\n<parameter=a>\nx"
    fed = tokens(START, head, START, "y</function>\n", END, "after")
    trace = trace_of("qwen_coder", fed=fed, mode="ids", markers=QWEN)
    assert calls(trace.message) == [("f", '{"a": "x<tool_call>y"}')]
    assert trace.message.content == "after"
    assert codes(trace) == ["missing_value_close"]


@pytest.mark.parametrize(
    ("fmt", "before", "kind", "said"),
    [
        ("glm47_moe", ["f", ("<arg_key>", 5), "a</arg_key><arg_value>x"], "added", []),
        ("glm47_moe", ["f", ("<arg_key>", 5), "a</arg_key><arg_value>x</arg_"], "special", []),
        ("qwen_coder", ["<function=f><parameter=a>x"], "added", ["missing_function_end"]),
        ("qwen_coder", ["<function=f>\n<parameter=a>\nx\n"], "special", ["missing_function_end"]),
    ],
)
def test_what_ends_the_call_by_its_id_ends_an_open_value_too(
    fmt: str, before: list[str | tuple[str, int]], kind: str, said: list[str]
) -> None:
    fed = tokens(START, *before, ("</tool_call>", 4, kind), "after")
    trace = trace_of(fmt, fed=fed, mode="ids", markers={**QWEN, "<arg_key>": 5})
    value = "x</arg_" if str(before[-1]).endswith("</arg_") else "x"
    assert calls(trace.message) == [("f", json.dumps({"a": value}))]
    assert (trace.message.tool_calls[0].complete, trace.message.content) == (True, "after")
    assert codes(trace) == ["missing_value_close", *said]


def test_what_ends_the_call_by_its_id_ends_open_elements_too() -> None:
    mark = "]<]minimax[>["
    before, end = f'{mark}<invoke name="f">{mark}<a>{mark}<b>x', ("</tool_call>", 4, "special")
    states = get_format("minimax_m3").model_dump(by_alias=True)
    states["terminals"]["SECTION_END"] = "</tool_call>"
    fed = tokens(f"{mark}<tool_call>", before, end, "after")
    trace = trace_of(load_format(states), fed=fed, mode="ids", markers={"</tool_call>": 4})
    assert (calls(trace.message), trace.message.content) == ([("f", '{"a": {"b": "x"}}')], "after")


SEP = {"<|open|>": 1, "<|close|>": 2, "<|sep|>": 3}
KIMI: list[str | tuple[str, int, str]] = [
    *(("<|open|>", 1, "special"), "tools", ("<|sep|>", 3, "special"), ("<|open|>", 1, "special")),
    *('call tool="f" index="1"', ("<|sep|>", 3, "special"), ("<|open|>", 1, "special")),
    *('argument key="a" type="string"', ("<|sep|>", 3, "special"), "x"),
]
KIMI_END: list[str | tuple[str, int, str]] = [("<|close|>", 2, "special"), "argument", ("<|sep|>", 3, "special")]


@pytest.mark.parametrize(
    ("inside", "value"),
    [
        (["<|close|>argument<|sep|>"], "x<|close|>argument<|sep|>"),
        (["<|cl", "ose|>argu", "ment<|sep|>"], "x<|close|>argument<|sep|>"),
        (["<|close|>argument", ("<|sep|>", 3, "special")], "x<|close|>argument<|sep|>"),
        ([("<|close|>", 2, "special"), "argument<|sep|>"], "x<|close|>argument<|sep|>"),
        ([("<|close|>", 2, "special"), "<|close|>argument<|s", "ep|>"], "x<|close|><|close|>argument<|sep|>"),
    ],
)
def test_a_marker_of_several_tokens_is_one_only_where_all_that_have_ids_came_by_them(
    inside: list[str | tuple[str, int, str]], value: str
) -> None:
    end = "<|close|>call<|sep|>"
    fed = tokens(*KIMI, *inside, end, *KIMI_END, ("<|close|>", 2, "special"), "call", ("<|sep|>", 3, "special"))
    trace = trace_of("kimi_k3", fed=fed, mode="ids", markers=SEP)
    assert calls(trace.message) == [("f", json.dumps({"a": value + end}))]
    assert trace.message.tool_calls[0].complete
    typed = trace_of("kimi_k3", fed=fed, mode="ids", markers={})
    assert typed.message.tool_calls[0].arguments != trace.message.tool_calls[0].arguments


def test_a_token_that_ends_a_turn_may_complete_a_marker_of_several_tokens() -> None:
    fed = tokens("<tool_call>f<arg_key>a</arg_key><arg_value>x</tool_call>", ("<|user|>", 7, "special"))
    trace = trace_of("glm47_moe", fed=fed, mode="ids", markers={"<|user|>": 7})
    assert (calls(trace.message), codes(trace)) == ([("f", '{"a": "x"}')], ["missing_value_close"])
    typed = tokens("<tool_call>f<arg_key>a</arg_key><arg_value>x</tool_call>", "<|user|>y")
    trace = trace_of("glm47_moe", fed=typed, mode="ids", markers={"<|user|>": 7})
    assert calls(trace.message) == [("f", '{"a": "x</tool_call><|user|>y')]


@pytest.mark.parametrize("line", ["\n", "\n\n", " "])
def test_a_marker_by_its_id_may_have_a_line_break_that_belongs_to_it(line: str) -> None:
    markers = {"<response>": 1, "</response>": 2}
    fed = tokens(("<response>", 1), f"{line}def\n", ("</response>", 2), "x")
    trace = trace_of("ernie45", fed=fed, mode="ids", markers=markers)
    typed = trace_of("ernie45", f"<response>{line}def\n</response>x")
    assert (trace.message, owners(trace)) == (typed.message, owners(typed))
    alone = trace_of("ernie45", fed=tokens("a", ("<response>", 1)), mode="ids", markers=markers)
    assert owners(alone) == [("a", "content"), ("<response>", "marker")]


def test_text_that_no_state_expects_is_content_even_as_a_marker() -> None:
    fmt = small({"A": {"text": "structure", "rows": [{"on": "OPEN", "to": "A"}]}}, {"OPEN": "<a>", "CLOSE": "</a>"})
    fed = tokens(("<a>", 1), ("</a>", 2))
    trace = trace_of(fmt, fed=fed, mode="ids", markers={"<a>": 1, "</a>": 2})
    assert owners(trace) == [("<a>", "marker"), ("</a>", "content")]
    assert codes(trace) == ["stray_text"]


@pytest.mark.parametrize(
    ("last", "content", "found"),
    [
        (END, None, []),
        (START, None, [("f", '{"a": 1}')]),
    ],
)
def test_a_skipped_call_ends_at_a_marker(
    last: tuple[str, int], content: str | None, found: list[tuple[str, str]]
) -> None:
    fed = tokens(START, "junk", ("<x>", 1), "more", last)
    fed += tokens(CALL, END) if last == START else []
    trace = trace_of("qwen", fed=fed, mode="ids", markers=QWEN, policy={"recovery": "skip_call"})
    assert (trace.message.content, calls(trace.message)) == (content, found)
    assert ("TOOL_CALL", "REJECT", "CONTENT") in rows(trace)
