"""A label on the first line of a block is structure; anything else is left alone."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context
from tests.parsers.parsing import codes, owners, rows, small, tokens, trace_of

MARKERS = {"<|channel>": 100, "<channel|>": 101}


@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        ("<|channel>thought\na<channel|>b", "a", "b"),
        ("<|channel>thought\n\na<channel|>b", "\na", "b"),
        ("<|channel>thought\n<channel|>b", None, "b"),
        ("<|channel>thought<channel|>b", None, "b"),
        ("<|channel>thought", None, None),
        ("<|channel>tho<channel|>b", "tho", "b"),
        ("<|channel>thoughts are free<channel|>b", "thoughts are free", "b"),
        ("<|channel>plan\na<channel|>b", "plan\na", "b"),
        ("<|channel>analysis\na<channel|>b", "a", "b"),
        ("<|channel>plan a\nb<channel|>c", "plan a\nb", "c"),
        ("<|channel>abcdefghijkl\na<channel|>b", "abcdefghijkl\na", "b"),
        ("<|channel>\na<channel|>b", "\na", "b"),
        ("<|channel><channel|>b", None, "b"),
        ("<|channel>", None, None),
        ("thought\na<channel|>b", "a", "b"),
        ("plan\na", None, "plan\na"),
        ("thought", None, "thought"),
        ("thou<", None, "thou<"),
        ("thought<channel|>b", None, "thoughtb"),
        (" thought\na", None, " thought\na"),
        ("x thought\na", None, "x thought\na"),
    ],
)
def test_the_first_line_of_a_channel(text: str, reasoning: str | None, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("gemma4", *texts).message
        assert (message.reasoning, message.content) == (reasoning, content)


@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        ("thought\na<channel|>b", "a", "b"),
        ("a\nb<channel|>c", "a\nb", "c"),
        ("<|channel>plan\na<channel|>b", "plan\na", "b"),
        ("<|channel>thought\na<channel|>b", "a", "b"),
        ("\n<|channel>thought\na <|channel>b<channel|>c", "\na <|channel>b", "c"),
        ("a<|channel>thought\nb<channel|>c", "a<|channel>thought\nb", "c"),
        ("<channel|>b", None, "b"),
        ("thought", "thought", None),
    ],
)
def test_the_prompt_may_have_written_the_label(text: str, reasoning: str | None, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("gemma4", *texts, context=Context(reasoning_open=True)).message
        assert (message.reasoning, message.content) == (reasoning, content)


@pytest.mark.parametrize(("word", "reasoning"), [("plan", "a"), ("abcdefghijkl", "abcdefghijkl\na")])
def test_any_short_word_may_be_a_label_after_a_marker(word: str, reasoning: str) -> None:
    states = {
        "TOP": {"text": "content", "rows": [{"on": "OPEN", "to": "LABEL"}]},
        "LABEL": {"text": "reasoning", "codec": {"name": "label", "options": {"after_marker": True}}, "rows": [
            {"on": "LABEL", "to": "THINK"}, {"on": "OTHER", "to": "THINK"},
        ]},
        "THINK": {"text": "reasoning", "rows": [{"on": "END", "to": "THINK"}]},
    }  # fmt: skip
    fmt = small(states, {"OPEN": "<o>"})
    for texts in ((f"<o>{word}\na",), tuple(f"<o>{word}\na")):
        assert trace_of(fmt, *texts).message.reasoning == reasoning


def test_a_label_is_a_marker_and_its_absence_a_row() -> None:
    trace = trace_of("gemma4", "thought\na<channel|>b")
    assert owners(trace) == [("thought\n", "marker"), ("a", "reasoning"), ("<channel|>", "marker"), ("b", "content")]
    assert codes(trace) == ["missing_reasoning_start"]
    assert rows(trace_of("gemma4", "b"))[0] == ("START", "OTHER", "CONTENT")


def test_a_label_before_a_marker_that_comes_by_its_id() -> None:
    fed = tokens(("<|channel>", 100, "special"), "thou", "ght", ("<channel|>", 101, "special"), "b")
    message = trace_of("gemma4", fed=fed, mode="ids", markers=MARKERS).message
    assert (message.reasoning, message.content) == (None, "b")
