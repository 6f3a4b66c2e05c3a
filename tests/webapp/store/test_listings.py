from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.event import listen

from tests.postgresql import Cluster
from tests.webapp.store.test_upgrade import at_revision
from webapp.store import CaseStore, Listing, make_engine, open_store, upgrade
from webapp.store.grams import MOST_ASKED, asked, grams, kept
from webapp.store.listings import COUNTED, LONGEST_LABEL, Facet, Wanted
from webapp.store.schema import facet_counts

TEXTS = {
    "call": '<tool_call>\n{"name": "f"}\n</tool_call>',
    "think": "<think>a</think>\n\nb",
    "cjk": "東京 is \U0001f600 here",
    "short": "x",
    "percent": "100% of _ and \\ and ' and \" OR NOT",
    "case": "Tool_Call",
    "nul": "a\0b \ud800",
    "empty": "",
}
# What is looked for, and where it is: exactly as it is written, white space and case included.
LOOKED_FOR = [
    ("</tool", {"call"}),
    ("</", {"call", "think"}),
    ("<", {"call", "think"}),
    ('{"name": "f"}', {"call"}),
    ("\n\n", {"think"}),
    ("東", {"cjk"}),
    ("東京", {"cjk"}),
    ("\U0001f600 h", {"cjk"}),
    ("%", {"percent"}),
    ("_ and \\ and '", {"percent"}),
    ('" OR NOT', {"percent"}),
    ("tool_call", {"call"}),
    ("Tool_", {"case"}),
    ("tool_call>\n{", {"call"}),
    ("loot", set()),
    ("l_call>\n</tool", set()),
    ("a\0b", {"nul"}),
    ("\ud800", {"nul"}),
    ("x", {"short"}),
]


def listing(text: str = "", **more: Any) -> Listing:
    given = {"title": "", "parser": "qwen", "engine": "builtin", "verdict": "all_hold", "severity": "pass"}
    return Listing(**{**given, "text": text, **more})


@pytest.fixture
def add(store: CaseStore) -> Callable[..., str]:
    """List a case of a text; its id is its place in the order."""
    numbers = iter(range(10_000))

    def listed(text: str = "", **more: Any) -> str:
        case_id = f"{next(numbers):016}"
        store.save(case_id, '{"n":"' + case_id + '"}', "digest", "1.0", listing(text, **more))
        return case_id

    return listed


def migrated_url(postgresql: Cluster) -> str:
    url = postgresql.database()
    upgrade(engine := make_engine(url))
    engine.dispose()
    return url


def changes(store: CaseStore) -> int:
    """How many rows the counts beside the filters are added up from."""
    with store.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(facet_counts)).scalar_one()


def ids(store: CaseStore, wanted: Wanted = Wanted(), **more: Any) -> list[str]:  # noqa: B008 - a value
    return [one.case_id for one in store.library.search(wanted, **more).rows]


def test_every_substring_is_found_exactly_where_it_is(store: CaseStore, add: Callable[..., str]) -> None:
    names = {add(text): name for name, text in TEXTS.items()}
    found = {words: {names[one] for one in ids(store, Wanted(texts=(words,)))} for words, _ in LOOKED_FOR}
    assert found == dict(LOOKED_FOR)


def test_random_substrings_are_found_as_python_finds_them(store: CaseStore, add: Callable[..., str]) -> None:
    drawn = random.Random(7)
    texts = {add(text): text for text in ["".join(drawn.choices("ab<>/é\n", k=30)) for _ in range(40)]}
    for size in (1, 2, 3, 4, 7):
        for _ in range(12):
            words = "".join(drawn.choices("ab<>/é\n", k=size))
            assert set(ids(store, Wanted(texts=(words,)))) == {one for one, text in texts.items() if words in text}


def test_a_title_is_looked_through_too(store: CaseStore, add: Callable[..., str]) -> None:
    named = add("text", title="A brace too few")
    assert ids(store, Wanted(texts=("brace too",))) == [named]


def test_all_texts_and_all_facets_must_hold(store: CaseStore, add: Callable[..., str]) -> None:
    both = add("one two", parser="llama", tags=["a", "b"], checks=["chunking"], verdict="text_lost", engine="vllm")
    add("one", parser="llama", tags=["a"])
    add("one two")
    assert ids(store, Wanted(texts=("one", "two"), facets=(("parser", "llama"),))) == [both]
    assert ids(store, Wanted(facets=(("tag", "a"), ("tag", "b"), ("check", "chunking")))) == [both]
    assert ids(store, Wanted(facets=(("engine", "vllm"), ("verdict", "text_lost")))) == [both]
    assert ids(store, Wanted(facets=(("tag", "chunking"),))) == []


