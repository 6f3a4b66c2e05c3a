"""How many there are of each kind, without a look at all of them: of results, and of values of the library's filters.

A change is a row: one more, or one fewer. To count is to add them up, and now and then who writes puts all of them
together to one for each kind, in a transaction of its own. So two that write never wait for each other's counts,
whatever else they hold, who reads waits for nobody, and what is read stays as short as there are kinds.

A server of a version that knew no counts may write beside: what is there and what was counted are compared at times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Select,
    Table,
    delete,
    func,
    insert,
    literal,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError

from webapp.store.engine import writing
from webapp.store.schema import facet_counts, labels, listed, tried, tried_counts

MOST_CHANGES = 500  # rows that are added up, beside the counts themselves, before they are put together


@dataclass(slots=True, frozen=True)
class Tally:
    """A table of changes. `kinds` are its columns that say what is counted; of the first `dated` of them it is known
    when the last one came, as long as any is there."""

    table: Table
    kinds: tuple[str, ...]
    rows: Callable[[], Iterable[Select[Any]]]  # what is counted, a row for each
    all: Callable[[], Iterator[Select[Any]]]  # the same, counted: rows of `columns`
    dated: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a change."""
        return (*self.kinds, "many", *["last"] * bool(self.dated))

    def add(self, connection: Connection, changes: Iterable[Sequence[Any]]) -> None:
        """Count what came, or went: a value for each column."""
        rows = [dict(zip(self.columns, one, strict=True)) for one in changes]
        connection.execute(insert(self.table), rows)

    def take(self, connection: Connection, *gone: Select[Any]) -> None:
        """Count no more what queries find: kinds, in their order. A time at which something came stays one."""
        for query in gone:
            less = query.add_columns(literal(-1), *[literal("")] * bool(self.dated))
            connection.execute(insert(self.table).from_select(self.columns, less))

    def recount(self, connection: Connection) -> None:
        """Count all anew, by looking at all of them."""
        connection.execute(delete(self.table))
        for query in self.all():
            connection.execute(insert(self.table).from_select(self.columns, query))

    def mend(self, engine: Engine, *, closely: bool) -> None:
        """Count all anew where what was counted is not what is there; `closely`: also where only the kinds are others.
        Who writes waits meanwhile before counting, so nothing comes between what is deleted and what is counted."""
        with engine.connect() as connection:
            if not self._is_off(connection, closely):
                return
        with writing(engine).begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"LOCK TABLE {self.table.name} IN SHARE ROW EXCLUSIVE MODE"))
            if self._is_off(connection, closely):
                self.recount(connection)

    def _is_off(self, connection: Connection, closely: bool) -> bool:
        there = [select(func.count()).select_from(query.subquery()).scalar_subquery() for query in self.rows()]
        counted = select(func.coalesce(func.sum(self.table.c.many), 0)).scalar_subquery()
        known, *found = connection.execute(select(counted, *there)).one()
        if known != sum(found):
            return True
        return closely and self._by_kind(self.counted(connection)) != self._by_kind(
            [tuple(row) for query in self.all() for row in connection.execute(query)]
        )

    def _by_kind(self, rows: Iterable[Sequence[Any]]) -> dict[tuple[Any, ...], int]:
        many = len(self.kinds)
        return {tuple(row[:many]): int(row[many]) for row in rows if row[many]}

    def counted(self, connection: Connection) -> list[tuple[Any, ...]]:
        """Kinds, how many, and where it is known when the last one came."""
        return [tuple(row) for row in connection.execute(self._sums())]

    def tidy(self, engine: Engine) -> None:
        """Put the changes together where they are many. Who has written does so, and goes on where the database takes
        nothing at the moment."""
        with suppress(DBAPIError):
            with engine.connect() as connection:
                if not self.has_many_changes(connection):
                    return
            with writing(engine).begin() as connection:
                self.put_together(connection)

    def has_many_changes(self, connection: Connection) -> bool:
        """Whether there are so many changes by now that they are better put together: more than are read for the counts
        themselves, so that what it costs to do so is little for each."""
        counts = select(func.count()).select_from(self._sums().having(func.sum(self.table.c.many) != 0).subquery())
        both = select(select(func.count()).select_from(self.table).scalar_subquery(), counts.scalar_subquery())
        changes, left = connection.execute(both).one()
        return bool(changes > 2 * left + MOST_CHANGES)

    def put_together(self, connection: Connection) -> None:
        """Make one row of all changes to a count, and none where nothing is left. Of two that do so at once each takes
        what it deletes."""
        made: Counter[tuple[str, ...]] = Counter()
        latest: dict[tuple[str, ...], str] = {}
        many = len(self.kinds)
        for row in connection.execute(delete(self.table).returning(*[self.table.c[name] for name in self.columns])):
            made[tuple(row[:many])] += row[many]
            for last in row[many + 1 :]:
                latest[tuple(row[: self.dated])] = max(latest.get(tuple(row[: self.dated]), ""), last)
        rows = [(*kind, count, *self._latest(latest, kind)) for kind, count in sorted(made.items()) if count]
        if rows:
            self.add(connection, rows)

    def _latest(self, latest: dict[tuple[str, ...], str], kind: tuple[str, ...]) -> list[str]:
        return [latest[kind[: self.dated]]] if self.dated else []

    def _sums(self) -> Select[Any]:
        kinds = [self.table.c[name] for name in self.kinds]
        lasts = [func.max(self.table.c.last)] if self.dated else []
        return select(*kinds, func.sum(self.table.c.many), *lasts).group_by(*kinds)


def facets_of(*conditions: ColumnElement[bool]) -> Iterator[Select[Any]]:
    """Queries for the facets, and their values, of listed cases; `conditions` are of the table `listed`."""
    for name in ("verdict", "parser", "engine"):
        yield select(literal(name), listed.c[name]).where(*conditions)
    theirs = [labels.c.number.in_(select(listed.c.number).where(*conditions))] if conditions else []
    yield select(labels.c.kind, labels.c.value).where(*theirs)


def results_of(*conditions: ColumnElement[bool]) -> Select[Any]:
    """The query for what some results are counted as; `conditions` are of the table `tried`."""
    return select(*[tried.c[name] for name in RESULT_TALLY.kinds]).where(*conditions)


def _all_results() -> Iterator[Select[Any]]:
    yield how_often(results_of()).add_columns(func.max(tried.c.created))


def _all_facets() -> Iterator[Select[Any]]:
    return (how_often(query) for query in facets_of())


def how_often(query: Select[Any]) -> Select[Any]:
    """How often each row is there of those that a query finds."""
    kinds = [one for one in query.selected_columns if isinstance(one, Column)]
    return query.add_columns(func.count()).group_by(*kinds)


RESULT_TALLY = Tally(tried_counts, ("engine", "version", "severity"), lambda: (results_of(),), _all_results, dated=2)
FACET_TALLY = Tally(facet_counts, ("facet", "value"), facets_of, _all_facets)
