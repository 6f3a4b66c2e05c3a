"""A part of a server's answer is told from JSON that a model wrote."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.wire.chat_parts import ChatPart, chat_part_of, may_be_delta

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
PARTS: list[tuple[dict[str, Any], ChatPart | None]] = [
    (CALL, ChatPart.CALL),
    ({"index": 0, "function": {"arguments": "{"}}, ChatPart.CALL),
    ({"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}, ChatPart.CHOICE),
    ({"message": {"role": "assistant", "content": "Hi"}}, ChatPart.CHOICE),
    ({"index": 0, "delta": {}}, ChatPart.CHOICE),
    ({"delta": {"content": "a"}, "finish_reason": None}, ChatPart.CHOICE),
    ({"role": "assistant", "content": "Hi"}, ChatPart.MESSAGE),
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, ChatPart.MESSAGE),
    ({"role": "assistant", "reasoning_content": "Hm."}, ChatPart.MESSAGE),
    ({"tools_called": True, "tool_calls": [CALL], "content": None}, ChatPart.MESSAGE),
    ({"tool_calls": [CALL]}, ChatPart.DELTA),
    ({"content": "Hi", "tool_calls": []}, ChatPart.DELTA),
    ({"content": None, "reasoning_content": "Hm."}, ChatPart.DELTA),
    ({"function_call": {"name": "f", "arguments": ""}}, ChatPart.DELTA),
    # what a model may write, or is no part of a chat answer
    ({"name": "f", "arguments": {}}, None),
    ({"name": "f", "arguments": "{}"}, None),
    ({"type": "function", "function": {"name": "f", "arguments": {}}}, None),
    ({"type": "function", "function": {"name": "f", "parameters": {"a": 1}}}, None),
    ({"type": "function", "name": "f", "parameters": {}}, None),
    ({"function": "f", "arguments": {}}, None),
    ({"tool_calls": [{"name": "f", "arguments": {}}]}, None),
    ({"tool_calls": []}, None),
    ({"function_call": {"name": "f", "arguments": {}}}, None),
    ({"content": "Hi", "reasoning": "Because."}, None),
    ({"role": "user", "content": "Hi"}, None),
    ({"role": "assistant"}, None),
    ({"message": "Hi", "index": 0}, None),
    ({"message": {"text": "Hi"}, "index": 0}, None),
    ({"delta": {"content": "a"}}, None),
    ({"type": "content_block_delta", "index": 0, "delta": {"text": "a"}}, None),
    ({"choices": [], "role": "assistant", "content": ""}, None),
    ({}, None),
]


@pytest.mark.parametrize(("value", "part"), PARTS)
def test_a_part_is_known_by_what_only_a_server_adds(value: dict[str, Any], part: ChatPart | None) -> None:
    assert chat_part_of(value) is part


@pytest.mark.parametrize(
    ("value", "may"), [({"content": "a"}, True), ({"role": "assistant"}, False), ({"content": "a", "x": 1}, False)]
)
def test_among_others_a_delta_needs_less(value: dict[str, Any], may: bool) -> None:
    assert may_be_delta(value) is may
