"""The search of a case as its page shows it: how far it is, and everything that came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

from parsers.cases.case import Case, Expect
from parsers.cases.departure import Departure, departure
from parsers.cases.engines import RECORDED, engine_of, traced_chunking
from parsers.cases.expect import differences
from parsers.cases.find import CaseFound
from parsers.cases.run import CaseRun
from parsers.cases.tested import as_test, outcome_of
from parsers.compare.beside import Compared
from parsers.replays.chunking import Chunking, label, spec
from parsers.replays.cut_grades import CutGrade
from parsers.search.found import Found, Group, Minimized, OutcomeClass, Progress
from parsers.search.no_output import nothing_judged
from parsers.search.search import played
from parsers.search.verdict import first_look
from parsers.search.verdict_phrases import harm, under
from parsers.vocabulary.trace import Finding, Proof, Trace
from webapp.glyphs import count, shorten
from webapp.jobs.searches import Searches, SearchJob
from webapp.page.drawing import COLUMNS, Column, peaks, percent, rising, runs, shapes
from webapp.page.search.client_parts import Told, told
from webapp.page.search.findings import (
    SHOWN,
    WORDS,
    Checked,
    Findings,
    Place,
    VerdictLine,
    beside,
    findings,
    verdict,
    with_departure,
    with_fixed,
)
from webapp.runs.runner import Run

# The chunkings pane before a search: the usual chunkings, whether the message is the same, and where it parts.


@dataclass(slots=True, frozen=True)
class _Chunkings:
    """Everything the pane shows: replays, each with its word in the address, which is empty for the case's own."""

    rows: list[tuple[Compared, str]]
    note: str


def chunkings(run: CaseRun) -> _Chunkings:
    """The case's own chunking first, then the compared ones."""
    used = traced_chunking(run.case)
    own = Compared(used, label(used), run.trace, len(run.trace.steps) - 1, same=True)
    failing = sum(not other.same for other in run.compared)
    said = f"{count(failing, 'chunking')} gave another message" if failing else "the same message every time"
    rows = [(own, ""), *((other, spec(other.chunking)) for other in run.compared)]
    return _Chunkings(rows, f"{count(len(rows), 'replay')}, {said}")


# The matrix of a search: the kinds of chunkings, the messages they gave, and how many gave each.

_OUTCOME_COLUMNS = 6  # outcomes with a column of their own
_OUTCOMES = 20  # outcomes that are listed
_GRADES = {
    "calls": "other calls",
    "text": "other text",
    "key_order": "another order of keys",
    "whitespace": "other whitespace",
    "spelling": "the same arguments, written otherwise",
}


@dataclass(slots=True, frozen=True)
class _Row:
    """One kind of chunking. `cells` are how many of them gave each outcome, and the word of an example; `rest` counts
    the outcomes without a column."""

    group: Group
    cells: list[tuple[int, str]]
    rest: int


@dataclass(slots=True, frozen=True)
class _Outcome:
    """One message that chunkings gave."""

    found: OutcomeClass

    @property
    def letter(self) -> str:
        return letter(self.found.number)

    @property
    def pattern(self) -> int:
        return _pattern(self.found.number)

    @property
    def chunk(self) -> str:
        return spec(self.found.smallest)

    @property
    def how(self) -> str:
        return "the parser failed" if self.raised else _GRADES.get(self.found.grade or "", "another finish reason")

    @property
    def raised(self) -> str:
        return shorten(str(self.found.raised or ""), 200)

    @property
    def beside(self) -> str:
        """The query of the comparison with the traced replay."""
        return beside(self.chunk, self.found.divergence.raw if self.found.divergence else None)


@dataclass(slots=True, frozen=True)
class _Matrix:
    """Rows, columns, and the outcomes that differ."""

    rows: list[_Row]
    columns: list[_Outcome]
    failing: list[_Outcome]
    more: int
    rest: bool
    note: str


def matrix(found: Found) -> _Matrix:
    """Return what a search found."""
    outcomes = [_Outcome(one) for one in found.outcomes]
    columns, failing = outcomes[:_OUTCOME_COLUMNS], outcomes[1:]
    same = ["the same message every time"] if len(outcomes) < 2 else []
    tried = sum([one.count for one in found.outcomes]) or found.replays
    return _Matrix(
        rows=[_row(group, columns) for group in found.groups],
        columns=columns,
        failing=failing[:_OUTCOMES],
        more=max(0, len(failing) - _OUTCOMES),
        rest=len(outcomes) > _OUTCOME_COLUMNS,
        note=", ".join([count(tried, "chunking"), count(max(1, len(outcomes)), "outcome"), *same]),
    )


def _word_of(chunking: Chunking | None) -> str:
    """A chunking's word, empty for none."""
    return "" if chunking is None else spec(chunking)


