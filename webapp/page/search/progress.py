"""The search of a case as its page shows it: how far it is, and everything that came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from parsers.cases.find import CaseFound
from parsers.cases.model import Case
from parsers.cases.run import CaseRun
from parsers.replays.chunking import Chunking, label
from parsers.search.found import Minimized, Progress
from parsers.vocabulary.trace import Finding
from webapp.glyphs import count
from webapp.jobs.searches import Searches, SearchJob
from webapp.page.search.chunkings import Chunkings, Heat, Matrix, beside, chunkings, heat, matrix, word_of
from webapp.page.search.findings import Checked, Findings, VerdictLine, findings, verdict
from webapp.runs.runner import Run

AUTOMATIC = 20_000  # characters: up to here the search starts with the page
WAIT_SECONDS = 5.0  # a page without script waits so long for the result
STAGES = {
    "replay": "replaying the output",
    "sweep": "chunkings",
    "variants": "changed outputs",
    "shrink": "making the failing output smaller",
    "done": "writing the result down",
}
_CLIPPED = 2_000
OFTEN, SELDOM = 500, 2_000  # milliseconds until a page asks again; a long case is work to read


@dataclass(slots=True)
class Search:
    """A search. `state`: idle (nobody started it), waiting, running, done, failed or cancelled.

    `automatic`: the page starts it. `done` of about `total` replays of the present stage were run.
    """

    state: str
    automatic: bool
    words: str = ""
    done: int = 0
    total: int = 0
    found: CaseFound | None = None

    @property
    def again(self) -> int:
        """Milliseconds until the page asks again."""
        return (OFTEN if self.automatic else SELDOM) if self.active else 100

    @property
    def active(self) -> bool:
        """Whether more will come."""
        return self.state in ("waiting", "running")


@dataclass(slots=True, frozen=True)
class Smallest:
    """The smallest failing form. `parts` are the deltas' texts; a cut is between two of them. `before` is the size of
    the whole output, `case_json` the case as a form carries it."""

    found: Minimized
    parts: list[str]
    clipped: int
    before: int
    title: str
    case_json: str = field(repr=False)

    @property
    def label(self) -> str:
        return label(self.found.chunking)

    @property
    def words(self) -> str:
        """How much smaller it is."""
        return f"{self.before:,} → {count(len(self.found.text), 'character')}"


def search_of_job(jobs: Searches, job: SearchJob | None, size: int) -> Search:
    """The search of a case of `size` characters, as its job says it."""
    automatic = 0 < size <= AUTOMATIC
    if job is None:
        return Search("idle", automatic)
    if job.failure is not None:
        return Search(job.state, False, job.failure.message)
    if job.result is not None:
        return Search("done", False, found=job.result)
    if job.progress is None:
        ahead = jobs.ahead(job)
        words = f"waiting for {count(ahead, 'other search', 'other searches')}" if ahead else "starting"
        return Search("waiting", automatic, words)
    progress = job.progress
    return Search("running", automatic, progress_words(progress), progress.done, progress.total)


def progress_words(progress: Progress) -> str:
    """'chunkings 412 of 1,990; 2 outcomes so far'."""
    words = STAGES[progress.stage]
    if progress.total > 2:
        words += f" {progress.done:,} of {progress.total:,}"
    return f"{words}; {count(progress.outcomes, 'outcome')} so far"


def smallest(found: CaseFound, written: Callable[[Case], str]) -> Smallest | None:
    """The smallest failing form of what was searched; `written` is the case as a form carries it."""
    small = found.found.minimized
    if small is None or found.minimized is None:
        return None
    text = small.text[:_CLIPPED]
    return Smallest(
        found=small,
        parts=_parts(text, small),
        clipped=len(small.text) - len(text),
        before=len(found.found.text),
        title=found.minimized.title or "",
        case_json=written(found.minimized),
    )


def _parts(text: str, small: Minimized) -> list[str]:
    cuts = [cut for cut in _cuts(small.chunking, small) if cut <= len(text)]
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def _cuts(chunking: Chunking, small: Minimized) -> list[int]:
    """Where the deltas end, for the chunkings a reader can see at a glance."""
    if chunking.by == "cuts":
        return sorted(chunking.cuts or ())
    if chunking.by == "char":
        return list(range(chunking.size, len(small.text), chunking.size))
    if chunking.by == "token":
        ends, at = [], 0
        for number, piece in enumerate(small.pieces, start=1):
            at += len(piece.text)
            if number % chunking.size == 0:
                ends.append(at)
        return sorted({end for end in ends if end < at})
    return []


# Everything on the page that a search changes: the verdict line, the chunkings, the findings, the smallest form.


@dataclass(slots=True)
class SearchPanes:
    """What is known so far. Without `verdict` nothing was checked yet; `quick` is shown until there is a `matrix`.

    `beside` is the query that compares the case's own chunking with the one on the page. `marks` are the findings.
    `heat` is worked out by the template that shows it, which a new window does not.
    """

    search: Search
    verdict: VerdictLine | None = None
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
        return next((line.finding.step for line in lines if line.finding.step), None)


def search_panes(
    base: Run, known: CaseRun | None, search: Search, chunking: Chunking | None, written: Callable[[Case], str]
) -> SearchPanes:
    """The panes of a case. `base` is the replay under its own chunking, `chunking` the one on the page."""
    word = word_of(chunking)
    rules = base.case.compare.rules().words() or "compared exactly"
    panes = SearchPanes(search, rules=rules, beside=beside(word) if word else "")
    checked = _checked(known, search)
    if checked is None:
        return panes
    panes.findings = findings(checked)
    panes.verdict = verdict(checked, panes.findings)
    panes.marks, panes.steps = tuple(checked.findings), tuple(checked.steps)
    if search.found is not None:
        panes.heat = partial(heat, search.found.found.cuts, base.trace, _cut(chunking))
        panes.matrix = matrix(search.found.found, word)
        panes.smallest = smallest(search.found, written)
    elif known is not None:
        panes.quick = chunkings(known, word)
    return panes


def _checked(known: CaseRun | None, search: Search) -> Checked | None:
    """What the checks said: of the search where there is one, else of the quick look."""
    if search.found is not None:
        found = search.found.found
        return Checked(found.findings, found.holding, found.skipped, found.replays, found)
    if known is None:
        return None
    return Checked(known.findings, known.holding, known.skipped, 1 + len(known.compared))


def _cut(chunking: Chunking | None) -> int | None:
    """The one place at which a chunking cuts."""
    cuts = chunking.cuts if chunking is not None and chunking.by == "cuts" else None
    return cuts[0] if cuts and len(cuts) == 1 else None
