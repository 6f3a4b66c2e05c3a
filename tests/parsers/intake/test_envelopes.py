"""What stands in an envelope is read: events in the bytes of Bedrock's chunks, answers in the rows of batches."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from parsers.intake import recognise
from tests.parsers.intake.recorded_files import Story, message

EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"ü": 1}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
]
SPELLED = [json.dumps(event, ensure_ascii=False).encode() for event in EVENTS]
BASE64 = [base64.b64encode(spelled).decode() for spelled in SPELLED]
LOGS = [
    "\n".join([repr({"chunk": {"bytes": spelled}}) for spelled in SPELLED]),
    repr([{"chunk": {"bytes": spelled}} for spelled in SPELLED]),
    "\n".join([json.dumps({"chunk": {"bytes": spelled}}) for spelled in BASE64]),
    json.dumps([{"bytes": spelled, "p": "abcd"} for spelled in BASE64]),
]


@pytest.mark.parametrize("log", LOGS)
def test_events_in_bytes_are_read_as_those_of_their_api(log: str) -> None:
    found = recognise(log.encode(), pasted=True)
    assert found.recording is not None
    assert (message(found.recording), found.recording.finish_reason) == (
        Story("", "", ("f",), '{"ü": 1}'),
        "tool_calls",
    )


def test_the_chunks_of_bedrocks_llama_are_raw_output() -> None:
    chunks = [{"generation": text, "generation_token_count": 1, "stop_reason": None} for text in ("<think>", "\n")]
    log = "\n".join([repr({"chunk": {"bytes": json.dumps(chunk).encode()}}) for chunk in chunks])
    found = recognise(log.encode(), pasted=True)
    assert found.recording is not None
    assert found.recording.text == "<think>\n"


@pytest.mark.parametrize("spelled", ["no base64!", base64.b64encode(b"text").decode()])
def test_bytes_that_hold_no_object_stay_as_they_are(spelled: str) -> None:
    assert recognise(json.dumps({"chunk": {"bytes": spelled}}).encode(), pasted=True).kind == "raw_text"


ANSWER = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
}
ROW = {"id": "b", "custom_id": "one", "response": {"status_code": 200, "body": ANSWER}, "error": None}


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        (json.dumps(ROW), 1),
        (json.dumps(ROW, indent=2), 1),
        (f"{json.dumps(ROW)}\n{json.dumps({**ROW, 'custom_id': 'two'})}\n", 2),
        (json.dumps([ROW, ROW]), 2),
        (json.dumps({"status": 200, "headers": {}, "body": ANSWER}), 1),
    ],
)
def test_answers_in_rows_of_a_batch_are_the_answers(text: str, outputs: int) -> None:
    found = recognise(text.encode(), pasted=True)
    assert [message(one) for one in found.outputs] == [Story(content="Hi")] * outputs
