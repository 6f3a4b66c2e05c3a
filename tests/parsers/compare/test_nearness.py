"""Which of two messages is nearer to the right reading."""

from __future__ import annotations

import pytest

from parsers.compare.nearness import Distance, distance
from parsers.vocabulary.types import Message, ToolCall

RIGHT = Message("Hm.", "Let me look.", [ToolCall(None, "f", '{"a": 1}'), ToolCall(None, "g", "{}")])


def said(*calls: tuple[str, str], content: str | None = "Let me look.", reasoning: str | None = "Hm.") -> Message:
    return Message(reasoning, content, [ToolCall(None, name, arguments) for name, arguments in calls])


F, G = ("f", '{"a": 1}'), ("g", "{}")


@pytest.mark.parametrize(
    ("given", "apart"),
    [
        (said(F, G), (0, 0, 0)),
        (said(("f", '{"a":1}'), G, content="Let me look.\n\n", reasoning=" Hm. "), (0, 0, 0)),
        (said(F), (1, 0, 0)),
        (said(F, G, G), (1, 0, 0)),
        (said(("f", '{"a": 2}'), G), (1, 0, 0)),
        (said(content=None), (2, 10, 0)),
        (said(F, G, content="Let m"), (0, 6, 0)),
        (said(F, G, content="Let me overlook.", reasoning=None), (0, 3, 4)),
        (said(F, G, content="<think>Hm.</think>Let me look.", reasoning=None), (0, 3, 18)),
    ],
)
def test_calls_count_first_then_characters_and_white_space_never(given: Message, apart: Distance) -> None:
    assert distance(RIGHT, given) == apart
