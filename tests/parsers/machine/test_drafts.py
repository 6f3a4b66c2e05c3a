"""Calls inside reasoning whose strings hold what ends reasoning: calls where they are whole, else reasoning."""

from __future__ import annotations

import pytest

from parsers.selection.registry import build, get_format
from parsers.vocabulary.events import CallEnd
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Piece
from tests.parsers.machine.test_layer_reader import seen, traces
from tests.parsers.parsing import codes, deltas, events_of, owners, tokens, trace_of

CALL = '<tool_call>\n{"name": "f", "arguments": {"city": "%s"}}\n</tool_call>'
CUT = '<tool_call>\n{"name": "f", "arguments": {"city": "a'
KIMI = '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"city": "%s"}'
KIMI_END = "<|tool_call_end|><|tool_calls_section_end|>"


@pytest.mark.parametrize(
    ("fmt", "text", "city", "content"),
    [
        ("qwen", f"<think>a {CALL % 'b</think>c'}d", "b</think>c", "d"),
        ("qwen", f"<think>a {CALL % '</think>'}", "</think>", None),
        ("qwen", f"<think>a {CALL % '</think>b</think>'}</think>d", "</think>b</think>", "d"),
        ("qwen", f"<think>a {CALL % '</think>'}"[: -len("\n</tool_call>")], "</think>", None),
        ("kimik2", f"<think>a {KIMI % '</think>'}{KIMI_END}d", "</think>", "d"),
        ("mistral", '[THINK]a [TOOL_CALLS]f{"city": "[/THINK]"}', "[/THINK]", None),
    ],
)
def test_the_end_of_reasoning_is_text_of_a_string_of_a_call_that_is_whole(
    fmt: str, text: str, city: str, content: str | None
) -> None:
    for trace in traces(fmt, text):
        assert seen(trace) == ("a", content, [("f", f'{{"city": "{city}"}}')])
        assert "mentioned_marker" not in codes(trace)


@pytest.mark.parametrize(
    ("text", "content", "found"),
    [
        (f"<think>{CUT}</think>b", "b", []),
        (f"<think>{CUT}</think>b\nc", "b\nc", []),
        (f'<think>{CUT}</think>b "c" d', 'b "c" d', []),
        (f'<think>{CUT}</think>b"}}}}</think>c', 'b"}}c', []),
        (f'<think>{CUT}</think>b"}}}} c', 'b"}} c', []),
        (f'<think>{CUT}</think>b"}}\n</tool_call>', 'b"}\n</tool_call>', []),
        (f"<think>{CUT}</think>b{CALL % 'c'}", "b", [("f", '{"city": "c"}')]),
        (f"<think>{CUT}</think>b<think>{CUT}</think>c", "bc", []),
    ],
)
def test_the_end_of_reasoning_ends_it_in_a_string_of_a_call_that_is_only_drafted(
    text: str, content: str, found: list[tuple[str, str]]
) -> None:
    again = text.count("<think>") > 1
    for trace in traces("qwen", text):
        assert seen(trace) == (CUT * (2 if again else 1), content, found)
        assert owners(trace)[0][1] == "marker"
        assert "".join([part for part, _ in owners(trace)]) == text


def test_what_was_sent_before_the_draft_is_not_sent_again() -> None:
    trace = trace_of("qwen", f"A<think>b {CUT}</think>c\nd")
    assert (trace.message.content, trace.message.reasoning) == ("Ac\nd", f"b {CUT}")


@pytest.mark.parametrize("kind", ["added", "special"])
def test_by_its_id_too_the_end_of_reasoning_may_be_text_of_a_string(kind: str) -> None:
    markers = {"<tool_call>": 1, "</tool_call>": 3, "</think>": 2}
    end, close = ("</think>", 2, kind), ("</tool_call>", 3)
    head: list[str | tuple[str, int]] = ["<think>a ", ("<tool_call>", 1), '{"name": "f", "arguments": {"city": "b']
    whole = tokens(*head, end, '"}}', close, "d")
    assert seen(trace_of("qwen", fed=whole, mode="ids", markers=markers)) == (
        "a",
        "d",
        [("f", '{"city": "b</think>"}')],
    )
    drafted = tokens(*head, end, "c", ("<|im_end|>", 9, "special"), end, "\nd", close)
    trace = trace_of("qwen", fed=drafted, mode="ids", markers=markers)
    assert trace.message.content == "c\nd</tool_call>"
    assert trace.message.tool_calls == []


def cut(text: str, policy: dict[str, str] | None = None) -> list[Trace]:
    context = Context(finish_reason="length")
    return [trace_of("qwen", *fed, context=context, policy=policy) for fed in ([text], [*text])]


@pytest.mark.parametrize(
    "call",
    ['<tool_call>{"name": "f"}', '<tool_call>{"name": "f", "arguments": {}}', CALL.partition("</")[0] % "</think>"],
)
def test_a_call_inside_reasoning_whose_end_marker_the_limit_cuts_off_is_not_complete(call: str) -> None:
    for trace in cut(f"<think>a {call}"):
        assert [event.complete for event in events_of(trace, CallEnd) if isinstance(event, CallEnd)] == [False]
        assert "truncated_call" in codes(trace)
    for trace in cut(f"<think>a {call}", {"truncated_call": "text"}):
        assert seen(trace) == ("a", call, [])
    for trace in cut(f"<think>a</think>{call}"):
        assert [call.complete for call in trace.message.tool_calls] == [True]


def test_while_a_draft_is_open_the_state_is_not_taken_down_and_to_go_back_ends_it() -> None:
    parser = build(get_format("qwen"))
    parser.begin(Context())
    parser.feed(deltas("<think>a ")[0])
    state = parser.snapshot()
    assert state is not None
    parser.feed(deltas(f"{CUT}</think>b")[0])
    assert parser.snapshot() is None
    parser.resume(state)
    assert parser.snapshot() == state


@pytest.mark.linear
def test_many_drafts_take_linear_work() -> None:
    parser = build(get_format("qwen"))
    for times in (50, 400):
        text = f"<think>{CUT}</think> " * times
        for fed in ([Piece(text)], [Piece(one) for one in text]):
            parser.begin(Context())
            for delta in deltas(*[piece.text for piece in fed]):
                parser.feed(delta)
            parser.finish("stop")
            assert parser.examined < 4 * len(text)
