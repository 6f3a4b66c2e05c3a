"""The values every module shares: what a delta says of itself, and how it looks to an OpenAI client."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import Context, Delta, FormatError, MessageDelta, Piece, Tool, ToolCallDelta


def test_a_delta_has_the_text_and_ids_of_its_pieces_unless_ids_run_ahead() -> None:
    pieces = (Piece("a", 1), Piece("", 2), Piece("b"))
    assert (Delta(1, pieces).text, Delta(1, pieces).token_ids) == ("ab", (1, 2))
    assert Delta(1, pieces, early_ids=(7,)).token_ids == (7,)


@pytest.mark.parametrize(
    ("delta", "seen"),
    [
        (MessageDelta(), {}),
        (MessageDelta(reasoning="r", content="c"), {"reasoning": "r", "content": "c"}),
        (
            MessageDelta(tool_calls=[ToolCallDelta(0, "id", "f", "")]),
            {"tool_calls": [{"index": 0, "id": "id", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        ),
        (
            MessageDelta(tool_calls=[ToolCallDelta(1, arguments="{}")]),
            {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        ),
        (
            MessageDelta(tool_calls=[ToolCallDelta(1, "id", "f")]),
            {"tool_calls": [{"index": 1, "id": "id", "type": "function", "function": {"name": "f"}}]},
        ),
    ],
)
def test_a_message_delta_looks_like_an_openai_chunk(delta: MessageDelta, seen: dict[str, object]) -> None:
    assert delta.to_openai() == seen


def test_a_tool_is_found_by_its_name() -> None:
    context = Context(tools=(Tool("f"), Tool("g")))
    assert (context.tool("g"), context.tool("h")) == (Tool("g"), None)


def test_a_format_error_names_the_place() -> None:
    assert str(FormatError("no", "/states/A")) == "/states/A: no"
    assert str(FormatError("no")) == "/: no"
