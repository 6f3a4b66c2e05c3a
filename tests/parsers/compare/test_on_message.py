"""A replay laid by what it sends: its text is the message, each character has its owner, and the steps stay."""

from __future__ import annotations

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.cases.run import characters, replayer_of
from parsers.compare.on_message import on_message
from parsers.replays.chunking import RECORDED, TRACED, WHOLE, Chunking
from parsers.vocabulary.trace import Trace

TEXT = 'Hi <tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
DELTAS = [
    {"role": "assistant", "content": ""},
    {"content": "Hi "},
    {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"x": 1}'}}]},
    {"reasoning_content": "So."},
]
SENT = [("content", "Hi "), ("name", "f"), ("arguments", '{"x": 1}')]


def replayed(chunking: Chunking) -> Trace:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": TEXT}})
    return replayer_of(case, choose(case), characters(TEXT)).trace(chunking)


def played() -> Trace:
    stream = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in DELTAS]
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}})
    return replayer_of(case, choose(case), ()).trace(RECORDED)


def owners(trace: Trace) -> list[tuple[str, str]]:
    return [(part.owner, trace.text[part.start : part.end]) for part in trace.partition]


@pytest.mark.parametrize("chunking", [TRACED, WHOLE])
def test_the_text_is_what_is_sent_and_each_character_has_its_owner(chunking: Chunking) -> None:
    found = on_message(before := replayed(chunking))
    assert owners(found) == SENT
    assert found.message == before.message
    assert len(found.steps) == len(before.steps)
    assert [step.state for step in found.steps] == [step.state for step in before.steps]
    assert "".join([found.text[step.span.start : step.span.end] for step in found.steps]) == found.text
    assert not any(step.holds or step.view.holds for step in found.steps)


def test_the_chunks_of_a_recording_have_the_text_that_they_carried() -> None:
    found = on_message(played())
    assert owners(found) == [*SENT, ("reasoning", "So.")]
    assert [found.text[step.span.start : step.span.end] for step in found.steps] == [
        "",
        "Hi ",
        "f",
        '{"x": 1}',
        "So.",
        "",
    ]
    assert [channel.text for channel in found.channels.values()] == [
        channel.text for channel in played().channels.values()
    ]


def test_a_message_of_nothing_has_no_text_and_no_owners() -> None:
    case = load_case({"schema": 1, "parser": {"name": "qwen"}, "input": {"text": ""}})
    found = on_message(replayer_of(case, choose(case), ()).trace(TRACED))
    assert (found.text, list(found.partition)) == ("", [])
