"""The conformance matrix of a parser: the library's cases of its format, run by every engine that has a parser of that
name, and by the built-in parser of the format.

A case takes a dozen replays in each column, so a page makes as many rows as it has time for and leads on to the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from parsers.vocabulary.types import UsageError
from webapp.engines.entered import Engines, engine_stamp
from webapp.page.engines.library_cases import LibraryCase, RestingError, by_engine, library_cases, tried
from webapp.page.engines.listing import EngineRow, ParserRow, engine_rows
from webapp.store.results import Result

SECONDS = 4.0  # of work for the rows of one page
SETTLED = ("passes", "warns", "fails", "differs")  # what failed may do better the next time
MOST_CELLS = 10_000
_made: dict[Hashable, Result] = {}  # a page that waits for engines is begun again, and makes no cell twice


@dataclass(slots=True, frozen=True)
class Column:
    """Who runs the cases: an engine by its entry, or the built-in parser (`engine` None)."""

    engine: str | None
    parser: str
    title: str
    reasoning: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class MatrixRow:
    """A case, and what each column makes of it."""

    case: LibraryCase
    cells: Sequence[Result]


@dataclass(slots=True, frozen=True)
class ConformanceMatrix:
    """The rows of a page. `more`: the number of the first case that was left for another page, None where none was."""

    engine: EngineRow
    parser: ParserRow
    columns: Sequence[Column]
    rows: Sequence[MatrixRow]
    first: int
    total: int
    more: int | None

    def counted(self, column: int) -> list[tuple[str, str, int]]:
        """How many cells of a column have each word, with how bad that is."""
        cells = [row.cells[column] for row in self.rows]
        words = dict.fromkeys((cell.words, cell.severity) for cell in cells)
        return [(word, severity, sum(cell.words == word for cell in cells)) for word, severity in words]


def conformance_matrix(
    engines: Engines, name: str, parser: str, first: int, clock: Callable[[], float]
) -> ConformanceMatrix | None:
    """The cases from `first` on, as many as there is time for by `clock`, in seconds; None where
    there is no such engine or parser. Raises UsageError for a file of entries that cannot be used."""
    rows = engine_rows(engines)
    engine = next((row for row in rows if row.name == name), None)
    card = None if engine is None else next((one for one in engine.parsers if one.name == parser), None)
    if engine is None or card is None:
        return None
    known = {row.name: row for row in rows if row.card is not None}
    columns = [_column(known[one], parser) for one in (name, *card.elsewhere)]
    cases = library_cases(card.format) if card.format else ()
    if card.format:
        columns.append(Column(None, card.format, "built in"))
    made, began = list[MatrixRow](), clock()
    for found in cases[first:]:
        if len(made) == 1:
            began = clock()  # the first row may have waited for an engine to start
        if made and clock() - began > SECONDS:
            break
        made.append(MatrixRow(found, [_cell(engines, found, column) for column in columns]))
    at = first + len(made)
    return ConformanceMatrix(engine, card, columns, made, first, len(cases), at if at < len(cases) else None)


def _cell(engines: Engines, found: LibraryCase, column: Column) -> Result:
    key = engine_stamp(column.engine), column, found.name
    known = _made.get(key)
    if known is not None:
        return known
    result = _tried(engines, found, column)
    if result.words in SETTLED:
        if len(_made) >= MOST_CELLS:
            _made.clear()
        _made[key] = result
    return result


def _tried(engines: Engines, found: LibraryCase, column: Column) -> Result:
    try:
        return tried(by_engine(found.case, column.engine, column.parser, column.reasoning), engines.settings)
    except RestingError as error:
        return Result("not asked", "warning", str(error))
    except UsageError as error:
        return Result("cannot run", "warning", str(error))


def _column(row: EngineRow, parser: str) -> Column:
    version = "" if row.card is None else row.card.version
    title = " ".join([word for word in (row.name, version, row.revision) if word])
    return Column(row.name, parser, title, tuple(row.reasoning))
