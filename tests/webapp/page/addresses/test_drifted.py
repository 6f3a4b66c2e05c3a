"""Ids that an engine makes up anew are no departure from what it gave before."""

from __future__ import annotations

import pytest

from parsers.cases.stored_outcome import Drift
from parsers.vocabulary.types import Message, ToolCall
from webapp.page.addresses.drifted import Drifted, _with_ids

KEPT = Message(None, "It", [ToolCall("a1", "f", '{"a": 1}'), ToolCall("a2", "g", "{}")])


@pytest.mark.parametrize(
    ("name", "content", "ids"),
    [("f", "It", ["a1", "a2"]), ("h", "It", ["b1", "b2"]), ("f", "I", ["b1", "b2"])],
)
def test_a_message_that_says_the_same_has_the_ids_that_were_kept(name: str, content: str, ids: list[str]) -> None:
    today = Message(None, content, [ToolCall("b1", name, '{"a": 1}'), ToolCall("b2", "g", "{}")])
    found = _with_ids(today, KEPT)
    assert [call.id for call in found.tool_calls] == ids
    assert found.content == content
    assert [call.id for call in today.tool_calls] == ["b1", "b2"]


@pytest.mark.parametrize(
    ("then", "now", "engine", "nameless"),
    [
        ("version 1, class", "version 1, class", "class", True),
        ("version 1, vllm 0.32.0", "version 1, vllm 0.33.0", "vllm 0.33.0", False),
        ("version 1", "version 1", "", False),
    ],
)
def test_an_engine_that_calls_itself_the_same_is_said_to_be_another(
    then: str, now: str, engine: str, nameless: bool
) -> None:
    assert Drifted(Drift(), then, now, engine).is_nameless is nameless
