"""Pages of figures: the text and the heads of the tables are a template, each slot (`$name`) is filled by a run.

A slot on a line of its own is the body of the table above it; any other is a word in the text. A page that several
commands write has a section of each, which begins with its heading.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.outputs import ROOT

TEMPLATE = Path(__file__).with_name("performance.md")
PAGE = ROOT / "docs" / "performance.md"
RELIABILITY = ROOT / "docs" / "reliability.md"  # a section of each command that writes to it
NOTHING = "–"

_SLOT = re.compile(r"\$(\w+)")
_TABLE = re.compile(r"^\| (.+) \|\n\|[-|]+\|\n\$(\w+)$", re.MULTILINE)


def machine() -> str:
    """The machine of a run, and the day."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{cores} cores ({platform.machine()}) with {python} on {datetime.now(UTC):%d %B %Y}"


class Document:
    """The figures of a run, as they come: printed at once, and written when all are there."""

    def __init__(self, template: Path = TEMPLATE, page: Path = PAGE) -> None:
        self._page = page
        self._template = template.read_text("utf-8")
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
        self._page.write_text(self._text(), "utf-8")

    def write_section(self) -> None:
        """Put the section in the place of the one with its heading. Raises KeyError as `write` does."""
        text = self._text()
        heading = text.partition("\n")[0]
        before, found, rest = self._page.read_text("utf-8").partition(f"{heading}\n")
        if not found:
            raise ValueError(f"{self._page.name} has no section {heading}")
        _, following, after = rest.partition("\n## ")
        self._page.write_text(f"{before}{text}{following}{after}", "utf-8")

    def _text(self) -> str:
        return _SLOT.sub(lambda found: self._filled[found[1]], self._template)
