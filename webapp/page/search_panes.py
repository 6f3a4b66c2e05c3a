"""Everything on the page that a search changes: the verdict line, the chunkings, the findings, the smallest form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from parsers.cases.model import Case
from parsers.checks import CHECKS
from parsers.replays.chunking import Chunking
from parsers.vocabulary.trace import Finding
from webapp.page.compared import Chunkings, chunkings
from webapp.page.findings import Checked, Findings, findings
from webapp.page.heat import Heat, heat
from webapp.page.matrix import Matrix, beside, matrix, word_of
from webapp.page.running import Report, Run
from webapp.page.search import Search, Smallest, smallest
from webapp.page.verdict import Verdict, verdict


@dataclass(slots=True)
class SearchPanes:
    """What is known so far. Without `verdict` nothing was checked yet; `quick` is shown until there is a `matrix`.

    `beside` is the query that compares the case's own chunking with the one on the page. `marks` are the findings.
    `heat` is worked out by the template that shows it, which a new window does not.
    """

    search: Search
    verdict: Verdict | None = None
    findings: Findings | None = None
    quick: Chunkings | None = None
    heat: Callable[[], Heat | None] = field(default=lambda: None)
    matrix: Matrix | None = None
    smallest: Smallest | None = None
    rules: str = ""
    beside: str = ""
    marks: tuple[Finding, ...] = ()
    steps: tuple[int, ...] = ()

    @property
    def start(self) -> int | None:
        """Where the first of the listed findings begins."""
        lines = self.findings.lines if self.findings else ()
        return next((line.step for line in lines if line.step), None)


def search_panes(
    base: Run, report: Report | None, search: Search, chunking: Chunking | None, written: Callable[[Case], str]
) -> SearchPanes:
    """The panes of a case. `base` is the replay under its own chunking, `chunking` the one on the page."""
    word = word_of(chunking)
    rules = base.case.compare.rules().words() or "compared exactly"
    panes = SearchPanes(search, rules=rules, beside=beside(word) if word else "")
    checked = _checked(report, search)
    if checked is None:
        return panes
    known = {name: (check.id, check.definition) for name, check in CHECKS.items()}
    panes.findings = findings(checked, known)
    panes.verdict = verdict(checked, panes.findings)
    panes.marks, panes.steps = tuple(checked.findings), tuple(checked.steps)
    if search.found is not None:
        panes.heat = partial(heat, search.found.found.cuts, base.trace, _cut(chunking))
        panes.matrix = matrix(search.found.found, word)
        panes.smallest = smallest(search.found, written)
    elif report is not None:
        panes.quick = chunkings(report.own, report.compared, word)
    return panes


def _checked(report: Report | None, search: Search) -> Checked | None:
    """What the checks said: of the search where there is one, else of the quick look."""
    if search.found is not None:
        found = search.found.found
        return Checked(found.findings, found.holding, found.skipped, found.replays, found)
    if report is None:
        return None
    return Checked(report.findings, report.holding, report.skipped, 1 + len(report.compared))


def _cut(chunking: Chunking | None) -> int | None:
    """The one place at which a chunking cuts."""
    cuts = chunking.cuts if chunking is not None and chunking.by == "cuts" else None
    return cuts[0] if cuts and len(cuts) == 1 else None