def _row(group: Group, columns: Sequence[_Outcome]) -> _Row:
    numbers = [outcome.found.number for outcome in columns]
    cells = [(group.counts.get(number, 0), _word_of(group.examples.get(number))) for number in numbers]
    return _Row(group, cells, sum(group.counts.values()) - sum(many for many, _ in cells))


# The heat strip: every place where the output can be cut in two, and which message came of it.
#
# One SVG in percent whose size does not depend on the output's: whatever is narrower than a column is merged, and a
# failing cut wins over those beside it. The failing stretches are a list of links too, for readers without script.

_LISTED = 24
_SENT = 2_000
_PATTERNS = 4
_LETTER_WIDTH = 1.2  # percent of a strip about 900 px wide: a stretch this wide has room for its letter
_HEIGHT = 18  # of the hills of held characters


@dataclass(slots=True, frozen=True)
class _CutBar:
    """Cuts `first` to `last`, which gave outcome `number`; -1: none of them was tried."""

    first: int
    last: int
    number: int
    x: float
    width: float

    @property
    def letter(self) -> str:
        return letter(self.number)

    @property
    def pattern(self) -> int:
        return _pattern(self.number)

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 3)

    @property
    def labelled(self) -> bool:
        """True where there is room for the letter."""
        return self.width >= _LETTER_WIDTH

    @property
    def words(self) -> str:
        """'cut 118', 'cuts 118–129'."""
        return f"cut {self.first:,}" if self.first == self.last else f"cuts {self.first:,}–{self.last:,}"


@dataclass(slots=True, frozen=True)
class _Heat:
    """Everything the strip shows. `ranges` are the exact failing stretches; `cut` the one on the page, or the first.

    `sent` has the failing stretches as JSON: first and last cut, and the outcome's letter.
    """

    size: int
    bars: list[_CutBar]
    hills: str
    peak: int
    ranges: list[_CutBar]
    more: int
    untried: int
    sent: str
    cut: int
    outcome: str
    current: float | None
    words: str


def letter(number: int) -> str:
    """The name of an outcome: A, B, ... for those that differ from the traced one."""
    if number <= 0:
        return "same" if number == 0 else ""
    head, rest = divmod(number - 1, 26)
    return (letter(head) if head else "") + chr(ord("A") + rest)


def _pattern(number: int) -> int:
    return (number - 1) % _PATTERNS + 1 if number > 0 else 0


def heat(cuts: Sequence[int], trace: Trace, current: int | None) -> _Heat | None:
    """The strip for the outcomes of all cuts in two; `current` is the cut the page shows. None: there is no cut."""
    if not cuts:
        return None
    size = len(cuts)
    exact = [bar for bar in _bars(cuts, size) if bar.number > 0]
    chosen = current if current and current <= size else exact[0].first if exact else 1
    hills = peaks(_held(trace, size), size)
    peak = max(many for _, many in hills)
    return _Heat(
        size=size,
        bars=[bar for bar in _bars(_merged(cuts), size) if bar.number],
        hills="".join([shape.path for shape in shapes(hills, rising(peak, _HEIGHT, 1))]),
        peak=peak,
        ranges=exact[:_LISTED],
        more=max(0, len(exact) - _LISTED),
        untried=sum(number < 0 for number in cuts),
        sent=json.dumps([[bar.first, bar.last, bar.letter] for bar in exact[:_SENT]], separators=(",", ":")),
        cut=chosen,
        outcome=_outcome_words(cuts[chosen - 1]),
        current=percent(chosen - 0.5, size) if current else None,
        words=_words(size, exact, sum(number >= 0 for number in cuts)),
    )


def _outcome_words(number: int) -> str:
    return f"outcome {letter(number)}" if number > 0 else "same" if number == 0 else "not tried"


def _merged(cuts: Sequence[int]) -> list[int]:
    """At most COLUMNS outcomes; of those that share a column the failing one with the lowest number."""
    wide = min(len(cuts), COLUMNS)
    columns = [-2] * wide
    for at, number in enumerate(cuts):
        place = at * wide // len(cuts)
        failing = [one for one in (columns[place], number) if one > 0]
        columns[place] = min(failing) if failing else max(columns[place], number)
    return columns


def _bars(columns: Sequence[int], size: int) -> Iterator[_CutBar]:
    wide = len(columns)
    for number, at, end in runs(columns):
        first, last = at * size // wide + 1, end * size // wide
        yield _CutBar(first, max(first, last), number, percent(at, wide), percent(end - at, wide))


def _held(trace: Trace, size: int) -> Iterator[tuple[int, int, Column]]:
    ends = trace.ends
    for step, start, _ in trace.columns.held():
        fed = range(max(start, ends[step - 2] if step > 1 else 0), min(ends[step - 1], size))
        yield from ((at, at + 1, ("held", at + 1 - start)) for at in fed)


