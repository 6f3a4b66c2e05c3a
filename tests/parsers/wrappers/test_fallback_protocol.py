"""The wrapper as a parser and as an engine: begin, feed and finish, its options, and what it says it wraps."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.engines import choose
from parsers.cases.io import load_case
from parsers.replays.replay import replay
from parsers.selection.registry import get_format
from parsers.vocabulary.events import ContentText
from parsers.vocabulary.types import Context, UsageError
from parsers.wrappers.fallback import Fallback
from tests.parsers.parsing import calls, deltas

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def test_the_protocol_is_kept() -> None:
    wrapper = Fallback(get_format("qwen"))
    with pytest.raises(UsageError, match="begin"):
        wrapper.feed(deltas("x")[0])
    with pytest.raises(UsageError, match="begin"):
        wrapper.finish()
    wrapper.begin(Context())
    assert wrapper.transitions is None
    assert [type(event) for event in [*wrapper.feed(deltas("x")[0]), *wrapper.finish()]] == [ContentText]
    with pytest.raises(UsageError, match="once"):
        wrapper.finish()


def test_a_wrapper_can_be_used_again() -> None:
    wrapper = Fallback(get_format("qwen"))
    first = replay(wrapper, deltas(CALL[:30]), Context())
    second = replay(wrapper, deltas(CALL), Context())
    assert calls(second.message) == [("f", '{"a": 1}')]
    assert first.message != second.message
    assert second == replay(Fallback(get_format("qwen")), deltas(CALL), Context())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": -1}, "/parser/options/budget: Input should be greater"),
        ({"budget": True}, "/parser/options/budget: "),
        ({"limit": 1}, "/parser/options/limit: .*; the wrapper's options are budget, line_start"),
    ],
)
def test_options_that_are_wrong_are_refused_with_their_place(options: dict[str, Any], words: str) -> None:
    parser = {"name": "qwen", "engine": "fallback", "options": options}
    with pytest.raises(UsageError, match=words):
        choose(load_case({"schema": 1, "parser": parser, "input": {"text": "x"}}))


def test_the_engine_says_what_it_wraps_and_why() -> None:
    parser = {"name": "auto", "engine": "fallback"}
    choice = choose(load_case({"schema": 1, "parser": parser, "input": {"text": CALL}}))
    assert (choice.selection.name, choice.format.name) == ("qwen", "qwen")
    assert choice.selection.reasons[-1] == "It runs behind the fallback wrapper (engine fallback)."
    assert "NORMAL" in choice.format.states
