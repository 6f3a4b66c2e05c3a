"""Who shares a case: each has a key of their own, known to them alone, that withdraws what they gave.

====================================  ================================================================================
a share that is withdrawn             leaves
====================================  ================================================================================
of several                            the case, as long as one of them is left
which gave title, notes and flags     the case without them: nobody else said them
which put it into the library         the library, unless another one did so too
the last one                          nothing: the body is emptied
====================================  ================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from parsers.cases.jsontext import JsonError, plain, read
from webapp.store.keys import digest_of
from webapp.store.schema import shares

WORDS = ("title", "notes", "flags")  # of a case, that its content is not known by


@dataclass(slots=True, frozen=True)
class Share:
    """What somebody gave: the words that the case is called by, and its place in the library."""

    created: str
    words: bool
    listed: bool


def add_share(connection: Connection, case_id: str, key: str, share: Share) -> None:
    """Somebody shares a case."""
    row = {"case_id": case_id, "key_hash": digest_of(key), "created": share.created}
    connection.execute(insert(shares).values(**row, words=share.words, listed=share.listed))


def share_of(connection: Connection, case_id: str, key: str) -> Share | None:
    """The share of whoever has this key."""
    query = select(shares.c.created, shares.c.words, shares.c.listed).where(_theirs(case_id, key))
    row = connection.execute(query).one_or_none()
    return None if row is None else Share(*row)


def others(connection: Connection, case_id: str) -> list[Share]:
    """All shares of a case."""
    query = select(shares.c.created, shares.c.words, shares.c.listed).where(shares.c.case_id == case_id)
    return [Share(*row) for row in connection.execute(query)]


def remove_share(connection: Connection, case_id: str, key: str) -> None:
    """Somebody shares a case no more."""
    connection.execute(delete(shares).where(_theirs(case_id, key)))


def remove_shares(connection: Connection, case_id: str) -> None:
    """Nobody shares a case any more."""
    connection.execute(delete(shares).where(shares.c.case_id == case_id))


def mark_listed(connection: Connection, case_id: str, key: str) -> None:
    """Whoever has this key put the case into the library."""
    connection.execute(update(shares).where(_theirs(case_id, key)).values(listed=True))


def without_words(body: str) -> str:
    """The JSON text of a case without what its first sharer called it by; what is no case stays as it is."""
    try:
        data = read(body)
    except JsonError:
        return body
    if not isinstance(data, dict) or not data.keys() & {*WORDS}:
        return body
    return plain({key: value for key, value in data.items() if key not in WORDS}) + "\n"


def _theirs(case_id: str, key: str) -> ColumnElement[bool]:
    return and_(shares.c.case_id == case_id, shares.c.key_hash == digest_of(key))