def test_pages_follow_each_other_newest_first(store: CaseStore, add: Callable[..., str]) -> None:
    made = [add("same text") for _ in range(7)][::-1]
    for wanted in (Wanted(), Wanted(texts=("same",))):
        first = store.library.search(wanted, limit=3)
        second = store.library.search(wanted, limit=3, before=first.more)
        last = store.library.search(wanted, limit=3, before=second.more)
        assert [one.case_id for page in (first, second, last) for one in page.rows] == made
        assert (first.total, last.total, last.more) == (7, 7, None)


def test_a_row_shows_what_was_known_when_it_was_saved(store: CaseStore, add: Callable[..., str]) -> None:
    add("t", title="T", tags=["b", "a"], verdict="marker_leak", severity="error", band=[("name", 1.5, 20.0)])
    (row,) = store.library.search(Wanted()).rows
    assert (row.title, row.verdict, row.severity, row.tags) == ("T", "marker_leak", "error", ["a", "b"])
    assert row.band == [("name", 1.5, 20.0)]
    case = store.get(row.case_id)
    assert case is not None
    assert row.created == case.created


@pytest.mark.parametrize("facet", ["parser", "engine", "tag", "check"])
def test_a_name_of_any_length_is_listed_and_found_by_its_beginning(
    store: CaseStore, add: Callable[..., str], facet: Facet
) -> None:
    """An index of PostgreSQL takes no row beyond 2,704 bytes, which letters of no order do not shrink to."""
    source = random.Random(1)
    name = "".join([chr(source.randrange(0x4E00, 0x9FFF)) for _ in range(5_000)])
    more: dict[str, Any] = {"parser": name, "engine": name, "tags": [name], "checks": [name]}
    long, other = add("long", **more), add("other")
    assert ids(store, Wanted(facets=((facet, name),))) == [long]
    shown = store.library.counts().values[facet][0][0] if facet in ("tag", "check") else name[:LONGEST_LABEL]
    assert shown == name[:LONGEST_LABEL]
    assert ids(store, Wanted(facets=((facet, shown),))) == [long]
    assert ids(store, Wanted()) == [other, long]


def test_facets_are_counted_most_frequent_first(store: CaseStore, add: Callable[..., str]) -> None:
    add(tags=["x"], checks=["chunking"])
    add(parser="llama", tags=["x", "y"])
    add(parser="llama")
    counts = store.library.counts()
    assert counts.total == 3
    assert counts.values["parser"] == [("llama", 2), ("qwen", 1)]
    assert counts.values["tag"] == [("x", 2), ("y", 1)]
    assert counts.values["check"] == [("chunking", 1)]


