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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from parsers.cases.jsontext import JsonError, plain, read
from webapp.store.keys import digest_of
from webapp.store.schema import shares

WORDS = ("title", "notes", "flags")  # of a case, that its content is not known by


@dataclass(slots=True, frozen=True)
class Share:
    """What somebody gave: the words that the case is called by, and its place in the library; and when it ends, UTC
    ISO 8601, where it does. It is known by the digest of its key."""

    created: str
    words: bool
    listed: bool
    expires: str | None = None
    key_hash: str = ""


def add_share(connection: Connection, case_id: str, key: str, share: Share) -> None:
    """Somebody shares a case."""
    row = {"case_id": case_id, "key_hash": digest_of(key), "created": share.created, "expires": share.expires}
    connection.execute(insert(shares).values(**row, words=share.words, listed=share.listed))


def share_of(connection: Connection, case_id: str, key_hash: str) -> Share | None:
    """The share of whoever has the key of this digest."""
    return next(iter(_read(connection, _theirs(case_id, key_hash))), None)


def shares_of(connection: Connection, case_id: str) -> list[Share]:
    """All shares of a case."""
    return _read(connection, shares.c.case_id == case_id)


def expired_shares(connection: Connection, now: str, limit: int | None, case_id: str | None = None) -> list[str]:
    """The cases that have a share which ended, the oldest first, each as often as it has one."""
    query = select(shares.c.case_id).where(shares.c.expires <= now).order_by(shares.c.expires).limit(limit)
    found = query if case_id is None else query.where(shares.c.case_id == case_id)
    return [*connection.execute(found).scalars()]


def remove_share(connection: Connection, case_id: str, key_hash: str) -> None:
    """Somebody shares a case no more."""
    connection.execute(delete(shares).where(_theirs(case_id, key_hash)))


def remove_shares(connection: Connection, case_id: str) -> None:
    """Nobody shares a case any more."""
    connection.execute(delete(shares).where(shares.c.case_id == case_id))


def mark_listed(connection: Connection, case_id: str, key: str) -> None:
    """Whoever has this key put the case into the library."""
    connection.execute(update(shares).where(_theirs(case_id, digest_of(key))).values(listed=True))


def last_of(those: Sequence[Share]) -> str | None:
    """When the last of some shares ends; None where one does not."""
    times = [one.expires for one in those]
    return None if None in times else max([one for one in times if one is not None], default=None)


def parent_of(body: str) -> str | None:
    """The case that one, given as JSON text, names as its parent."""
    parent = _members(body).get("parent") if '"parent"' in body else None
    return parent if isinstance(parent, str) else None


def without(body: str, *names: str) -> str:
    """The JSON text of a case without what its sharer said of it by these names; what is no case stays as it is."""
    data = _members(body)
    if not data.keys() & {*names}:
        return body
    return plain({key: value for key, value in data.items() if key not in names}) + "\n"


def _members(body: str) -> dict[str, Any]:
    try:
        data = read(body)
    except JsonError:
        return {}
    return data if isinstance(data, dict) else {}


def _read(connection: Connection, condition: ColumnElement[bool]) -> list[Share]:
    columns = (shares.c.created, shares.c.words, shares.c.listed, shares.c.expires, shares.c.key_hash)
    return [Share(*row) for row in connection.execute(select(*columns).where(condition))]


def _theirs(case_id: str, key_hash: str) -> ColumnElement[bool]:
    return and_(shares.c.case_id == case_id, shares.c.key_hash == key_hash)
