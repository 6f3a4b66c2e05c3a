"""What befalls a database or a disk, as its driver tells it.

============  =========================================  =============================  ======================
trouble       SQLite (primary result code)               PostgreSQL (SQLSTATE)          the system (errno)
============  =========================================  =============================  ======================
FULL          13 SQLITE_FULL                             53100                          ENOSPC, EDQUOT
BUSY          5 SQLITE_BUSY, 6 SQLITE_LOCKED             55P03, 40001, 40P01; no
                                                         connection in time
READ_ONLY     8 SQLITE_READONLY                          25006                          EROFS
DAMAGED       11 SQLITE_CORRUPT, 26 SQLITE_NOTADB        XX001, XX002
AWAY          14 SQLITE_CANTOPEN, 10 SQLITE_IOERR,       08..., 57P01 to 57P03, 53300,
              23 SQLITE_AUTH                             none at all
============  =========================================  =============================  ======================

Nothing else is trouble: a statement that a database refuses is a bug of ours. (sqlite.org, Result and Error Codes;
PostgreSQL 15, appendix A.)
"""

from __future__ import annotations

import errno
import sqlite3
from enum import Enum, auto

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

TROUBLES = (DBAPIError, NoConnection)  # what a database raises


class Trouble(Enum):
    """Why a database or a disk does not do what it is asked for."""

    FULL = auto()
    BUSY = auto()
    READ_ONLY = auto()
    DAMAGED = auto()
    AWAY = auto()


_SQLITE = {
    sqlite3.SQLITE_FULL: Trouble.FULL,
    sqlite3.SQLITE_BUSY: Trouble.BUSY,
    sqlite3.SQLITE_LOCKED: Trouble.BUSY,
    sqlite3.SQLITE_READONLY: Trouble.READ_ONLY,
    sqlite3.SQLITE_CORRUPT: Trouble.DAMAGED,
    sqlite3.SQLITE_NOTADB: Trouble.DAMAGED,
    sqlite3.SQLITE_CANTOPEN: Trouble.AWAY,
    sqlite3.SQLITE_IOERR: Trouble.AWAY,
    sqlite3.SQLITE_AUTH: Trouble.AWAY,
}
_STATES = {
    "53100": Trouble.FULL,
    "55P03": Trouble.BUSY,
    "40001": Trouble.BUSY,
    "40P01": Trouble.BUSY,
    "25006": Trouble.READ_ONLY,
    "XX001": Trouble.DAMAGED,
    "XX002": Trouble.DAMAGED,
    "53300": Trouble.AWAY,
    "57P01": Trouble.AWAY,
    "57P02": Trouble.AWAY,
    "57P03": Trouble.AWAY,
}
_CONNECTION = "08"  # the class of all that befalls a connection
_ERRNOS = {errno.ENOSPC: Trouble.FULL, errno.EDQUOT: Trouble.FULL, errno.EROFS: Trouble.READ_ONLY}


def trouble_of(error: BaseException) -> Trouble | None:
    """Return which trouble an exception tells of; None where it is none, but a bug."""
    if isinstance(error, NoConnection):
        return Trouble.BUSY
    if isinstance(error, OSError):
        return _ERRNOS.get(error.errno or 0)
    if not isinstance(error, DBAPIError):
        return None
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code & 0xFF)
    state = getattr(error.orig, "sqlstate", None)
    if state is None:  # psycopg has none where no server was reached, or it went away
        return Trouble.AWAY if isinstance(error, OperationalError) else None
    return _STATES.get(state) or (Trouble.AWAY if state.startswith(_CONNECTION) else None)
