"""The page of the library: the cases that a query finds, the filters beside them, and what engines made of each.

Every filter is a link that leads to the same page with another query, so the page works without script and every view
of it has an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from webapp.page.library.band import BandBar
from webapp.page.library.fixed_words import unknown_words
from webapp.page.library.listed_case import engine_title, verdict_words
from webapp.page.library.query import query_of, toggled, wanted_of
from webapp.store import CaseStore
from webapp.store.collecting import Collection
from webapp.store.listings import COUNTED, FACETS, Counts, Facet, Found, Listed, Wanted
from webapp.store.results import Result

SHOWN = 7  # values of a filter; the others are folded away
MOST_ENGINES = 6  # columns of squares: the last ones that ran anything
WORDS: dict[Facet, str] = {"verdict": "Verdict", "parser": "Parser", "engine": "Engine", "tag": "Tag", "check": "Check"}
_UNITS = ((86_400 * 365, "y"), (86_400, "d"), (3_600, "h"), (60, "min"))


@dataclass(slots=True, frozen=True)
class Choice:
    """One value of a filter: how many cases of the whole list have it, and the query that it leads to."""

    value: str
    words: str
    many: int
    chosen: bool
    query: str


@dataclass(slots=True, frozen=True)
class Filter:
    """One filter: its first values, and those that are folded away."""

    words: str
    shown: Sequence[Choice]
    more: Sequence[Choice]


@dataclass(slots=True, frozen=True)
class Square:
    """What an engine made of a case; None: it was not run. `kind` is right, wrong, or said (neither)."""

    engine: str
    result: Result | None

    @property
    def kind(self) -> str:
        """How its square is drawn."""
        if self.result is None:
            return "none"
        return {"pass": "right", "error": "wrong"}.get(self.result.severity, "said")


@dataclass(slots=True, frozen=True)
class Row:
    """A case of the list."""

    case: Listed
    age: str
    band: Sequence[BandBar]
    squares: Sequence[Square]

    @property
    def title(self) -> str:
        """Its title, or what stands for it."""
        return self.case.title or f"Case {self.case.case_id}"

    @property
    def verdict(self) -> str:
        """Its verdict in a few words."""
        return verdict_words(self.case.verdict)

    @property
    def told(self) -> str:
        """What the squares show, in words."""
        kinds = [one.kind for one in self.squares]
        said = [(kinds.count("right"), "right"), (kinds.count("wrong"), "wrong"), (kinds.count("said"), "undecided")]
        return ", ".join([f"{many} {word}" for many, word in [*said, (kinds.count("none"), "not run")] if many])


@dataclass(slots=True, frozen=True)
class LibraryPage:
    """Everything on the page. `query` is what was typed, `written` its one written form; `unknown` says which of its
    words there are not; `engines` are those that ran any case, with their titles: the columns of squares. `refused`:
    why nothing was looked for."""

    query: str
    written: str
    wanted: Wanted
    rows: Sequence[Row]
    found: Found
    counts: Counts
    filters: Sequence[Filter]
    collections: Sequence[Collection]
    collection: Collection | None
    engines: Sequence[tuple[str, str]]
    first: bool
    unknown: Sequence[str]
    refused: str = ""

    @property
    def heading(self) -> str:
        """What the cases are that are shown: those of the list, or the ones that a query finds there."""
        if not self.written:
            return self.collection.title if self.collection else "All cases"
        return f"{self.collection.title if self.collection else 'Cases'} with {self.written}"

    @property
    def many(self) -> str:
        """How many cases were found, in words."""
        if self.found.total > COUNTED:
            return f"more than {COUNTED:,} cases"
        return f"{self.found.total:,} case{'' if self.found.total == 1 else 's'}"


def library_page(
    store: CaseStore, query: str, collection: Collection | None, before: int | None, now: datetime
) -> LibraryPage:
    """The page of a query, in the whole library or in a collection. Raises UsageError for one that is too long."""
    wanted = wanted_of(query, collection.id if collection else None)
    found, counts = store.library.search(wanted, before=before), store.library.counts(wanted.collection)
    columns = [(one.engine, one.version) for one in store.results.all()[:MOST_ENGINES]]
    return LibraryPage(
        query=query,
        written=query_of(wanted.facets, wanted.texts),
        wanted=wanted,
        rows=_rows(store, found, columns, now),
        found=found,
        counts=counts,
        filters=[one for one in (_filter(name, counts, wanted) for name in FACETS) if one.shown],
        collections=store.collections.newest(),
        collection=collection,
        engines=[(engine, engine_title(engine, version)) for engine, version in columns],
        first=before is None,
        unknown=unknown_words(wanted, lambda: counts),
    )


def refused_page(store: CaseStore, query: str, collection: Collection | None, refused: str) -> LibraryPage:
    """The page of a query that nothing was looked for, and why. No filter is offered: it would take the place of what
    was typed."""
    return LibraryPage(
        query=query,
        written="",
        wanted=Wanted(collection=collection.id if collection else None),
        rows=(),
        found=Found((), 0, None),
        counts=store.library.counts(collection.id if collection else None),
        filters=(),
        collections=store.collections.newest(),
        collection=collection,
        engines=(),
        first=True,
        unknown=(),
        refused=refused,
    )


def age(created: str, now: datetime) -> str:
    """How long ago that was, in the largest unit that fits."""
    seconds = (now - datetime.fromisoformat(created).astimezone(UTC)).total_seconds()
    return next((f"{int(seconds // size)} {unit}" for size, unit in _UNITS if seconds >= size), "now")


def _rows(store: CaseStore, found: Found, columns: Sequence[tuple[str, str]], now: datetime) -> list[Row]:
    results = store.results.of([one.number for one in found.rows], columns) if columns else {}
    return [
        Row(
            case=one,
            age=age(one.created, now),
            band=[BandBar(*bar) for bar in one.band],
            squares=[Square(engine_title(*column), results[one.number].get(column)) for column in columns],
        )
        for one in found.rows
    ]


def _filter(name: Facet, counts: Counts, wanted: Wanted) -> Filter:
    known = dict(counts.values[name])
    for facet, value in wanted.facets:
        if facet == name:
            known.setdefault(value, 0)
    choices = [
        Choice(value, _in_words(name, value), many, (name, value) in wanted.facets, toggled(wanted, name, value))
        for value, many in known.items()
    ]
    first = [one for at, one in enumerate(choices) if at < SHOWN or one.chosen]
    return Filter(WORDS[name], first, [one for one in choices if one not in first])


def _in_words(name: Facet, value: str) -> str:
    return verdict_words(value) if name == "verdict" else value
