"""Which case a copy names as its parent: whoever reads an id may open the case, and the library gives ids to everybody.

In every order of steps: a copy that has been listed names its parent only while that one is listed, and never again
where it was not when the copy was listed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import column, insert, table

from tests.webapp.store.test_upgrade import at_revision
from webapp.store import CaseStore, Gone, Listing, Sharing, make_engine, open_store, upgrade
from webapp.store.archive import backup, restore
from webapp.store.engine import writing
from webapp.store.keeping import Keeper
from webapp.store.listings import Wanted
from webapp.store.schema import cases

PARENT, COPY = "f" * 16, "0123456789abcdef"
LISTING = Listing("", "qwen", "builtin", "all_hold", "pass", "the output")
BODIES = {
    PARENT: '{"schema":1,"input":{"text":"the output"}}\n',
    COPY: f'{{"schema":1,"parent":"{PARENT}","input":{{"text":"a copy"}}}}\n',
}
TODAY, TOMORROW, LATER = "2026-01-31T09:00:00.000Z", "2026-02-01T09:00:00.000Z", "2026-02-02T09:00:00.000Z"


class World:
    """A store, its clock, and who has which key: A lists, B shares without listing."""

    def __init__(self, url: str, beside: Path) -> None:
        self.time, self.keys, self._beside = TODAY, dict[str, str](), beside
        self.store = self._opened(url)

    def _opened(self, url: str) -> CaseStore:
        return CaseStore(make_engine(url), now=lambda: self.time)

    def share(self, who: str, case_id: str, expires: str | None = None) -> None:
        listing = LISTING if who == "A" else None
        shared = self.store.save(case_id, BODIES[case_id], "d", "1", listing, sharing=Sharing(expires=expires))
        self.keys[who + case_id] = shared.delete_key
        if listing is not None and not shared.created:
            self.store.list_known(case_id, listing, shared.delete_key)

    def withdraw(self, who: str, case_id: str) -> None:
        assert self.store.withdraw(case_id, self.keys[who + case_id])

    def purge(self, case_id: str) -> None:
        assert Keeper(self.store).purge([case_id]) == 1

    def wait(self) -> None:
        self.time = LATER

    def move(self) -> None:
        """Go on with what a backup restores."""
        file, url = io.StringIO(), f"sqlite:///{self._beside / 'restored.sqlite3'}"
        backup(self.store.engine, file)
        self.store.close()
        open_store(url).close()
        self.store = self._opened(url)
        file.seek(0)
        restore(self.store.engine, file)

    def names_parent(self) -> bool:
        """Whether the copy does; as the library exports it, where it does that."""
        found = self.store.get(COPY)
        assert found is not None
        assert "a copy" in found.body
        exported = dict(self.store.library.bodies(Wanted())).get(COPY, found.body)
        assert exported == found.body
        return PARENT in found.body


Step = Callable[[World], None]
STEPS: dict[str, Step] = {
    "A lists P": lambda world: world.share("A", PARENT),
    "B shares P": lambda world: world.share("B", PARENT),
    "A withdraws P": lambda world: world.withdraw("A", PARENT),
    "P is taken down": lambda world: (Keeper(world.store).take_down(PARENT), None)[1],
    "A lists C": lambda world: world.share("A", COPY),
    "A lists C for a day": lambda world: world.share("A", COPY, TOMORROW),
    "B shares C": lambda world: world.share("B", COPY),
    "A withdraws C": lambda world: world.withdraw("A", COPY),
    "B withdraws C": lambda world: world.withdraw("B", COPY),
    "C is purged": lambda world: world.purge(COPY),
    "two days pass": World.wait,
    "a backup is restored": World.move,
}
ORDERS: list[tuple[str, bool]] = [
    ("B shares P, B shares C", True),  # whoever has the link of a copy that is not listed may follow it to its parent
    ("A lists P, A lists C", True),
    ("A lists P, B shares C", True),
    ("A lists P, A lists C, B shares C, A withdraws C", True),
    # The parent was not listed when the copy was.
    ("B shares P, A lists C", False),
    ("B shares P, B shares C, A lists C", False),
    ("B shares P, A lists C, B shares C, A withdraws C", False),
    ("B shares P, A lists C for a day, B shares C, two days pass", False),
    ("B shares P, A lists C, A lists P", False),
    ("B shares P, A lists C, B shares C, A withdraws C, A lists P", False),
    ("B shares P, A lists C, C is purged, B shares C", False),
    ("B shares P, A lists C, A withdraws C, B shares C", False),
    ("B shares P, A lists C, B shares C, a backup is restored, A withdraws C", False),
    ("B shares P, A lists C, A withdraws C, a backup is restored, B shares C", False),
    ("B shares P, A lists C, B shares C, A withdraws C, A lists C", False),
    # The parent left, while the copy was listed or later.
    ("A lists P, A lists C, A withdraws P", False),
    ("A lists P, A lists C, P is taken down", False),
    ("A lists P, A lists C, B shares P, A withdraws P", False),
    ("A lists P, B shares P, A lists C, B shares C, A withdraws P, A withdraws C", False),
    ("A lists P, B shares P, A lists C, B shares C, A withdraws C, A withdraws P", False),
    ("A lists P, B shares P, A lists C for a day, B shares C, two days pass, A withdraws P", False),
    ("A lists P, B shares P, A lists C, C is purged, A withdraws P, B shares C", False),
    ("A lists P, B shares P, A lists C, B shares C, A withdraws C, a backup is restored, A withdraws P", False),
    ("A lists P, B shares P, A lists C, A withdraws P, A lists P", True),
]


@pytest.fixture
def world(migrated: str, tmp_path: Path) -> Iterator[World]:
    made = World(migrated, tmp_path)
    yield made
    made.store.close()


@pytest.mark.parametrize(("order", "named"), ORDERS, ids=[order for order, _ in ORDERS])
def test_a_copy_that_has_been_listed_names_no_parent_that_is_not(world: World, order: str, *, named: bool) -> None:
    for step in order.split(", "):
        STEPS[step](world)
    assert world.names_parent() is named


def test_what_is_taken_out_of_a_listed_copy_is_counted_no_more(world: World) -> None:
    for step in ("B shares P", "A lists C"):
        STEPS[step](world)
    assert PARENT not in stored(world.store)
    assert world.store.spending.total().bytes == len(stored(world.store)) + len(BODIES[PARENT])
    world.withdraw("A", COPY)
    assert world.store.spending.total().bytes == len(BODIES[PARENT])


def stored(store: CaseStore) -> str:
    with store.engine.connect() as connection:
        body: str = connection.execute(cases.select().where(cases.c.id == COPY)).one().body
    return body


@pytest.mark.parametrize("was", ["listed", "gone", "unlisted"])
def test_an_upgraded_copy_that_may_have_been_listed_names_no_parent_that_is_not(database_url: str, was: str) -> None:
    at_revision(engine := make_engine(database_url), "0009")
    row = {"id": COPY, "body": BODIES[COPY], "outcome_digest": "d", "version": "1", "created": TODAY, "deleted": None}
    if was == "gone":
        row |= {"body": "", "deleted": TODAY, "ended": "deleted"}
    said = ("title", "parser", "engine", "verdict", "severity", "text")
    with writing(engine).begin() as connection:
        connection.execute(insert(table("cases", *map(column, row))).values(**row))
        if was == "listed":
            shown = dict.fromkeys(said, "") | {"case_id": COPY, "created": TODAY, "band": "[]"}
            connection.execute(insert(table("listed", *map(column, shown))).values(**shown))
    upgrade(engine)
    store = CaseStore(engine)
    if was == "gone":
        with pytest.raises(Gone):
            store.get(COPY)
        store.save(COPY, BODIES[COPY], "d", "1")
    assert (PARENT in getattr(store.get(COPY), "body", "")) is (was == "unlisted")
    store.close()
