"""A test of the project's own, beside the case files."""

from __future__ import annotations

from weather.tool_calls import ToolCalls


def test_text_is_sent_as_it_comes() -> None:
    parser = ToolCalls()
    parser.begin({})
    assert parser.feed("Sunny.", []) == {"content": "Sunny.", "tool_calls": []}