def test_the_counts_of_the_whole_library_look_at_no_case(store: CaseStore, add: Callable[..., str]) -> None:
    add(tags=["x"])
    asked = list[str]()
    listen(store.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    assert store.library.counts().total == 1
    read = [one for one in asked if re.search(r"FROM listed\b|JOIN listed\b|listed_labels", one)]
    assert [one for one in read if "expires <=" not in one] == []


def test_who_lists_and_deletes_keeps_the_counts_short(
    store: CaseStore, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.store.tallies.MOST_CHANGES", 4)
    keys, most = dict[str, str](), 0
    for number in range(12):
        case_id = f"{number:016}"
        keys[case_id] = store.save(
            case_id, "{}", "digest", "1.0", listing(tags=["x"], parser=f"p{number % 2}")
        ).delete_key
        most = max(most, changes(store))
    assert store.library.counts().values["parser"] == [("p0", 6), ("p1", 6)]
    for case_id, key in keys.items():
        assert store.withdraw(case_id, key)
        most = max(most, changes(store))
    assert most <= 2 * 5 + 4 + 4  # of five values, and what one case more changes
    assert (store.library.counts().total, [*filter(None, store.library.counts().values.values())]) == (0, [])


def test_what_was_listed_before_is_counted(database_url: str) -> None:
    upgrade(engine := make_engine(database_url))
    store = CaseStore(engine)
    for number, tags in enumerate(((), ("x",), ("x", "y"))):
        store.save(f"{number:016}", "{}", "digest", "1.0", listing("some text", tags=tags, checks=["chunking"]))
    before = store.library.counts()
    at_revision(engine, "0011")
    upgrade(engine)
    assert store.library.counts() == before
    assert (before.total, before.values["tag"]) == (3, [("x", 2), ("y", 1)])
    assert store.library.search(Wanted(texts=("me te",))).total == 3
    store.close()


def test_an_unlisted_case_is_nowhere_in_the_library(store: CaseStore) -> None:
    store.save("0" * 16, '{"text":"secret"}', "digest", "1.0")
    assert ids(store) == ids(store, Wanted(texts=("secret",))) == []
    assert (store.library.counts().total, store.library.is_listed("0" * 16)) == (0, False)
    assert list(store.library.bodies(Wanted())) == []


def test_to_save_a_case_again_lists_nothing_and_to_list_it_later_does_once(store: CaseStore) -> None:
    key = store.save("0" * 16, "{}", "digest", "1.0").delete_key
    again = store.save("0" * 16, "{}", "digest", "1.0", listing("secret"))
    assert again.created is False
    assert ids(store) == []
    assert [store.list_known(one * 16, listing("secret"), key) for one in ("0", "0", "1")] == [True, False, False]
    (row,) = store.library.search(Wanted()).rows
    assert (row.case_id, row.created) == ("0" * 16, getattr(store.get("0" * 16), "created", ""))
    last = store.save("0" * 16, "{}", "digest", "1.0")
    assert ids(store, Wanted(texts=("secret",))) == ["0" * 16]
    keys = (key, again.delete_key, last.delete_key)
    assert [store.withdraw("0" * 16, one) for one in keys] == [True, True, True]
    assert (store.list_known("0" * 16, listing("secret"), ""), ids(store)) == (False, [])


def test_a_deleted_case_leaves_the_library(store: CaseStore, add: Callable[..., str]) -> None:
    kept_one = add("secret too")
    key = store.save("f" * 16, "{}", "digest", "1.0", listing("secret", tags=["t"], checks=["c"])).delete_key
    assert store.withdraw("f" * 16, str(key))
    assert ids(store, Wanted(texts=("secret",))) == [kept_one]
    assert store.library.counts().values["tag"] == []
    assert store.save("f" * 16, "{}", "digest", "1.0", listing("again")).created
    assert ids(store, Wanted(texts=("again",))) == ["f" * 16]


def test_nothing_of_a_deleted_listing_stays_in_the_files(tmp_path: Path) -> None:
    store, secret = open_store(f"sqlite:///{tmp_path / 'cases.sqlite3'}"), "the text somebody wants back"
    words = f"{grams('wan', 3).pop() & 0xFFFFFFFF:x}".encode()
    store.save("0" * 16, "{}", "digest", "1.0", listing("kept"))
    key = store.save("f" * 16, "{}", "digest", "1.0", listing(secret, title="mine")).delete_key
    for looked_for in (secret.encode(), words[2:]):
        assert [path.name for path in tmp_path.iterdir() if looked_for in path.read_bytes()] != []
    store.withdraw("f" * 16, str(key))
    for looked_for in (secret.encode(), words[2:]):
        assert [path.name for path in tmp_path.iterdir() if looked_for in path.read_bytes()] == []
    store.close()


@pytest.mark.parametrize("name", ["verdict", "parser", "engine"])
def test_where_a_text_is_looked_for_no_filter_is_gone_through_first(tmp_path: Path, name: Facet) -> None:
    store, plans = open_store(f"sqlite:///{tmp_path / 'cases.sqlite3'}"), list[str]()
    for number in range(50):
        store.save(f"{number:016}", "{}", "", "1.0", listing("</tool", **{name: "this" if number % 2 else "that"}))

    def look(_connection: Any, cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        if "MATCH" in statement:
            rows = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.append(" ".join([row[3] for row in rows]))

    listen(store.engine, "before_cursor_execute", look)
    assert store.library.search(Wanted(texts=("</tool",), facets=((name, "this"),))).total == 25
    store.close()
    assert len(plans) == 1
    assert not [plan for plan in plans if f"listed_{name}" in plan]


def test_postgresql_asks_the_index_and_reads_no_other_text_however_common_it_is(postgresql: Cluster) -> None:
    store, plans = open_store(migrated_url(postgresql)), list[str]()
    for number in range(50):
        store.save(f"{number:016}", "{}", "", "1.0", listing(f"</tool {'' if number else 'once'}"))

    def look(_connection: Any, cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        if "@>" in statement:
            with cursor.connection.cursor() as beside:
                plans.append(" ".join([row[0] for row in beside.execute(f"EXPLAIN {statement}", parameters)]))

    with store.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
    listen(store.engine, "before_cursor_execute", look)
    assert [store.library.search(Wanted(texts=(one,))).total for one in ("</tool", "once")] == [50, 1]
    store.close()
    assert ["Index Scan on listed_grams_grams" in one for one in plans] == [True, True]
    assert [way for way in ("Seq Scan", "Hash Join", "Merge Join") for one in plans if way in one] == []


def test_rows_of_postgresqls_index_are_short_whatever_is_in_it(postgresql: Cluster) -> None:
    store, chance = open_store(migrated_url(postgresql)), random.Random(3)
    for number in range(40):
        store.save(f"{number:016}", "{}", "", "1.0", listing("".join(chance.choices("abcdefgh<>/", k=250))))
    with store.engine.connect() as connection:
        size = connection.exec_driver_sql("SELECT pg_relation_size('listed_grams')").scalar_one()
    store.close()
    assert size <= 2 * 8192


def test_a_page_goes_on_below_what_was_counted(
    store: CaseStore, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.store.listings.COUNTED", 3)
    made = [add("same text") for _ in range(9)][::-1]
    for wanted in (Wanted(), Wanted(texts=("same",))):
        found, page = list[str](), store.library.search(wanted, limit=2)
        while page.more is not None:
            found += [one.case_id for one in page.rows]
            assert page.total == 4
            page = store.library.search(wanted, limit=2, before=page.more)
        found += [one.case_id for one in page.rows]
        assert found == made


def test_bodies_are_those_of_what_is_wanted(store: CaseStore, add: Callable[..., str]) -> None:
    made = [add("this") for _ in range(5)]
    add("that")
    found = list(store.library.bodies(Wanted(texts=("this",)), size=2))
    assert found == [(one, '{"n":"' + one + '"}') for one in made[::-1]]


def test_what_is_in_the_library_no_more_is_not_in_an_export_that_has_begun(
    store: CaseStore, add: Callable[..., str]
) -> None:
    key = store.save("f" * 16, "{}", "digest", "1.0", listing("first")).delete_key
    store.save("f" * 16, "{}", "digest", "1.0")
    last = add("last")
    export = store.library.bodies(Wanted(), size=1)
    assert next(export)[0] == last
    assert store.withdraw("f" * 16, key)
    assert store.get("f" * 16) is not None
    assert [*export] == []


def test_an_export_searches_once_for_many_cases(store: CaseStore, add: Callable[..., str]) -> None:
    made, searches = [add("this") for _ in range(5)], list[str]()

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        searches.append(statement) if "listed_grams" in statement else None

    listen(store.engine, "before_cursor_execute", note)
    assert [one for one, _ in store.library.bodies(Wanted(texts=("this",)), size=2)] == made[::-1]
    assert len(searches) == 2


def test_a_search_by_a_text_looks_once_along_the_newest_for_page_and_count(
    store: CaseStore, add: Callable[..., str]
) -> None:
    add("this")
    searches: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        searches.append(statement) if "listed_grams" in statement else None

    listen(store.engine, "before_cursor_execute", note)
    assert store.library.search(Wanted(texts=("th",))).total == 1
    assert [one.rpartition(" DESC")[2].split()[:1] for one in searches] == [["LIMIT"]]


def test_results_are_counted_up_to_a_bound(
    store: CaseStore, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.store.listings.COUNTED", 3)
    for _ in range(6):
        add("many")
    assert store.library.search(Wanted(texts=("many",)), limit=2).total == 4
    assert COUNTED == 1000


def test_a_long_text_is_asked_for_by_some_of_its_grams() -> None:
    words = "".join(map(chr, range(300, 900)))
    assert len(asked(words)) <= MOST_ASKED
    assert set(asked(words)) < grams(words, 3)
    assert asked("ab") == list(grams("ab", 2))


def test_what_no_database_keeps_is_replaced_alike_in_texts_and_questions() -> None:
    assert kept("a\0b\udfffc") == "a\ufffdb\ufffdc"