def _words(size: int, exact: Sequence[_CutBar], tried: int) -> str:
    failing = sum(bar.last - bar.first + 1 for bar in exact)
    where = f"Cut in two after character 1 to {size:,}" + (f", at {count(tried, 'place')}" if tried < size else "")
    if not failing:
        return f"{where}: the same message every time."
    places = ", ".join(f"{bar.words} outcome {bar.letter}" for bar in exact[:3])
    more = f" and {count(len(exact) - 3, 'more stretch', 'more stretches')}" if len(exact) > 3 else ""
    verb = "gives" if failing == 1 else "give"
    return f"{where}: {count(failing, 'cut')} {verb} another message: {places}{more}."


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
        """Return whether more will come."""
        return self.state in ("waiting", "running")


@dataclass(slots=True, frozen=True)
class _Smallest:
    """The smallest failing form. `parts` are the deltas' texts; a cut is between two of them. `before` is the size of
    the whole output, `case_json` the case as a form carries it."""

    found: Minimized
    parts: list[str]
    clipped: int
    before: int
    case_json: str = field(repr=False)

    @property
    def label(self) -> str:
        return label(self.found.chunking)

    @property
    def smaller(self) -> bool:
        """Whether it is smaller than what was searched, which else is as small as it gets."""
        return len(self.found.text) < self.before

    @property
    def words(self) -> str:
        """Return how much smaller it is."""
        many = count(len(self.found.text), "character")
        return f"Smallest case: {self.before:,} → {many}" if self.smaller else f"As small as it gets: {many}"

    @property
    def harm(self) -> str:
        """What goes wrong in it, as a sentence."""
        gives, meant, chunking = self.found.gives, self.found.meant, self.found.chunking
        if gives is None or meant is None:
            return self.found.finding.message
        words = f"{under(chunking, len(self.found.text))}, {harm(meant, gives)}."
        return words[:1].upper() + words[1:]

    @property
    def told(self) -> list[tuple[str, list[Told]]]:
        """What a client should get of it and what it gets, part by part; empty where that is not known."""
        gives, meant = self.found.gives, self.found.meant
        if gives is None or meant is None:
            return []
        return [("fullest" if self.found.unsure else "right", told(meant)), ("like this", told(gives, meant))]


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


def smallest(found: CaseFound, written: Callable[[Case], str]) -> _Smallest | None:
    """The smallest failing form of what was searched; `written` is the case as a form carries it."""
    small = found.found.minimized
    if small is None or found.minimized is None:
        return None
    text = small.text[:_CLIPPED]
    return _Smallest(
        found=small,
        parts=_parts(text, small),
        clipped=len(small.text) - len(text),
        before=len(found.found.text),
        case_json=written(found.minimized),
    )


def _parts(text: str, small: Minimized) -> list[str]:
    cuts = [cut for cut in _cuts(small.chunking, small) if cut <= len(text)]
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def _cuts(chunking: Chunking, small: Minimized) -> list[int]:
    """Return where the deltas end, for the chunkings a reader can see at a glance."""
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
    """Holds what is known so far. Without `verdict` nothing was checked yet; `quick` is shown until there is a
    `matrix`.

    `beside` is the query that compares the case's own chunking with the one on the page. `marks` are the findings.
    `heat` is worked out by the template that shows it, which a new window does not. `judged`: there was an output to
    judge, as far as is known. `departure`: where the message is not what the case expects. `changed_smallest`:
    the smallest form where it is one of a changed output, of which the verdict does not speak. `remarks`: which
    of the usual chunkings were not run and why, and what an engine did that nobody asked for.
    """

    search: Search
    verdict: VerdictLine | None = None
    findings: Findings | None = None
    quick: _Chunkings | None = None
    heat: Callable[[], _Heat | None] = field(default=lambda: None)
    matrix: _Matrix | None = None
    smallest: _Smallest | None = None
    changed_smallest: _Smallest | None = None
    replays: int | None = None
    rules: str = ""
    beside: str = ""
    marks: tuple[Finding, ...] = ()
    steps: tuple[int, ...] = ()
    judged: bool = True
    departure: Departure | None = None
    remarks: Sequence[str] = ()

    @property
    def shows_departure(self) -> bool:
        """Return whether it is shown in place of a smallest form: of a parser only where nothing else is as bad."""
        leads = self.verdict is not None and self.verdict.departs
        return self.departure is not None and (leads or not self.departure.parsed)

    @property
    def departure_word(self) -> str:
        """Return how bad it is, in a word."""
        return WORDS[self.departure.severity] if self.departure is not None else ""

    @property
    def listed_departure(self) -> Departure | None:
        """Return the departure where it stands among the findings: a server's is what its checks find, if they do."""
        found = self.departure
        return found if found is not None and (found.parsed or (self.verdict and self.verdict.departs)) else None

    @property
    def place(self) -> Place | None:
        """Return what the headline names of the output."""
        return None if self.verdict is None else self.verdict.place

    @property
    def start(self) -> int | None:
        """Return where what the headline names is, or what is not as expected; else where the first of the listed
        findings begins."""
        if self.departure is not None and self.verdict is not None and self.verdict.departs:
            return self.departure.step
        if self.place is not None:
            return self.place.step
        lines = self.findings.lines if self.findings else ()
        return next((line.finding.step for line in lines if line.finding.step), None)


