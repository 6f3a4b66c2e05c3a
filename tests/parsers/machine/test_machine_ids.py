"""Ids mode: a recorded marker is a marker by its id alone, wherever text would not be."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import calls, codes, dropped, owners, rows, small, tokens, trace_of

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


def test_a_special_marker_inside_a_json_string_ends_it() -> None:
    fed = tokens(TOOLS, 'f{"a": "x', TOOLS, "g{}")
    trace = trace_of("mistral", fed=fed, mode="ids", markers=MISTRAL)
    assert calls(trace.message) == [("f", '{"a": "x'), ("g", "{}")]
    assert [call.complete for call in trace.message.tool_calls] == [False, True]
    assert codes(trace) == ["incomplete_call"]


def test_a_value_that_waited_when_a_special_marker_ends_it_is_accounted_for() -> None:
    context = Context(tools=(Tool("f", {"properties": {"a": {"type": "integer"}}}), Tool("g")))
    fed = tokens(TOOLS, 'f{"a": "12', TOOLS, "g{}")
    trace = trace_of("mistral", fed=fed, mode="ids", markers=MISTRAL, context=context)
    assert calls(trace.message) == [("f", '{"a": '), ("g", "{}")]
    assert dropped(trace) == [('"12', "cut off before its end")]


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
    fed = tokens(START, head, END, "y</function>\n", END, "after")
    trace = trace_of("qwen_coder", fed=fed, mode="ids", markers=QWEN)
    assert calls(trace.message) == [("f", '{"a": "x</tool_call>y"}')]
    assert trace.message.content == "after"
    assert codes(trace) == ["missing_value_close"]


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
