"""docs/performance.md is what the benchmark wrote: text and tables are the template's. No figure is looked at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench.document import PAGE, TEMPLATE, Document

SLOT = re.compile(r"\$\w+")


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_the_page_is_the_template_with_its_slots_filled() -> None:
    texts = SLOT.split(TEMPLATE.read_text("utf-8"))
    pattern = "(.+)".join(map(re.escape, texts))
    found = re.fullmatch(pattern, PAGE.read_text("utf-8"), re.DOTALL)
    assert found, "run `make bench`"
    assert [text for text in found.groups() if "$" in text or not text.strip()] == []


def test_every_row_has_the_cells_of_its_head() -> None:
    cells: int | None = None
    for line in lines(PAGE):
        if line.startswith("|"):
            cells = cells or line.count("|")
            assert line.count("|") == cells, line
        else:
            cells = None


def test_every_slot_of_a_table_is_known_by_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    document = Document()
    slots = [line[1:] for line in lines(TEMPLATE) if SLOT.fullmatch(line)]
    for slot in slots:
        document.table(slot, [])
    assert len(slots) == capsys.readouterr().out.count("\n\n") > 5
    with pytest.raises(ValueError, match="a row of memory has 2 cells, its head 3"):
        document.table("memory", [["1", "2"]])


def test_a_page_with_an_empty_slot_is_not_written() -> None:
    before = PAGE.read_bytes()
    with pytest.raises(KeyError):
        Document().write()
    assert PAGE.read_bytes() == before
