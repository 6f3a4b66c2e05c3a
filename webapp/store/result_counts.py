"""How many results of each engine and version there are, by severity, without a look at all of them.

A change is a row: one more, or one fewer. To count is to add them up, and now and then who writes puts all of them
together to one for each severity, in a transaction of its own. So two that write never wait for each other's counts,
whatever else they hold, who reads waits for nobody, and what is read stays as short as there are engines and versions.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, Select, delete, func, insert, literal, select

from webapp.store.schema import tried, tried_counts

MOST_CHANGES = 500  # rows that are added up, beside the counts themselves, before they are put together
_NAMES = ("engine", "version", "severity")
_COLUMNS = (*_NAMES, "many", "last")


def count_tried(connection: Connection, engine: str, version: str, severity: str, at: str) -> None:
    """Count a result that came."""
    row = {"engine": engine, "version": version, "severity": severity, "many": 1, "last": at}
    connection.execute(insert(tried_counts).values(**row))


def uncount_tried(connection: Connection, *conditions: object) -> None:
    """Count results no more, before they are deleted. A time at which a result came stays one."""
    columns = (*[tried.c[name] for name in _NAMES], literal(-1), literal(""))
    gone = select(*columns).where(*conditions)  # type: ignore[arg-type]
    connection.execute(insert(tried_counts).from_select(_COLUMNS, gone))


def recount_tried(connection: Connection) -> None:
    """Count all results anew, by looking at all of them."""
    columns = [tried.c[name] for name in _NAMES]
    counted = select(*columns, func.count(), func.max(tried.c.created)).group_by(*columns)
    connection.execute(delete(tried_counts))
    connection.execute(insert(tried_counts).from_select(_COLUMNS, counted))


def counted_tried(connection: Connection) -> list[tuple[str, str, str, int, str]]:
    """Engine, version, severity, how many and when the last one came."""
    return [(row.engine, row.version, row.severity, row.sum, row.max) for row in connection.execute(_sums())]


def has_many_changes(connection: Connection) -> bool:
    """Whether there are so many changes by now that they are better put together: more than are read for the counts
    themselves, so that what it costs to do so is little for each."""
    counts = select(func.count()).select_from(_sums().having(func.sum(tried_counts.c.many) != 0).subquery())
    both = select(select(func.count()).select_from(tried_counts).scalar_subquery(), counts.scalar_subquery())
    changes, left = connection.execute(both).one()
    return bool(changes > 2 * left + MOST_CHANGES)


def put_together(connection: Connection) -> None:
    """Make one row of all changes to a count, and none where nothing is left. Of two that do so at once each takes what
    it deletes. When the last result of an engine and version came stays known as long as any of it is there."""
    made: Counter[tuple[str, str, str]] = Counter()
    latest: dict[tuple[str, str], str] = {}
    for row in connection.execute(delete(tried_counts).returning(*[tried_counts.c[name] for name in _COLUMNS])):
        engine, version, severity, many, last = row
        made[engine, version, severity] += many
        latest[engine, version] = max(latest.get((engine, version), ""), last)
    rows = [
        dict(zip(_COLUMNS, (*key, many, latest[key[:2]]), strict=True)) for key, many in sorted(made.items()) if many
    ]
    if rows:
        connection.execute(insert(tried_counts), rows)


def _sums() -> Select[tuple[str, str, str, int, str]]:
    columns = [tried_counts.c[name] for name in _NAMES]
    return select(
        *columns, func.sum(tried_counts.c.many).label("sum"), func.max(tried_counts.c.last).label("max")
    ).group_by(*columns)
