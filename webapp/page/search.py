"""The search of a case as its page shows it: how far it is, and everything that came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from parsers.cases.find import CaseFound
from parsers.cases.model import Case
from parsers.replays.chunking import Chunking, label, spec
from parsers.search.found import Minimized, Progress
from webapp.jobs.searches import Searches, SearchJob
from webapp.page.glyphs import count

AUTOMATIC = 20_000  # characters: up to here the search starts with the page
WAIT_SECONDS = 5.0  # a page without script waits so long for the result
STAGES = {
    "replay": "replaying the output",
    "sweep": "chunkings",
    "variants": "changed outputs",
    "shrink": "making the failing output smaller",
    "done": "writing the result down",
}
CLIPPED = 2_000
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


@dataclass(slots=True)
class Smallest:
    """The smallest failing form. `parts` are the deltas' texts; a cut is between two of them."""

    check: str
    parts: list[str]
    clipped: int
    label: str
    chunk: str
    before: int
    after: int
    title: str
    case_json: str = field(repr=False, default="")

    @property
    def words(self) -> str:
        """How much smaller it is."""
        return f"{self.before:,} → {count(self.after, 'character')}"


def look(jobs: Searches, case: Case, size: int) -> Search:
    """The search of a case of `size` characters as it stands; nothing is started."""
    return searched(jobs, jobs.known(case), size)


def searched(jobs: Searches, job: SearchJob | None, size: int) -> Search:
    """What a job says."""
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
    text = small.text[:CLIPPED]
    return Smallest(
        check=small.check,
        parts=_parts(text, small),
        clipped=len(small.text) - len(text),
        label=label(small.chunking),
        chunk=spec(small.chunking),
        before=len(found.found.text),
        after=len(small.text),
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
