"""What whoever runs a server does with its cases, without their delete keys: count, list, purge, take down.

==========  ===============================================  ==============================================
            purged                                           taken down
==========  ===============================================  ==============================================
at once     the body is emptied, the library forgets it      the same; an id that is not there is noted
the page    410, deleted                                     410, deleted
saved anew  it is there again                                refused, until it is allowed again
==========  ===============================================  ==============================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, update

from webapp.store.cases import DELETED, TAKEN_DOWN, CaseStore
from webapp.store.engine import writing
from webapp.store.schema import cases, listed
from webapp.store.spending import Cost

_PAGE = 500
_LIVE = cases.c.deleted.is_(None)


@dataclass(slots=True, frozen=True)
class Counts:
    """How many cases can be read, the characters of their bodies, how many are listed, deleted, and taken down."""

    live: int
    characters: int
    listed: int
    deleted: int
    taken_down: int


@dataclass(slots=True, frozen=True)
class Kept:
    """A case that can be read: when it was saved, the characters of its body, and whether the library shows it."""

    id: str
    created: str
    characters: int
    listed: bool


@dataclass(slots=True, frozen=True)
class Chosen:
    """Which cases are meant: saved before a time (UTC, ISO 8601), and of more characters than that."""

    before: str | None = None
    larger: int = 0

    @property
    def condition(self) -> ColumnElement[bool]:
        """The same for the database."""
        old = [] if self.before is None else [cases.c.created < self.before]
        large = [func.length(cases.c.body) > self.larger] if self.larger else []
        return and_(_LIVE, *old, *large)


class Keeper:
    """The cases of a store, for whoever runs the server."""

    def __init__(self, store: CaseStore) -> None:
        self._store = store
        self._engine = store.engine
        self._writer = writing(store.engine)

    def counts(self) -> Counts:
        """Return how many there are."""
        sized = select(func.count(), func.coalesce(func.sum(func.length(cases.c.body)), 0)).select_from(cases)
        gone = select(func.count()).select_from(cases).where(~_LIVE)
        with self._engine.connect() as connection:
            live, characters = connection.execute(sized.where(_LIVE)).one()
            down = connection.execute(gone.where(cases.c.ended == TAKEN_DOWN)).scalar_one()
            deleted = connection.execute(gone).scalar_one() - down
            shown = connection.execute(select(func.count()).select_from(listed)).scalar_one()
        return Counts(live, characters, shown, deleted, down)

    def kept(self, chosen: Chosen) -> Iterator[Kept]:
        """The cases that are meant, oldest first, read page by page."""
        columns = (cases.c.id, cases.c.created, func.length(cases.c.body), listed.c.case_id.is_not(None))
        query = select(*columns).outerjoin_from(cases, listed, listed.c.case_id == cases.c.id)
        query = query.where(chosen.condition).order_by(cases.c.created, cases.c.id)
        with self._engine.connect() as connection:
            for row in connection.execute(query.execution_options(yield_per=_PAGE)):
                yield Kept(row[0], row[1], row[2], bool(row[3]))

    def purge(self, ids: Sequence[str]) -> int:
        """Empty these cases, and return how many could be read before. They can be saved anew. A transaction takes
        many, in the order of their ids, as everybody does who holds more than one (`webapp.store.collecting`)."""
        done = 0
        for at in range(0, len(ids), _PAGE):
            with self._writer.begin() as connection:
                gone = [self._store.empty(connection, one) for one in sorted(ids[at : at + _PAGE])]
                self._count(connection, gone)
            done -= sum([one.cases for one in gone])
        self._store.tidy()
        return done

    def take_down(self, case_id: str) -> bool:
        """Empty a case and keep it from being saved again. Returns whether it could be read before."""
        row = {"deleted": self._store.now(), "ended": TAKEN_DOWN}
        with self._writer.begin() as connection:
            gone = self._store.empty(connection, case_id)
            if not connection.execute(update(cases).where(cases.c.id == case_id).values(**row)).rowcount:
                empty = {"id": case_id, "body": "", "outcome_digest": "", "version": "", "created": row["deleted"]}
                connection.execute(insert(cases).values(**empty, **row))
            self._count(connection, [gone])
        self._store.tidy()
        return bool(gone.cases)

    def allow(self, case_id: str) -> bool:
        """Let a case that was taken down be saved again. Returns whether it was taken down."""
        down = update(cases).where(cases.c.id == case_id, cases.c.ended == TAKEN_DOWN)
        with self._writer.begin() as connection:
            return connection.execute(down.values(ended=DELETED)).rowcount == 1

    def _count(self, connection: Connection, gone: Sequence[Cost]) -> None:
        all_gone = Cost(sum([one.cases for one in gone]), sum([one.bytes for one in gone]))
        self._store.spending.add(connection, all_gone)