def search_panes(
    base: Run, known: CaseRun | None, search: Search, chunking: Chunking | None, written: Callable[[Case], str]
) -> SearchPanes:
    """The panes of a case. `base` is the replay under its own chunking, `chunking` the one on the page."""
    word = _word_of(chunking)
    rules = base.case.compare.rules().words() or "compared exactly"
    panes = SearchPanes(search, rules=rules, beside=beside(word) if word else "")
    checked = _checked(base, known, search)
    if checked is None:
        return panes
    panes.judged = checked.found is None or checked.found.judged
    panes.findings = findings(checked)
    panes.departure = departure(base.case, base.trace) if panes.judged else None
    panes.verdict = with_departure(verdict(checked, panes.findings, base.trace), panes.departure)
    panes.verdict = with_fixed(panes.verdict, is_fixed=panes.judged and _is_fixed(base.case, known, search.found))
    panes.replays = checked.chunkings
    panes.marks, panes.steps = tuple(checked.findings), tuple(checked.steps)
    if (place := panes.place) is not None and place.step not in panes.steps:
        panes.steps = tuple(sorted((*panes.steps, place.step)))
        panes.findings = replace(panes.findings, steps=json.dumps(panes.steps[:SHOWN]))
    if search.found is not None:
        panes.heat = partial(heat, search.found.found.cuts, base.trace, _cut(chunking))
        panes.matrix = matrix(search.found.found) if panes.judged else None
        small = smallest(search.found, written)
        of_changed = small is not None and small.found.of_changed
        panes.smallest, panes.changed_smallest = (None, small) if of_changed else (small, None)
    elif known is not None and panes.judged:
        panes.quick, panes.remarks = chunkings(known), known.remarks
    return panes


def _is_fixed(case: Case, known: CaseRun | None, found: CaseFound | None) -> bool:
    """Return whether what the case calls a known bug is gone, by all that was tried but cuts that no server makes. A
    search keeps messages, which have no order: of that the checks say it, and nobody before they ran."""
    if found is None:
        return known is not None and as_test(known).outcome == "fixed"
    expect, compare = (case.known.expect or Expect()).in_fields, case.compare
    outcomes = [one for one in found.found.outcomes if not one.number or one.cuts is not CutGrade.HOSTILE]
    wrong = any(one.raised or differences(expect, one.message, one.finish_reason, compare) for one in outcomes)
    unordered = expect.events is not None and (known is None or bool(as_test(known).failing))
    broken = any(one.severity == "error" for one in found.found.findings)
    return outcome_of(case, different=wrong or unordered or bool(found.departs), broken=broken) == "fixed"


def _checked(base: Run, known: CaseRun | None, search: Search) -> Checked | None:
    if search.found is not None:
        found = search.found.found
        plays = engine_of(search.found.case) == RECORDED
        return Checked(found.findings, found.holding, found.skipped, found.replays, found, plays)
    if known is None:
        return None
    if known.plays:  # there is nothing to search: what the checks say is all there is to say
        said = (known.findings, known.holding, known.skipped)
        judged = base.beside.get("played", lambda: played(base.replayer, base.trace, *said))
        return Checked(judged.findings, judged.holding, judged.skipped, 1, judged, played=True)
    none = nothing_judged(base.replayer)
    if none is not None:
        return Checked([], [], [], 0, none)
    looked = Checked(known.findings, known.holding, known.skipped, 1 + len(known.compared))
    looked.first = base.beside.get(
        "first look", lambda: first_look(known.findings, base.trace, base.replayer, held=len(known.holding))
    )
    return looked


def offered_proof(base: Run, known: CaseRun) -> Proof | None:
    """What puts an output together from what a server left in its texts; None where there is nothing to."""
    checked = _checked(base, known, Search("idle", automatic=False))
    said = checked.found.verdict if checked is not None and checked.found is not None else None
    return said.proof if said is not None and said.offer is not None else None


def _cut(chunking: Chunking | None) -> int | None:
    """The one place at which a chunking cuts."""
    cuts = chunking.cuts if chunking is not None and chunking.by == "cuts" else None
    return cuts[0] if cuts and len(cuts) == 1 else None
