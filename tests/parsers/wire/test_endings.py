"""The end of an answer in the words of the API that sent it: kept beside the finish reason, and said in findings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.cases.find import CaseSearch
from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.intake import recognise
from parsers.search.found import Found
from parsers.wire.endings import End, end_of, ended_by, last_end

CUT = '{"city": "Par'


def events(*parts: dict[str, Any]) -> str:
    return "".join([f"event: {part.get('type', 'message')}\ndata: {json.dumps(part)}\n\n" for part in parts])


def anthropic(arguments: str, reason: str, *, calls: bool = True) -> str:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}} if calls else {"type": "text", "text": ""}
    delta = {"type": "input_json_delta", "partial_json": arguments} if calls else {"type": "text_delta", "text": "Hi."}
    return events(
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "model": "c", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}},
    )


def responses(arguments: str) -> str:
    item = {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": ""}
    return events(
        {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": arguments},
        {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}},
    )


def bedrock(arguments: str, reason: str) -> str:
    use = {"toolUse": {"toolUseId": "t", "name": "f"}}
    parts = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"contentBlockIndex": 0, "start": use}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": arguments}}}},
        {"messageStop": {"stopReason": reason}},
    ]
    return "\n".join(map(json.dumps, parts))


def cohere(arguments: str, reason: str) -> str:
    call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": ""}}
    part = {"message": {"tool_calls": {"function": {"arguments": arguments}}}}
    return events(
        {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}},
        {"type": "tool-call-delta", "index": 0, "delta": part},
        {"type": "message-end", "delta": {"finish_reason": reason}},
    )


def gemini(reason: str) -> str:
    call = {"functionCall": {"name": "f", "args": {}}}
    answer = {"candidates": [{"content": {"parts": [call], "role": "model"}, "finishReason": reason}]}
    return json.dumps(answer)


def ollama() -> str:
    call = {"function": {"name": "f", "arguments": {}}}
    head = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    parts = [
        {**head, "message": said, "done": False},
        {**head, "message": {"content": ""}, "done": True, "done_reason": "stop"},
    ]
    return "\n".join(map(json.dumps, parts))


def found_in(text: str) -> Found:
    output = recognise(text.encode(), pasted=False).outputs[0]
    assert output.stream is not None
    case = {"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": [*output.stream], "gaps": output.gaps}}
    made = CaseSearch(load_case(case))
    assert list(made.run())
    return made.result().found


ENDS = [
    (anthropic(CUT, "tool_use"), "and the answer's `stop_reason` is `tool_use`."),
    (anthropic("{}", "end_turn"), "the answer's `stop_reason` is `end_turn`, though 1 call came."),
    (anthropic("", "tool_use", calls=False), "The answer's `stop_reason` is `tool_use`, but no call came."),
    (responses(CUT), "and the answer's `status` is `completed`."),
    (bedrock(CUT, "tool_use"), "and the answer's `stopReason` is `tool_use`."),
    (bedrock("{}", "end_turn"), "the answer's `stopReason` is `end_turn`, though 1 call came."),
    (cohere(CUT, "TOOL_CALL"), "and the answer's `finish_reason` is `TOOL_CALL`."),
]


@pytest.mark.parametrize(("text", "words"), ENDS)
def test_the_verdict_says_how_it_ended_as_the_api_does(text: str, words: str) -> None:
    found = found_in(text)
    assert found.verdict.headline.endswith(words)
    assert "tool_calls" not in "".join([one.message for one in found.findings])


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (gemini("STOP"), End("finishReason", "STOP")),
        (ollama(), End("done_reason", "stop")),
        (anthropic("{}", "tool_use"), End("stop_reason", "tool_use")),
    ],
)
def test_an_honest_end_is_kept_and_is_no_fault(text: str, end: End) -> None:
    intake = recognise(text.encode(), pasted=False)
    assert last_end(intake.outputs[0].stream or ()) == end
    assert any(end.word in fact.words for fact in intake.facts if fact.about == "finish")
    assert found_in(text).verdict.kind == "all_hold"


@pytest.mark.parametrize("said", [None, {}, {"a": 1}, {"a": "b", "c": "d"}, "stop"])
def test_what_is_no_end_is_none(said: object) -> None:
    assert end_of({"ended_by": said}) is None


def test_no_word_is_no_end() -> None:
    assert (ended_by("status", None), ended_by("status", "")) == ({}, {})
    assert last_end([{}, {"choices": []}, {"choices": [{}]}]) is None


def test_a_second_end_is_told_in_the_same_words() -> None:
    found = found_in(
        anthropic("{}", "tool_use") + events({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
    )
    assert any("a second `stop_reason`, `end_turn`, after `tool_use`" in one.message for one in found.findings)


def test_an_end_that_is_not_the_replays_is_told_in_its_own_word() -> None:
    choice = {
        "index": 0,
        "delta": {"content": "Hi."},
        "finish_reason": "length",
        **ended_by("stop_reason", "max_tokens"),
    }
    given = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "Hi.", "stream": [{"choices": [choice]}]}}
    given |= {"context": {"finish_reason": "stop"}}
    said = [one.message for one in run_case(load_case(given)).findings if one.check == "server_agrees"]
    assert said == ["The server's chunk 1 ends with `max_tokens`; the finish reason of the replay is `stop`."]
