"""docs/searching.md says what the search does: its groups, its numbers and its example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from parsers.cases.case import Compare
from parsers.cases.find import CaseSearch
from parsers.checks.chunkings import FEW
from parsers.replays.cut_grades import CutGrade
from parsers.search.shrink import SHRINKS
from parsers.search.sweep import CERTAIN, FLOOR, INTERVALS, LABELS, MAX_CHARACTERS, MAX_REPLAYS, RANDOM, SIZES
from tests.parsers.search.faulty import case_of, engines, loses_brace

PAGE = Path(__file__).parents[2] / "docs/searching.md"


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text("utf-8")


def rows(text: str, head: str) -> list[list[str]]:
    """The cells of the rows of the table that begins with this heading."""
    table = text.split(f"| {head} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_every_group_of_chunkings_is_listed(text: str) -> None:
    assert [label for label, _ in rows(text, "Group")] == [*LABELS.values()]


def test_every_grade_of_a_cut_is_listed(text: str) -> None:
    assert [name.strip("*") for name, *_ in rows(text, "Grade")] == [grade.value for grade in CutGrade]


def test_the_numbers_are_those_of_the_search(text: str) -> None:
    flat = " ".join(text.split())
    sizes = f"1 to 13, {SIZES[-3]}, {SIZES[-2]} and {SIZES[-1]}"
    assert f"{sizes} tokens a delta" in flat
    assert f"{sizes} characters a delta" in flat
    assert f"then {', '.join(map(str, INTERVALS[:-1]))} or {INTERVALS[-1]} at a time" in flat
    assert f"About {RANDOM} chunkings are random" in flat
    assert f"and {CERTAIN} at random" in flat
    assert f"under {MAX_REPLAYS:,} replays and {MAX_CHARACTERS:,} characters" in flat
    assert f"no fewer than {FLOOR} places" in flat
    assert f"At most {SHRINKS:,} replays are spent on it" in flat
    assert FEW == 3
    assert "at most three other messages" in flat


def test_every_rule_of_comparison_is_listed(text: str) -> None:
    listed = [(key.strip("`"), value.split("`")[1]) for key, value, _ in rows(text, "Key")]
    fields = {name: get_args(Compare.model_fields[name].annotation) for name in Compare.model_fields}
    assert listed == [(name, value) for name, values in fields.items() for value in values]


def test_the_example_is_what_the_search_makes_of_it(text: str) -> None:
    output, small = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    search = CaseSearch(case_of(output, checks=["chunking"]), engines=engines(loses_brace))
    assert list(search.run())
    found = search.result().found
    assert found.minimized is not None
    assert found.minimized.text == small
