"""The repository of saved cases.

A case's id is the hash of its content, so a row never changes: saving the same content again finds the row and
leaves it alone. Title, notes, flags and parent are stored but not hashed; where they differ the first save wins,
because a permalink that somebody already sent must go on showing what it showed.

===============  =============================  ==========================================
row              save                           get
===============  =============================  ==========================================
absent           inserted, with a share         None
live             untouched, one share more      the case
deleted, expired revived, with a share          Gone; the body was emptied
taken down       TakenDown                      Gone
===============  =============================  ==========================================

Each save makes a share with a delete key of its own (`webapp.store.shares`): it withdraws that share, and the last one
that is withdrawn empties the case. A share may end by itself: from then on the case is gone, or has less, whoever asks
for it; what it had is emptied when somebody does, with the next saves, and by whoever runs the server.

A save is one INSERT, or when the id is taken one UPDATE of a deleted row: both atomic in every database, so
concurrent saves of one case agree on who created it without a lock of our own. What it takes is counted in the same
transaction, and one that is over a quota stores nothing (`webapp.store.spending`). Who created it says whether the
library lists it: the listing is written in the same transaction. A live case can be listed later; it leaves the
library with the last share that listed it.

Whoever has an id may read the case, so the library, which gives ids to everybody, gives none of a case that it does not
list. A case that is listed loses the name of a parent that is not: its sharer was told so. Once it has been listed, it
names its parent while that one is listed, and no longer, however itself has fared since: who knows its id is not known.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, and_, func, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from parsers.vocabulary.types import UsageError
from webapp.store.answers import Answers
from webapp.store.bans import Bans
from webapp.store.collecting import Collections
from webapp.store.engine import make_engine, writing
from webapp.store.grams import kept
from webapp.store.keys import digest_of, new_key
from webapp.store.listings import Listing, Listings
from webapp.store.migrate import require_current, upgrade
from webapp.store.results import Results
from webapp.store.schema import ID_LENGTH, cases
from webapp.store.shares import (
    WORDS,
    Share,
    add_share,
    expired_shares,
    last_of,
    mark_listed,
    parent_of,
    remove_share,
    remove_shares,
    share_of,
    shares_of,
    without,
)
from webapp.store.spending import Client, Cost, Spending
from webapp.store.tallies import FACET_TALLY, RESULT_TALLY

DELETED, EXPIRED, TAKEN_DOWN = "deleted", "expired", "taken down"  # how a case ended
SWEPT = 20  # shares that ended, of which a save takes leave
TIDIED, TIDIED_BESIDE = 8, 1  # parts of the index that are rewritten when a share is withdrawn, and beside a save


class Gone(Exception):  # noqa: N818 - the name HTTP gives it (410 Gone)
    """The case was deleted, by all who shared it or by whoever runs the server; or it `expired`. `deleted` is the time,
    UTC ISO 8601."""

    def __init__(self, case_id: str, deleted: str, *, expired: bool = False) -> None:
        self.words = f"expired on {deleted[:10]}" if expired else f"was deleted on {deleted[:10]}"
        super().__init__(f"case {case_id} {self.words}")
        self.case_id, self.deleted, self.expired = case_id, deleted, expired


class TakenDown(Gone):
    """Whoever runs the server took the case down: it is not stored again."""


@dataclass(slots=True, frozen=True)
class Saved:
    """The outcome of a save: whether the case is new, and the key of this share, known here and nowhere else."""

    id: str
    created: bool
    delete_key: str


@dataclass(slots=True, frozen=True)
class StoredCase:
    """A case as it was saved: canonical JSON text, the digest of its result then, the version, the time (UTC), and what
    came out then as JSON text; None where that is not known."""

    id: str
    body: str
    outcome_digest: str
    version: str
    created: str
    message: str | None = None


@dataclass(slots=True, frozen=True)
class Sharing:
    """How a case is shared: the delete key, where it is not to be made up, and whom it is counted for, where it is;
    when it `expires`, UTC ISO 8601. `joins` False: a case that is there already is left alone, and nobody gets a key of
    it; but who has this delete key of it already, is told so."""

    delete_key: str | None = None
    client: Client | None = None
    joins: bool = True
    expires: str | None = None


def _utc_now() -> str:
    """The time now as `2026-01-31T09:00:00.000Z`: text whose order is the order of time."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class CaseStore:
    """Cases in the database of an engine that `upgrade()` has seen. Any thread and any process may use one."""

    def __init__(self, engine: Engine, *, now: Callable[[], str] = _utc_now) -> None:
        self.engine = engine
        self.library = Listings(engine, now)
        self.collections = Collections(engine, self.library, now)
        self.results = Results(engine, self.library, now)
        self.answers = Answers(engine, now)
        self.spending = Spending(engine, now)
        self.bans = Bans(engine, now)
        self._writer = writing(engine)
        self.now = now
        self.on_change: Callable[[str], object] = lambda _case_id: None  # is told of a case that has less than before
        self._dispose = weakref.finalize(self, engine.dispose)

    def save(
        self,
        case_id: str,
        body: str,
        outcome_digest: str,
        version: str,
        listing: Listing | None = None,
        *,
        message: str | None = None,
        sharing: Sharing = Sharing(),
    ) -> Saved:
        """Store a case under its content hash; see the module's table for ids that are taken. With a `listing` it is in
        the library, if this save creates it. `message` is what came out, as JSON text (see
        `parsers.cases.outcome_words`). Who saves it again with a delete key that they have is told what they were told.

        When this returns, the case is on disk. Raises UsageError for an id that is not 16 characters or an empty body,
        TakenDown, and OverQuota.
        """
        if len(case_id) != ID_LENGTH or not body:
            raise UsageError(f"a case is saved under an id of {ID_LENGTH} characters and with its JSON text")
        row: dict[str, Any] = {
            "body": body,
            "outcome_digest": outcome_digest,
            "version": version,
            "created": self.now(),
            "deleted": None,
            "ended": None,
            "message": message,
            "size": _bytes(body) + _bytes(message or ""),
        }
        if sharing.client is not None:
            self.spending.make_room(sharing.client)
        self.sweep_quietly(limit=SWEPT)
        key = sharing.delete_key or new_key()
        while True:  # until nobody else deletes or revives it at the same moment
            if self._insert(case_id, row, listing, key, sharing) or self._revive(case_id, row, listing, key, sharing):
                if listing is not None:
                    self.library.tidy()
                return Saved(case_id, True, key)
            self._refuse_taken_down(case_id)
            theirs = sharing.joins or (sharing.delete_key is not None and self.has_key(case_id, sharing.delete_key))
            if not theirs and self.get(case_id) is not None:
                return Saved(case_id, False, "")
            if (created := self._join(case_id, key, sharing)) is not None:
                return Saved(case_id, created, key)

    def list_known(self, case_id: str, listing: Listing, key: str) -> bool:
        """Put a live case into the library, for whoever has this key of it; one that is there stays as it is. Returns
        whether this did: nobody lists what they do not share."""
        with self._writer.begin() as connection:
            created = self._locked(connection, case_id)
            if created is None or share_of(connection, case_id, digest_of(key)) is None:
                return False
            mark_listed(connection, case_id, key)
            known = self.library.has(connection, case_id)
            less = Cost() if known else self._list(connection, case_id, created, listing)
            self._keep_listed(connection, case_id)
            self.spending.add(connection, less)
        if not known:
            self.on_change(case_id)
            with suppress(DBAPIError):  # it is listed, whatever the log has still
                self.tidy(TIDIED_BESIDE)
        return not known

    def get(self, case_id: str) -> StoredCase | None:
        """The case, or None if there never was one. Raises Gone for one that was deleted or expired."""
        row, left = self._read(case_id)
        if any(_has_ended(share, self.now()) for share in left):
            self.sweep_quietly(case_id=case_id)
            row, left = self._read(case_id)
        if row is None:
            return None
        *stored, been_listed, deleted, how = row
        if deleted is not None:
            raise Gone(case_id, deleted, expired=how == EXPIRED)
        ended = [share for share in left if _has_ended(share, self.now())]  # where the database takes nothing just now
        if ended and len(ended) == len(left):
            raise Gone(case_id, last_of(left) or "", expired=True)
        found = self._as_shown(StoredCase(*stored)) if been_listed else StoredCase(*stored)
        return replace(found, body=without(found.body, *WORDS)) if any(one.words for one in ended) else found

    def is_live(self, case_id: str) -> bool:
        """Whether a case is stored under an id, and is not gone."""
        try:
            return self.get(case_id) is not None
        except Gone:
            return False

    def has_key(self, case_id: str, key: str) -> bool:
        """Whether a live case has a share with this delete key."""
        with self.engine.connect() as connection:
            return share_of(connection, case_id, digest_of(key)) is not None

    def withdraw(self, case_id: str, key: str) -> bool:
        """Withdraw the share of whoever has this delete key; with the last one the case is emptied and marked deleted.
        False: unknown id, wrong key, or gone."""
        with self._writer.begin() as connection:
            live = self._locked(connection, case_id) is not None
            share = share_of(connection, case_id, digest_of(key)) if live else None
            if share is not None:
                self.spending.add(connection, self._end(connection, case_id, share))
        if share is not None:
            self.on_change(case_id)
            with suppress(DBAPIError):  # it is withdrawn, whatever the disk has still
                self.tidy(TIDIED)
        return share is not None

    def expired(self) -> int:
        """How many shares ended and are still to be swept away."""
        with self.engine.connect() as connection:
            return len(expired_shares(connection, self.now(), None))

    def sweep(self, limit: int | None = None, case_id: str | None = None) -> list[str]:
        """Take leave of shares that ended, the oldest first, of all cases or of one: the cases they were of."""
        with self.engine.connect() as connection:
            found = [*dict.fromkeys(expired_shares(connection, self.now(), limit, case_id))]
        for one in found:
            with self._writer.begin() as connection:
                if self._locked(connection, one) is not None:
                    gone = [
                        self._end(connection, one, share, EXPIRED)
                        for share in shares_of(connection, one)
                        if _has_ended(share, self.now())
                    ]
                    self.spending.add(connection, Cost(sum([c.cases for c in gone]), sum([c.bytes for c in gone])))
            self.on_change(one)
        self.tidy(None if limit is None and case_id is None else TIDIED_BESIDE, emptied=bool(found))
        return found

    def tidy(self, most: int | None = None, *, emptied: bool = True) -> None:
        """Put counts together, where a text was `emptied`, whose results are gone too; and take off the disk what
        SQLite still keeps of texts that are gone: parts of its index of substrings, in at most so many short
        transactions, and its log, where a text was `emptied` or a part is rewritten."""
        if emptied:
            self.results.tidy()
            self.library.tidy()
        if self.engine.dialect.name != "sqlite":
            return
        parts = 0
        while (most is None or parts < most) and self._rewrite():
            parts += 1
        if emptied or parts:
            self._forget_log()

    def mend_counts(self, *, closely: bool = False) -> None:
        """Count anew what a server of an older version changed and did not count; see `Tally.mend`."""
        for tally in (RESULT_TALLY, FACET_TALLY):
            tally.mend(self.engine, closely=closely)

    def sweep_quietly(self, limit: int | None = None, case_id: str | None = None) -> None:
        """The same beside something else, which goes on where the database takes nothing at the moment."""
        with suppress(DBAPIError):
            self.sweep(limit, case_id)

    def empty(self, connection: Connection, case_id: str, *, ended: str = DELETED, at: str | None = None) -> Cost:
        """Empty a live case, whoever shares it, in a transaction that counts what is gone: that."""
        this = and_(cases.c.id == case_id, cases.c.deleted.is_(None))
        size = connection.execute(select(cases.c.size).where(this).with_for_update()).scalar_one_or_none()
        if size is None:
            return Cost()
        row = {"body": "", "message": None, "deleted": at or self.now(), "ended": ended, "size": 0}
        connection.execute(update(cases).where(this).values(**row))
        remove_shares(connection, case_id)
        self.library.remove(connection, case_id)
        return Cost(-1, -size)

    def probe(self) -> None:
        """Write nothing, by a statement that a database which cannot be written refuses. Raises what it raises."""
        with self._writer.begin() as connection:
            connection.execute(update(cases).where(cases.c.id == "").values(version=""))

    def count(self) -> int:
        """Return how many cases can be read."""
        query = select(func.count()).select_from(cases).where(cases.c.deleted.is_(None))
        with self.engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def close(self) -> None:
        """Close every connection. Runs by itself when the store is collected or the program ends."""
        self._dispose()

    def _insert(self, case_id: str, row: dict[str, Any], listing: Listing | None, key: str, sharing: Sharing) -> bool:
        try:
            with self._writer.begin() as connection:
                connection.execute(insert(cases).values(id=case_id, **row))
                self._made(connection, case_id, row, listing, key, sharing)
        except IntegrityError:
            if not self._exists(case_id):
                raise
            return False
        return True

    def _exists(self, case_id: str) -> bool:
        with self.engine.connect() as connection:
            return connection.execute(select(cases.c.id).where(cases.c.id == case_id)).one_or_none() is not None

    def _revive(self, case_id: str, row: dict[str, Any], listing: Listing | None, key: str, sharing: Sharing) -> bool:
        dead = cases.c.deleted.is_not(None) & (cases.c.ended != TAKEN_DOWN)
        gone = update(cases).where(cases.c.id == case_id, dead)
        with self._writer.begin() as connection:
            revived = connection.execute(gone.values(**row)).rowcount == 1
            if revived:
                self._made(connection, case_id, row, listing, key, sharing)
        return revived

    def _refuse_taken_down(self, case_id: str) -> None:
        query = select(cases.c.deleted).where(cases.c.id == case_id, cases.c.ended == TAKEN_DOWN)
        with self.engine.connect() as connection:
            deleted = connection.execute(query).scalar_one_or_none()
        if deleted is not None:
            raise TakenDown(case_id, deleted)

    def _made(
        self, connection: Connection, case_id: str, row: dict[str, Any], listing: Listing | None, key: str,
        sharing: Sharing,
    ) -> None:  # fmt: skip
        """Share a case that is there now, list it, and count it."""
        share = Share(row["created"], words=True, listed=listing is not None, expires=sharing.expires)
        add_share(connection, case_id, key, share)
        less = Cost()
        if listing is not None:
            less = self._list(connection, case_id, row["created"], listing)
            self._keep_listed(connection, case_id)
        cost, client = Cost(1, row["size"] + less.bytes), sharing.client
        if client is not None:
            self.spending.count(connection, client, cost)
        self.spending.add(connection, cost, None if client is None else client.most_of_all)

    def _list(self, connection: Connection, case_id: str, created: str, listing: Listing) -> Cost:
        """Put a case into the library, where it names no parent that is not there: what is gone."""
        self.library.add(connection, case_id, created, listing)
        this = update(cases).where(cases.c.id == case_id)
        body = connection.execute(this.values(been_listed=True).returning(cases.c.body)).scalar_one()
        parent = parent_of(body)
        hidden = parent is not None and not self.library.shows(connection, parent)
        return self._take_out(connection, case_id, body, "parent") if hidden else Cost()

    def _take_out(self, connection: Connection, case_id: str, body: str, *names: str) -> Cost:
        """Take out of the body of a case what its sharer said of it: what is gone."""
        less = without(body, *names)
        gone = _bytes(body) - _bytes(less)
        connection.execute(update(cases).where(cases.c.id == case_id).values(body=less, size=cases.c.size - gone))
        return Cost(0, -gone)

    def _join(self, case_id: str, key: str, sharing: Sharing) -> bool | None:
        """Share a live case too; None where it is not live. Whether whoever has this key created it."""
        with self._writer.begin() as connection:
            created = self._locked(connection, case_id)
            if created is None:
                return None
            if (share := share_of(connection, case_id, digest_of(key))) is not None:
                return share.words and share.created == created
            joined = Share(self.now(), words=False, listed=False, expires=sharing.expires)
            add_share(connection, case_id, key, joined)
            if sharing.client is not None:
                self.spending.count(connection, sharing.client, Cost(cases=1))
        return False

    def _locked(self, connection: Connection, case_id: str) -> str | None:
        """When a live case was created; nobody else changes it before the transaction ends."""
        row = select(cases.c.created).where(cases.c.id == case_id, cases.c.deleted.is_(None)).with_for_update()
        return connection.execute(row).scalar_one_or_none()

    def _read(self, case_id: str) -> tuple[Any, list[Share]]:
        """The row of a case, if there is one, and its shares."""
        columns = (cases.c.id, cases.c.body, cases.c.outcome_digest, cases.c.version, cases.c.created, cases.c.message)
        query = select(*columns, cases.c.been_listed, cases.c.deleted, cases.c.ended).where(cases.c.id == kept(case_id))
        with self.engine.connect() as connection:
            return connection.execute(query).one_or_none(), shares_of(connection, kept(case_id))

    def _as_shown(self, case: StoredCase) -> StoredCase:
        """A case that has been in the library, without a parent that is not there."""
        parent = parent_of(case.body)
        if parent is None or self.library.is_listed(parent):
            return case
        return replace(case, body=without(case.body, "parent"))

    def _end(self, connection: Connection, case_id: str, share: Share, ended: str = DELETED) -> Cost:
        """End a share of a case that is locked, and the case with the last one: what is gone."""
        remove_share(connection, case_id, share.key_hash)
        left = shares_of(connection, case_id)
        if not left:
            return self.empty(connection, case_id, ended=ended, at=share.expires if ended == EXPIRED else None)
        return self._without(connection, case_id, share, left)

    def _keep_listed(self, connection: Connection, case_id: str) -> None:
        """Keep a case in the library as long as those who listed it share it."""
        left = shares_of(connection, case_id)
        self.library.keep_until(connection, case_id, last_of([one for one in left if one.listed] or left))

    def _without(self, connection: Connection, case_id: str, share: Share, left: Sequence[Share]) -> Cost:
        """Take out of a case what a share gave and none that is left did: what is gone."""
        if share.listed and not any(one.listed for one in left):
            self.library.remove(connection, case_id)
        self._keep_listed(connection, case_id)
        if not share.words:
            return Cost()
        self.library.unname(connection, case_id)
        body = connection.execute(select(cases.c.body).where(cases.c.id == case_id)).scalar_one()
        return self._take_out(connection, case_id, body, *WORDS)

    def _rewrite(self) -> bool:
        """Rewrite a part of the index of substrings; False: there is none to rewrite."""
        with self.engine.connect() as connection:
            if self.library.is_clean(connection):
                return False
        with self._writer.begin() as connection:
            self.library.rewrite(connection)
        return True

    def _forget_log(self) -> None:
        """Empty SQLite's write-ahead log, which still holds the text of a case just deleted."""
        with self.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()


def _has_ended(share: Share, now: str) -> bool:
    return share.expires is not None and share.expires <= now


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def open_store(url: str) -> CaseStore:
    """The store at a database URL. A SQLite file is brought to the schema of this version; PostgreSQL must have it.

    Raises UsageError as `upgrade` and `require_current` do.
    """
    engine = make_engine(url)
    if engine.dialect.name == "sqlite":
        upgrade(engine)
    else:
        require_current(engine)
    return CaseStore(engine)
