"""The answer in one piece, and vLLM's result object."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from parsers.vocabulary.types import Message
from parsers.wire.chunks import Envelope
from parsers.wire.message import Usage, chat_completion
from parsers.wire.stream_state import ExtractedToolCallInformation, FunctionCall, ToolCall
from tests.parsers.parsing import trace_of

CALL = '<tool_call>{"name": "f", "arguments": {"a":1,  "b": "ü"}}</tool_call>'


def answer(*texts: str, envelope: Envelope | None = None) -> dict[str, Any]:
    return chat_completion(trace_of("qwen", *texts), envelope or Envelope("x", "m", 3), Usage(4, 5))


def test_an_answer_with_calls() -> None:
    found = answer("<think>Hm.</think>Hi", CALL)
    extensions = found.pop("extensions")
    name = found["choices"][0]["message"]["tool_calls"][0]["id"]
    message = {
        "role": "assistant",
        "content": "Hi",
        "reasoning": "Hm.",
        "tool_calls": [{"id": name, "type": "function", "function": {"name": "f", "arguments": '{"a":1,  "b": "ü"}'}}],
    }
    assert found == {
        "id": "x",
        "object": "chat.completion",
        "created": 3,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 9},
    }
    assert extensions["reasoning_chunks"] == ["Hm."]
    assert [event["type"] for event in extensions["tool_call_chunks"]] == ["start", "args", "end"]


def test_extensions_are_absent_where_nothing_was_collected() -> None:
    found = answer("Hi")
    assert "extensions" not in found
    assert found["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    ]


def test_content_is_null_where_there_is_none() -> None:
    assert answer(CALL)["choices"][0]["message"]["content"] is None


def test_reasoning_goes_by_the_name_of_the_dialect() -> None:
    message = answer("<think>Hm.", envelope=Envelope("x", "m", 0, "reasoning_content"))["choices"][0]["message"]
    assert message == {"role": "assistant", "content": None, "reasoning_content": "Hm."}


def test_an_answer_is_json() -> None:
    found = answer("<think>Hm.</think>", CALL)
    assert json.loads(json.dumps(found)) == found


def test_the_result_object_of_an_output_with_calls() -> None:
    message = trace_of("qwen", "Hi ", CALL).message
    found = ExtractedToolCallInformation.of(message)
    assert found.model_dump() == {
        "tools_called": True,
        "tool_calls": [
            {
                "id": message.tool_calls[0].id,
                "type": "function",
                "function": {"name": "f", "arguments": '{"a":1,  "b": "ü"}'},
            }
        ],
        "content": "Hi ",
    }


def test_the_result_object_of_an_output_without_calls() -> None:
    found = ExtractedToolCallInformation.of(Message(content="Hi"))
    assert (found.tools_called, found.tool_calls, found.content) == (False, [], "Hi")
    assert ExtractedToolCallInformation.of(Message()).content is None


@pytest.mark.parametrize(
    "data",
    [
        {"tools_called": True, "tool_calls": [], "content": None, "reasoning": None},
        {"tools_called": True, "tool_calls": [{"function": {"name": "f"}}]},
        {"tools_called": True, "tool_calls": [{"type": "other", "function": {"name": "f", "arguments": "{}"}}]},
    ],
)
def test_the_schema_of_the_result_object_does_not_change(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExtractedToolCallInformation.model_validate(data)


def test_a_call_may_have_no_id() -> None:
    assert ToolCall(function=FunctionCall(name="f", arguments="{}")).id is None
