"""OpenAI Responses and Anthropic Messages: their events and answers as the chat chunks that say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import Intake, recognise

Payloads = list[dict[str, Any]]


def log(payloads: Payloads, *, end: str = "") -> Intake:
    return recognise(("".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads) + end).encode(), pasted=False)


def answer(payload: dict[str, Any]) -> Intake:
    return recognise(json.dumps(payload).encode(), pasted=False)


def said(found: Intake) -> list[Any]:
    """The deltas or messages of the first output."""
    assert found.recording is not None
    chosen = [chunk["choices"][0] for chunk in found.recording.stream or ()]
    return [choice.get("delta", choice.get("message")) for choice in chosen]


def call(arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}


def event(kind: str, delta: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": kind, **({} if delta is None else {"delta": delta}), **more}


TEXT, THOUGHT = "response.output_text.delta", "response.reasoning_summary_text.delta"
ARGUMENTS, ITEM = "response.function_call_arguments.delta", "response.output_item.added"
BLOCK, DELTA = "content_block_start", "content_block_delta"
DONE, CUT = event("response.completed"), event("response.incomplete", response={"status": "incomplete"})
STOP = event("message_stop")
# events, the deltas that say the same, the finish reason
OTHER: list[tuple[Payloads, list[Any], str | None]] = [
    ([event("response.created"), event(TEXT, 5)], [{"role": "assistant"}], None),
    ([event(TEXT, "a"), CUT], [{"content": "a"}, {}], "length"),
    ([event(THOUGHT, "a"), DONE], [{"reasoning": "a"}, {}], "stop"),
    ([event(ITEM, item={"type": "message"}), event("response.done")], [{}], "stop"),
    ([event(ARGUMENTS, "{", item_id="x")], [call("{")], None),
    ([event(ARGUMENTS, "{", output_index=[])], [call("{")], None),
    ([event(ARGUMENTS, 1), DONE], [{}], "stop"),
    ([event("message_start"), event(BLOCK, content_block={"type": "text"})], [{"role": "assistant"}], None),
    ([event(DELTA, {"text": "a"}), STOP], [{"content": "a"}], None),
    ([event(DELTA, {"thinking": "a"}), STOP], [{"reasoning": "a"}], None),
    ([event(DELTA, {"signature": "a"}), event("message_delta", {"stop_reason": "refusal"}), STOP], [{}], "refusal"),
    ([event(DELTA, {"partial_json": "{"}, index=1), STOP], [call("{")], None),
]


@pytest.mark.parametrize(("payloads", "deltas", "finish"), OTHER)
def test_events_of_other_apis_become_chunks_that_say_the_same(
    payloads: Payloads, deltas: list[Any], finish: str | None
) -> None:
    found = log(payloads)
    assert said(found) == deltas
    assert found.recording is not None
    assert found.recording.finish_reason == finish


def test_an_error_among_the_events_of_other_apis_is_told() -> None:
    start, error = {"type": "message_start", "message": {}}, {"type": "error", "error": {"message": "overloaded"}}
    assert "overloaded" in log([start, error]).message
    begun = {"type": "response.created", "response": {}}
    assert "sent an error" in log([begun, {"type": "response.failed", "error": {"message": "x"}}]).message
    assert log([{"type": "message_start"}], end="data: {oops").usable


def test_arguments_that_came_as_an_object_are_told() -> None:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
    whole = {"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [block, {"type": "x"}]}
    found = answer(whole)
    assert "arguments_rewritten" in [warn.code for warn in found.warnings]
    assert said(found)[0]["tool_calls"] == [
        {"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    ]
    assert not answer(whole | {"content": [{"type": "text", "text": "a"}]}).warnings[1:]
    other = answer({"object": "response", "output": [{"type": "x"}], "output_messages": [{"tokens": [1]}, {}]})
    assert other.recording is not None
    assert other.recording.ids is None
