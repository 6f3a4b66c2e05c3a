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


LINE = "".join(f"{number:03x}" for number in range(700))  # one line of one word


@pytest.mark.parametrize(
    ("changed", "gone", "new"),
    [
        (f"{LINE[:1000]}Q{LINE[1001:]}", LINE[1000], "Q"),
        (f"{LINE[:1000]}QQ{LINE[1000:]}", "", "QQ"),
        (f"{LINE[:1000]}{LINE[1002:]}", LINE[1000:1002], ""),
        (f"{LINE}Q", "", "Q"),
        (f"Q{LINE}", "", "Q"),
        (f"{LINE[:90]}{LINE[-90:]}", f"{LINE[90:190]}… 1,720 more …{LINE[-190:-90]}", ""),
    ],
)
def test_of_one_long_line_the_characters_that_changed_are_shown_with_some_around(
    changed: str, gone: str, new: str
) -> None:
    (change,) = fork({"input": {"text": LINE}}, input={"text": changed}).changes
    assert [piece.text for kind in ("gone", "new") for piece in change.pieces if piece.kind == kind] == [gone, new]
    around = [piece.text for piece in change.pieces if piece.kind == "same" and piece.text]
    assert 1 <= len(around) <= 2
    assert all(len(text) <= 2 * 24 + 1 for text in around)


def test_of_a_long_value_the_part_that_changed_is_shown() -> None:
    tools = [{"name": f"tool_{number}", "description": "Does much."} for number in range(40)]
    other = [*tools[:30], {"name": "tool_30", "description": "Does little."}, *tools[31:]]
    (change,) = fork({"tools": tools}, tools=other).changes
    assert [(piece.kind, piece.text) for piece in change.pieces if piece.kind != "same"] == [
        ("gone", "much"), ("new", "little"),
    ]  # fmt: skip
    assert change.note.startswith("1 place, ")


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
