"""Answers that are given again to whoever repeats a request under the same key, for a day.

A key is claimed before its request is done, so that of two that come together one is done. Neither key nor delete key
is kept: a row has the digest of the one, and the other comes of the key and a salt.

=====================  =====================================================================================
row of the key         a claim
=====================  =====================================================================================
absent                 is given, and written
open                   is given with the salt of before, whatever is asked now: so who has the keys of what was stored
                       until something failed is told them again
of another request     OTHER
at work                Busy; after ABANDONED_SECONDS whoever did that is gone, and the claim is given
done                   the answer
=====================  =====================================================================================

There are at most MOST rows: open ones go first, then the oldest.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from math import ceil

from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from webapp.store.engine import writing
from webapp.store.schema import answered

KEPT_SECONDS = 24 * 3_600
ABANDONED_SECONDS = 300
MOST = 10_000
MOST_CHARACTERS = 20_000  # of an answer that is kept
AT_WORK, OPEN = 0, -1  # in place of a status


class Refused(Enum):
    """Why a claim is not given."""

    OTHER = "another request"


@dataclass(slots=True, frozen=True)
class Busy:
    """The request of a key is at work. Ask again in so many seconds: as long as it has taken, for nobody knows how long
    it will, but no later than it counts as abandoned."""

    seconds: int = 1


@dataclass(slots=True, frozen=True)
class Claim:
    """A key that is claimed: its request is to be done."""

    salt: str


@dataclass(slots=True, frozen=True)
class Answer:
    """The answer that was given: status, JSON text, the header Location or ""."""

    salt: str
    status: int
    body: str
    location: str


class Answers:
    """The answers in the database of an engine. Keys and requests are digests of 64 digits."""

    def __init__(self, engine: Engine, now: Callable[[], str]) -> None:
        self._writer = writing(engine)
        self._now = now

    def claim(self, key: str, request: str) -> Claim | Answer | Busy | Refused:
        """The claim of a request under a key, or what it is answered instead."""
        try:
            with self._writer.begin() as connection:
                return self._claimed(connection, key, request)
        except IntegrityError:  # of two that insert at the same moment the other one did
            return Busy()

    def keep(self, key: str, status: int, body: str, location: str) -> None:
        """Keep the answer to the request that claimed a key; one that is too long is not, and the key is open."""
        if len(body) > MOST_CHARACTERS:
            self.reopen(key)
            return
        done = update(answered).where(answered.c.key == key)
        with self._writer.begin() as connection:
            connection.execute(done.values(status=status, body=body, location=location))

    def reopen(self, key: str) -> None:
        """Let a key be claimed again, by any request: its own has no answer that is kept."""
        with self._writer.begin() as connection:
            connection.execute(update(answered).where(answered.c.key == key).values(status=OPEN))

    def _claimed(self, connection: Connection, key: str, request: str) -> Claim | Answer | Busy | Refused:
        now = self._now()
        connection.execute(delete(answered).where(answered.c.created < _before(now, KEPT_SECONDS)))
        row = connection.execute(select(answered).where(answered.c.key == key).with_for_update()).one_or_none()
        if row is None:
            return _written(connection, key, request, now)
        if row.status != OPEN and row.request != request:
            return Refused.OTHER
        if row.status not in (AT_WORK, OPEN):
            return Answer(row.salt, row.status, row.body, row.location)
        if row.status == AT_WORK and row.created >= _before(now, ABANDONED_SECONDS):
            age = (datetime.fromisoformat(now) - datetime.fromisoformat(row.created)).total_seconds()
            return Busy(max(1, ceil(min(age, ABANDONED_SECONDS - age))))
        claimed = {"created": now, "request": request, "status": AT_WORK}
        connection.execute(update(answered).where(answered.c.key == key).values(**claimed))
        return Claim(row.salt)


def _written(connection: Connection, key: str, request: str, now: str) -> Claim:
    many = connection.execute(select(func.count()).select_from(answered)).scalar_one()
    if many >= MOST:
        order = (answered.c.status != OPEN, answered.c.created, answered.c.key)
        oldest = select(answered.c.key).order_by(*order).limit(many - MOST + 1)
        connection.execute(delete(answered).where(answered.c.key.in_(oldest)))
    salt = secrets.token_hex(16)
    row = {"key": key, "request": request, "salt": salt, "status": AT_WORK, "body": "", "location": "", "created": now}
    connection.execute(insert(answered).values(**row))
    return Claim(salt)


def _before(now: str, seconds: int) -> str:
    """The time so many seconds earlier, written the same way."""
    earlier = datetime.fromisoformat(now) - timedelta(seconds=seconds)
    return earlier.isoformat(timespec="milliseconds").replace("+00:00", "Z")
