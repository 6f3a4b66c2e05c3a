"""Clients that whoever runs the server wants nothing from: a digest of today, or whoever has a secret.

A digest means nothing tomorrow, so its ban ends with the day; a secret is banned until the ban is lifted. Of the secret
its SHA-256 is kept: it has 16 characters at least, and is made up by whoever runs the server.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from sqlalchemy import ColumnElement, Engine, delete, insert, or_, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from webapp.store.engine import writing
from webapp.store.schema import bans

KNOWN_SECONDS = 2.0  # for so long a process goes on with what it read


class Bans:
    """The bans in the database of an engine, by the digests of clients and of secrets."""

    def __init__(self, engine: Engine, now: Callable[[], str]) -> None:
        self._engine = engine
        self._writer = writing(engine)
        self._now = now
        self._known: frozenset[str] = frozenset()
        self._read = -KNOWN_SECONDS

    def add(self, digest: str, *, for_today: bool) -> bool:
        """Ban a client, for today or until it is lifted. Returns whether it was not banned before."""
        try:
            with self._writer.begin() as connection:
                connection.execute(delete(bans).where(~self._hold))
                connection.execute(insert(bans).values(client=digest, day=self._today() if for_today else ""))
        except IntegrityError:
            return False
        return True

    def lift(self, digest: str) -> bool:
        """Lift a ban. Returns whether there was one."""
        with self._writer.begin() as connection:
            return connection.execute(delete(bans).where(bans.c.client == digest, self._hold)).rowcount == 1

    def all(self) -> list[tuple[str, bool]]:
        """Each ban that holds: a digest, and whether it ends with the day."""
        query = select(bans.c.client, bans.c.day != "").where(self._hold).order_by(bans.c.client)
        with self._engine.connect() as connection:
            return [(digest, bool(for_today)) for digest, for_today in connection.execute(query)]

    def known(self) -> frozenset[str]:
        """The digests that are banned, as they were a moment ago at most. Where the database does not answer, what was
        read before holds: runs that store nothing go on."""
        if monotonic() >= self._read + KNOWN_SECONDS:
            with suppress(DBAPIError):
                self._known = frozenset([digest for digest, _ in self.all()])
            self._read = monotonic()
        return self._known

    @property
    def _hold(self) -> ColumnElement[bool]:
        return or_(bans.c.day == "", bans.c.day == self._today())

    def _today(self) -> str:
        return self._now()[:10]
