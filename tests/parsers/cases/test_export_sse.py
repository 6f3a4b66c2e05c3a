"""The exported event stream: our own intake reads it, and a client gets the message of the run from it."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, run_case, sse
from parsers.intake.json_frames import read_event_lines
from parsers.intake.recognise import recognise
from parsers.wire.chunks import Dialect
from tests.corpus import case_named, case_names
from tests.parsers.wire.client import Client, seen

TEXT = '<think>Hm.</think>Hi\n\n<tool_call>{"name": "f", "arguments": {"a": "ü\\n"}}</tool_call>'


def run(text: str = TEXT) -> CaseRun:
    data = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "context": {"model": "org/model"}}
    return run_case(load_case(data), compare=False)


def events(text: str) -> Any:
    found = read_event_lines(text)
    assert found is not None
    return found


@pytest.mark.replays
@pytest.mark.parametrize("name", case_names("qwen"))
def test_the_transcript_read_back_is_the_message(name: str) -> None:
    made = run_case(case_named(name), compare=False)
    found = events(sse(made))
    assert (found.ends, found.others) == ([len(found.frames)], [])
    assert Client().read([frame.payload or {} for frame in found.frames]) == seen(made.trace.message)


@pytest.mark.parametrize("dialect", ["reasoning", "reasoning_content"])
def test_reasoning_goes_by_the_name_that_is_asked_for(dialect: Dialect) -> None:
    client = Client()
    client.read([frame.payload or {} for frame in events(sse(run(), dialect)).frames])
    assert client.channels == {dialect: "Hm.", "content": "Hi\n\n"}


def test_a_transcript_is_the_same_each_time_and_another_output_has_another_id() -> None:
    def head(text: str) -> tuple[str, str]:
        payload = events(sse(run(text))).frames[0].payload or {}
        return payload["id"], payload["model"]

    assert sse(run()) == sse(run())
    assert head(TEXT) != head("Hi")
    assert head(TEXT)[1] == "org/model"


def test_the_intake_takes_the_transcript_for_what_a_server_sent() -> None:
    found = recognise(sse(run()).encode(), pasted=False)
    assert (found.kind, found.usable) == ("sse_log", True)
    assert found.recording is not None
    assert (found.recording.text, found.recording.finish_reason) == (None, "tool_calls")
    assert [frame.payload for frame in events(sse(run())).frames] == list(found.recording.stream or ())
