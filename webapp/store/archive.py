"""The whole case database as one file, and back: the same from SQLite and from PostgreSQL, into either.

The file is JSON Lines: first what it is (`{"archive": 1, "schema": "0003"}`), then a line for each row, then how many
there were, without which a file that was cut off is refused. What can be computed from rows, the index of substrings
and the totals, is not in it, nor what is of a day only. All else is: delete keys as digests, unlisted cases.

A backup is one moment: it reads in one transaction, while others write. A restore is one transaction into a database
that holds nothing, so it never mixes two histories, and one that fails leaves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, TextIO

from sqlalchemy import Connection, Engine, Table, exists, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from parsers.vocabulary.types import UsageError
from webapp.store.engine import writing
from webapp.store.grams import Grams
from webapp.store.migrate import require_current
from webapp.store.schema import PASSING, cases, listed, metadata, totals
from webapp.store.tallies import FACET_TALLY, RESULT_TALLY

KIND = 1
_KEPT = [table for table in metadata.sorted_tables if table not in PASSING]
_BATCH = 500


def backup(engine: Engine, file: TextIO) -> int:
    """Write all rows and return how many. Raises UsageError where the database has not this version's schema."""
    revision = require_current(engine)
    print(json.dumps({"archive": KIND, "schema": revision}), file=file)
    reading = engine if engine.dialect.name == "sqlite" else engine.execution_options(isolation_level="REPEATABLE READ")
    count = 0
    with reading.begin() as connection:
        for table in _KEPT:
            query = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=_BATCH)
            for row in connection.execute(query):
                print(json.dumps([table.name, *row], separators=(",", ":")), file=file)
                count += 1
    print(json.dumps({"rows": count}), file=file)
    return count


def restore(engine: Engine, file: TextIO) -> int:
    """Write the rows of an archive into a database that has this version's schema and no rows, and return how many.

    Raises UsageError for a file that is no whole archive of this schema, and for a database that holds something.
    """
    revision = require_current(engine)
    head = _parsed(file.readline(), 1)
    if not isinstance(head, dict) or head.get("archive") != KIND:
        raise UsageError("this file is no backup: it was not written by `toolcall-inspector db backup`")
    if head.get("schema") != revision:
        raise UsageError(
            f"the backup has schema {head.get('schema')}, this version {revision}: restore it with the version that"
            " wrote it, then run `toolcall-inspector db upgrade` with this one"
        )
    try:
        with writing(engine).begin() as connection:
            return _restored(connection, file)
    except DBAPIError as error:
        raise UsageError(f"the backup cannot be restored: {error.orig}") from error


def _restored(connection: Connection, file: TextIO) -> int:
    held = [table.name for table in _KEPT if connection.execute(select(exists(table.select()))).scalar()]
    if held:
        raise UsageError(f"the database already holds {', '.join(held)}: restore into an empty one")
    count, end = 0, list[int]()
    many = _rows(file, end)
    while rows := list(islice(many, _BATCH)):
        for table, those in groupby(rows, itemgetter(0)):
            connection.execute(insert(table), [values for _, values in those])
        count += len(rows)
    if end != [count]:
        raise UsageError(f"the backup is cut off: it has {count:,} rows and not its end")
    _index(connection)
    _total(connection)
    for tally in (RESULT_TALLY, FACET_TALLY):
        tally.recount(connection)
    return count


def _rows(file: TextIO, end: list[int]) -> Iterator[tuple[Table, dict[str, Any]]]:
    """Each row with its table; what the last line counted goes to `end`."""
    for number, line in enumerate(file, 2):
        found = _parsed(line, number)
        if isinstance(found, dict):
            end.append(found.get("rows", -1))
            continue
        name, *values = found if isinstance(found, list) else [None]
        table = next((one for one in _KEPT if one.name == name), None)
        if table is None or len(values) != len(table.columns):
            raise UsageError(f"line {number:,} of the backup is no row of this schema")
        yield table, dict(zip(table.columns.keys(), values, strict=True))


def _parsed(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise UsageError(f"line {number:,} of the backup is not JSON") from error


def _index(connection: Connection) -> None:
    """Make what is computed from the rows: the index of substrings, and where PostgreSQL goes on to number."""
    grams, last = Grams(connection.dialect), 0
    query = select(listed.c.number, listed.c.text).order_by(listed.c.number).limit(_BATCH)
    with grams.unindexed(connection):
        while page := connection.execute(query.where(listed.c.number > last)).all():
            grams.add(connection, [(row.number, row.text) for row in page])
            last = page[-1].number
    if connection.dialect.name == "postgresql" and last:
        connection.execute(select(func.setval(func.pg_get_serial_sequence("listed", "number"), last)))


def _total(connection: Connection) -> None:
    sums = select(func.count(), func.coalesce(func.sum(cases.c.size), 0)).where(cases.c.deleted.is_(None))
    many, size = connection.execute(sums).one()
    connection.execute(update(totals).values(cases=many, bytes=size))
