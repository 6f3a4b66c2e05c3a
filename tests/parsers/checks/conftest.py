"""Traces written by hand; see `parsers.checks.examples`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from parsers.checks.examples import scripted
from parsers.vocabulary.trace import Trace


@pytest.fixture
def build() -> Callable[..., Trace]:
    """The trace builder."""
    return scripted


@pytest.fixture
def good(build: Callable[..., Trace]) -> Trace:
    """A trace with nothing wrong: reasoning, content and two calls, streamed in small steps."""
    return build(
        [("marker", "<think>"), ("reasoning", "Hm.")],
        [("marker", "</think>"), ("content", "Hi ")],
        [("content", "there"), ("marker", "<tool_call>"), ("name", "get_weather")],
        [("arguments", '{"city": "To')],
        [("arguments", 'kyo", "days": 3}'), ("marker", "</tool_call>"), ("end",)],
        [
            ("marker", "<tool_call>"),
            ("name", "get_time"),
            ("arguments", "", "{}"),
            ("marker", "</tool_call>"),
            ("end",),
        ],
    )
