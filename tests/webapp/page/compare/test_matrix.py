"""One case by many parsers."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.compare.divergence import EXACT
from parsers.formats.model import builtin_formats
from tests.webapp.page.streams import TEXT, stream_case
from webapp.page.compare import matrix as module
from webapp.page.compare.asked import Asked, CompareLinks, Side
from webapp.page.compare.matrix import CHUNKINGS, matrix, near
from webapp.page.compare.picker import picker
from webapp.page.compare.sides import replayed
from webapp.runs.runner import Runner

CALL = 'Hi. <tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'


def table(runner: Runner, make: Any, which: str, text: str = CALL) -> Any:
    return matrix(runner, [replayed(runner, make.case(text), "a", Side())], which, EXACT)


@pytest.mark.replays
def test_each_cell_says_whether_it_is_the_message_of_the_first_side(runner: Runner, make: Any) -> None:
    found = table(runner, make, "all")
    rows = {row.parser: [cell.words for cell in row.cells] for row in found.rows}
    assert next(iter(rows)) == "qwen"
    assert found.rows[0].own
    assert set(rows) == set(builtin_formats())
    assert rows["qwen"] == ["same message"] * len(CHUNKINGS)
    assert rows["passthrough"] == ["no call"] * len(CHUNKINGS)
    assert [row.same for row in found.rows[1:]] == sorted((row.same for row in found.rows[1:]), reverse=True)


@pytest.mark.replays
def test_near_are_the_formats_with_a_marker_that_stands_in_the_output(runner: Runner, make: Any) -> None:
    names = near(CALL, builtin_formats())
    assert "qwen" in names
    assert "harmony" not in names
    assert near("<think>plain</think> words", builtin_formats()) == []
    assert {row.parser for row in table(runner, make, "near").rows} == set(names)


def test_parsers_over_the_budget_are_named_and_not_run(
    runner: Runner, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEPS", 300)
    found = table(runner, make, "near", f"{CALL} Bye.")
    assert 0 < len(found.rows) < len(near(CALL, builtin_formats()))
    assert {*found.left, *[row.parser for row in found.rows]} == set(near(CALL, builtin_formats()))


@pytest.mark.replays
def test_it_is_kept(runner: Runner, make: Any) -> None:
    first, again = [table(runner, make, "near").rows for _ in range(2)]
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_without_the_raw_output_there_is_nothing_to_read(runner: Runner) -> None:
    case = stream_case()
    side = replayed(runner, case, "a", Side())
    assert matrix(runner, [side], "all", EXACT) is None
    links = CompareLinks("/x", Asked((side.side, side.side)))
    assert [heading for heading, _ in picker(runner, case, [side, side], links).groups] == [
        "Same text, another parser",
        "Another output",
    ]


@pytest.mark.replays
def test_other_text_is_told_from_other_calls(runner: Runner, make: Any) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call> Bye.'
    words = {cell.words for row in table(runner, make, "all", text).rows for cell in row.cells}
    assert {"same message", "no call"} <= words


def test_what_is_there_already_is_not_offered_and_four_are_enough(runner: Runner, make: Any) -> None:
    case = make.case(CALL)
    sides = [replayed(runner, case, name, Side(chunk=word)) for name, word in (("a", "token"), ("b", "whole"))]
    asked = Asked(tuple(side.side for side in sides))
    groups = dict(picker(runner, case, sides, CompareLinks("/x", asked)).groups)
    assert "whole" not in [choice.words for choice in groups["Same parser, another chunking"]]
    assert "qwen, wrapped" in [choice.words for choice in groups["Same text, another parser"]]
    full = Asked(asked.sides * 2)
    assert picker(runner, case, sides, CompareLinks("/x", full)).full


@pytest.mark.replays
def test_beside_a_recording_stand_the_parsers_of_the_output_that_is_known(runner: Runner) -> None:
    side = replayed(runner, stream_case(parser="qwen", text=TEXT), "a", Side(parser="recorded"))
    found = matrix(runner, [side], "near", EXACT)
    assert found is not None
    assert "qwen" in [row.parser for row in found.rows]
    links = CompareLinks("/x/compare", Asked((side.side,)))
    assert "qwen" in str(picker(runner, side.case, [side], links))
