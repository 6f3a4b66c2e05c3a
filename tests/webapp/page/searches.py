"""Searches of parsers that are broken on purpose, and one that waits. The program of children."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import cast

from parsers.cases.case import Case
from parsers.cases.engines import Engine
from parsers.cases.find import CaseFound, CaseSearch
from parsers.search.found import Progress
from tests.parsers.search.faulty import Faulty, drops_text_after_call, engine, loses_second_call
from webapp.children.worker import Task
from webapp.engines import ENGINES
from webapp.jobs import search_program
from webapp.runs.prepare import prepare
from webapp.settings import Settings

FAULTY: Mapping[str, Engine] = {
    "loses-second": engine(lambda name: Faulty(name, loses_second_call)),
    "drops-text": engine(lambda name: Faulty(name, drops_text_after_call)),
}
SLOW = "Take your time."


def faulty_search(case: Case, settings: Settings) -> CaseSearch | Slowly:
    """The search of a case that may name a broken engine; an output that begins so takes its time."""
    cast(dict[str, Engine], ENGINES).update(FAULTY)  # this is the search's own process
    search = CaseSearch(case, pieces=prepare(case, settings).stored, engines=ENGINES, max_replays=300)
    return Slowly(search) if case.text().startswith(SLOW) else search


class Slowly:
    """A search that is never over by itself."""

    def __init__(self, search: CaseSearch) -> None:
        self._search = search

    def run(self) -> Iterator[Progress]:
        """Progress without end."""
        for at in range(10_000):
            time.sleep(0.02)
            yield Progress("sweep", at, 10_000, at)

    def result(self) -> CaseFound:
        """What a search without a replay knows."""
        return self._search.result()


def tasks() -> Mapping[str, Task]:
    """What a child does."""
    return search_program.tasks(faulty_search)
