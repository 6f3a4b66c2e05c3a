"""The search of a case within the limits of the settings: what the command line runs here, and a job in its process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Protocol

from parsers.cases.find import CaseFound, CaseSearch
from parsers.cases.model import Case
from parsers.search.found import Progress
from webapp.engines import ENGINES
from webapp.runs.prepare import error_place, prepare
from webapp.settings import Settings


class Searching(Protocol):
    """A search: `run` says how far it is and may be left at any time, `result` is what is known by then."""

    def run(self) -> Iterator[Progress]: ...

    def result(self) -> CaseFound: ...


MakeSearch = Callable[[Case, Settings], Searching]


def case_search(case: Case, settings: Settings) -> CaseSearch:
    """The search of a case. Raises CaseError for what cannot be replayed, TooLarge over a limit."""
    ready = prepare(case, settings)
    with error_place(""):
        rerender = ready.replayer.rerender
        return CaseSearch(ready.case, pieces=ready.stored, engines=ENGINES, clock=process_time, rerender=rerender)
