"""How many results of each engine and version there are, by severity, without a look at all of them.

A change is a row: one more, or one fewer. To count is to add them up, and now and then all of them are put together to
one for each severity. So two that write never wait for each other's counts, whatever else they hold, and what is read
stays as short as there are engines and versions.
"""

from __future__ import annotations

from sqlalchemy import Connection, Select, delete, func, insert, literal, select

from webapp.store.schema import tried, tried_counts

MOST_CHANGES = 500  # rows that are added up before they are put together
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


def counted_tried(connection: Connection) -> tuple[list[tuple[str, str, str, int, str]], bool]:
    """Engine, version, severity, how many and when the last one came; and whether there are so many changes by now that
    they are better put together."""
    changes = connection.execute(select(func.count()).select_from(tried_counts)).scalar_one()
    rows = connection.execute(_sums())
    return [(row.engine, row.version, row.severity, row.sum, row.max) for row in rows], changes > MOST_CHANGES


def put_together(connection: Connection) -> None:
    """Make one row of all changes to a count. Of two that do so at once each takes what it deletes."""
    made: dict[tuple[str, ...], tuple[int, str]] = {}
    for row in connection.execute(delete(tried_counts).returning(*[tried_counts.c[name] for name in _COLUMNS])):
        *names, many, last = row
        before = made.get((*names,), (0, ""))
        made[(*names,)] = before[0] + many, max(before[1], last)
    rows = [dict(zip(_COLUMNS, (*names, *found), strict=True)) for names, found in sorted(made.items())]
    if rows:
        connection.execute(insert(tried_counts), rows)


def _sums() -> Select[tuple[str, str, str, int, str]]:
    columns = [tried_counts.c[name] for name in _NAMES]
    return select(
        *columns, func.sum(tried_counts.c.many).label("sum"), func.max(tried_counts.c.last).label("max")
    ).group_by(*columns)
