"""docs/design.md shows the table by which calls move as the program has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parsers.formats.diagram import mermaid
from parsers.machine.call_life import LIFE, CallState, life_of_a_call


@pytest.fixture(scope="module")
def section() -> str:
    text = (Path(__file__).parents[2] / "docs" / "design.md").read_text("utf-8")
    return text.partition("## The life of a call\n")[2].partition("\n## ")[0]


def rows(section: str, columns: int) -> list[list[str]]:
    """The lines of the section's tables with so many columns, without their heads."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return [line for line in lines if len(line) == columns and line[0] in CallState.__members__]


def test_the_table_is_the_program_s(section: str) -> None:
    moves = [[state.name, event.name, after.name] for state, found in LIFE.items() for event, after in found.items()]
    assert rows(section, 3) == moves


def test_every_state_is_explained(section: str) -> None:
    assert [state for state, _ in rows(section, 2)] == [state.name for state in CallState] == [s.name for s in LIFE]


def test_the_drawing_is_that_of_the_table(section: str) -> None:
    (drawn,) = re.findall(r"```mermaid\n(.*?)```", section, flags=re.DOTALL)
    assert drawn == mermaid(life_of_a_call())
