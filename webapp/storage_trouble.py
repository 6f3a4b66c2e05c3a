"""Trouble with the database or the disk as an answer: 507 where something does not fit, 503 for the rest.

What was acknowledged before is stored; what a request with such an answer wanted to store is not, unless the answer
names it with its delete key: a request may store several cases, and then take none of them back. A request after the
trouble is over is answered as always: nothing has to be started anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from flask import Flask, g, has_app_context
from werkzeug.exceptions import HTTPException, ServiceUnavailable
from werkzeug.wrappers import Response

from webapp.store import CaseStore, OverQuota, Saved
from webapp.trouble import TROUBLES, Trouble, trouble_of

_NOT_STORED = "Nothing was stored by this request; what was stored before it is safe."
_LEFT = "left_behind"  # where a request notes it


class Said(NamedTuple):
    """What is the matter, what that means for a request, and seconds after which to try again."""

    what: str
    meaning: str
    seconds: int | None = None


SAYS: dict[Trouble, Said] = {
    Trouble.FULL: Said("The disk of this server is full.", f"{_NOT_STORED} Its operator has to make room."),
    Trouble.BUSY: Said("The database of this server was locked by others for too long.", _NOT_STORED, 5),
    Trouble.READ_ONLY: Said("The database of this server cannot be written at the moment.", _NOT_STORED, 60),
    Trouble.DAMAGED: Said(
        "The database of this server is damaged.",
        "Its operator has to restore a backup; runs that store nothing still work.",
    ),
    Trouble.AWAY: Said("The database of this server does not answer.", _NOT_STORED, 10),
}


class StorageFull(HTTPException):
    """There is no room to store what was sent."""

    code = 507


class StorageUnavailable(ServiceUnavailable):
    """The database cannot be read or written at the moment."""


@contextmanager
def taken_back(store: CaseStore, shares: Iterable[Saved]) -> Iterator[None]:
    """Withdraw these shares where what belongs to them cannot be stored; those that the database does not let go are
    named in the answer. `shares` is looked at when that happens."""
    try:
        yield
    except (OverQuota, *TROUBLES):
        for one in shares:
            try:
                store.withdraw(one.id, one.delete_key)
            except TROUBLES:
                if has_app_context():
                    g.setdefault(_LEFT, []).append(one)
        raise


def answer_to(trouble: Trouble, left: Sequence[Saved] = ()) -> HTTPException:
    """The error that tells a client of it, and what is stored all the same."""
    said = SAYS[trouble]
    named = [f"the case {one.id} with the delete key {one.delete_key}" for one in left]
    stored = f"Stored by this request were {', '.join(named)}; the rest was not." if named else ""
    words = f"{said.what} {said.meaning.replace(_NOT_STORED, stored or _NOT_STORED)}"
    return StorageFull(words) if trouble is Trouble.FULL else StorageUnavailable(words, retry_after=said.seconds)


def init_app(app: Flask) -> None:
    """Answer requests that met with such trouble. All else that an exception says is a bug and stays one."""

    def told(error: Exception) -> HTTPException | Response:
        trouble = trouble_of(error)
        if trouble is None:
            raise error
        app.logger.error("storage trouble: %s (%s)", trouble.name.lower(), type(error).__name__)
        found: HTTPException | Response = app.handle_http_exception(answer_to(trouble, g.get(_LEFT, ())))  # type: ignore[assignment]
        return found

    for kind in (*TROUBLES, OSError):
        app.register_error_handler(kind, told)
