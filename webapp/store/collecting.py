"""Collections: named lists of listed cases, each under an address of its own that cannot be guessed.

A collection is what a query found at one moment, and stays that: a case that is deleted leaves it, none comes in by
itself. Whoever made it has a key to delete it; the cases in it stay.

Who holds many listed cases, or places in a collection, takes them in the order of the ids of the cases, as a purge does
(`webapp.store.keeping`): two that meet wait for each other one way, and never both.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from sqlalchemy import Connection, Engine, delete, func, insert, select

from parsers.cases.io import CROCKFORD
from webapp.store.engine import writing
from webapp.store.grams import kept
from webapp.store.keys import digest_of, new_key, opens
from webapp.store.listings import Listings, Wanted, in_order, lasts
from webapp.store.schema import ID_LENGTH, collected, collections, listed

MOST = 10_000  # cases of a collection
LONGEST_TITLE = 120
SHOWN = 50  # collections in the list
_BATCH = 500


@dataclass(slots=True, frozen=True)
class Collection:
    """A collection, and how many cases are in it now."""

    id: str
    title: str
    created: str
    total: int


@dataclass(slots=True, frozen=True)
class Made:
    """A collection just made. The delete key is known here and nowhere else."""

    id: str
    delete_key: str
    total: int


class Collections:
    """The collections in the database of an engine."""

    def __init__(self, engine: Engine, listings: Listings, now: Callable[[], str]) -> None:
        self._engine = engine
        self._writer = writing(engine)
        self._listings = listings
        self._now = now

    def make(self, title: str, wanted: Wanted) -> Made | None:
        """Keep what a query finds now, at most MOST cases, under a title; None where it finds nothing."""
        found = self._listings.numbers(wanted, limit=MOST)
        made = "".join([secrets.choice(CROCKFORD) for _ in range(ID_LENGTH)])
        key = new_key()
        row = {
            "id": made,
            "title": kept(title)[:LONGEST_TITLE],
            "created": self._now(),
            "delete_key_hash": digest_of(key),
        }
        with self._writer.begin() as connection:
            numbers = _there(connection, found)
            if not numbers:
                return None
            connection.execute(insert(collections).values(**row))
            connection.execute(insert(collected), [{"collection": made, "number": number} for number in numbers])
        return Made(made, key, len(numbers))

    def get(self, collection: str) -> Collection | None:
        """The collection of that id."""
        found = self._rows(collection)
        return found[0] if found else None

    def newest(self) -> list[Collection]:
        """The newest collections."""
        return self._rows(None)

    def delete(self, collection: str, key: str) -> bool:
        """Forget a collection if `key` is its delete key; its cases stay."""
        query = select(collections.c.delete_key_hash).where(collections.c.id == kept(collection))
        with self._engine.connect() as connection:
            expected = connection.execute(query).scalar_one_or_none()
        if not opens(key, expected):
            return False
        with self._writer.begin() as connection:
            places = select(collected.c.number).join(listed).where(collected.c.collection == kept(collection))
            connection.execute(in_order(connection, places).with_for_update(of=collected)).all()
            return connection.execute(delete(collections).where(collections.c.id == kept(collection))).rowcount == 1

    def _rows(self, collection: str | None) -> list[Collection]:
        theirs = collected.c.collection == collections.c.id
        inside = select(func.count()).where(theirs, lasts(collected.c.number, self._now())).scalar_subquery()
        query = select(collections.c.id, collections.c.title, collections.c.created, inside)
        if collection is not None:
            query = query.where(collections.c.id == kept(collection))
        query = query.order_by(collections.c.created.desc(), collections.c.id).limit(SHOWN)
        with self._engine.connect() as connection:
            return [Collection(*row) for row in connection.execute(query)]


def _there(connection: Connection, cases: Sequence[tuple[int, str]]) -> list[int]:
    """The numbers of those of some listed cases that are still there: nobody deletes them before the transaction
    ends."""
    found: list[int] = []
    numbers = [number for number, _ in sorted(cases, key=itemgetter(1))]
    for at in range(0, len(numbers), _BATCH):
        held = select(listed.c.number).where(listed.c.number.in_(numbers[at : at + _BATCH]))
        held = in_order(connection, held).with_for_update(read=True, key_share=True)
        found += connection.execute(held).scalars()
    return found
