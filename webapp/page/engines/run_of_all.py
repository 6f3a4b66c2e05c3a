"""Running the library by an engine: which engines can, and some of the cases that one has not run yet.

A case takes a dozen replays, so a request runs as many as it has time for and leaves the others. What was run is kept
by engine and version, with the commit of a revision: a new one begins anew. Of what is no revision the code may change
under one version, as a class in a folder does, so it can be run again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from parsers.cases.case import Case
from parsers.cases.engines import BUILTIN, RECORDED, choose, engine_of
from parsers.cases.io import loads
from parsers.selection.registry import known_format
from parsers.vocabulary.types import UsageError
from webapp.engines.entered import Engines
from webapp.engines.entries import Entry
from webapp.engines.protocol import Card
from webapp.page.engines.library_cases import SILENT, RestingError, by_engine, tried
from webapp.page.engines.listing import EngineRow, engine_rows
from webapp.page.library.listed_case import engine_title
from webapp.release import installed_version
from webapp.settings import Settings
from webapp.store import CaseStore
from webapp.store.listings import Wanted
from webapp.store.results import Result

_AT_ONCE = 50
_LONGEST_VERSION = 64  # characters, as the database has them


@dataclass(slots=True, frozen=True)
class RunColumn:
    """Who can run cases: an entered engine that said who it is, or the built-in parsers (`row` None).

    `is_fixed`: its version stands for one code for ever; `has_version`: for one code until something is installed.
    """

    engine: str
    version: str
    row: EngineRow | None = None
    is_fixed: bool = True
    has_version: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """What its results are kept under."""
        return self.engine, self.version

    @property
    def title(self) -> str:
        """Its name for people."""
        return engine_title(self.engine, self.version)


def run_columns(engines: Engines) -> list[RunColumn]:
    """The built-in parsers, and every entered engine that somebody asked who it is. None is started."""
    try:
        rows, entries = engine_rows(engines), engines.entries()
    except UsageError:
        rows, entries = [], {}
    known = [(row, row.card, entries[row.name]) for row in rows if row.card is not None and row.name in entries]
    return [RunColumn(BUILTIN, installed_version()), *[_column(*one) for one in known]]


def _column(row: EngineRow, card: Card, entry: Entry) -> RunColumn:
    at = f"at {entry.commit[:10]}" if entry.commit else ""
    in_files = bool(entry.own or entry.path or entry.plugin)  # somebody's own, which they may edit
    has_version = bool(at or (card.version and not in_files))
    return RunColumn(row.name, _fitted(f"{card.version} {at}".strip()), row, bool(at), has_version)


def _fitted(version: str) -> str:
    """A version as results are kept under it: a long one by its end, and a digest that tells it from others."""
    if len(version) <= _LONGEST_VERSION:
        return version
    digest = sha256(version.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{digest}...{version[11 - _LONGEST_VERSION :]}"


def run_some(
    store: CaseStore,
    settings: Settings,
    column: RunColumn,
    wanted: Wanted,
    seconds: float,
    clock: Callable[[], float],
) -> None:
    """Run cases until the time is over or none is left, or the engine does not answer."""
    done, began, before = 0, clock(), None
    while batch := store.results.left(*column.key, wanted, _AT_ONCE, before):
        before = batch[-1][0]
        for number, body in batch:
            if done == 1:
                began = clock()  # the first one may have waited for an engine to start
            if done and clock() - began > seconds:
                return
            try:
                result = _result(column, body, settings)
            except RestingError:
                return
            store.results.keep(*column.key, number, result)
            if result.words in SILENT:
                return
            done += 1


def _result(column: RunColumn, body: str, settings: Settings) -> Result:
    case = loads(body)
    if not case.has_raw:
        return Result("no output", "info", "Only what a server sent was recorded.")
    asked = _asked(column, case)
    if asked is None:
        return Result("not read", "info", "No parser of this engine is known to read this output.")
    return tried(asked, settings, everywhere=True)


def _asked(column: RunColumn, case: Case) -> Case | None:
    """The case as this engine is to run it: by the parser that it names, else by one of the same format, else by the
    only one, such as a class of somebody's own, where nobody knows what it reads; None where there is none. What only
    played a stream back is read by the built-in parser that fits."""
    if column.row is None and engine_of(case) == BUILTIN:
        return case
    name = case.parser.name
    if engine_of(case) == RECORDED:
        name = choose(by_engine(case, None, "auto")).selection.name
    fmt = known_format(name)
    if column.row is None:
        return None if fmt is None else by_engine(case, None, fmt.name)
    parsers = column.row.parsers
    same = [one.name for one in parsers if one.name == name]
    alike = [one.name for one in parsers if fmt is not None and one.format == fmt.name]
    only = [one.name for one in parsers if len(parsers) == 1 and not one.format]
    there = next(iter(same + alike + only), None)
    return None if there is None else by_engine(case, column.engine, there, column.row.reasoning)
