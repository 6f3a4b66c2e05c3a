"""The chunkings pane before a search: the usual chunkings, whether the message is the same, and where it parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.compare.divergence import Divergence
from parsers.replays.chunking import Chunking, label, spec
from parsers.search import outcomes as compared
from webapp.page.glyphs import count, shorten


@dataclass(slots=True)
class Compared:
    """Another replay of the same output: what the page says of it once its trace is gone."""

    chunking: Chunking
    same: bool
    divergence: Divergence | None
    steps: int


def digest(other: compared.Compared) -> Compared:
    """What is kept of a compared replay."""
    return Compared(other.chunking, other.same, other.divergence, other.deltas + 1)


@dataclass(slots=True)
class Parting:
    """Where another message parts, in words. `at` is a character of the output, `step` the first step that differs."""

    where: str
    at: int | None
    step: int | None
    expected: str
    actual: str


@dataclass(slots=True)
class ChunkRow:
    """One chunking. `chunk` is its word in the address, empty for the case's own."""

    chunk: str
    word: str
    label: str
    same: bool
    current: bool
    steps: int
    parting: Parting | None


@dataclass(slots=True)
class Chunkings:
    """Everything the pane shows."""

    rows: list[ChunkRow]
    note: str


def chunkings(own: Compared, others: Sequence[Compared], chunk: str) -> Chunkings:
    """The case's own chunking first, then the compared ones; `chunk` is the word of the one on the page."""
    rows = [_row("" if other is own else spec(other.chunking), other, chunk) for other in (own, *others)]
    failing = [row for row in rows if not row.same]
    said = "the same message every time" if not failing else f"{count(len(failing), 'chunking')} gave another message"
    return Chunkings(rows, f"{count(len(rows), 'replay')}, {said}")


def parting_of(parting: Divergence | None, last: int | None = None) -> Parting | None:
    """A divergence in words; `last` is the step to go to where nobody knows which one differs."""
    if parting is None:
        return None
    where = parting.channel + (f" at character {parting.raw:,}" if parting.raw is not None else "")
    expected, actual = shorten(parting.expected, 60), shorten(parting.actual, 60)
    return Parting(where, parting.raw, parting.step_b or last, expected, actual)


def _row(word: str, other: Compared, chunk: str) -> ChunkRow:
    known = spec(other.chunking)
    parting = parting_of(other.divergence, other.steps)
    return ChunkRow(word, known, label(other.chunking), other.same, word == chunk, other.steps, parting)
