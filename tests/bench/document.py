"""The page of figures: its text and the heads of its tables are a template, each slot (`$name`) is filled by a run.

A slot on a line of its own is the body of the table above it; any other is a word in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.bench.outputs import ROOT

TEMPLATE = Path(__file__).with_name("performance.md")
PAGE = ROOT / "docs" / "performance.md"
NOTHING = "–"

_SLOT = re.compile(r"\$(\w+)")
_TABLE = re.compile(r"^\| (.+) \|\n\|[-|]+\|\n\$(\w+)$", re.MULTILINE)


class Document:
    """The figures of a run, as they come: printed at once, and written when all are there."""

    def __init__(self) -> None:
        self._template = TEMPLATE.read_text("utf-8")
        self._heads = {slot: head.split(" | ") for head, slot in _TABLE.findall(self._template)}
        self._filled: dict[str, str] = {}

    def table(self, slot: str, rows: Sequence[Sequence[str]]) -> None:
        """Fill and print a table."""
        head = self._heads[slot]
        rows = rows or [[NOTHING] * len(head)]
        wrong = [row for row in rows if len(row) != len(head)]
        if wrong:
            raise ValueError(f"a row of {slot} has {len(wrong[0])} cells, its head {len(head)}")
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        for row in [head, *rows]:
            print("  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]).rstrip())
        print(flush=True)
        self._filled[slot] = "\n".join([f"| {' | '.join(row)} |" for row in rows])

    def word(self, slot: str, text: str) -> None:
        """Fill and print a word in the text."""
        print(f"{slot}: {text}\n", flush=True)
        self._filled[slot] = text

    def write(self) -> None:
        """Write the page. Raises KeyError for a slot that nobody filled."""
        PAGE.write_text(_SLOT.sub(lambda found: self._filled[found[1]], self._template), "utf-8")
