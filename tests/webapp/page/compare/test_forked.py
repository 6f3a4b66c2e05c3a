"""What an edited copy changed of its parent."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from webapp.page.compare.forked import HUNKS_SHOWN, Fork, fork_of

PARENT: dict[str, Any] = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": "The call is here."}}
LONG = " ".join(f"word{number}" for number in range(200))


def fork(before: dict[str, Any] | None = None, **changes: Any) -> Fork:
    parent = PARENT | (before or {})
    return fork_of("0" * 16, load_case(parent), load_case(parent | changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"title": "Another"}, []),
        ({"parser": {"name": "llama"}}, [("parser", "qwen", "llama")]),
        ({"parser": {"name": "qwen", "policy": {"unknown_tool": "drop"}}}, [("policy", "none", "unknown_tool drop")]),
        ({"parser": {"name": "qwen", "engine": "fallback"}}, [("parser", "qwen", "qwen (fallback)")]),
        ({"contract": "vllm"}, [("contract", "none", "vllm")]),
        ({"replay": [{"by": "char"}]}, [("chunking", "token by token", "character by character")]),
        ({"context": {"reasoning_open": True}}, [("request", "none", '{"reasoning_open": true}')]),
        ({"decode": {"policy": "vllm_fast"}}, [("decoding", "none", "vllm_fast")]),
        ({"expect": {"content": "x"}}, [("expected message", "none", '{"content": "x"}')]),
    ],
)
def test_each_part_is_said_before_and_now(changes: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    found = fork(**changes)
    assert [(change.name, change.before, change.after) for change in found.changes] == expected
    assert found.words == (", ".join(name for name, _, _ in expected) or "nothing")


def test_tools_are_shown_as_json() -> None:
    (change,) = fork(tools=[{"name": "f"}]).changes
    assert (change.name, '"name": "f"' in change.after) == ("tools", True)


def test_the_output_is_shown_by_its_words() -> None:
    (change,) = fork(input={"text": "The calls are here."}).changes
    assert [(piece.kind, piece.text) for piece in change.pieces if piece.text] == [
        ("same", "The "), ("gone", "call is"), ("new", "calls are"), ("same", " here."),
    ]  # fmt: skip
    assert change.note == "1 place, 17 characters before, 19 now"


def test_much_that_stayed_is_cut() -> None:
    changed = LONG.replace("word100", "other").replace("word150", "else")
    (change,) = fork({"input": {"text": LONG}}, input={"text": changed}).changes
    same = [piece.text for piece in change.pieces if piece.kind == "same"]
    assert [text.count("…") for text in same] == [1, 1, 1]


def test_many_places_are_counted() -> None:
    changed = " ".join(f"x{number}" if number % 5 == 0 else f"word{number}" for number in range(200))
    (change,) = fork({"input": {"text": LONG}}, input={"text": changed}).changes
    assert len([piece for piece in change.pieces if piece.kind == "new"]) == HUNKS_SHOWN
    assert change.pieces[-1].text == " and 28 more places"
