"""Harmony: what recipients, channels and missing pieces become, by text and by ids."""

from __future__ import annotations

import pytest

from parsers.selection.registry import get_format
from parsers.vocabulary.types import Context, Delta
from tests.parsers.parsing import calls, codes, dropped, owners, tokens, trace_of

MARKERS = {text: token.id for text, token in get_format("harmony").tokens.items() if token.id is not None}
START, CHANNEL, MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
END, CALL, RETURN = "<|end|>", "<|call|>", "<|return|>"


def recorded(*pieces: str) -> list[Delta]:
    """Recorded tokens; a piece that is a marker comes by its id."""
    return tokens(*[(piece, MARKERS[piece], "special") if piece in MARKERS else piece for piece in pieces])


def test_markers_by_their_ids_and_the_same_characters_as_text() -> None:
    fed = recorded(CHANNEL, "final", MESSAGE, "Write <", "|call|> and <|end|> like ", "this.", RETURN)
    trace = trace_of("harmony", fed=fed, mode="ids", markers=MARKERS)
    assert trace.message.content == "Write <|call|> and <|end|> like this."
    assert codes(trace) == []


def test_a_call_by_ids_with_markers_typed_in_its_arguments() -> None:
    inner = '{"a": "<|call|><|start|>"}'
    fed = recorded(CHANNEL, "commentary", " to=", "functions", ".f", " ", "<|constrain|>", "json", MESSAGE, inner, CALL)
    trace = trace_of("harmony", fed=fed, mode="ids", markers=MARKERS)
    assert calls(trace.message) == [("f", inner)]


def test_a_special_token_that_harmony_does_not_know_is_left_out() -> None:
    fed = [*recorded(CHANNEL, "final", MESSAGE, "Sun"), *tokens(("<|reserved|>", 7, "special")), *recorded("ny.")]
    trace = trace_of("harmony", fed=fed, mode="ids", markers=MARKERS)
    assert trace.message.content == "Sunny."
    assert [text for text, _ in dropped(trace)] == ["<|reserved|>"]


@pytest.mark.parametrize(
    ("header", "name", "said"),
    [
        ("<|channel|>commentary to=functions.f", "f", []),
        ("<|channel|>commentary to=functions.a.b-c", "a.b-c", []),
        ("<|channel|>analysis to=functions.f code", "f", []),
        ("<|channel|>final to=functions.f json", "f", []),
        ("<|channel|>commentary json to=functions.f", "f", []),
        ("<|channel|> to=functions.f", "f", []),
        (" to=functions.f<|channel|>analysis", "f", []),
        ("<|start|>assistant to=functions.f<|channel|>commentary<|constrain|>json", "f", []),
        ("<|channel|>analysis to=python code", "python", ["other_recipient"]),
        ("<|channel|>commentary to=browser.open", "browser.open", ["other_recipient"]),
        ("<|channel|>commentary to=f", "f", ["other_recipient"]),
        ("to=python<|channel|>analysis", "python", ["other_recipient"]),
        ("<|channel|>final <|constrain|>functions.f", "f", ["recipient_as_type"]),
    ],
)
def test_a_recipient_makes_a_call_wherever_it_stands(header: str, name: str, said: list[str]) -> None:
    text = f'{header}<|message|>{{"a": 1}}<|call|>'
    for texts in ((text,), tuple(text)):
        trace = trace_of("harmony", *texts)
        assert calls(trace.message) == [(name, '{"a": 1}')]
        assert (trace.message.content, trace.message.reasoning) == (None, None)
        assert codes(trace) == said


