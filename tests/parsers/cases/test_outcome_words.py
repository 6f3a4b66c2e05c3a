"""What is kept of an outcome beside its digest, and read again."""

from __future__ import annotations

import json

import pytest

from parsers.cases.message_events import MessageEvent
from parsers.cases.outcome_words import MOST_KEPT, WrittenOutcome, dumped, loaded, shape_of, shape_words
from parsers.vocabulary.types import Message, ToolCall

MESSAGE = Message("r", "c\ud800", [ToolCall("a", "f", '{"a": "\ud800"}', complete=False)])
SHAPE = (("reasoning", 1), ("tool_call", 0), ("text", 2))


@pytest.mark.parametrize(
    "outcome",
    [
        WrittenOutcome(MESSAGE, SHAPE, "vllm 0.1 at main (0123)"),
        WrittenOutcome(MESSAGE),
        WrittenOutcome(Message(None, None), ()),
        WrittenOutcome(engine="vllm 0.1"),
    ],
)
def test_what_is_written_is_read_again(outcome: WrittenOutcome) -> None:
    text = dumped(outcome)
    assert text is not None
    assert text.isascii()
    assert loaded(text) == outcome


def test_what_earlier_versions_wrote_is_the_message_alone() -> None:
    assert loaded(json.dumps(MESSAGE.to_json())) == WrittenOutcome(MESSAGE)


@pytest.mark.replays
def test_what_is_very_long_is_left_out_and_nothing_is_no_text() -> None:
    long = Message(None, "c" * MOST_KEPT)
    text = dumped(WrittenOutcome(long, SHAPE, "e"))
    assert text is not None
    assert loaded(text) == WrittenOutcome(None, SHAPE, "e")
    assert dumped(WrittenOutcome(long, SHAPE * MOST_KEPT)) is None


def test_an_order_is_told_in_the_words_of_the_page_and_bounded() -> None:
    events = [MessageEvent("reasoning", "r"), MessageEvent("tool_call", "{}", "f"), MessageEvent("text", "ab")]
    assert shape_of(events) == SHAPE
    assert shape_words(SHAPE) == "reasoning (1), call, content (2)"
    assert shape_words(()) == "nothing"
    assert shape_words((("text", 1_000),) * 14).endswith("content (1,000), content (1,000) and 2 more")
