"""The life of a call: which states it passes through, by the table and in traces."""

from __future__ import annotations

from itertools import groupby

import pytest

from parsers.machine.calls import LIFE, CallEvent, CallState
from parsers.vocabulary.types import Context, Tool
from tests.parsers.parsing import small, trace_of

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
STRICT, TEXT = {"invalid_call": "strict"}, {"truncated_call": "text"}


def lived(*texts: str, policy: dict[str, str] | None = None, tool: str = "f") -> list[str]:
    """The states after the steps of a replay, each once."""
    trace = trace_of("qwen", *texts, policy=policy, context=Context(tools=(Tool(tool),)))
    return [state for state, _ in groupby(step.view.call_state or "NONE" for step in trace.steps)]


@pytest.mark.parametrize(
    ("text", "policy", "states"),
    [
        ("no call", {}, ["NONE"]),
        (CALL, {}, ["NONE", "TENTATIVE", "OPEN", "NONE"]),
        (CALL[:20], {}, ["NONE", "TENTATIVE", "NONE"]),
        (CALL[:-20], {}, ["NONE", "TENTATIVE", "OPEN", "NONE"]),
        (CALL, STRICT, ["NONE", "TENTATIVE", "NAMED", "NONE"]),
        (CALL[:-20], TEXT, ["NONE", "TENTATIVE", "NAMED", "NONE"]),
        ("<tool_call>junk</tool_call>", {}, ["NONE", "TENTATIVE", "NONE"]),
        ("<tool_call>junk</tool_call>a", {"recovery": "skip_call"}, ["NONE", "TENTATIVE", "SKIPPED", "NONE"]),
        (f"<tool_call>junk</tool_call>{CALL}", {"recovery": "fail"}, ["NONE", "TENTATIVE", "FAILED"]),
    ],
)
def test_a_call_passes_through_these_states(text: str, policy: dict[str, str], states: list[str]) -> None:
    assert lived(*text, policy=policy) == states


@pytest.mark.parametrize(("value", "state"), [("keep", "OPEN"), ("text", "AS_TEXT"), ("drop", "DROPPED")])
def test_a_call_to_an_unknown_tool_goes_where_the_policy_says(value: str, state: str) -> None:
    assert lived(*CALL, policy={"unknown_tool": value}, tool="g") == ["NONE", "TENTATIVE", state, "NONE"]


def test_every_state_has_a_line_and_can_be_reached() -> None:
    assert list(LIFE) == list(CallState)
    reached = {CallState.NONE, *[after for moves in LIFE.values() for after in moves.values()]}
    assert reached == set(CallState)
    assert {event for moves in LIFE.values() for event in moves} == set(CallEvent)


def test_what_a_state_does_not_list_is_passed_over() -> None:
    rows = [
        {"on": "A", "to": "TOP", "emit": ["CallStart"]},
        {"on": "B", "to": "TOP", "emit": ["CallEnd"]},
        {"on": "END", "to": "TOP", "emit": ["CallEnd"]},
    ]
    fmt = small({"TOP": {"text": "content", "rows": rows}}, {"A": "<a>", "B": "<b>"})
    assert trace_of(fmt, "x<b>y").message.content == "xy"
    assert trace_of(fmt, "x<a><a>y<b>").message.content == "x<a><a>y<b>"
