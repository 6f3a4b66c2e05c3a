"""OpenAI Responses, Anthropic Messages and parts cut out of answers, as the chat chunks that say the same."""

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
    ([event("response.refusal.delta", "No."), DONE], [{"content": "No."}, {}], "stop"),
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


CALLED = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
STEP = {"index": 0, **CALLED}
MESSAGE = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
OBJECT = {"function": {"name": "f", "arguments": {"a": 1}}}
# what was cut out, as it was pasted; the deltas or messages; the finish reason; whether one is missed
PARTS: list[tuple[str, list[Any], str | None, bool]] = [
    (json.dumps(MESSAGE), [MESSAGE], None, False),
    (json.dumps(MESSAGE, indent=2), [MESSAGE], None, False),
    (repr(MESSAGE), [MESSAGE], None, False),
    (json.dumps({"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}), [MESSAGE], "tool_calls", False),
    (json.dumps({"index": 0, "message": MESSAGE, "finish_reason": None}), [MESSAGE], None, True),
    (json.dumps([CALLED, CALLED]), [{**MESSAGE, "tool_calls": [CALLED, CALLED]}], None, False),
    (json.dumps([STEP, STEP]), [{"tool_calls": [STEP]}, {"tool_calls": [STEP]}], None, False),
    (json.dumps({"tool_calls": [STEP]}), [{"tool_calls": [STEP]}], None, False),
    (json.dumps({"tool_calls": [CALLED]}), [{"tool_calls": [CALLED]}], None, False),
    (
        '{"role": "assistant", "content": ""}\n{"content": "a"}\n{not whole\n',
        [{"role": "assistant", "content": ""}, {"content": "a"}], None, False,
    ),
    (
        json.dumps({"role": "assistant", "content": "", "tool_calls": [OBJECT]}),
        [{"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_0", "function": {"name": "f", "arguments": '{"a": 1}'}}
        ]}], None, False,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "deltas", "finish", "missed"), PARTS)
def test_a_part_cut_out_of_an_answer_is_the_recording_of_it(
    text: str, deltas: list[Any], finish: str | None, missed: bool
) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.kind in ("json_response", "ndjson_log")
    assert "raw_text" in [one.kind for one in found.readings]
    assert said(found) == deltas
    assert found.recording is not None
    assert (found.recording.text, found.recording.finish_reason) == (None, finish)
    assert ("no_finish" in {warn.code for warn in found.warnings}) is missed


def test_a_message_whose_content_holds_markers_is_its_raw_output() -> None:
    found = answer({"role": "assistant", "content": "<tool_call>{}"})
    assert found.recording is not None
    assert found.recording.text == "<tool_call>{}"


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "f", "arguments": {"a": 1}}]',
        '{"name": "f", "parameters": {"a": 1}}',
        '{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
        "{'name': 'f', 'arguments': {1, 2}}",
        "{'a': b'x'}",
        "{'a': Kind(1)}",
        "{'a': 1} and more",
        f"A message of the API looks so:\n\n```json\n{json.dumps(MESSAGE)}\n```\nIts content is null.",
    ],
)
def test_what_a_model_may_have_written_stays_raw(text: str) -> None:
    assert recognise(text.encode(), pasted=True).kind == "raw_text"


def test_in_a_report_a_part_is_taken() -> None:
    report = "We deployed vLLM 0.9.2 and I noticed that tool_calls has broken arguments.\n\n"
    found = recognise(f"{report}```json\n{json.dumps(MESSAGE)}\n```\n".encode(), pasted=True)
    assert found.kind == "json_response"
