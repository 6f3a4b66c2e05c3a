"""The conformance matrix of a parser: the library's cases of its format, run by every engine that has a parser of that
name, and by the built-in parser of the format.

A case takes a dozen replays in each column, and an engine may hang: the page comes with the cells that are known, and
each column is asked for its others by itself, as many as there is time for. One that did not answer is asked for no
more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from parsers.vocabulary.types import UsageError
from webapp.engines.entered import Engines, engine_stamp
from webapp.page.engines.library_cases import (
    NOT_ASKED,
    SILENT,
    LibraryCase,
    RestingError,
    by_engine,
    library_cases,
    tried,
)
from webapp.page.engines.listing import EngineRow, ParserRow, engine_rows
from webapp.store.results import Result

SECONDS = 4.0  # of work for the cells of one request
SETTLED = ("passes", "warns", "fails", "differs")  # what failed may do better the next time
MOST_CELLS = 10_000
_made: dict[Hashable, Result] = {}  # a request that waits for an engine is begun again, and makes no cell twice


@dataclass(slots=True, frozen=True)
class Column:
    """Who runs the cases: an engine by its entry, or the built-in parser (`engine` None)."""

    engine: str | None
    parser: str
    title: str
    reasoning: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class MatrixRow:
    """A case, and what each column makes of it; None where that is not known."""

    case: LibraryCase
    cells: Sequence[Result | None]


@dataclass(slots=True, frozen=True)
class ConformanceMatrix:
    """The rows of a page. `asked` is the column that was asked, None where none was, and `asked_rows` are those that it
    has answered for."""

    engine: EngineRow
    parser: ParserRow
    columns: Sequence[Column]
    rows: Sequence[MatrixRow]
    asked: int | None
    asked_rows: Sequence[int]

    def counted(self, column: int) -> list[tuple[str, str, int]]:
        """How many cells of a column have each word, with how bad that is."""
        cells = [cell for row in self.rows if (cell := row.cells[column]) is not None]
        words = dict.fromkeys((cell.words, cell.severity) for cell in cells)
        return [(word, severity, sum(cell.words == word for cell in cells)) for word, severity in words]

    def left(self, column: int) -> int | None:
        """The first row that a column is still to be asked for, None where there is none."""
        if column == self.asked and self.asked_rows:
            following = self.asked_rows[-1] + 1
            return following if following < len(self.rows) else None
        if self.silent(column) is not None:
            return None
        cells = [row.cells[column] for row in self.rows]
        return next((at for at, cell in enumerate(cells) if cell is None or cell.words not in SETTLED), None)

    def silent(self, column: int) -> int | None:
        """The first row for which a column did not answer, None where there is none."""
        cells = [row.cells[column] for row in self.rows]
        return next((at for at, cell in enumerate(cells) if cell is not None and cell.words in SILENT), None)


def conformance_matrix(
    engines: Engines, name: str, parser: str, asks: int | None, first: int, clock: Callable[[], float]
) -> ConformanceMatrix | None:
    """All cases with the cells that are known; of the column `asks` those from the row `first` on as well, as many as
    there is time for by `clock`, in seconds. None where there is no such engine, parser or column. Raises UsageError
    for a file of entries that cannot be used."""
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
    if asks is not None and asks >= len(columns):
        return None
    asked = {} if asks is None else _asked(engines, cases, columns[asks], first, clock)
    made = [_known(cases, column, asked if at == asks else {}) for at, column in enumerate(columns)]
    cells = [[column[number] for column in made] for number in range(len(cases))]
    return ConformanceMatrix(engine, card, columns, [*map(MatrixRow, cases, cells)], asks, [*asked])


def _known(cases: Sequence[LibraryCase], column: Column, asked: Mapping[int, Result]) -> list[Result | None]:
    """The cells of a column, those that it was asked for just now among them. Of one that did not answer lately no
    other cell is to be had before somebody asks again."""
    found = [asked.get(number) or _made.get(_key(case, column)) for number, case in enumerate(cases)]
    silent = next((case.title for case, cell in zip(cases, found, strict=True) if cell and cell.words in SILENT), "")
    return [_not_asked(silent) if cell is None and silent else cell for cell in found]


def _not_asked(stops: str) -> Result:
    return Result(NOT_ASKED, "info", f"It did not answer for {stops}.")


def _asked(
    engines: Engines, cases: Sequence[LibraryCase], column: Column, first: int, clock: Callable[[], float]
) -> dict[int, Result]:
    """The cells of a column from a row on, by the number of their rows."""
    made, began, stops = dict[int, Result](), clock(), None
    for number, found in [*enumerate(cases)][first:]:
        if stops is not None:
            made[number] = _not_asked(stops)
            continue
        if len(made) == 1:
            began = clock()  # the first one may have waited for an engine to start
        if made and clock() - began > SECONDS:
            break
        made[number] = _cell(engines, found, column)
        if column.engine is not None and made[number].words in SILENT:
            stops = found.title
    if column.engine is not None and made:
        cells = {cases[number].name: (result.words, result.severity) for number, result in made.items()}
        engines.note_run(column.engine, column.parser, cells)
    return made


def _key(found: LibraryCase, column: Column) -> Hashable:
    return engine_stamp(column.engine), column, found.name


def _cell(engines: Engines, found: LibraryCase, column: Column) -> Result:
    key = _key(found, column)
    known = _made.get(key)
    if known is not None and known.words in SETTLED:
        return known
    if known is None and len(_made) >= MOST_CELLS:
        _made.clear()
    result = _made[key] = _tried(engines, found, column)
    return result


def _tried(engines: Engines, found: LibraryCase, column: Column) -> Result:
    try:
        return tried(by_engine(found.case, column.engine, column.parser, column.reasoning), engines.settings)
    except RestingError as error:
        return Result(NOT_ASKED, "warning", str(error))
    except UsageError as error:
        return Result("cannot run", "warning", str(error))


def _column(row: EngineRow, parser: str) -> Column:
    version = "" if row.card is None else row.card.version
    title = " ".join([word for word in (row.name, version, row.revision) if word])
    return Column(row.name, parser, title, tuple(row.reasoning))
