from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, delete, event, func, insert, select, update

from tests.webapp.store.test_listings import ids, listing
from tests.webapp.store.test_upgrade import at_revision
from webapp.store import CaseStore, Cost, collecting, make_engine, results, tallies, upgrade
from webapp.store.engine import writing
from webapp.store.keeping import Keeper
from webapp.store.listings import Wanted
from webapp.store.results import Result
from webapp.store.schema import facet_counts, tried_counts


@pytest.fixture
def add(store: CaseStore) -> Callable[[str], str]:
    """List a case of a text; returns its delete key. Its id is its text, filled up."""

    def listed(text: str) -> str:
        return str(store.save(text.ljust(16, "0"), text, "digest", "1.0", listing(text)).delete_key)

    return listed


def test_a_collection_is_what_a_query_found_when_it_was_made(store: CaseStore, add: Callable[[str], str]) -> None:
    key, *_ = [add(text) for text in ("this1", "that2", "this3")]
    made = store.collections.make("Release gate", Wanted(texts=("this",)))
    assert made is not None
    add("this4")
    found = store.collections.get(made.id)
    assert found is not None
    assert (found.title, found.total, made.total, len(made.id)) == ("Release gate", 2, 2, 16)
    inside = Wanted(collection=made.id)
    assert ids(store, inside) == ["this3".ljust(16, "0"), "this1".ljust(16, "0")]
    assert store.library.counts(made.id).total == store.library.counts(made.id).values["parser"][0][1] == 2
    store.withdraw("this1".ljust(16, "0"), key)
    assert ids(store, inside) == ["this3".ljust(16, "0")]
    assert [one.total for one in store.collections.newest()] == [1]


def test_nothing_makes_no_collection(store: CaseStore, add: Callable[[str], str]) -> None:
    add("this")
    assert store.collections.make("Empty", Wanted(texts=("that",))) is None
    assert store.collections.newest() == []
    assert store.collections.get("0" * 16) is None


