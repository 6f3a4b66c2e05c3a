"""Which of two messages has more of an output read."""

from __future__ import annotations

import pytest

from parsers.checks.fuller import has_more_prose, is_less, kept, markers_of
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
        (Message(tool_calls=[ToolCall("", "f", '{"x": 1}')] * 2), (1, 1, 0, -1)),  # its arguments stand there once
        (Message(tool_calls=[*calls("f"), ToolCall("", "f", "", complete=False)]), (1, 1, 0, -1)),  # a share of it
        (Message(tool_calls=calls("an")), (1, 1, 0, 0)),
        (Message(tool_calls=calls("an", "an")), (1, 1, 0, -1)),  # it stands in another word alone
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


ENDED = '<call>f</call> It is fine and so is "that".'


@pytest.mark.parametrize(
    ("longer", "shorter", "more"),
    [
        (ENDED[14:], ENDED[14:-1], True),
        (ENDED[14:], ENDED[14:-6], True),
        (" It is fine", " It is fin", True),  # the rest of a word
        (" It is fine", " It is", False),  # a word that may be a marker
        (" It is fine and", " fine and", True),
        (" It is fine>", " It is fine", False),
        (" f It is", " It is", False),  # it names a call
        (" It is fine", " It was", False),
        (" It is fine ", " It is fine", False),
        (" It is", " It is", False),
    ],
)
def test_what_has_more_of_a_sentence_or_of_the_end_is_fuller(longer: str, shorter: str, more: bool) -> None:
    messages = [Message(content=shorter), Message(content=longer, tool_calls=calls("f"))]
    assert has_more_prose(messages, ENDED) is more
