"""What a report tells of a search: what is wrong, the smallest form of it with the command that replays that, and which
messages came of how many chunkings. All is plain text: who writes it down escapes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from parsers.cases.departure import Departure, departure
from parsers.cases.export.replay_command import replay_command
from parsers.cases.export.report_facts import by_severity
from parsers.cases.find import CaseFound
from parsers.cases.io import dumps
from parsers.cases.run import CaseRun
from parsers.replays.chunking import apply, label, to_json
from parsers.search.found import OutcomeClass
from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import Message

SMALLEST = "smallest.case.json"
MOST_OUTCOMES = 20


@dataclass(slots=True, frozen=True)
class SaidWrong:
    """What is wrong in one sentence, how bad it is, and the grounds."""

    severity: Severity | Literal["pass"]
    headline: str
    grounds: tuple[str, ...]


@dataclass(slots=True, frozen=True)
class SmallestForm:
    """The smallest form that fails. `told`: what should come of it, where that is known, and what does. `case`: its
    case file."""

    words: str
    deltas: Sequence[str]
    told: Sequence[tuple[str, Message]]
    command: str
    case: str | None


def said_wrong(run: CaseRun, found: CaseFound | None) -> SaidWrong:
    """What a search says of a run, or else the worst that was found in it, and that it is not as the case expects."""
    return departing(_said(run, found), departure(run.case, run.trace))


def departing(said: SaidWrong, departs: Departure | None) -> SaidWrong:
    """The same with what the case expects: first where nothing else is as bad, else among the grounds."""
    if departs is None:
        return said
    if departs.leads(said.severity):
        return SaidWrong(departs.severity, departs.headline, (said.headline, *said.grounds))
    return replace(said, grounds=(*said.grounds, departs.headline)) if departs.parsed else said


def _said(run: CaseRun, found: CaseFound | None) -> SaidWrong:
    if found is not None:
        said = found.found.verdict
        grounds = (said.headline, *said.sentences) if said.cause else said.sentences
        return SaidWrong(said.severity, said.cause or said.headline, tuple(grounds))
    worst = next(iter(by_severity(run.findings)), None)
    if worst is None:
        return SaidWrong("pass", f"{len(run.holding)} checks hold.", ())
    return SaidWrong(worst.severity, worst.message, (f"The check {worst.check} says so. No search was made.",))


def smallest_form(found: CaseFound) -> SmallestForm | None:
    """The smallest form that a search found; None where it found no error."""
    small = found.found.minimized
    if small is None:
        return None
    deltas = apply(small.chunking, small.pieces, "text")
    known = [(name, message) for name, message in (("should give", small.meant), ("gives", small.gives)) if message]
    of = " It is of a changed output, of which the verdict does not speak." if small.of_changed else ""
    return SmallestForm(
        f"{len(found.found.text):,} characters are {len(small.text):,} here, {label(small.chunking)}.{of}",
        [delta.text for delta in deltas],
        known,
        replay_command(to_json(small.chunking, deltas), SMALLEST),
        None if found.minimized is None else dumps(found.minimized),
    )


def outcomes_of(found: CaseFound | None) -> Sequence[OutcomeClass]:
    """The messages that a search found, at most so many."""
    return [] if found is None else found.found.outcomes[:MOST_OUTCOMES]
