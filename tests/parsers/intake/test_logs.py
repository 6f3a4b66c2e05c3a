"""Logs: the raw output of those that hold it, and the reason and the way out for those that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import Intake, recognise

Payloads = list[dict[str, Any]]


def log(payloads: Payloads, *, end: str = "data: [DONE]\n") -> Intake:
    text = "".join(f"data: {json.dumps(payload)}\n\n" for payload in payloads) + end
    return recognise(text.encode(), pasted=False)


def ndjson(payloads: Payloads) -> Intake:
    return recognise("\n".join(map(json.dumps, payloads)).encode(), pasted=False)


def text_chunk(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "text": text, "finish_reason": finish, **more}
    return {"id": "r", "object": "text_completion", "choices": [choice]}


def so_far(text: str, **meta: Any) -> dict[str, Any]:
    return {"text": text, "meta_info": {"id": "r", **meta}}


def token(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"token": {"id": number, "text": text, "special": False}, "generated_text": None, **more}


def ollama(text: str, *, done: bool = False, **more: Any) -> dict[str, Any]:
    return {"model": "m", "created_at": "t", "response": text, "done": done, **more}


# payloads, deltas, finish reason, what the notes say
REBUILT: list[tuple[Payloads, list[tuple[str, tuple[int, ...] | None]], str | None, str]] = [
    (
        [text_chunk("<th", token_ids=[4, 5]), text_chunk("ink>\r\n", "length", token_ids=[6])],
        [("<th", (4, 5)), ("ink>\r\n", (6,))], "length", "skip_special_tokens: false",
    ),
    ([text_chunk("a"), {"id": "r", "choices": [], "usage": {}}], [("a", None)], None, "skip_special_tokens"),
    ([text_chunk("a", token_ids=[True]), text_chunk("")], [("a", None), ("", None)], None, "skip_special_tokens"),
    (
        [{"content": "a", "stop": False, "tokens": [1]}, {"content": "", "stop": True, "stop_type": "limit"}],
        [("a", (1,)), ("", None)], "length", "--special",
    ),
    ([{"content": "a", "stop": True, "stop_type": "eos", "tokens_predicted": 1}], [("a", None)], "stop", "--special"),
    ([{"content": "a", "stop": True, "stopped_limit": True}], [("a", None)], "length", "--special"),
    ([{"content": "a", "stop": True}], [("a", None)], "stop", "--special"),
    (
        [so_far("a"), so_far("a<b"), so_far("a<b", finish_reason={"type": "stop", "matched": 2})],
        [("a", None), ("<b", None), ("", None)], "stop", "skip_special_tokens: false",
    ),
    ([so_far("a", finish_reason="abort")], [("a", None)], "abort", "skip_special_tokens"),
    (
        [token(1, "a"), token(2, "</s>", generated_text="a", details={"finish_reason": "eos_token"})],
        [("a", (1,)), ("</s>", (2,))], "stop", "end-of-sequence",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("payloads", "deltas", "finish", "note"), REBUILT)
def test_a_log_of_raw_text_is_rebuilt_delta_by_delta(
    payloads: Payloads, deltas: list[tuple[str, tuple[int, ...] | None]], finish: str | None, note: str
) -> None:
    found = log(payloads)
    assert found.recording is not None, found.message
    assert [(delta.text, delta.ids) for delta in found.recording.deltas or ()] == deltas
    assert found.recording.text == "".join(text for text, _ in deltas)
    assert (found.recording.kind, found.recording.finish_reason) == ("sse_log", finish)
    assert note in found.notes[0]


def test_ollama_lines_are_rebuilt_with_the_condition_told() -> None:
    found = ndjson([ollama("a"), ollama("b"), ollama("", done=True, done_reason="length")])
    assert found.recording is not None
    assert (found.recording.text, found.recording.finish_reason) == ("ab", "length")
    assert "only if the request said raw: true" in found.message


@pytest.mark.parametrize(
    ("payload", "text"), [(text_chunk("ab", "stop"), "ab"), (so_far("ab"), "ab"), ({"generated_text": "ab"}, "ab")]
)
def test_a_whole_answer_has_text_but_no_deltas(payload: dict[str, Any], text: str) -> None:
    found = ndjson([payload])
    assert found.recording is not None
    assert (found.kind, found.recording.text, found.recording.deltas) == ("json_response", text, None)


def test_an_array_of_chunks_has_deltas() -> None:
    found = recognise(json.dumps([text_chunk("a"), text_chunk("b")]).encode(), pasted=False)
    assert found.recording is not None
    assert [delta.text for delta in found.recording.deltas or ()] == ["a", "b"]


def test_a_log_that_breaks_off_is_rebuilt_as_far_as_it_goes() -> None:
    found = log([text_chunk("a"), text_chunk("b")], end='data: {"id": "r", "cho')
    assert found.recording is not None
    assert found.recording.text == "ab"
    assert "The last chunk (line 5) breaks off" in found.message


# payloads, what follows them, the reason
REFUSED: list[tuple[Payloads, str, str]] = [
    ([text_chunk("a"), text_chunk("b") | {"id": "other"}], "", "more than one output"),
    ([text_chunk("a"), {"choices": [{"index": 1, "text": "b"}]}], "", "more than one output"),
    ([text_chunk("a")], f"data: [DONE]\ndata: {json.dumps(text_chunk('b'))}\n", "more than one output"),
    ([{"content": "a", "stop": True}, {"content": "b", "stop": False}], "", "more than one output"),
    ([text_chunk("a"), {"error": {"message": "x", "code": 1}}], "", "line 3 is no chunk of raw text"),
    ([text_chunk("a"), {"choices": [5]}], "", "line 3 is no chunk of raw text"),
    ([text_chunk("a"), {"choices": [{"text": None}]}], "", "line 3 is no chunk of raw text"),
    ([text_chunk("a")], "data: {oops\ndata: [DONE]\n", "line 3 is no chunk of raw text"),
    ([{"content": "a", "stop": False}, {"content": None, "stop": True, "delta": ""}], "", "line 3 is no chunk"),
    ([so_far("a"), so_far("b")], "", "do not each repeat"),
    ([so_far("a"), {"meta_info": {}}], "", "line 3 is no chunk"),
    ([token(1, "a"), {"token": {"id": -1, "text": "b"}}], "", "line 3 is no chunk"),
    ([text_chunk("\ud83d"), text_chunk("\ude00")], "", "half of a UTF-16 pair"),
    ([text_chunk("") | {"choices": []}], "", "none of its chunks holds any output"),
]


@pytest.mark.parametrize(("payloads", "end", "reason"), REFUSED)
def test_a_log_that_leaves_a_doubt_is_refused(payloads: Payloads, end: str, reason: str) -> None:
    found = log(payloads, end=end)
    assert (found.kind, found.usable, found.recording) == ("sse_log", False, None)
    assert reason in found.message


@pytest.mark.parametrize("extra", [{"thinking": "hm"}, {"tool_calls": [{}]}])
def test_ollama_lines_that_were_parsed_are_refused(extra: dict[str, Any]) -> None:
    found = ndjson([ollama("a"), ollama("b", **extra)])
    assert "line 2 is no chunk of raw text" in found.message
    assert not found.usable


def test_places_in_an_array_are_items() -> None:
    found = recognise(json.dumps([{"generated_text": "a"}, text_chunk("b")]).encode(), pasted=False)
    assert "item 2 is no chunk of raw text" in found.message


def chat(**delta: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


# payloads, what the message says, what it does not say
PARSED: list[tuple[Payloads, str, str]] = [
    ([chat(content="a")], "content after the server's parser", "tool_calls"),
    ([chat(content="a")], "paste a JSON array of the content strings", "token ids were recorded"),
    ([chat(tool_calls=[{"index": 0}])] * 2, "parsed it already (2 objects with tool_calls)", "paste a JSON array"),
    ([chat(tool_calls=[{"index": 0}])], "return_token_ids: true", "ids were recorded"),
    ([{"choices": [{"message": {"function_call": {}, "tool_calls": [{}]}}]}], "parsed it already (1 object", "split"),
    ([chat(reasoning="a")], "split the reasoning off", "tool_calls"),
    ([chat(reasoning_content="a")], "split the reasoning off", "tool_calls"),
    ([{"choices": [{"delta": {}, "token_ids": [1]}]}], "ids were recorded (1 object)", "Capture"),
    ([{"choices": [{"message": {}, "response_token_ids": [1]}]}], "ids were recorded", "Capture"),
    ([chat(content="a"), {"choices": [], "sglext": {"output_ids": [[1]]}}], "ids were recorded", "Capture"),
    ([{"choices": [{"delta": {}, "logprobs": {"content": []}}]}], "logprobs.content[].bytes", "Capture"),
    ([{"choices": [{"delta": None, "message": {}, "index": 0}]}, chat()], "content after", "tool_calls"),
    ([{"type": "message_stop"}], "only what the server's parser made", "tool_calls"),
    ([{"type": "response.created", "response": {}}], "only what the server's parser made", "tool_calls"),
    ([{"request_id": "r", "choices": [{"token_ids": [1]}]}], "token ids without their text", "Capture"),
    ([{"delta": "x"}], "shape of its payloads is not known", "Capture"),
    ([{"error": {"message": "x", "code": 1}}], "answered with an error", "Capture"),
    ([chat(), {"error": {"message": "x", "code": 1}}], "OpenAI-style SSE log, 2 chunks", "answered with an error"),
    ([], "no chunk at all", "Capture"),
]


@pytest.mark.parametrize(("payloads", "part", "absent"), PARSED)
def test_a_parsed_log_says_why_and_what_to_do(payloads: Payloads, part: str, absent: str) -> None:
    found = log(payloads)
    assert (found.kind, found.usable) == ("sse_log", False)
    assert part in found.message
    assert absent not in found.message


def test_empty_data_lines_mean_nothing() -> None:
    found = log([text_chunk("a")], end="data:\n\ndata: [DONE]\ndata:\n")
    assert found.recording is not None
    assert found.recording.text == "a"


def test_nearly_all_lines_must_be_fields() -> None:
    chunks = [text_chunk("a")] * 10
    assert log(chunks, end="curl: (18) transfer closed\n").kind == "sse_log"
    assert log(chunks, end="one\ntwo\n").kind == "raw_text"
