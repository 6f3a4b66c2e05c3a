"""Answers and streams of Bedrock's Converse and of Gemini, as the chat answers and chunks that say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.vocabulary.types import Recording

Payloads = list[dict[str, Any]]
ARGUMENTS = '{"city": "Bern"}'


def recorded(*payloads: dict[str, Any]) -> Recording:
    lines = [json.dumps(payload) for payload in payloads]
    text = lines[0] if len(lines) == 1 else "".join([f"data: {line}\n\n" for line in lines])
    found = recognise(text.encode(), pasted=True).recording
    assert found is not None
    return found


def said(recording: Recording) -> list[Any]:
    choices = [chunk["choices"][0] for chunk in recording.stream or ()]
    return [choice.get("delta", choice.get("message")) for choice in choices]


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": ARGUMENTS}, **more}


def converse(*content: Any, stop: str = "end_turn") -> dict[str, Any]:
    return {"output": {"message": {"role": "assistant", "content": [*content]}}, "stopReason": stop}


def gemini(*parts: Any, stop: str | None = None, **more: Any) -> dict[str, Any]:
    finish = {} if stop is None else {"finishReason": stop}
    return {"candidates": [{"content": {"parts": [*parts], "role": "model"}, **finish}], **more}


USE = {"toolUse": {"toolUseId": "t", "name": "f", "input": {"city": "Bern"}}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
CALL = {"functionCall": {"name": "f", "args": {"city": "Bern"}}}


@pytest.mark.parametrize(
    ("payload", "message", "finish"),
    [
        (converse(USE, stop="tool_use"), {"content": None, "tool_calls": [call("t")]}, "tool_calls"),
        (converse(THOUGHT, {"text": "Hi"}), {"content": "Hi", "reasoning": "Hm."}, "stop"),
        (converse({"text": "H"}, {"image": {}}, stop="max_tokens"), {"content": "H"}, "length"),
        (converse({"text": "H"}, stop="guardrail_intervened"), {"content": "H"}, "guardrail_intervened"),
        (gemini(CALL, stop="STOP"), {"content": None, "tool_calls": [call("call_0")]}, "tool_calls"),
        (
            gemini({"text": "Hm.", "thought": True}, {"text": "H"}, {"text": "i"}, {"inlineData": {}}, stop="STOP"),
            {"content": "Hi", "reasoning": "Hm."},
            "stop",
        ),
        (gemini({"text": "H"}, stop="MAX_TOKENS"), {"content": "H"}, "length"),
        (gemini({"text": "H"}, stop="SAFETY"), {"content": "H"}, "SAFETY"),
        (
            gemini({"functionCall": {"id": "c", **CALL["functionCall"]}}),
            {"content": None, "tool_calls": [call("c")]},
            None,
        ),
    ],
)
def test_a_whole_answer_is_read(payload: dict[str, Any], message: dict[str, Any], finish: str | None) -> None:
    found = recorded(payload)
    assert said(found) == [{"role": "assistant", **message}]
    assert found.finish_reason == finish


def block(index: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}}


def test_the_events_of_converse_become_chunks() -> None:
    use = {"start": {"toolUse": {"toolUseId": "t", "name": "f"}}, "contentBlockIndex": 1}
    found = recorded(
        {"messageStart": {"role": "assistant"}},
        block(0, text="Hi"),
        block(0, reasoningContent={"text": "Hm."}),
        block(0, reasoningContent={"signature": "x"}),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"contentBlockStart": use},
        block(1, toolUse={"input": "{}"}),
        {"messageStop": {"stopReason": "tool_use"}},
    )
    begun = {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": ""}}
    part = {"index": 0, "function": {"arguments": "{}"}}
    deltas = [{"role": "assistant"}, {"content": "Hi"}, {"reasoning": "Hm."}]
    assert said(found) == [*deltas, {"tool_calls": [begun]}, {"tool_calls": [part]}, {}]
    assert found.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "MALFORMED_FUNCTION_CALL"),
        ({"finishMessage": "Malformed function call: f("}, "Malformed function call: f("),
    ],
)
@pytest.mark.parametrize("before", [[], [{"text": "Looking."}]])
def test_a_call_that_gemini_could_not_read_is_an_error_of_the_server(
    more: dict[str, Any], words: str, before: list[Any]
) -> None:
    last = gemini(stop="MALFORMED_FUNCTION_CALL")
    last["candidates"][0] |= more
    stream = recorded(*[gemini(part) for part in before], last).stream or ()
    assert stream[-1] == {"error": {"type": "MALFORMED_FUNCTION_CALL", "message": words}}


def test_the_parts_of_a_stream_of_gemini_become_chunks() -> None:
    found = recorded(gemini({"text": "H"}), gemini(CALL, {"text": "i"}), gemini(CALL, stop="STOP", modelVersion="m"))
    role = {"role": "assistant"}
    assert said(found) == [
        {**role, "content": "H"},
        {**role, "content": "i", "tool_calls": [call("call_0", index=0)]},
        {**role, "tool_calls": [call("call_1", index=1)]},
    ]
    assert found.finish_reason == "tool_calls"
    assert found.request is not None
    assert found.request.model == "m"


@pytest.mark.parametrize(
    "payload",
    [
        {"candidates": [{"content": "Anna"}, {"content": "Ben"}]},
        {"candidates": ["Anna"]},
        {"output": {"message": {"content": [{"text": "Hi"}]}}},
    ],
)
def test_what_a_model_may_write_as_data_is_no_answer_of_theirs(payload: dict[str, Any]) -> None:
    assert recognise(json.dumps(payload).encode(), pasted=True).kind == "raw_text"
