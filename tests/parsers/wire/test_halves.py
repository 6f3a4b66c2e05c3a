"""Characters that a server cut in two, a half to a chunk."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.wire.halves import with_whole_characters
from parsers.wire.read import read_stream

HIGH, LOW, FACE = "\ud83d", "\ude00", "\U0001f600"


def chunk(index: Any = 0, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta}]}


def function(text: str, index: int = 0) -> dict[str, Any]:
    return chunk(tool_calls=[{"index": index, "function": {"arguments": text}}])


@pytest.mark.parametrize(
    ("stream", "joined"),
    [
        ([chunk(content=f"a{HIGH}"), chunk(content=f"{LOW}b")], [chunk(content="a"), chunk(content=f"{FACE}b")]),
        ([chunk(content=HIGH), chunk(content=LOW)], [chunk(content=""), chunk(content=FACE)]),
        (
            [chunk(content=HIGH), chunk(reasoning="x"), chunk(content=LOW)],
            [chunk(content=""), chunk(reasoning="x"), chunk(content=FACE)],
        ),
        (
            [chunk(reasoning_content=HIGH, content=HIGH), chunk(reasoning_content=LOW, content=LOW)],
            [chunk(reasoning_content="", content=""), chunk(reasoning_content=FACE, content=FACE)],
        ),
        ([function(f'{{"a": "{HIGH}'), function(f'{LOW}"}}')], [function('{"a": "'), function(f'{FACE}"}}')]),
        (
            [{"choices": [{"text": HIGH}]}, {"choices": [{"text": LOW}]}],
            [{"choices": [{"text": ""}]}, {"choices": [{"text": FACE}]}],
        ),
        ([chunk(content=f"{HIGH}"), chunk(content=f"{LOW}{HIGH}"), chunk(content=LOW)],
         [chunk(content=""), chunk(content=FACE), chunk(content=FACE)]),
    ],
)  # fmt: skip
def test_halves_that_are_neighbours_in_a_field_are_joined(stream: list[Any], joined: list[Any]) -> None:
    before = repr(stream)
    assert with_whole_characters(stream) == joined
    assert repr(stream) == before, "what was given is not changed"


@pytest.mark.parametrize(
    "stream",
    [
        [chunk(content="a"), chunk(content="b")],
        [chunk(content=LOW), chunk(content=HIGH)],
        [chunk(content=HIGH), chunk(content="a"), chunk(content=LOW)],
        [chunk(content=HIGH), chunk(reasoning=LOW)],
        [chunk(content=HIGH), chunk(1, content=LOW)],
        [function(HIGH), function(LOW, 1)],
        [chunk(content=HIGH)],
        [
            None,
            {"choices": None},
            {"choices": [None, {"delta": "a"}, {"delta": {"tool_calls": [None, {"function": 1}]}}]},
        ],
        [chunk([], content=HIGH), {"choices": [{"delta": {"content": 1, "tool_calls": "x"}}]}],
    ],
)
def test_other_halves_stay_what_they_are(stream: list[Any]) -> None:
    assert with_whole_characters(stream) == stream


def test_streams_are_read_and_cases_are_loaded_with_whole_characters() -> None:
    stream = [chunk(content=f"a{HIGH}"), chunk(content=f"{LOW}b")]
    read = [one.delta.content for one in read_stream(stream) if one.delta is not None]
    assert read == ["a", f"{FACE}b"]
    case = load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}})
    assert case.input.stream == (chunk(content="a"), chunk(content=f"{FACE}b"))
