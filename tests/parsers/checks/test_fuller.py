"""Which of two messages has more of an output read."""

from __future__ import annotations

import pytest

from parsers.checks.fuller import is_less, kept, markers_of
from parsers.vocabulary.types import Message, ToolCall

TEXT = '<a>{"f": 1}</a> and <b>, to f.'


def calls(*names: str, whole: bool = True) -> list[ToolCall]:
    return [ToolCall("", name, "{}", complete=whole) for name in names]


def test_markers_are_those_that_are_declared_else_the_tags_that_a_message_lacks() -> None:
    both = [Message(content="<a> and <b>"), Message(content="<b>")]
    assert markers_of(TEXT, ("@@", "@@"), both) == ("@@",)
    assert markers_of(TEXT, (), both) == ("</a>", "<a>")


@pytest.mark.parametrize(
    ("message", "read"),
    [
        (Message(content="<a> <a>", reasoning="<a>"), (0, 0, -3, 0)),
        (Message(tool_calls=calls("f")), (1, 1, 0, 0)),
        (Message(tool_calls=calls("f", whole=False)), (0, 1, 0, 0)),
        (Message(tool_calls=calls("f", "f", "f")), (2, 2, 0, -1)),
        (Message(tool_calls=calls("other", "other")), (2, 2, 0, 0)),
    ],
)
def test_a_message_has_read_its_calls_as_often_as_the_output_names_them(
    message: Message, read: tuple[int, ...]
) -> None:
    assert tuple(kept(message, TEXT, ("<a>",))) == read


@pytest.mark.parametrize(
    ("one", "other", "declared", "less"),
    [
        (Message(content="<a>"), Message(tool_calls=calls("f")), (), True),
        (Message(tool_calls=calls("f")), Message(content="<a>"), ("<a>",), False),
        (Message(content="<a>"), Message(content="x"), (), False),
        (Message(content="@@"), Message(content="x"), ("@@",), True),
        (Message(tool_calls=calls("f", "f", "f")), Message(tool_calls=calls("f", "f")), (), False),
    ],
)
def test_a_message_is_less_by_a_call_that_it_lacks_or_a_declared_marker_that_it_leaves(
    one: Message, other: Message, declared: tuple[str, ...], less: bool
) -> None:
    assert is_less(one, other, TEXT, declared) is less
