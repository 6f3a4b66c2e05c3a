"""The chunkings pane: the same output cut in other ways, whether the message is the same, and where it parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.compare import Divergence
from parsers.search import compared
from webapp.page.glyphs import count, shorten


@dataclass(slots=True)
class Compared:
    """Another replay of the same output: what the page says of it once its trace is gone."""

    label: str
    same: bool
    divergence: Divergence | None
    steps: int


def digest(other: compared.Compared) -> Compared:
    """What is kept of a compared replay."""
    return Compared(other.label, other.same, other.divergence, other.deltas + 1)


@dataclass(slots=True)
class ChunkRow:
    """One chunking. `chunk` is its number in the address; `step` the first step at which it differs."""

    chunk: int
    label: str
    same: bool
    current: bool
    steps: int
    where: str
    step: int | None
    expected: str
    actual: str


@dataclass(slots=True)
class Chunkings:
    """Everything the chunkings pane shows."""

    rows: list[ChunkRow]
    note: str
    outcomes: int
    diverging: list[int]


def chunkings(own: Compared, others: Sequence[Compared], chunk: int) -> Chunkings:
    """The case's own chunking first, then the compared ones; `chunk` is the number of the one on the page."""
    rows = [_row(number, other, chunk) for number, other in enumerate((own, *others))]
    failing = [row for row in rows if not row.same]
    said = "the same message every time" if not failing else f"{count(len(failing), 'chunking')} gave another message"
    return Chunkings(rows, f"{count(len(rows), 'replay')}, {said}", 1 + bool(failing), [row.chunk for row in failing])


def _row(number: int, other: Compared, chunk: int) -> ChunkRow:
    current = chunk == number
    row = ChunkRow(number, other.label, other.same, current, other.steps, "", None, "", "")
    parting = other.divergence
    if parting is not None:
        row.where = parting.channel + (f" at character {parting.raw:,}" if parting.raw is not None else "")
        row.step = parting.step_b or other.steps
        row.expected, row.actual = shorten(parting.expected, 60), shorten(parting.actual, 60)
    return row
