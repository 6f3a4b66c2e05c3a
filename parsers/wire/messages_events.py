"""A replay as the event stream of Anthropic's Messages API.

Each part of the answer is a content block: thinking (without a signature, which only Anthropic's servers can make),
text or the use of a tool. Events and their fields: Anthropic API reference
(messages, streaming); anthropic 2.14.0, types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parsers.vocabulary.trace import Trace
from parsers.wire.chunks import Envelope
from parsers.wire.parts import Move, Part, moves

Payload = dict[str, Any]
_REASONS = {"tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_DELTAS = {
    "reasoning": ("thinking_delta", "thinking"),
    "content": ("text_delta", "text"),
    "call": ("input_json_delta", "partial_json"),
}


def messages_events(trace: Trace, envelope: Envelope, tokens: int) -> Iterator[tuple[int, Payload]]:
    """Every event with the number of its step."""
    yield 1, {"type": "message_start", "message": _message(envelope)}
    last = 1
    for last, move, part, text in moves(trace):
        yield last, _event(move, part, text)
    last = len(trace.columns.ends) or last
    delta = {"stop_reason": _REASONS.get(trace.finish_reason, "end_turn"), "stop_sequence": None}
    yield last, {"type": "message_delta", "delta": delta, "usage": {"output_tokens": tokens}}
    yield last, {"type": "message_stop"}


def _message(envelope: Envelope) -> Payload:
    return {
        "id": f"msg_{envelope.id.rpartition('-')[2]}",
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _event(move: Move, part: Part, text: str) -> Payload:
    if move is Move.BEGINS:
        return {"type": "content_block_start", "index": part.index, "content_block": _block(part)}
    if move is Move.ENDS:
        return {"type": "content_block_stop", "index": part.index}
    kind, key = _DELTAS[part.kind]
    return {"type": "content_block_delta", "index": part.index, "delta": {"type": kind, key: text}}


def _block(part: Part) -> Payload:
    if part.kind == "call":
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": {}}
    if part.kind == "reasoning":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}
