"""The right reading of an output, part by part: what stands where, and what white space it leaves out."""

from __future__ import annotations

import pytest

from parsers.compare.right_reading import Stretch, groups, read_events
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import ContentText, Dropped, Event
from parsers.vocabulary.types import Message
from tests.parsers.parsing import trace_of

CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


def parts(stretches: list[Stretch]) -> list[tuple[str, bool]]:
    return [(part.text, part.shown) for part in stretches]


def events(fmt: str, text: str) -> list[Event]:
    return [event for _, event in trace_of(fmt, *text).events()]


@pytest.mark.parametrize(
    ("fmt", "text", "content", "reasoning"),
    [
        ("qwen", f"\n{CALL}\n", [("\n", False), ("\n", False)], []),
        ("qwen", "<think>\nHm.\n</think>\nHi.", [("\nHi.", True)], [("\nHm.", True), ("\n", False)]),
        ("gemma4", "<|channel>thought\n\nHm.<channel|>Hi.", [("Hi.", True)], [("\nHm.", True)]),
        ("llama", 'a {"name": "f", "parameters": {}} c', [("a", True), (" ", False), (" c", True)], []),
    ],
)
def test_white_space_that_a_reading_leaves_out_keeps_its_place(
    fmt: str, text: str, content: list[tuple[str, bool]], reasoning: list[tuple[str, bool]]
) -> None:
    found = read_events(events(fmt, text), text)
    joined: list[tuple[str, bool]] = []
    for part in parts(found.content):
        if joined and joined[-1][1] and part[1]:
            joined[-1] = (joined[-1][0] + part[0], True)
        else:
            joined.append(part)
    assert joined == content
    assert "".join([said for said, _ in parts(found.reasoning)]) == "".join([said for said, _ in reasoning])


def test_content_is_grouped_by_the_calls_around_it() -> None:
    text = f"a{CALL} b{CALL}{CALL}c"
    trace = trace_of("qwen", text)
    said = read_events([event for _, event in trace.events()], text).message(trace.message)
    assert said is not None
    assert [parts(group) for group in groups(said)] == [[("a", True)], [(" b", True)], [], [("c", True)]]


def test_places_of_another_message_are_none() -> None:
    found = read_events(events("qwen", f"a{CALL}"), f"a{CALL}")
    assert found.message(Message(None, "a", [])) is None
    assert found.message(trace_of("qwen", f"b{CALL}").message) is None


@pytest.mark.parametrize(
    ("text", "cuts", "stops"),
    [("Hi.<x>", [(3, 6)], 3), ("Hi.<x><y>", [(3, 6), (6, 9)], 3), ("Hi.<x>.", [(3, 6)], 7), ("Hi.", [], 3)],
)
def test_tokens_that_end_the_turn_stand_behind_the_text(text: str, cuts: list[tuple[int, int]], stops: int) -> None:
    dropped: list[Event] = [Dropped(start, end, DropReason(Cause.UNKNOWN_SPECIAL)) for start, end in cuts]
    assert read_events([ContentText(0, 3, "Hi."), *dropped], text).stops == stops
