"""ChunkCollector: the original's nine tests by name, and what it collects from a replay."""

from __future__ import annotations

import json

from parsers.wire.message import ChunkCollector
from tests.parsers.parsing import trace_of


def test_chunk_collector_basic() -> None:
    collector = ChunkCollector()
    collector.add_reasoning("Let me ")
    collector.add_reasoning("think.")
    collector.add_content("Hello")
    assert collector.reasoning_chunks == ["Let me ", "think."]
    assert (collector.reasoning_count, collector.tool_call_event_count, collector.content_count) == (2, 0, 1)
    assert not collector.is_empty()


def test_tool_call_chunks() -> None:
    collector = ChunkCollector()
    collector.add_tool_call_start("call_1", "get_weather")
    collector.add_tool_call_args("call_1", '{"city":')
    collector.add_tool_call_args("call_1", '"Bern"}')
    collector.add_tool_call_end("call_1")
    assert collector.tool_call_chunks == [
        {"type": "start", "tool_call_id": "call_1", "tool_name": "get_weather"},
        {"type": "args", "tool_call_id": "call_1", "delta": '{"city":'},
        {"type": "args", "tool_call_id": "call_1", "delta": '"Bern"}'},
        {"type": "end", "tool_call_id": "call_1"},
    ]
    assert collector.tool_call_event_count == 4


def test_to_extensions() -> None:
    collector = ChunkCollector()
    collector.add_reasoning("Hm.")
    collector.add_tool_call_end("call_1")
    collector.add_content("never here")
    assert collector.to_extensions() == {
        "reasoning_chunks": ["Hm."],
        "tool_call_chunks": [{"type": "end", "tool_call_id": "call_1"}],
    }


def test_empty_collector() -> None:
    collector = ChunkCollector()
    assert collector.is_empty()
    assert collector.to_extensions() == {}
    collector.add_content("content alone leaves it empty")
    assert collector.is_empty()


def test_only_reasoning() -> None:
    collector = ChunkCollector()
    collector.add_reasoning("Hm.")
    assert collector.to_extensions() == {"reasoning_chunks": ["Hm."]}


def test_only_tool_calls() -> None:
    collector = ChunkCollector()
    collector.add_tool_call_start("call_1", "f")
    assert list(collector.to_extensions()) == ["tool_call_chunks"]
    assert not collector.is_empty()


def test_ignore_empty_strings() -> None:
    collector = ChunkCollector()
    collector.add_reasoning("")
    collector.add_content("")
    collector.add_tool_call_args("call_1", "")
    assert collector.is_empty()
    assert collector.content_count == 0
    collector.add_tool_call_start("", "")
    assert collector.tool_call_chunks == [{"type": "start", "tool_call_id": "", "tool_name": ""}]


def test_clear() -> None:
    collector = ChunkCollector()
    collector.add_reasoning("Hm.")
    collector.add_tool_call_end("call_1")
    collector.add_content("text")
    collector.clear()
    assert (collector.reasoning_count, collector.tool_call_event_count, collector.content_count) == (0, 0, 0)
    assert collector.is_empty()


def test_serialization() -> None:
    collector = ChunkCollector()
    collector.add_reasoning('A "quote", ü')
    collector.add_tool_call_args("call_1", '{"a": "\\n"}')
    found = collector.to_extensions()
    assert json.loads(json.dumps(found)) == found


def test_an_id_that_nobody_knows_is_left_out() -> None:
    collector = ChunkCollector()
    collector.add_tool_call_start(None, "f")
    collector.add_tool_call_args(None, "{}")
    collector.add_tool_call_end(None)
    assert collector.tool_call_chunks == [
        {"type": "start", "tool_name": "f"},
        {"type": "args", "delta": "{}"},
        {"type": "end"},
    ]


def test_extensions_are_a_copy() -> None:
    collector = ChunkCollector()
    collector.add_reasoning("Hm.")
    found = collector.to_extensions()
    collector.add_reasoning("And more.")
    assert found == {"reasoning_chunks": ["Hm."]}


def test_a_replay_is_collected_in_the_order_it_was_sent() -> None:
    trace = trace_of(
        "qwen", "<think>Hm", ".</think>Hi ", '<tool_call>{"name": "f", "arguments": {"a"', ": 1}}</tool_call>"
    )
    collector = ChunkCollector.of(trace)
    name = trace.message.tool_calls[0].id
    assert collector.to_extensions() == {
        "reasoning_chunks": ["Hm", "."],
        "tool_call_chunks": [
            {"type": "start", "tool_call_id": name, "tool_name": "f"},
            {"type": "args", "tool_call_id": name, "delta": '{"a"'},
            {"type": "args", "tool_call_id": name, "delta": ": 1}"},
            {"type": "end", "tool_call_id": name},
        ],
    }
    assert collector.content_count > 0
