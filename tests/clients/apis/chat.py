"""OpenAI's chat completions, as vLLM, SGLang, Groq and Mistral answer them too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.clients.told import Told, pieces

_HEAD = {"id": "chatcmpl-7f3a", "created": 1_764_300_000, "model": "qwen3-8b"}


def answer(told: Told, reasoning_key: str) -> dict[str, Any]:
    """The whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": told.content or None}
    if told.reasoning:
        message[reasoning_key] = told.reasoning
    if told.calls:
        message["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in told.calls
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": told.finish}
    usage = {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46}
    return {**_HEAD, "object": "chat.completion", "choices": [choice], "usage": usage}


def chunks(told: Told, reasoning_key: str, *, whole_calls: bool = False) -> Iterator[dict[str, Any]]:
    """The stream. Mistral sends calls whole, and its client refuses others."""
    yield _chunk({"role": "assistant", "content": ""})
    yield from [_chunk({reasoning_key: part}) for part in pieces(told.reasoning)]
    yield from [_chunk({"content": part}) for part in pieces(told.content)]
    for one in told.calls:
        first = one.arguments if whole_calls else ""
        function = {"name": one.name, "arguments": first}
        yield _chunk({"tool_calls": [{"index": one.place, "id": one.id, "type": "function", "function": function}]})
        for part in pieces(one.arguments[len(first) :]):
            yield _chunk({"tool_calls": [{"index": one.place, "function": {"arguments": part}}]})
    yield _chunk({}, told.finish)


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_HEAD, "object": "chat.completion.chunk", "choices": [choice]}


def refusal(raw: str) -> dict[str, Any]:
    """Groq's error for an output in which its parser found no call."""
    said = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."
    return {
        "error": {
            "message": said, "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": raw,
        }
    }  # fmt: skip
