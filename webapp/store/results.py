"""What engines made of listed cases: one row for each engine, version and case, the last result of each.

A run of all is a matter of many requests: each does what it has time for, and asks here which cases are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from sqlalchemy import ColumnElement, Engine, Select, delete, exists, func, insert, select

from webapp.store.engine import writing
from webapp.store.grams import kept
from webapp.store.listings import Listings, Wanted, in_order
from webapp.store.schema import cases, listed, tried
from webapp.store.tallies import RESULT_TALLY, results_of

LONGEST_DETAIL = 500  # characters of what was found first
_BATCH = 500


@dataclass(slots=True, frozen=True)
class Result:
    """What came of a case: one word, how bad it is, and what was found first."""

    words: str
    severity: str
    detail: str = ""


@dataclass(slots=True, frozen=True)
class RunOfAll:
    """An engine in one version: how many of its results have each severity, and when the last one came."""

    engine: str
    version: str
    counts: dict[str, int]
    last: str

    @property
    def total(self) -> int:
        """How many cases it ran."""
        return sum(self.counts.values())


class Results:
    """The results in the database of an engine (of SQLAlchemy's)."""

    def __init__(self, engine: Engine, listings: Listings, now: Callable[[], str]) -> None:
        self._engine = engine
        self._writer = writing(engine)
        self._listings = listings
        self._now = now

    def keep(self, engine: str, version: str, number: int, result: Result) -> None:
        """Keep a result instead of the one before, and of a long detail its beginning. A case that is gone has none."""
        row = {"engine": engine, "version": version, "number": number}
        same = [tried.c[name] == value for name, value in row.items()]
        said = {"words": result.words, "severity": result.severity, "created": self._now()}
        said["detail"] = kept(result.detail[:LONGEST_DETAIL])
        with self._writer.begin() as connection:
            held = select(listed.c.number).where(listed.c.number == number).with_for_update()
            if connection.execute(held).one_or_none() is not None:
                RESULT_TALLY.take(connection, results_of(*same))
                connection.execute(delete(tried).where(*same))
                connection.execute(insert(tried).values(**row, **said))
                RESULT_TALLY.add(connection, [(engine, version, result.severity, 1, said["created"])])
        self.tidy()

    def tidy(self) -> None:
        """Put the changes of the counts together where they are many."""
        RESULT_TALLY.tidy(self._engine)

    def forget(self, engine: str, version: str, wanted: Wanted) -> None:
        """Forget what an engine made of the cases wanted in this version: they are left to be run again. They are held
        as a purge holds them, in the order of their ids, some at a time."""
        query = self._listings.select(wanted, listed.c.case_id, listed.c.number).where(_done(engine, version))
        with self._engine.connect() as connection:
            self._listings.ready(connection, wanted)
            numbers = [number for _, number in sorted(map(tuple, connection.execute(query)), key=itemgetter(0))]
        for at in range(0, len(numbers), _BATCH):
            with self._writer.begin() as connection:
                held = select(listed.c.number).where(listed.c.number.in_(numbers[at : at + _BATCH]))
                there = connection.execute(in_order(connection, held).with_for_update()).scalars().all()
                these = (tried.c.engine == engine, tried.c.version == version, tried.c.number.in_(there))
                RESULT_TALLY.take(connection, results_of(*these))
                connection.execute(delete(tried).where(*these))
            self.tidy()

    def left(
        self, engine: str, version: str, wanted: Wanted, limit: int, before: int | None = None
    ) -> list[tuple[int, str]]:
        """Number and body of the newest cases wanted, below a number, that this engine has not run in this version.
        What was run stands above: to pass over it again costs with each case of it."""
        query = self._left(engine, version, wanted, listed.c.number, cases.c.body)
        query = query if before is None else query.where(listed.c.number < before)
        query = query.join(cases, cases.c.id == listed.c.case_id).order_by(listed.c.number.desc()).limit(limit)
        with self._engine.connect() as connection:
            self._listings.ready(connection, wanted)
            return [(row.number, row.body) for row in connection.execute(query)]

    def count_left(self, engine: str, version: str, wanted: Wanted) -> int:
        """How many of them there are."""
        query = select(func.count()).select_from(self._left(engine, version, wanted, listed.c.number).subquery())
        with self._engine.connect() as connection:
            self._listings.ready(connection, wanted)
            return connection.execute(query).scalar_one()

    def all(self) -> list[RunOfAll]:
        """Every engine and version that ran any case, the latest first."""
        found: dict[tuple[str, str], RunOfAll] = {}
        with self._engine.connect() as connection:
            rows = RESULT_TALLY.counted(connection)
            ended = select(listed.c.number).where(listed.c.expires <= self._now())
            rows += [(*row, -1, "") for row in connection.execute(results_of(tried.c.number.in_(ended)))]
        for engine, version, severity, many, last in rows:
            before = found.get((engine, version), RunOfAll(engine, version, {}, ""))
            counts = {**before.counts, severity: before.counts.get(severity, 0) + many}
            there = {name: one for name, one in counts.items() if one}
            found[engine, version] = RunOfAll(engine, version, there, max(before.last, last))
        shown = [one for one in found.values() if one.total]
        return sorted(shown, key=lambda one: (one.last, one.engine), reverse=True)

    def of(
        self, numbers: Sequence[int], columns: Sequence[tuple[str, str]]
    ) -> dict[int, dict[tuple[str, str], Result]]:
        """The results of some cases by these engines and versions."""
        query = select(tried).where(tried.c.number.in_(numbers))
        found: dict[int, dict[tuple[str, str], Result]] = {number: {} for number in numbers}
        with self._engine.connect() as connection:
            for row in connection.execute(query):
                if (row.engine, row.version) in columns:
                    result = Result(row.words, row.severity, row.detail)
                    found[row.number][row.engine, row.version] = result
        return found

    def _left(self, engine: str, version: str, wanted: Wanted, *columns: object) -> Select[tuple[int, str]]:
        return self._listings.select(wanted, *columns).where(~_done(engine, version))


def _done(engine: str, version: str) -> ColumnElement[bool]:
    """The condition that an engine ran a listed case in this version."""
    return exists().where(tried.c.engine == engine, tried.c.version == version, tried.c.number == listed.c.number)
