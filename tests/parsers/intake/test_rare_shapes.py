"""Shapes that few clients print: what they say is read, or given up."""

from __future__ import annotations

import json

from parsers.intake import recognise
from parsers.intake.logged_values import read_logged_values

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
