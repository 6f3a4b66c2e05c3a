"""Anthropic's Messages: an answer of blocks, and a stream of events for each block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.clients.told import Told, pieces

_STOPS = {"stop": "end_turn", "tool_calls": "tool_use"}


def answer(told: Told) -> dict[str, Any]:
    """The whole answer."""
    blocks: list[dict[str, Any]] = []
    if told.reasoning:
        blocks.append({"type": "thinking", "thinking": told.reasoning, "signature": "c2ln"})
    if told.content:
        blocks.append({"type": "text", "text": told.content})
    blocks += [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.decoded} for one in told.calls]
    return _message(blocks, _STOPS[told.finish])


def _message(blocks: list[dict[str, Any]], stop: str | None) -> dict[str, Any]:
    return {
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks,
        "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 12, "output_tokens": 34},
    }  # fmt: skip


def events(told: Told) -> Iterator[dict[str, Any]]:
    """The stream."""
    yield {"type": "message_start", "message": _message([], None)}
    for place, (block, kind, key, text) in enumerate(_blocks(told)):
        yield {"type": "content_block_start", "index": place, "content_block": block}
        for part in pieces(text):
            yield {"type": "content_block_delta", "index": place, "delta": {"type": kind, key: part}}
        yield {"type": "content_block_stop", "index": place}
    end = {"stop_reason": _STOPS[told.finish], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 34}}
    yield {"type": "message_stop"}


def _blocks(told: Told) -> Iterator[tuple[dict[str, Any], str, str, str]]:
    """Of each block its beginning, the type of its deltas, the key of their text, and all of that."""
    if told.reasoning:
        yield {"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", told.reasoning
    if told.content:
        yield {"type": "text", "text": ""}, "text_delta", "text", told.content
    for one in told.calls:
        block = {"type": "tool_use", "id": one.id, "name": one.name, "input": {}}
        yield block, "input_json_delta", "partial_json", one.arguments
