"""Answers and events of version 1 of Cohere's chat, as the chat answers and chunks that say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.vocabulary.types import Recording
from tests.parsers.intake.recorded_files import Story, message

CALL = {"name": "f", "parameters": {"city": "Bern"}}
WRITTEN = '{"city": "Bern"}'


def recorded(*payloads: dict[str, Any]) -> Recording:
    found = recognise("\n".join(map(json.dumps, payloads)).encode(), pasted=True).recording
    assert found is not None
    return found


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {"is_finished": kind == "stream-end", "event_type": kind, **more}


def part(**delta: Any) -> dict[str, Any]:
    return event("tool-calls-chunk", tool_call_delta={"index": 0, **delta})


START, END = event("stream-start", generation_id="g"), event("stream-end", finish_reason="COMPLETE", response={})
TOLD = event("tool-calls-generation", tool_calls=[CALL])


@pytest.mark.parametrize(
    ("payloads", "story", "finish"),
    [
        ([{"text": "Hi", "generation_id": "g", "finish_reason": "COMPLETE"}], Story(content="Hi"), "stop"),
        ([{"text": "H", "generation_id": "g", "finish_reason": "MAX_TOKENS"}], Story(content="H"), "length"),
        (
            [{"text": "", "generation_id": "g", "finish_reason": "COMPLETE", "tool_calls": [CALL]}],
            Story("", "", ("f",), WRITTEN),
            "tool_calls",
        ),
        ([START, event("text-generation", text="H"), event("search-results"), END], Story(content="H"), "stop"),
        (
            [START, event("tool-calls-chunk", text="I go."), TOLD, END],
            Story("", "I go.", ("f",), WRITTEN),
            "tool_calls",
        ),
        (
            [START, part(name="f"), part(parameters='{"city": '), part(parameters='"Bern"}'), TOLD, END],
            Story("", "", ("f",), WRITTEN),
            "tool_calls",
        ),
    ],
)
def test_version_1_says_what_the_answer_says(payloads: list[dict[str, Any]], story: Story, finish: str) -> None:
    found = recorded(*payloads)
    assert message(found) == story
    assert found.finish_reason == finish


def test_calls_of_version_1_have_the_ids_that_it_does_not_give() -> None:
    stream = recorded(START, part(name="f"), part(index=1, name="g"), END).stream or ()
    calls = [call for chunk in stream for call in chunk["choices"][0]["delta"].get("tool_calls", ())]
    assert [call["id"] for call in calls] == ["call_0", "call_1"]
