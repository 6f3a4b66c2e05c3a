"""Verdicts on a recorded answer whose raw output is known: what the server lost or moved is the server's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parsers.search.test_verdict_recordings import WHOLE_ARGUMENTS, answered, call, searched

DECLARED = [{"name": "f", "parameters": {"properties": {"city": {"type": "string"}}}}]


@pytest.mark.parametrize(
    ("raw", "message", "kind", "headline"),
    [
        ("thought</think>answer", {"reasoning": "thought</think>answer"}, "wrong_channel",
         "The server sent text as what it is not"),
        ("an answer in more words", {"content": None}, "text_lost", "The server lost text"),
        ("an answer in more words", {"content": ""}, "text_lost", "The server lost text"),
    ],
)  # fmt: skip
def test_an_answer_that_departs_from_its_output_is_the_servers(
    raw: str, message: dict[str, Any], kind: str, headline: str
) -> None:
    stream, context = answered(message, finish_reason="stop"), {"reasoning_open": "</think>" in raw}
    said = searched(stream, how={"text": raw}, context=context).found.verdict
    assert (said.kind, said.severity) == (kind, "error")
    assert said.headline.startswith(headline)


def test_arguments_sent_twice_end_the_search_also_under_a_schema() -> None:
    """The second value used to be waited for without end."""
    stream = answered({"content": None, "tool_calls": [call(WHOLE_ARGUMENTS * 2, None)]}, finish_reason="tool_calls")
    said = searched(stream, tools=DECLARED).found.verdict
    assert (said.kind, said.severity) == ("broken_arguments", "error")
