"""What each client stored today, and how much there is in all: counted where it is stored, in the same transaction.

A client is a digest of words, with a salt of the day. When the day ends the salt is overwritten and the counts with it,
so nobody can tell of yesterday who it was, nor whether today's clients are the same ones. While the day lasts, whoever
has the database can try the words, of which there are few: the digests are no secret from the operator of a server.

A count is raised by one UPDATE that has the limit as its condition, so clients who ask many times at once get no more
than one after the other.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Engine, Table, and_, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from webapp.store.engine import writing
from webapp.store.schema import days, spent, totals

DIGITS = 16  # of a client's digest: it is one of few
SALT_BYTES = 32
What = Literal["cases", "bytes", "uploads"]
WHATS: tuple[What, ...] = ("cases", "bytes", "uploads")


@dataclass(slots=True, frozen=True)
class Cost:
    """How much is stored."""

    cases: int = 0
    bytes: int = 0
    uploads: int = 0


@dataclass(slots=True, frozen=True)
class Client:
    """Who stores: a day and the digest of that client on it, and how much it may store in a day, and all together. 0 is
    no limit."""

    day: str
    digest: str
    most: Cost
    most_of_all: Cost


@dataclass(slots=True, frozen=True)
class Spent:
    """What a client stored today."""

    client: str
    cases: int
    bytes: int
    uploads: int


class OverQuota(Exception):  # noqa: N818 - what happened, not what went wrong
    """A client, or (`of_all`) the server, has stored as much as may be."""

    def __init__(self, what: What, most: int, *, of_all: bool) -> None:
        super().__init__(f"no more than {most:,} {what}")
        self.what, self.most, self.of_all = what, most, of_all


class Spending:
    """The counts in the database of an engine."""

    def __init__(self, engine: Engine, now: Callable[[], str]) -> None:
        self._engine = engine
        self._writer = writing(engine)
        self._now = now
        self._salt = "", ""  # a day, and its salt

    def client(self, words: str, most: Cost, most_of_all: Cost) -> Client:
        """The client of these words, as it is called today."""
        day = self._today()
        made = hmac.digest(self._salt_of(day).encode(), words.encode("utf-8", "surrogatepass"), "sha256")
        return Client(day, made.hex()[:DIGITS], most, most_of_all)

    def charge(self, client: Client, cost: Cost) -> None:
        """Count what a client stores elsewhere than in the database. Raises OverQuota."""
        self.make_room(client)
        with self._writer.begin() as connection:
            self.count(connection, client, cost)

    def make_room(self, client: Client) -> None:
        """See to it that a client has a row, before a transaction that counts: there it could only fail."""
        row = {"day": client.day, "client": client.digest}
        here = select(spent.c.cases).where(spent.c.day == row["day"], spent.c.client == row["client"])
        with self._engine.connect() as connection:
            if connection.execute(here).one_or_none() is not None:
                return
        try:
            with self._writer.begin() as connection:
                connection.execute(insert(spent).values(**row, cases=0, bytes=0, uploads=0))
        except IntegrityError:
            return  # another request of that client came first

    def count(self, connection: Connection, client: Client, cost: Cost) -> None:
        """Count what a client stores, in the transaction that does. Raises OverQuota, and counts nothing."""
        theirs = and_(spent.c.day == client.day, spent.c.client == client.digest)
        _raise(connection, spent, theirs, cost, client.most, of_all=False)

    def add(self, connection: Connection, cost: Cost, most: Cost | None = None) -> None:
        """Count what there is in all, or what is gone (less than 0), as the last thing that a transaction does: others
        wait for it. Raises OverQuota where there is a limit."""
        _raise(connection, totals, totals.c.number == 1, cost, most or Cost(), of_all=True)

    def total(self) -> Cost:
        """How much there is in all."""
        with self._engine.connect() as connection:
            return Cost(*connection.execute(select(totals.c.cases, totals.c.bytes)).one())

    def today(self) -> list[Spent]:
        """What each client stored today, whoever stored most first."""
        columns = (spent.c.client, spent.c.cases, spent.c.bytes, spent.c.uploads)
        query = select(*columns).where(spent.c.day == self._today()).order_by(spent.c.bytes.desc(), spent.c.client)
        with self._engine.connect() as connection:
            return [Spent(*row) for row in connection.execute(query)]

    def _today(self) -> str:
        return self._now()[:10]

    def _salt_of(self, day: str) -> str:
        if self._salt[0] != day:
            self._salt = day, self._read_salt(day) or self._begin(day)
        return self._salt[1]

    def _read_salt(self, day: str) -> str | None:
        with self._engine.connect() as connection:
            return connection.execute(select(days.c.salt).where(days.c.day == day)).scalar_one_or_none()

    def _begin(self, day: str) -> str:
        """Begin a day: what is known of another one is overwritten."""
        made = secrets.token_hex(SALT_BYTES)
        try:
            with self._writer.begin() as connection:
                for table in (spent, days):
                    connection.execute(delete(table).where(table.c.day != day))
                connection.execute(insert(days).values(day=day, salt=made))
        except IntegrityError:  # another process began it
            return self._read_salt(day) or made
        return made


def _raise(connection: Connection, table: Table, row: object, cost: Cost, most: Cost, *, of_all: bool) -> None:
    """Raise the counts of a row by the cost, where they stay within the limits."""
    named = [(what, getattr(cost, what), getattr(most, what)) for what in WHATS if what in table.c]
    within = [table.c[what] + more <= limit for what, more, limit in named if limit and more > 0]
    raised = update(table).where(row, *within).values({what: table.c[what] + more for what, more, _ in named})  # type: ignore[arg-type]
    if connection.execute(raised).rowcount == 1:
        return
    over = or_(*[~one for one in within])
    columns = [table.c[what] for what, _, _ in named]
    found = connection.execute(select(*columns).where(row, over)).one_or_none()  # type: ignore[arg-type]
    if found is None:  # the day of the client has ended meanwhile, and its counts with it
        return
    for (what, more, limit), count in zip(named, found, strict=True):
        if limit and more > 0 and count + more > limit:
            raise OverQuota(what, limit, of_all=of_all)
