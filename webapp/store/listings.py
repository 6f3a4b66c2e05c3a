"""What the library knows of the cases in it: listing, searching, counting, collections, and what engines made of them.

Nothing here reads `cases` but `bodies`, and that only by the ids of listed ones: an unlisted case is never looked at.

Strategy
    Results come newest first and by page: a page begins below a number and ends after so many rows, so a far page costs
    what the first one does. Filters are columns or labels, each with an index; a text is an index of substrings first
    (`webapp.store.grams`) and then the text itself. One look finds the numbers of the newest cases, up to COUNTED: so
    many there are, and a page is some of them, or goes on below. The counts beside the filters are of the whole library
    (`webapp.store.tallies`), or of a collection.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Column, Connection, Engine, Select, delete, exists, func, insert, literal, select, update
from sqlalchemy.sql.elements import ColumnElement

from webapp.store.grams import Grams, kept
from webapp.store.schema import cases, collected, labels, listed, tried
from webapp.store.shares import parent_of, without
from webapp.store.tallies import FACET_TALLY, RESULT_TALLY, facets_of, how_often, results_of

COUNTED = 1000  # how many results are counted; beyond that there are more than so many
SHOWN = 50
LONGEST_LABEL = 200  # characters of a name: an index of PostgreSQL takes no row of 3,000 bytes
Facet = Literal["verdict", "parser", "engine", "tag", "check"]
FACETS: tuple[Facet, ...] = ("verdict", "parser", "engine", "tag", "check")
_LABELS = ("tag", "check")
_FOUND_AT_ONCE = 5_000  # cases that a search gives an export: one by a text costs as much for each part of them

Band = Sequence[tuple[str, float, float]]  # role, left edge, width, in percent of the output


@dataclass(slots=True, frozen=True)
class Listing:
    """What the library shows of a case and finds it by, as it was when the case was saved."""

    title: str
    parser: str
    engine: str
    verdict: str
    severity: str
    text: str
    tags: Sequence[str] = ()
    checks: Sequence[str] = ()
    band: Band = ()


@dataclass(slots=True, frozen=True)
class Listed:
    """A listed case. `number` is the order in which it was listed, and where a page goes on."""

    number: int
    case_id: str
    title: str
    parser: str
    engine: str
    verdict: str
    severity: str
    created: str
    band: Band
    tags: Sequence[str] = ()


@dataclass(slots=True, frozen=True)
class Wanted:
    """What is looked for: exact substrings, all of which must be there, values of facets, a collection by its id."""

    texts: tuple[str, ...] = ()
    facets: tuple[tuple[Facet, str], ...] = ()
    collection: str | None = None


@dataclass(slots=True, frozen=True)
class Found:
    """A page of results: `total` is exact up to COUNTED, and COUNTED + 1 for more; `more` is where the next page
    begins, None where this is the last."""

    rows: Sequence[Listed]
    total: int
    more: int | None


@dataclass(slots=True)
class Counts:
    """How many listed cases there are, and for each facet its values, the most frequent first."""

    total: int
    values: dict[Facet, list[tuple[str, int]]] = field(default_factory=dict)


class Listings:
    """The library in the database of an engine."""

    def __init__(self, engine: Engine, now: Callable[[], str]) -> None:
        self._engine = engine
        self._now = now
        self._grams = Grams(engine.dialect)

    def add(self, connection: Connection, case_id: str, created: str, listing: Listing) -> None:
        """List a case, in the transaction that saves it or knows that it is saved."""
        words = kept(f"{listing.title}\n{listing.text}" if listing.title else listing.text)
        row = {
            "case_id": case_id,
            "title": kept(listing.title),
            "parser": _name(listing.parser),
            "engine": _name(listing.engine),
            "verdict": listing.verdict,
            "severity": listing.severity,
            "created": created,
            "text": words,
            "band": json.dumps(listing.band, separators=(",", ":")),
        }
        (number,) = connection.execute(insert(listed).values(**row)).inserted_primary_key or (0,)
        named = {(kind, _name(value)) for kind, value in _labelled(listing)}
        if named:
            rows = [{"kind": kind, "value": value, "number": number} for kind, value in sorted(named)]
            connection.execute(insert(labels), rows)
        self._grams.add(connection, [(number, words)])
        values = [(name, row[name]) for name in FACETS if name not in _LABELS]
        FACET_TALLY.add(connection, [(*value, 1) for value in (*values, *sorted(named))])

    def remove(self, connection: Connection, case_id: str) -> None:
        """Forget all of a case, in the transaction that deletes it; what points at its row goes with it."""
        columns = select(listed.c.number, listed.c.text).where(listed.c.case_id == case_id)
        row = connection.execute(columns.with_for_update()).one_or_none()  # a result that comes now comes too late
        if row is not None:
            self._grams.remove(connection, row.number, row.text)
            RESULT_TALLY.take(connection, results_of(tried.c.number == row.number))
            FACET_TALLY.take(connection, *facets_of(listed.c.number == row.number))
            connection.execute(delete(listed).where(listed.c.number == row.number))

    def unname(self, connection: Connection, case_id: str) -> None:
        """Forget title and tags of a case, in the transaction that takes them out of it."""
        columns = select(listed.c.number, listed.c.title, listed.c.text).where(listed.c.case_id == case_id)
        row = connection.execute(columns).one_or_none()
        if row is None:
            return
        text = row.text[len(row.title) + 1 :] if row.title else row.text
        connection.execute(update(listed).where(listed.c.number == row.number).values(title="", text=text))
        tags = (labels.c.number == row.number, labels.c.kind == "tag")
        FACET_TALLY.take(connection, select(labels.c.kind, labels.c.value).where(*tags))
        connection.execute(delete(labels).where(*tags))
        self._grams.remove(connection, row.number, row.text)
        self._grams.add(connection, [(row.number, text)])

    def tidy(self) -> None:
        """Put the changes of the counts beside the filters together where they are many."""
        FACET_TALLY.tidy(self._engine)

    def is_clean(self, connection: Connection) -> bool:
        """Return whether the index of substrings keeps nothing of what was forgotten."""
        return self._grams.is_clean(connection)

    def rewrite(self, connection: Connection) -> None:
        """Rewrite the next part of that index without what was forgotten."""
        self._grams.rewrite(connection)

    def keep_until(self, connection: Connection, case_id: str, expires: str | None) -> None:
        """Show a case until then, and no longer; None: as long as it is there."""
        connection.execute(update(listed).where(listed.c.case_id == case_id).values(expires=expires))

    def is_listed(self, case_id: str) -> bool:
        """Return whether the library shows a case."""
        with self._engine.connect() as connection:
            return self.shows(connection, case_id)

    def shows(self, connection: Connection, case_id: str) -> bool:
        """The same as a transaction sees it."""
        return self._any(connection, case_id, lasts(listed.c.number, self._now()))

    def has(self, connection: Connection, case_id: str) -> bool:
        """Whether a case has a row in it, be it one that is shown no more and not gone yet."""
        return self._any(connection, case_id)

    def _any(self, connection: Connection, case_id: str, *more: ColumnElement[bool]) -> bool:
        return connection.execute(select(exists().where(listed.c.case_id == case_id, *more))).scalar_one()

    def among(self, connection: Connection, case_ids: Iterable[str]) -> set[str]:
        """Those of some cases that the library shows now."""
        query = select(listed.c.case_id).where(listed.c.case_id.in_([*case_ids]), lasts(listed.c.number, self._now()))
        return {*connection.execute(query).scalars()}

    def search(self, wanted: Wanted, *, before: int | None = None, limit: int = SHOWN) -> Found:
        """The newest `limit` cases of those wanted, below the number `before`."""
        with self._engine.connect() as connection:
            counted = self._numbers(connection, wanted, None, COUNTED + 1)
            page = [number for number in counted if before is None or number < before]
            if len(page) <= limit and len(counted) > COUNTED:  # it goes on below what was counted
                page = self._numbers(connection, wanted, before, limit + 1)
            found = self._rows(connection, page[:limit])
        return Found(found, len(counted), page[limit - 1] if len(page) > limit else None)

    def counts(self, collection: str | None = None) -> Counts:
        """The counts beside the filters: of the whole library by its tally, less what is shown no more and still there;
        of a collection by its cases."""
        now, values = self._now(), dict[Facet, Counter[str]]()
        with self._engine.connect() as connection:
            if collection is None:
                rows = FACET_TALLY.counted(connection)
                ended = listed.c.expires <= now
                if connection.execute(select(exists().where(ended))).scalar_one():
                    rows += [(*row[:2], -row[2]) for row in _all(connection, facets_of(ended))]
            else:
                rows = _inside(connection, kept(collection), now)
        for name, value, many in rows:
            values.setdefault(name, Counter())[value] += many
        shown = {name: _most_frequent(values.get(name, Counter())) for name in FACETS}
        return Counts(sum([many for _, many in shown["verdict"]]), shown)  # each case has one verdict

    def numbers(self, wanted: Wanted, *, before: int | None = None, limit: int) -> list[tuple[int, str]]:
        """Number and id of the newest `limit` cases of those wanted, below the number `before`."""
        with self._engine.connect() as connection:
            found = self._newest(connection, wanted, before, limit, listed.c.number, listed.c.case_id)
            return [(row[0], row[1]) for row in found]

    def bodies(self, wanted: Wanted, size: int = 200) -> Iterator[tuple[str, str]]:
        """Id and case file of every case wanted, newest first: it names no parent that is not listed. Each is read when
        its turn comes: what is deleted, unlisted or ends meanwhile is missing, and what is listed meanwhile may be."""
        before: int | None = None
        while page := self.numbers(wanted, before=before, limit=_FOUND_AT_ONCE):
            before = page[-1][0]
            for at in range(0, len(page), size):
                asked = [case_id for _, case_id in page[at : at + size]]
                known = self._bodies(asked)
                yield from ((case_id, known[case_id]) for case_id in asked if case_id in known)

    def _bodies(self, ids: Sequence[str]) -> dict[str, str]:
        """The case files of those that are shown now."""
        query = select(cases.c.id, cases.c.body).join(listed, listed.c.case_id == cases.c.id).where(cases.c.id.in_(ids))
        with self._engine.connect() as connection:
            shown = connection.execute(query.where(lasts(listed.c.number, self._now())))
            found = {row.id: row.body for row in shown}
            parents = {case_id: parent_of(body) for case_id, body in found.items()}
            there = self.among(connection, [one for one in parents.values() if one is not None])
        hidden = [case_id for case_id, parent in parents.items() if parent is not None and parent not in there]
        return {**found, **{case_id: without(found[case_id], "parent") for case_id in hidden}}

    def select(self, wanted: Wanted, *columns: Any) -> Select[Any]:
        """The query for these columns of the cases wanted, in no order; for a transaction that is made `ready`."""
        query = select(*columns).where(*self._facets(wanted), lasts(listed.c.number, self._now()))
        if wanted.collection is not None:
            query = query.where(_within(kept(wanted.collection), listed.c.number))
        texts = [kept(one) for one in wanted.texts if one]
        if not texts:
            return query.select_from(listed)
        found, number, conditions = self._grams.found(texts)
        query = query.select_from(found.join(listed, listed.c.number == number)).where(*conditions)
        return query.where(*[_holds(listed.c.text, one, self._engine) for one in texts])

    def ready(self, connection: Connection, wanted: Wanted) -> None:
        """Make a transaction ready to look for the cases wanted."""
        if any(wanted.texts):
            self._grams.search(connection)

    def _newest(
        self, connection: Connection, wanted: Wanted, before: int | None, limit: int, *columns: Any
    ) -> Iterable[Any]:
        """The newest `limit` cases of those wanted, below a number: these columns of them."""
        texts = [kept(one) for one in wanted.texts if one]
        self.ready(connection, wanted)
        if texts:
            query, number = self._by_texts(wanted, texts, *columns)
        else:
            query, number = self.select(wanted, *columns), listed.c.number
        query = query if before is None else query.where(number < before)
        return connection.execute(query.order_by(number.desc()).limit(limit))

    def _by_texts(self, wanted: Wanted, texts: Sequence[str], *columns: Any) -> tuple[Select[Any], ColumnElement[int]]:
        """The query for cases that have some texts, which goes along what the index found in its order; and the column
        of numbers there. Each case is looked at by itself (OFFSET 0 keeps it so): of a join PostgreSQL makes what it
        takes for the best, and it knows of no text how many have it."""
        found, number, conditions = self._grams.found(texts)
        this = select(literal(1)).select_from(listed).where(listed.c.number == number)
        this = this.where(*self._facets(wanted), lasts(listed.c.number, self._now()))
        this = this.where(*[_holds(listed.c.text, one, self._engine) for one in texts])
        query = select(*[_of(number, one) for one in columns]).select_from(found).where(*conditions)
        if wanted.collection is not None:
            query = query.where(_within(kept(wanted.collection), number))
        return query.where(this.offset(0).correlate(found).exists()), number

    def _facets(self, wanted: Wanted) -> list[ColumnElement[bool]]:
        beside = self._grams.beside if wanted.texts else _itself
        return [_has(name, _name(value), beside) for name, value in wanted.facets]

    def _numbers(self, connection: Connection, wanted: Wanted, before: int | None, limit: int) -> list[int]:
        return [row[0] for row in self._newest(connection, wanted, before, limit, listed.c.number)]

    def _rows(self, connection: Connection, numbers: Sequence[int]) -> list[Listed]:
        """The cases of these numbers, newest first; one that is deleted meanwhile is missing."""
        columns = [one for one in listed.c if one.name not in ("text", "expires")]
        query = select(*columns).where(listed.c.number.in_(numbers)).order_by(listed.c.number.desc())
        tags = self._tags(connection, numbers)
        return [_listed(row, tags.get(row.number, [])) for row in connection.execute(query)]

    def _tags(self, connection: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
        query = select(labels.c.number, labels.c.value).where(labels.c.kind == "tag", labels.c.number.in_(numbers))
        found: dict[int, list[str]] = {}
        for number, value in connection.execute(query.order_by(labels.c.value)):
            found.setdefault(number, []).append(value)
        return found


def lasts(number: ColumnElement[int], now: str) -> ColumnElement[bool]:
    """The condition that a listed case of this number is shown still. Those that are not, and not gone, are few."""
    return number.not_in(select(listed.c.number).where(listed.c.expires <= now))


def in_order(connection: Connection, query: Select[int]) -> Select[int]:
    """A query for listed cases in the order of their ids as Python sorts them, whatever the database sorts by."""
    plain = "C" if connection.dialect.name == "postgresql" else "BINARY"
    return query.order_by(listed.c.case_id.collate(plain))


def _name(value: str) -> str:
    """A name as an index has it."""
    return kept(value)[:LONGEST_LABEL]


def _labelled(listing: Listing) -> Iterable[tuple[str, str]]:
    yield from (("tag", one) for one in listing.tags)
    yield from (("check", one) for one in listing.checks)


def _listed(row: Any, tags: Sequence[str]) -> Listed:
    values = {name: getattr(row, name) for name in Listed.__slots__ if name not in ("band", "tags")}
    return Listed(**values, band=[(role, x, width) for role, x, width in json.loads(row.band)], tags=tags)


def _holds(column: Any, words: str, engine: Engine) -> ColumnElement[bool]:
    """The condition that a text holds `words`, character by character."""
    place = func.instr if engine.dialect.name == "sqlite" else func.strpos
    held: ColumnElement[bool] = place(column, words) > 0
    return held


def _itself(one: Column[str]) -> ColumnElement[str]:
    return one


def _has(name: Facet, value: str, beside: Callable[[Column[str]], ColumnElement[str]]) -> ColumnElement[bool]:
    if name not in _LABELS:
        return beside(listed.c[name]) == value
    return exists().where(labels.c.kind == name, labels.c.value == value, labels.c.number == listed.c.number)


def _within(collection: str, number: ColumnElement[int]) -> ColumnElement[bool]:
    inside = select(literal(1)).where(collected.c.collection == collection, collected.c.number == number)
    return inside.offset(0).correlate_except(collected).exists()


def _of(number: ColumnElement[int], column: Column[Any]) -> ColumnElement[Any]:
    """A column of the case of a number that is known."""
    if column is listed.c.number:
        return number
    return select(column).where(listed.c.number == number).correlate_except(listed).scalar_subquery()


def _all(connection: Connection, queries: Iterable[Select[Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row) for query in queries for row in connection.execute(how_often(query))]


def _inside(connection: Connection, collection: str, now: str) -> list[tuple[Any, ...]]:
    """Facets, values and how often they are in a collection: its cases are gone through once, and its labels."""
    theirs = select(collected.c.number).where(collected.c.collection == collection)
    names = [name for name in FACETS if name not in _LABELS]
    alike = select(*[listed.c[name] for name in names]).where(listed.c.number.in_(theirs), lasts(listed.c.number, now))
    found = [
        (name, value, row[-1]) for row in _all(connection, [alike]) for name, value in zip(names, row, strict=False)
    ]
    named = select(labels.c.kind, labels.c.value).where(labels.c.number.in_(theirs), lasts(labels.c.number, now))
    return found + _all(connection, [named])


def _most_frequent(values: Counter[str]) -> list[tuple[str, int]]:
    """Those that are there at all, the most frequent first."""
    return sorted([one for one in values.items() if one[1] > 0], key=lambda one: (-one[1], one[0]))