@pytest.mark.parametrize(
    ("text", "content", "said"),
    [
        ("<|start|>user<|message|>Hi<|end|>", "Hi", ["foreign_message"]),
        ("<|start|>functions.f to=assistant<|channel|>commentary<|message|>1<|end|>", "1", ["foreign_message"]),
        ("<|message|>Hi<|end|>", "Hi", ["missing_channel"]),
        ("<|channel|>x<|message|>Hi", "Hi", ["unknown_channel"]),
        ("<|channel|>final Hi<|return|>", "Hi", ["missing_message"]),
        ("final<|message|>Hi", "Hi", ["missing_channel"]),
        ("<|channel|>final<|message|>Hi<|call|>", "Hi", ["orphan_message_end"]),
        ("<|channel|>final<|message|>Hi<|channel|>final<|message|>you", "Hi\nyou", ["missing_message_end"]),
        ("Hi <|channel|>final<|message|>you", "Hi \nyou", ["missing_message_end"]),
        ("Hi <|start|>assistant<|channel|>final<|message|>you", "Hi \nyou", ["missing_message_end"]),
        ("<|channel|>final<|message|>Hi<|end|>you", "Hi\nyou", []),
        ("<|channel|>final<|message|>Hi<|return|><|return|>", "Hi", ["orphan_message_end"]),
        ("<|channel|>final<|channel|>final<|message|>Hi", "Hi", []),
        ("<|channel|>x<|channel|>final<|message|>Hi", "Hi", ["missing_message"]),
        ("<|channel|>final<|start|>assistant<|channel|>final<|message|>Hi", "Hi", ["missing_message"]),
        ("<|channel|>final <|constrain|>json<|end|><|message|>Hi", "Hi", ["missing_message", "missing_channel"]),
        ("assistant<|channel|>final<|message|>Hi<|endoftext|>", "Hi", []),
        ("to=assistant<|channel|>commentary to=assistant<|message|>Hi", "Hi", []),
        ("<|channel|> to=assistant<|message|>Hi", "Hi", ["unknown_channel"]),
        ("<|channel|>analysis to=assistant<|end|><|channel|>final<|message|>Hi", "Hi", ["missing_message"]),
        ("Hi", "Hi", []),
    ],
)
def test_messages_with_pieces_missing_are_read_and_said(text: str, content: str, said: list[str]) -> None:
    for texts in ((text,), tuple(text)):
        trace = trace_of("harmony", *texts)
        assert trace.message.content == content
        assert (trace.message.reasoning, trace.message.tool_calls) == (None, [])
        assert codes(trace) == said


@pytest.mark.parametrize(
    "text",
    [
        "a<|end|><|channel|>final<|message|>b",
        "a<|return|><|channel|>final<|message|>b",
        "a<|start|>assistant<|channel|>final<|message|>b",
        "a<|channel|>final<|message|>b",
        "<|message|>a<|end|><|channel|>final<|message|>b",
        "a<|call|><|channel|>final<|message|>b",
    ],
)
def test_reasoning_that_the_prompt_opened_ends_with_its_message(text: str) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("harmony", *texts, context=Context(reasoning_open=True)).message
        assert (message.reasoning, message.content) == ("a", "b")


@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        ("analysisOne.assistantfinalTwo.", "One.", "Two."),
        ("analysisOne.assistantanalysisTwo.assistantfinalThree.", "One.\nTwo.", "Three."),
        ("commentaryOne.assistantanalysisTwo.assistantfinalThree.", "Two.", "One.\nThree."),
        ("analysisOne.<|end|><|start|>assistant<|channel|>final<|message|>Two.", "One.", "Two."),
        ("analysis<|message|>One.<|end|>assistantfinalTwo.", "One.", "Two."),
        ("<|channel|>analysis <|constrain|>text<|message|>One.", "One.", None),
    ],
)
def test_words_without_their_markers_are_headers(text: str, reasoning: str, content: str | None) -> None:
    for texts in ((text,), tuple(text)):
        message = trace_of("harmony", *texts).message
        assert (message.reasoning, message.content) == (reasoning, content)


def test_every_character_of_a_call_has_an_owner() -> None:
    text = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>"
    assert owners(trace_of("harmony", text)) == [
        ("<|channel|>commentary to=functions.", "marker"),
        ("f", "name"),
        (" <|constrain|>json<|message|>", "marker"),
        ("{}", "arguments"),
        ("<|call|>", "marker"),
    ]
