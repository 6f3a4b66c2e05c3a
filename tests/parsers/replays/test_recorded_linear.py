"""Twice the stream takes about twice the time: read, played back, and checked beside an output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.run import run_case
from parsers.vocabulary.types import Piece
from parsers.wire.read import read_stream
from tests.growth import assert_linear, seconds

pytestmark = pytest.mark.linear

SIZES = (1_500, 3_000, 6_000)


def chunk(delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def calls(size: int) -> list[dict[str, Any]]:
    """A call for every second chunk, none of which has an index."""
    return [
        chunk(
            {"tool_calls": [{"id": f"c{at // 2}", "function": {"name": "f"} if at % 2 == 0 else {"arguments": "{}"}}]}
        )
        for at in range(size)
    ]


def pieces(size: int) -> list[dict[str, Any]]:
    """One call whose arguments come in as many chunks."""
    first = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a": "'}}
    more = [chunk({"tool_calls": [{"index": 0, "function": {"arguments": "word "}}]}) for _ in range(size)]
    return [chunk({"tool_calls": [first]}), *more]


def replayed(stream: list[dict[str, Any]]) -> None:
    run_case(load_case({"schema": 1, "parser": {"name": "recorded"}, "input": {"stream": stream}}))


def agreeing(size: int) -> None:
    sent = [chunk({"content": "word "}) for _ in range(size)]
    given = {"stream": sent, "deltas": [{"text": "word "} for _ in range(size)]}
    case = load_case({"schema": 1, "parser": {"name": "passthrough"}, "input": given, "checks": ["server_agrees"]})
    run_case(case, pieces=[Piece("word ") for _ in range(size)], compare=False)


@pytest.mark.parametrize("make", [calls, pieces])
@pytest.mark.parametrize("run", [read_stream, replayed])
def test_time_grows_with_the_stream(
    make: Callable[[int], list[dict[str, Any]]], run: Callable[[list[dict[str, Any]]], object]
) -> None:
    assert_linear(lambda size: seconds(partial(run, make(size))), SIZES)


def test_time_grows_with_the_output_beside_it() -> None:
    assert_linear(lambda size: seconds(partial(agreeing, size)), SIZES)
