"""Ollama's native API: its chunks, and what its own parser made of them as the stream that OpenAI's API would send.

Shapes: Ollama docs/api.md (generate, chat; `thinking`, `tool_calls`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from parsers.intake.chunks import RawChunk, asked_of, finish_of, object_of, objects, word_of
from parsers.intake.model import Payload, Warn

PARSED = Warn("parsed", "Ollama's own parser was at work: the text is what it left over, not the raw output.")
ARGUMENTS = Warn(
    "arguments_rewritten", "Ollama sends arguments as objects: their exact text, spaces and order of keys, is lost."
)


def generate(payload: Payload) -> list[RawChunk] | None:
    """`response` of /api/generate; with `thinking` or calls beside it, what Ollama's parser made of it."""
    text = payload.get("response")
    return [_chunk(payload, text, payload)] if isinstance(text, str) else None


def chat(payload: Payload) -> list[RawChunk] | None:
    """`message` of /api/chat; its content is raw only where no parser was at work."""
    message = object_of(payload.get("message"))
    text = message.get("content", "")
    return [_chunk(payload, text, message)] if message and isinstance(text, str) else None


def _chunk(payload: Payload, text: str, said: Payload) -> RawChunk:
    delta: Payload = {"content": text} if text else {}
    thinking, calls = said.get("thinking"), objects(said.get("tool_calls"))
    if isinstance(thinking, str) and thinking:
        delta["reasoning"] = thinking
    if calls:
        delta["tool_calls"] = [_call(call) for call in calls]
    parsed = len(delta) > (1 if text else 0)
    return RawChunk(
        None if parsed else text,
        delta=delta,
        finish=finish_of(payload.get("done_reason")),
        last=payload.get("done") is True,
        asked=asked_of(payload),
        warnings=((PARSED, ARGUMENTS) if calls else (PARSED,)) if parsed else (),
    )


def _call(call: Payload) -> Payload:
    """A call as OpenAI's API sends it; `index` and `id` are None where Ollama leaves them out."""
    function = object_of(call.get("function"))
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    index = function.get("index", call.get("index"))
    return {
        "index": index if type(index) is int else None,
        "id": word_of(call.get("id")),
        "type": "function",
        "function": {"name": word_of(function.get("name")) or "", "arguments": text},
    }


def served(chunks: Sequence[RawChunk], *, parsed: bool) -> tuple[Payload, ...] | None:
    """The chunks as OpenAI's API would send them; None where they are raw text, unless they are known to be `parsed`.

    Calls without index are counted.
    """
    if parsed or any(chunk.text is None for chunk in chunks):
        return tuple(_stream(chunks)) or None
    return None


def _stream(chunks: Sequence[RawChunk]) -> Iterator[Payload]:
    count = 0
    for chunk in chunks:
        if chunk.delta is None:
            continue
        calls: list[Any] = chunk.delta.get("tool_calls", [])
        for call in calls:
            call["index"] = count if call["index"] is None else call["index"]
            call["id"] = call["id"] or f"call_{call['index']}"
            count = max(count, call["index"]) + 1
        finish = "tool_calls" if count and chunk.finish == "stop" else chunk.finish
        choice = {"index": 0, "delta": chunk.delta, "finish_reason": finish}
        yield {"object": "chat.completion.chunk", "choices": [choice]}
