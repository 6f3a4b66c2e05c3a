"""Shapes that few clients print: what they say is read, or given up."""

from __future__ import annotations

import json

import pytest

from parsers.intake import recognise
from parsers.intake.logged_values import read_logged_values
from tests.parsers.intake.recorded_files import message

SAID = "{ role: 'assistant', content: 'Hm' +\n '.' }"


def test_the_generation_that_failed_is_the_raw_output() -> None:
    failed = {"error": {"message": "x", "type": "e", "code": "tool_use_failed", "failed_generation": "<think>a"}}
    found = recognise(json.dumps(failed).encode(), pasted=True)
    assert found.recording is not None
    assert found.recording.text == "<think>a"


def test_objects_of_node_have_their_class_before_them_and_texts_over_lines() -> None:
    found = recognise(f"Answer {{ choices: [ Choice {{ index: 0, message: {SAID} }} ] }}".encode(), pasted=True)
    assert found.recording is not None
    assert (found.recording.stream or ())[0]["choices"][0]["message"]["content"] == "Hm."


def test_what_stands_too_deep_in_an_object_is_not_looked_at() -> None:
    value: object = {"choices": [{"message": {"content": "a"}}]}
    for _ in range(12):
        value = {"a": value}
    assert recognise(json.dumps(value).encode(), pasted=True).kind == "raw_text"


def test_a_prefix_inside_an_object_is_no_line_of_a_log() -> None:
    assert read_logged_values('2025-11-28 10:00:00 INFO {\n2025-11-28 10:00:00 INFO "a": 1\n') is None


FAILED = {"message": "See 'failed_generation'.", "code": "tool_use_failed", "failed_generation": "<think>'a' \"b\""}
ERROR = f"Error code: 400 - { ({'error': FAILED})!r}"


@pytest.mark.parametrize(
    "text",
    [
        repr(ValueError(ERROR)),
        f"2026-01-05 10:00:00 ERROR call: {ValueError(ERROR)!r}",
        json.dumps(FAILED),
        repr(FAILED),
    ],
)
def test_the_generation_that_an_error_quotes_is_the_raw_output(text: str) -> None:
    found = recognise(text.replace("ValueError", "BadRequestError").encode(), pasted=True)
    assert found.recording is not None
    assert found.recording.text == FAILED["failed_generation"]


def test_an_error_without_a_generation_holds_no_output() -> None:
    text = b"BadRequestError('no failed_generation') BadRequestError('cut"
    assert recognise(text, pasted=True).kind == "raw_text"


CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Well."}, "finish_reason": "stop"}
FLAT = {
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.contents.0.message_content.type": "text",
    "llm.output_messages.0.message.contents.0.message_content.text": "Well.",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "a",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
}


@pytest.mark.parametrize(
    ("event", "names"),
    [({"body": CHOICE, "attributes": {"event.name": "gen_ai.choice"}}, ()), ({"body": CHOICE}, ()), (FLAT, ("f",))],
)
def test_an_event_of_a_trace_is_the_message_in_it(event: object, names: tuple[str, ...]) -> None:
    found = recognise(json.dumps(event).encode(), pasted=True)
    assert found.recording is not None
    assert message(found.recording)[:3] == ("", "Well.", names)
