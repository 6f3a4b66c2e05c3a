"""OpenAI's Responses: an answer of items, and a stream of events that name their kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from tests.clients.told import Told, pieces

Item = dict[str, Any]


def items(told: Told) -> list[Item]:
    """What an answer holds: reasoning, a message, calls."""
    found: list[Item] = []
    if told.reasoning:
        summary = [{"type": "summary_text", "text": told.reasoning}]
        found.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if told.content:
        text = [{"type": "output_text", "text": told.content, "annotations": []}]
        found.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": text})
    for number, one in enumerate(told.calls):
        call = {"call_id": one.id, "name": one.name, "arguments": one.arguments}
        found.append({"type": "function_call", "id": f"fc_{number}", **call, "status": "completed"})
    return found


def answer(told: Told) -> dict[str, Any]:
    """The whole answer."""
    return _response(items(told), "completed")


def _response(output: list[Item], status: str) -> dict[str, Any]:
    usage = {
        "input_tokens": 5, "output_tokens": 34, "total_tokens": 39,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    return {
        "id": "resp_1", "object": "response", "created_at": 1_764_300_000, "status": status, "model": "gpt-5-mini",
        "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "temperature": 1.0,
        "top_p": 1.0, "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "usage": usage,
    }  # fmt: skip


def events(told: Told) -> list[dict[str, Any]]:
    """The stream."""
    numbers = count(1)
    found: list[Item] = [{"type": "response.created", "response": _response([], "in_progress")}]
    for place, item in enumerate(items(told)):
        found += [{"output_index": place, **one} for one in _EVENTS[item["type"]](item)]
    found.append({"type": "response.completed", "response": answer(told)})
    return [{"type": one["type"], "sequence_number": next(numbers), **one} for one in found]


def _of_reasoning(item: Item) -> Iterator[dict[str, Any]]:
    yield {"type": "response.output_item.added", "item": {**item, "summary": []}}
    for part in pieces(item["summary"][0]["text"]):
        yield {
            "type": "response.reasoning_summary_text.delta",
            "item_id": item["id"],
            "summary_index": 0,
            "delta": part,
        }
    yield {"type": "response.output_item.done", "item": item}


def _of_message(item: Item) -> Iterator[dict[str, Any]]:
    place, text = {"item_id": item["id"], "content_index": 0}, item["content"][0]["text"]
    yield {"type": "response.output_item.added", "item": {**item, "content": [], "status": "in_progress"}}
    yield {"type": "response.content_part.added", **place, "part": {**item["content"][0], "text": ""}}
    for part in pieces(text):
        yield {"type": "response.output_text.delta", **place, "delta": part, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
    yield {"type": "response.output_item.done", "item": item}


def _of_call(item: Item) -> Iterator[dict[str, Any]]:
    whole = {"item_id": item["id"], "arguments": item["arguments"], "name": item["name"]}
    yield {"type": "response.output_item.added", "item": {**item, "arguments": "", "status": "in_progress"}}
    for part in pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", "item_id": item["id"], "delta": part}
    yield {"type": "response.function_call_arguments.done", **whole}
    yield {"type": "response.output_item.done", "item": item}


_EVENTS = {"reasoning": _of_reasoning, "message": _of_message, "function_call": _of_call}