@pytest.mark.parametrize("others", [1, 0])
def test_what_is_deleted_while_a_collection_is_made_is_not_in_it(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    key, numbers = add("this"), store.library.numbers
    for number in range(others):
        add(f"that{number}")

    def found(wanted: Wanted, **more: int) -> list[tuple[int, str]]:
        there = numbers(wanted, **more)
        assert store.withdraw("this".ljust(16, "0"), key)
        return there

    monkeypatch.setattr(store.library, "numbers", found)
    made = store.collections.make("Some", Wanted())
    assert (made.total if made else None, len(store.collections.newest())) == (others or None, others)


def test_a_collection_goes_with_its_key_and_the_cases_stay(store: CaseStore, add: Callable[[str], str]) -> None:
    add("this")
    made = store.collections.make("One", Wanted())
    assert made is not None
    assert [store.collections.delete(made.id, "wrong"), store.collections.delete("x", made.delete_key)] == [False] * 2
    assert store.collections.delete(made.id, made.delete_key)
    assert store.collections.get(made.id) is None
    assert store.count() == 1


@pytest.mark.parametrize("act", ["make", "delete"])
@pytest.mark.parametrize("upwards", [True, False])
def test_a_collection_and_a_purge_of_its_cases_wait_for_each_other_and_both_are_done(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, act: str, *, upwards: bool
) -> None:
    texts = ["a1", "b2", "c3"]
    for text in texts if upwards else texts[::-1]:
        add(text)
    made = store.collections.make("Before", Wanted())
    assert made is not None
    monkeypatch.setattr(collecting, "_BATCH", 1)
    empty, begun = CaseStore.empty, threading.Event()

    def slowly(one: CaseStore, connection: Connection, case_id: str) -> Cost:
        gone = empty(one, connection, case_id)
        begun.set()
        time.sleep(0.3)  # for the other one to hold what it can
        return gone

    monkeypatch.setattr(CaseStore, "empty", slowly)
    with ThreadPoolExecutor(1) as threads:
        purged = threads.submit(Keeper(store).purge, [text.ljust(16, "0") for text in texts])
        assert begun.wait(10)
        if act == "make":
            assert store.collections.make("After", Wanted()) is None
        else:
            assert store.collections.delete(made.id, made.delete_key)
        assert purged.result() == 3


def test_what_an_engine_has_not_run_in_its_version_is_left(store: CaseStore, add: Callable[[str], str]) -> None:
    add("a1")
    key = add("b2")
    assert [body for _, body in store.results.left("vllm", "0.33", Wanted(), 9)] == ["b2", "a1"]
    (number, _), _ = store.results.left("vllm", "0.33", Wanted(), 9)
    assert [body for _, body in store.results.left("vllm", "0.33", Wanted(), 9, number)] == ["a1"]
    store.results.keep("vllm", "0.33", number, Result("fails", "error", "chunking: x"))
    assert [body for _, body in store.results.left("vllm", "0.33", Wanted(), 9)] == ["a1"]
    assert store.results.count_left("vllm", "0.33", Wanted(texts=("b",))) == 0
    assert store.results.count_left("vllm", "0.34", Wanted()) == 2
    store.results.keep("vllm", "0.33", number, Result("passes", "pass"))
    (run,) = store.results.all()
    assert (run.engine, run.version, run.counts, run.total) == ("vllm", "0.33", {"pass": 1}, 1)
    columns = [("vllm", "0.33")]
    assert store.results.of([number], columns) == {number: {("vllm", "0.33"): Result("passes", "pass")}}
    assert store.results.of([number], []) == {number: {}}
    store.results.keep("vllm", "0.33", number, Result("raises", "error", "\0\ud800" + "x" * 900))
    kept = store.results.of([number], columns)[number]["vllm", "0.33"]
    assert kept == Result("raises", "error", "\ufffd\ufffd" + "x" * 498)
    store.withdraw("b2".ljust(16, "0"), key)
    store.results.keep("vllm", "0.33", number, Result("passes", "pass"))
    assert store.results.all() == []


def test_what_is_forgotten_is_left_to_be_run_again(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_BATCH", 2)
    for text in ("c1", "c2", "c3", "other"):
        add(text)
    numbers = [number for number, _ in store.results.left("vllm", "0.33", Wanted(), 9)]
    for number in numbers:
        for version in ("0.33", "0.34"):
            store.results.keep("vllm", version, number, Result("passes", "pass"))
    store.results.forget("vllm", "0.33", Wanted(texts=("c",)))
    assert [body for _, body in store.results.left("vllm", "0.33", Wanted(), 9)] == ["c3", "c2", "c1"]
    assert counted(store) == {"vllm 0.33": {"pass": 1}, "vllm 0.34": {"pass": 4}}
    store.results.forget("vllm", "0.33", Wanted(texts=("c",)))
    assert counted(store) == {"vllm 0.33": {"pass": 1}, "vllm 0.34": {"pass": 4}}


def counted(store: CaseStore) -> dict[str, dict[str, int]]:
    return {f"{one.engine} {one.version}": one.counts for one in store.results.all()}


def changes(store: CaseStore) -> int:
    """How many rows are read for the counts."""
    with store.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(tried_counts)).scalar_one()


def test_results_are_counted_as_they_come_and_go_and_nobody_looks_at_all_of_them(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_CHANGES", 4)
    keys = [add(text) for text in ("a1", "b2", "c3")]
    numbers = [number for number, _ in store.results.left("x", "1", Wanted(), 9)][::-1]
    for engine, version in (("vllm", "1"), ("vllm", "2"), ("sglang", "1")):
        for number in numbers:
            store.results.keep(engine, version, number, Result("fails", "error"))
    store.results.keep("vllm", "2", numbers[1], Result("passes", "pass"))
    whole = {"sglang 1": {"error": 3}, "vllm 1": {"error": 3}, "vllm 2": {"error": 2, "pass": 1}}
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert counted(store) == counted(store) == whole
    assert [one for one in asked if re.search(r"\btried\b", one) and "expires <=" not in one] == []
    store.withdraw("b2".ljust(16, "0"), keys[1])
    assert counted(store) == {"sglang 1": {"error": 2}, "vllm 1": {"error": 2}, "vllm 2": {"error": 2}}
    for text, key in (("a1", keys[0]), ("c3", keys[2])):
        store.withdraw(text.ljust(16, "0"), key)
    assert counted(store) == {}


def test_who_writes_keeps_the_counts_short_and_who_looks_writes_nothing(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_CHANGES", 4)
    keys = {text: add(text) for text in ("a1", "b2", "c3")}
    numbers = [number for number, _ in store.results.left("x", "1", Wanted(), 9)]
    most = 0
    for turn in range(30):
        store.results.keep("e", str(turn % 3), numbers[0], Result("fails", ("error", "pass")[turn % 2]))
        most = max(most, changes(store))
    assert most <= 2 * 6 + 4
    for version in range(12):
        store.results.keep("e", str(version), numbers[1], Result("fails", "error"))
        store.results.keep("e", str(version), numbers[2], Result("fails", "error"))
    before = counted(store)
    writes: list[str] = []
    event.listen(
        store.engine,
        "begin",
        lambda one: writes.append("") if one.get_execution_options().get("inspector_writes") else 0,
    )
    for _ in range(3):
        assert counted(store) == before
    assert writes == []
    for text, key in keys.items():
        store.withdraw(text.ljust(16, "0"), key)
    assert counted(store) == {}
    assert changes(store) <= 4


def test_what_nothing_is_left_of_has_no_row_and_the_time_of_the_last_result_stays(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_CHANGES", 0)
    add("a1")
    key = add("b2")
    (newer, _), (older, _) = store.results.left("e", "1", Wanted(), 9)
    store.results.keep("e", "1", older, Result("passes", "pass"))
    store.results.keep("e", "1", newer, Result("fails", "error"))
    (before,) = store.results.all()
    store.withdraw("b2".ljust(16, "0"), key)
    with writing(store.engine).begin() as connection:
        tallies.RESULT_TALLY.put_together(connection)
    (after,) = store.results.all()
    assert (changes(store), after.counts, after.last) == (1, {"pass": 1}, before.last)


def by_engine_and_facet(store: CaseStore) -> tuple[Any, ...]:
    return counted(store), [one.last for one in store.results.all()], store.library.counts()


MISCOUNTED = [
    ("all that was listed", delete(facet_counts), False),
    ("all results", delete(tried_counts), False),
    ("one kind", delete(facet_counts).where(facet_counts.c.facet == "engine"), False),
    ("too many", insert(facet_counts).values(facet="verdict", value="odd", many=1), False),
    ("another kind", update(facet_counts).where(facet_counts.c.facet == "parser").values(value="odd"), True),
    ("another version", update(tried_counts).values(version="odd"), True),
]


@pytest.mark.parametrize(("wrong", "closely"), [one[1:] for one in MISCOUNTED], ids=[one[0] for one in MISCOUNTED])
def test_what_an_older_server_did_not_count_is_counted_anew(
    store: CaseStore, add: Callable[[str], str], wrong: Any, closely: bool
) -> None:
    for text in ("a1", "b2"):
        add(text)
    for number, _ in store.results.left("vllm", "0.33", Wanted(), 9):
        store.results.keep("vllm", "0.33", number, Result("passes", "pass"))
    right = by_engine_and_facet(store)
    with writing(store.engine).begin() as connection:
        connection.execute(wrong)
    assert by_engine_and_facet(store) != right
    if closely:
        store.mend_counts()
        assert by_engine_and_facet(store) != right, "that is looked for where a server starts"
    store.mend_counts(closely=closely)
    assert by_engine_and_facet(store) == right


@pytest.mark.parametrize("closely", [False, True])
def test_right_counts_are_left_as_they_are(store: CaseStore, add: Callable[[str], str], closely: bool) -> None:
    begun: list[bool] = []
    add("a1")
    event.listen(store.engine, "begin", lambda one: begun.append("inspector_writes" in one.get_execution_options()))
    store.mend_counts(closely=closely)
    assert begun == [False, False]


def test_what_is_listed_while_counts_are_mended_is_counted_once(store: CaseStore, add: Callable[[str], str]) -> None:
    def mend() -> None:
        with writing(store.engine).begin() as connection:
            connection.execute(delete(facet_counts))
        store.mend_counts()

    with ThreadPoolExecutor() as pool:
        done = [pool.submit(add, f"c{number:02}") for number in range(40)] + [pool.submit(mend) for _ in range(10)]
        for one in done:
            one.result(60)
    store.mend_counts()
    before = by_engine_and_facet(store)
    assert before[2].total == 40
    store.mend_counts(closely=True)
    assert by_engine_and_facet(store) == before


def test_many_engines_and_versions_are_not_put_together_again_and_again(
    store: CaseStore, add: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_CHANGES", 4)
    add("a1")
    ((number, _),) = store.results.left("e", "1", Wanted(), 9)
    for version in range(20):
        store.results.keep("e", str(version), number, Result("fails", "error"))
    deleted: list[str] = []
    event.listen(
        store.engine, "before_cursor_execute", lambda *given: deleted.append(given[2]) if "DELETE" in given[2] else None
    )
    for _ in range(5):
        store.results.tidy()
    assert [one for one in deleted if "tried_counts" in one] == []


def test_results_of_before_all_chunkings_were_judged_are_forgotten_and_run_again(database_url: str) -> None:
    upgrade(engine := make_engine(database_url))
    store = CaseStore(engine)
    for number in (1, 2):
        store.save(str(number) * 16, f'{{"n":{number}}}', "digest", "1.0", listing("x"))
        store.results.keep("e", "1", number, Result("passes", "pass"))
    assert store.results.left("e", "1", Wanted(), 9) == []
    at_revision(engine, "0010")
    upgrade(engine)
    assert store.results.all() == []
    assert [body for _, body in store.results.left("e", "1", Wanted(), 9)] == ['{"n":2}', '{"n":1}']
    store.results.keep("e", "1", 2, Result("passes", "pass"))
    assert counted(store) == {"e 1": {"pass": 1}}
    store.close()
