"""How long a search of the library takes: `python -m tests.bench.library [--cases N] [--postgresql]`.

The outputs are those of the repository's own cases, each with words of its own before it, so that a substring can be
in all of them, in some, or in one. A search is what the page does: fifty cases, how many there are, and the counts
beside the filters. It prints the best and the middle of a few runs in milliseconds, by the clock.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice, pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TextIO

from sqlalchemy import Engine, Table

from tests.corpus import case_named, case_names
from tests.postgresql import cluster, programs
from webapp.page.library.query import wanted_of
from webapp.store import CaseStore, Listing, make_engine, upgrade
from webapp.store.archive import KIND, restore
from webapp.store.grams import kept
from webapp.store.migrate import require_current
from webapp.store.schema import cases, labels, listed

ROUNDS = 5
_TIME = "2026-01-31T09:00:00.000Z"
_VERDICTS = ("all_hold", "chunk_boundary", "text_lost", "marker_leak", "output_flawed")
QUERIES = {
    "everything": "",
    "a parser": "parser:qwen",
    "two filters": "parser:qwen verdict:text_lost",
    "a tag": "tag:ParallelCalls",
    "one character, in most": "<",
    "one character, in one": "\u2603",
    "two characters": "</",
    "markup, in many": "</tool",
    "markup and a filter": "</tool_call> verdict:chunk_boundary",
    "a word of one case": "w77777x",
    "characters of many, words of none": "tool_call loot_llac",
    "an opener twice": 'text:"<tool_call>\\n<tool_call>"',
    "characters of many, one after the other in few": '"arguments": {"name"',
    "long": '{"name": "get_weather", "arguments": {',
}


def main() -> None:
    """Measure."""
    parser = ArgumentParser(prog="python -m tests.bench.library", description="Measure searches of the library.")
    parser.add_argument("--cases", type=int, default=100_000, help="how many are listed (100,000)")
    parser.add_argument("--postgresql", action="store_true", help="on a PostgreSQL started for it, not on SQLite")
    options = parser.parse_args()
    with _database(postgresql=options.postgresql) as url:
        engine = make_engine(url)
        upgrade(engine)
        store = CaseStore(engine)
        began = perf_counter()
        _fill(engine, options.cases)
        print(f"{options.cases:,} cases listed in {perf_counter() - began:.0f} s, {engine.dialect.name}")
        for words, query in QUERIES.items():
            best, middle, many = _measured(store, query)
            print(f"{words:36} {many:>6,} found  best {best:7.1f} ms  middle {middle:7.1f} ms")
        print(f"{'the counts beside the filters':36} {'':>12}  best {_counts(store):7.1f} ms")
        print(f"{'to save one more, and to delete it':36} {'':>12}  once {' and '.join(_one_more(store))}")
        store.close()


@contextmanager
def _database(*, postgresql: bool) -> Iterator[str]:
    if postgresql:
        found = programs()
        if found is None:
            sys.exit("There is no PostgreSQL here.")
        with cluster(found) as running:
            yield running.database()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'cases.sqlite3'}"


def _listings(many: int) -> Iterator[Listing]:
    drawn = random.Random(11)
    known = [case_named(name) for name in case_names()]
    texts = [(case.text(), case.parser.name, case.flags) for case in known if case.text()]
    for number, (text, parser, flags) in enumerate(islice(cycle(texts), many)):
        words = " ".join(f"w{drawn.randrange(100_000)}" for _ in range(12))
        alone = "\u2603" if number == many // 2 else ""
        own = f"Case {number}: w{number}x {words}{alone}\n{text}"
        yield Listing(f"Case {number}", parser, "builtin", drawn.choice(_VERDICTS), "pass", own, tags=flags)


def _fill(engine: Engine, many: int) -> None:
    """List so many cases, as the restore of a backup that has them."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        print(json.dumps({"archive": KIND, "schema": require_current(engine)}), file=file)
        print(json.dumps({"rows": sum(map(partial(_written, file), _rows(many)))}), file=file)
        file.seek(0)
        restore(engine, file)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE" if engine.dialect.name == "sqlite" else "VACUUM ANALYZE")


def _written(file: TextIO, row: list[object]) -> int:
    print(json.dumps(row), file=file)
    return 1


def _rows(many: int) -> Iterator[list[object]]:
    """Of each case its own row, that of the library, and its tags."""
    for number, one in enumerate(_listings(many), 1):
        case = {"id": f"{number:016}", "body": "{}", "outcome_digest": "", "version": "", "created": _TIME, "size": 2}
        yield _row(cases, {**case, "been_listed": True})
        words = kept(f"{one.title}\n{one.text}")
        listing = {name: getattr(one, name) for name in ("title", "parser", "engine", "verdict", "severity")}
        yield _row(
            listed, {**listing, "number": number, "case_id": case["id"], "created": _TIME, "text": words, "band": "[]"}
        )
        for tag in sorted({*one.tags}):
            yield _row(labels, {"kind": "tag", "value": tag, "number": number})


def _row(table: Table, values: dict[str, object]) -> list[object]:
    return [table.name, *[values.get(column.name) for column in table.columns]]


def _measured(store: CaseStore, query: str) -> tuple[float, float, int]:
    """The best and the middle of some searches, in milliseconds, and how many cases one finds."""
    wanted, times = wanted_of(query), list[float]()
    for _ in range(ROUNDS):
        began = perf_counter()
        found = store.library.search(wanted)
        times.append(1000 * (perf_counter() - began))
    return min(times), median(times), found.total


def _counts(store: CaseStore) -> float:
    times = list[float]()
    for _ in range(ROUNDS):
        began = perf_counter()
        store.library.counts()
        times.append(1000 * (perf_counter() - began))
    return min(times)


def _one_more(store: CaseStore) -> list[str]:
    """How long it takes to save a case and to delete it: what the index keeps of it is taken off the disk."""
    listing, times = next(_listings(1)), [perf_counter()]
    key = store.save("z" * 16, "{}", "", "", listing).delete_key
    times.append(perf_counter())
    store.withdraw("z" * 16, key or "")
    times.append(perf_counter())
    return [f"{1000 * (after - before):.0f} ms" for before, after in pairwise(times)]


if __name__ == "__main__":
    main()
