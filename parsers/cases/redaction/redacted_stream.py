"""The chunks of a recorded stream with everything in them that somebody wrote said by `say`.

A text comes in parts, one chunk each: all parts of a text are said together, and cut where they were.

==================  ===============================================================================================
of a chunk          stays
==================  ===============================================================================================
keys                those that OpenAI's chat API and the servers that speak it give a chunk; of any other nobody
                    knows whose it is
texts               why an answer ended, kinds and tiers, where they are words of these APIs: a server may put a stop
                    string of somebody's there
numbers             places in lists, and counts of tokens
true, false, null   all
==================  ===============================================================================================

What says the same as the rest in another form is left out: logarithms of probabilities, ids, the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import accumulate, pairwise
from typing import Any

from parsers.wire.endings import ENDED_BY
from parsers.wire.read import OF_OTHER_LOGS

Say = Callable[[str], str]
Json = Any
Numbers = Callable[[list[int]], list[int]]

# OpenAI API reference, chat completions; vLLM, SGLang, llama.cpp, TGI, OpenRouter and DeepSeek add some.
_LITERAL = frozenset({
    "object", "role", "type", "finish_reason", "native_finish_reason", "stop_reason", "matched_stop", "service_tier",
    "reasoning_effort", "status", "done_reason", "finishReason",
})  # fmt: skip
_COUNTED = frozenset({
    "index", "prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "reasoning_tokens", "audio_tokens",
    "text_tokens", "image_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens", "input_tokens",
    "output_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens",
})  # fmt: skip
_KEYS = _LITERAL | _COUNTED | {ENDED_BY, *OF_OTHER_LOGS} | frozenset({
    "id", "created", "model", "choices", "delta", "message", "content", "text", "reasoning", "reasoning_content",
    "reasoning_details", "thinking", "refusal", "annotations", "audio", "tool_calls", "function_call", "function",
    "custom", "name", "arguments", "input", "token_ids", "usage", "prompt_tokens_details", "completion_tokens_details",
    "system_fingerprint", "error", "code", "param", "detail", "provider", "metadata", "kv_transfer_params",
    "hidden_states", "signature", "summary", "format", "data", "parts",
})  # fmt: skip
API_WORDS = frozenset({
    "chat.completion.chunk", "chat.completion", "text_completion", "text_completion.chunk", "error", "list",
    "stop", "length", "tool_calls", "function_call", "content_filter", "eos", "eos_token", "stop_sequence", "end_turn",
    "max_tokens", "tool_use", "pause_turn", "refusal", "abort", "cancelled", "completed", "incomplete", "failed",
    "in_progress", "STOP", "MAX_TOKENS", "COMPLETE", "TOOL_CALL", "text", "output_text", "input_text",
    "thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text", "reasoning.text",
    "reasoning.summary", "reasoning.encrypted", "function", "custom", "auto", "default", "flex", "priority", "scale",
    "standard", "batch", "none", "minimal", "low", "medium", "high", "xhigh",
    "user", "assistant", "system", "developer", "tool",
})  # fmt: skip
_DROPPED = frozenset({
    "logprobs", "prompt_logprobs", "prompt_token_ids", "prompt_text", "__verbose", "timings", "sglext",
    "output_ids", "response_token_ids",
})  # fmt: skip
_STREAMED = frozenset({"delta", "message"})

_Path = tuple[Json, ...]


def said_data(value: Json, say: Say) -> Json:
    """Any JSON value, keys and numbers included."""
    if isinstance(value, str):
        return say(value)
    if isinstance(value, dict):
        return {say(key): said_data(item, say) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [said_data(item, say) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    return json.loads(say(json.dumps(value)))


def cut(text: str, lengths: Iterable[int]) -> list[str]:
    """A text in parts of these lengths."""
    return [text[start:end] for start, end in pairwise([0, *accumulate(lengths)])]


def said_stream(chunks: list[Json], say: Say, ids: Numbers) -> list[Json]:
    """The chunks, said. `ids` gives the numbers for all token ids of the output in order."""
    parts: dict[_Path, list[str]] = {}
    numbers: list[int] = []

    def hear(path: _Path, text: str) -> str:
        parts.setdefault(path, []).append(text)
        return text

    def count(given: list[int]) -> list[int]:
        numbers.extend(given)
        return given

    _walk(chunks, (), hear, say, count)
    said = {path: iter(_said(path, texts, say)) for path, texts in parts.items()}
    new = iter(ids(numbers))
    told: list[Json] = _walk(
        chunks, (), lambda path, _: next(said[path]), say, lambda given: [next(new) for _ in given]
    )
    return told


def _said(path: _Path, texts: list[str], say: Say) -> list[str]:
    """The parts of a text; ids and names may also come whole, again and again."""
    if path[-1] in ("id", "name") and len({*texts}) == 1:
        return [say(text) for text in texts]
    return cut(say("".join(texts)), map(len, texts))


def _walk(value: Json, path: _Path, part: Callable[[_Path, str], str], say: Say, numbers: Numbers) -> Json:
    """Chunks with each text in them replaced: by `part` what is a part of a text of the message, else by `say`."""
    if isinstance(value, list | tuple):  # the chunks themselves follow each other
        places = [_place(item, at) if path else 0 for at, item in enumerate(value)]
        return [_walk(item, (*path, at), part, say, numbers) for at, item in zip(places, value, strict=True)]
    if not isinstance(value, dict):
        streamed = not _STREAMED.isdisjoint(path) or path[-1:] == ("text",)
        return part(path, value) if streamed and isinstance(value, str) else said_data(value, say)
    made: dict[str, Json] = {}
    for key, item in value.items():
        new = key if key in _KEYS else say(key)
        if _stays(key, item):
            made[new] = item
        elif key == "token_ids" and isinstance(item, list) and all(isinstance(one, int) for one in item):
            made[new] = numbers(item)
        elif key in _LITERAL or (key in ("arguments", "input") and not isinstance(item, str)):
            made[new] = said_data(item, say)
        elif key not in _DROPPED:
            made[new] = _walk(item, (*path, key), part, say, numbers)
    return made


def _stays(key: str, value: Json) -> bool:
    """Return whether what a key holds is the API's own."""
    if isinstance(value, str):
        return key in _LITERAL and value in API_WORDS
    return isinstance(value, int) and key in _COUNTED


def _place(item: Json, at: int) -> int:
    """Where an entry of a list belongs, as it says itself."""
    index = item.get("index") if isinstance(item, dict) else None
    return index if isinstance(index, int) else at
