"""Chunks: the shapes a client reads, and that it can put the message together from them, for every case there is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.vocabulary.trace import StateView, Step, Trace
from parsers.vocabulary.types import MessageDelta, Span, ToolCallDelta
from parsers.wire.chunks import DONE, Dialect, Envelope, chunks, transcript
from tests.parsers.parsing import tool, trace_of

ENVELOPE = Envelope("chatcmpl-1", "some-model", 7)
CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'


def deltas(trace: Trace, dialect: Dialect = "reasoning") -> list[tuple[int, dict[str, Any], str | None]]:
    """(step, delta, finish_reason) of every chunk."""
    found = []
    for chunk in chunks(trace, Envelope("x", "m", 0, dialect)):
        (choice,) = chunk.payload["choices"]
        found.append((chunk.step, choice["delta"], choice["finish_reason"]))
    return found


def test_every_chunk_stands_in_the_same_envelope() -> None:
    payloads = [chunk.payload for chunk in chunks(trace_of("qwen", CALL), ENVELOPE)]
    assert len(payloads) == 3
    for payload in payloads:
        assert list(payload) == ["id", "object", "created", "model", "choices"]
        assert (payload["id"], payload["created"], payload["model"]) == ("chatcmpl-1", 7, "some-model")


def test_a_call_is_started_then_gets_its_arguments_then_the_answer_ends() -> None:
    trace = trace_of("qwen", '<tool_call>{"name": "f", "argum', 'ents": {"a"', ": 1}}", "</tool_call>")
    start = {"index": 0, "id": trace.message.tool_calls[0].id, "type": "function"}
    assert deltas(trace) == [
        (1, {"role": "assistant", "tool_calls": [{**start, "function": {"name": "f", "arguments": ""}}]}, None),
        (2, {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]}, None),
        (3, {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}, None),
        (5, {}, "tool_calls"),
    ]


@pytest.mark.parametrize("dialect", ["reasoning", "reasoning_content"])
def test_reasoning_goes_by_the_name_of_its_dialect(dialect: Dialect) -> None:
    found = deltas(trace_of("qwen", "<think>Let", " me", "</think>", "Hi"), dialect)
    assert [delta for _, delta, _ in found] == [
        {"role": "assistant", dialect: "Let"},
        {dialect: " me"},
        {"content": "Hi"},
        {},
    ]


def test_one_step_sends_one_chunk_for_each_kind_of_news() -> None:
    found = deltas(trace_of("qwen", f"<think>Hm.</think>Hi {CALL} {CALL}"))
    kinds = [next((key for key in delta if key != "role"), "end") for _, delta, _ in found]
    assert kinds == ["reasoning", "content", *["tool_calls"] * 4, "end"]
    assert [step for step, _, _ in found] == [1] * 6 + [2]


def test_an_answer_that_says_nothing_still_has_a_role() -> None:
    assert deltas(trace_of("qwen", "")) == [(2, {"role": "assistant", "content": ""}, None), (2, {}, "stop")]


def test_a_cut_off_answer_says_so() -> None:
    context = tool({})
    context.finish_reason = "length"
    assert deltas(trace_of("qwen", CALL[:-15], context=context))[-1][2] == "length"


def test_a_call_whose_parser_gives_no_id_has_none() -> None:
    first = MessageDelta(tool_calls=[ToolCallDelta(0, None, "f", "")])
    later = MessageDelta(tool_calls=[ToolCallDelta(0, None, None, "{}"), ToolCallDelta(0, None, None, "")])
    steps = [
        Step(number, Span(0, 0), (), "S", (), (), (), delta, StateView("S"))
        for number, delta in ((1, first), (2, later))
    ]
    found = deltas(Trace("p", (), {}, "text", "", steps, finish_reason="tool_calls"))
    assert [delta.get("tool_calls") for _, delta, _ in found] == [
        [{"index": 0, "type": "function", "function": {"name": "f", "arguments": ""}}],
        [{"index": 0, "function": {"arguments": "{}"}}],
        None,
    ]


def test_the_transcript_is_an_event_stream_that_ends_with_done() -> None:
    text = "".join(transcript(chunks(trace_of("qwen", "Zürich\n", CALL), ENVELOPE)))
    events = text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert text.endswith(DONE)
    assert all(event.startswith("data: ") and "\n" not in event for event in events[:-1])
    assert "Zürich\\n" in events[0]


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029", "\ud800"])
def test_no_character_ends_a_line_or_cannot_be_written(char: str) -> None:
    text = "".join(transcript(chunks(trace_of("passthrough", f"a{char}b"), ENVELOPE)))
    assert len(text.encode().decode().splitlines()) == 6
    first = json.loads(text.split("\n\n")[0].removeprefix("data: "))
    assert first["choices"][0]["delta"]["content"] == f"a{char}b"
