"""The matrix of a search: the kinds of chunkings, the messages they gave, and how many gave each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from parsers.replays.chunking import Chunking, spec
from parsers.search.found import Found, Group, OutcomeClass
from webapp.page.compared import Parting, parting_of
from webapp.page.glyphs import count, shorten
from webapp.page.heat import letter, pattern

COLUMNS = 6  # outcomes with a column of their own
OUTCOMES = 20  # outcomes that are listed
GRADES = {"calls": "other calls", "text": "other text", "whitespace": "other whitespace"}


@dataclass(slots=True)
class Cell:
    """How many chunkings of a group gave an outcome, and the word of an example. None of them: `number` is 0."""

    number: int
    chunk: str
    outcome: str
    current: bool


@dataclass(slots=True)
class Row:
    """One kind of chunking. `rest` counts the outcomes without a column."""

    label: str
    honest: bool
    cells: list[Cell]
    rest: int
    fails: bool


@dataclass(slots=True)
class Outcome:
    """One message that chunkings gave: `letter` is its name, `chunk` the word of the smallest one.

    `beside` is the query of the comparison with the traced replay.
    """

    number: int
    letter: str
    pattern: int
    count: int
    honest: int
    chunk: str
    label: str
    how: str
    parting: Parting | None
    raised: str
    beside: str
    current: bool


@dataclass(slots=True)
class Matrix:
    """Rows, columns, and the outcomes that differ."""

    rows: list[Row]
    columns: list[Outcome]
    failing: list[Outcome]
    more: int
    rest: bool
    note: str


def matrix(found: Found, chunk: str) -> Matrix:
    """What a search found; `chunk` is the word of the chunking on the page."""
    outcomes = [_outcome(one, chunk) for one in found.outcomes]
    columns = outcomes[:COLUMNS]
    failing = outcomes[1:]
    return Matrix(
        rows=[_row(group, columns, chunk) for group in found.groups],
        columns=columns,
        failing=failing[:OUTCOMES],
        more=max(0, len(failing) - OUTCOMES),
        rest=len(outcomes) > COLUMNS,
        note=_note(found),
    )


def beside(chunk: str, at: int | None = None) -> str:
    """The query of the page that compares the traced replay with a chunking, at a character of the output."""
    return urlencode({"b_chunk": chunk} | ({} if at is None else {"at": at}), safe=":,")


def word_of(chunking: Chunking | None) -> str:
    """A chunking's word, empty for none."""
    return "" if chunking is None else spec(chunking)


def _note(found: Found) -> str:
    same = "the same message every time" if len(found.outcomes) < 2 else ""
    words = [count(found.replays, "replay"), count(max(1, len(found.outcomes)), "outcome"), same]
    return ", ".join(word for word in words if word)


def _row(group: Group, columns: Sequence[Outcome], chunk: str) -> Row:
    cells = []
    for outcome in columns:
        example = word_of(group.examples.get(outcome.number))
        said = letter(outcome.number)
        cells.append(Cell(group.counts.get(outcome.number, 0), example, said, bool(chunk) and example == chunk))
    rest = sum(group.counts.values()) - sum(cell.number for cell in cells)
    fails = any(number for number, times in group.counts.items() if times)
    return Row(group.label, group.honest, cells, rest, fails)


def _outcome(one: OutcomeClass, chunk: str) -> Outcome:
    parting = parting_of(one.divergence)
    word = spec(one.smallest)
    how = "the parser failed" if one.raised else GRADES.get(one.grade or "", "another finish reason")
    return Outcome(
        number=one.number,
        letter=letter(one.number),
        pattern=pattern(one.number),
        count=one.count,
        honest=one.honest,
        chunk=word,
        label=one.label,
        how=how if one.number else "the one traced",
        parting=parting,
        raised=shorten(one.raised or "", 200),
        beside=beside(word, parting.at if parting else None),
        current=word == chunk,
    )
