"""Attributes of OpenTelemetry's JSON are the object that they stand for, and the answer in them is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.attribute_lists import named_attributes
from tests.parsers.intake.recorded_files import Story, message

SAID = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}], "finish_reason": "stop"}])
ATTRIBUTES = [
    {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
    {"key": "gen_ai.output.messages", "value": {"stringValue": SAID}},
]


def test_the_answer_in_a_span_is_found() -> None:
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "chat", "attributes": ATTRIBUTES}]}]}]}
    found = recognise(json.dumps(spans, indent=1).encode(), pasted=True).recording
    assert found is not None
    assert message(found) == Story(content="Hi")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"stringValue": "a"}, "a"),
        ({"intValue": "7"}, "7"),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}}, ["a", "b"]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "x", "value": {"stringValue": "a"}}]}}, {"x": "a"}),
        ({"kvlistValue": {}}, {}),
        ({"a": 1}, {"a": 1}),
        ("plain", "plain"),
    ],
)
def test_a_value_has_no_name_of_its_type(value: Any, meant: Any) -> None:
    assert named_attributes([{"key": "k", "value": value}]) == {"k": meant}


@pytest.mark.parametrize("value", [[], "a", [1], [{"key": "k"}], [{"key": 1, "value": 2}], {"key": "k", "value": 1}])
def test_other_values_are_no_attributes(value: Any) -> None:
    assert named_attributes(value) is None
