"""A stored case as it stands in somebody else's page: the verdict, the deltas that show it, what comes of them, and the
output with the role of each stretch.

There is nothing to press in it but the link to the case, no script, and nothing that another page could ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from parsers.cases.case import Case
from parsers.replays.chunking import label
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message
from webapp.glyphs import shorten
from webapp.page.library.band import role_of
from webapp.page.search.client_parts import Told, told
from webapp.page.search.findings import VerdictLine
from webapp.page.search.search_page import SearchPanes
from webapp.runs.runner import Run

MOST_DELTAS = 12
MOST_NOTES = 2
MOST_NOTE = 300  # characters of a note
_DELTA = 120  # characters of a delta that are shown
MOST_OUTPUT = 1_200  # characters of the output
_BEFORE = 300  # so many of them before the place in question
MOST_SAID = 400  # characters of a part of the message


@dataclass(slots=True, frozen=True)
class Stretch:
    """A stretch of the output in its role; empty where nobody knows it."""

    role: str
    text: str


@dataclass(slots=True, frozen=True)
class Embedded:
    """Holds what the frame shows. `deltas` are of the smallest case where a search found one (`smallest`), else of the
    whole output; `more` is how many are not shown. `told` are messages by what they are called; `output` is the output
    around the place in question, of which `before` and `after` characters are not shown; `notes` are the first of the
    case's own, which may tell of a parser that does not run here. `unsaid` stands where nothing is `said`."""

    title: str
    said: VerdictLine | None
    smallest: bool
    deltas: list[str]
    more: int
    told: list[tuple[str, list[Told]]]
    facts: list[tuple[str, str]]
    output: list[Stretch] = field(default_factory=list)
    before: int = 0
    after: int = 0
    notes: tuple[str, ...] = ()
    unsaid: str = "Not checked yet."


def unrun(title: str, case: Case, version: str) -> Embedded:
    """What a frame shows of a case whose engine is not here: what it says itself."""
    text, engine = case.text(), case.parser.engine
    said = f"Not run here: the engine {engine}, which parses it, is not entered on this server."
    facts = [("Parser", f"{engine}, {case.parser.name}"), ("Version", version)]
    return Embedded(
        title, None, False, [], 0, [], facts, [Stretch("", text[:MOST_OUTPUT])], 0, len(text[MOST_OUTPUT:]),
        _notes(case), said,
    )  # fmt: skip


def embedded(title: str, run: Run, panes: SearchPanes, version: str, place: int = 0) -> Embedded:
    """What a frame shows of a run, as far as is known of it; `place` is where the first finding is."""
    small = panes.smallest
    if small is not None and not panes.shows_departure:
        parts, messages = small.parts, small.told or [("gives", told(_or_empty(small.found.gives)))]
    else:
        trace = run.trace
        parts = [trace.text[step.span.start : step.span.end] for step in trace.steps if not step.end]
        messages = [("gives", told(trace.message, longest=MOST_SAID))]
    shown = [shorten(part, _DELTA) for part in parts[:MOST_DELTAS]]
    engine = run.case.parser.engine
    facts = [
        ("Parser", f"{engine}, {run.selection.name}" if engine else run.selection.name),
        ("Cut", label(small.found.chunking if small is not None else run.chunking)),
        ("Version", version),
    ]
    start = max(0, min(place - _BEFORE, len(run.trace.text) - MOST_OUTPUT))
    end = min(len(run.trace.text), start + MOST_OUTPUT)
    more = max(0, len(parts) - MOST_DELTAS)
    return Embedded(
        title, panes.verdict, small is not None, shown, more, messages, facts,
        [*_stretches(run.trace, start, end)], start, len(run.trace.text) - end,
        _notes(run.case),
    )  # fmt: skip


def _notes(case: Case) -> tuple[str, ...]:
    return tuple([shorten(note, MOST_NOTE) for note in case.notes[:MOST_NOTES]])


def _stretches(trace: Trace, start: int, end: int) -> Iterator[Stretch]:
    """The stretches of an output between two places."""
    if not trace.partition:
        yield Stretch("", trace.text[start:end])
        return
    for one in trace.partition:
        if one.start < end and one.end > start:
            yield Stretch(role_of(one.owner) or one.owner, trace.text[max(one.start, start) : min(one.end, end)])


def _or_empty(message: Message | None) -> Message:
    return message or Message(None, None)
