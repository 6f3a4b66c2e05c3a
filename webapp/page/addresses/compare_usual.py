"""What is compared where nobody said what with: a case with its output cut otherwise, a recording with what its parser
reads, and a recording without its raw output with what a parser reads in what the server left of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from parsers.cases.case import Case
from parsers.cases.engines import RECORDED, traced_chunking
from parsers.replays.chunking import TRACED, spec
from parsers.search.sweep import one_delta
from webapp.page.addresses.compare_texts import PASTE
from webapp.page.addresses.search_views import changed_case
from webapp.page.addresses.subjects import Subject
from webapp.page.compare.asked import PAIR, Side
from webapp.page.form.setup import case_line
from webapp.page.search.search_page import offered_proof
from webapp.runs.runner import Run
from webapp.services import services


@dataclass(slots=True, frozen=True)
class Usual:
    """The sides, and the texts beside the case that they read."""

    sides: tuple[Side, ...] = PAIR
    beside: tuple[str, ...] = ()


def usual(subject: Subject) -> Usual:
    """The sides where nobody said."""
    case = subject.case
    run = services().runner.run(case)
    if case.input.stream is not None and case.has_raw:
        reader = (subject.tile.format if subject.tile else "auto") if run.choice.plays else ""
        return Usual((Side(parser=RECORDED), Side(parser=reader)))
    if not run.choice.plays:
        own, whole = traced_chunking(case), one_delta(run.replayer.one_shot is not None)
        return Usual((Side(), Side(chunk=spec(whole if own != whole else TRACED))))
    left = _left(run)
    return Usual() if left is None else Usual((Side(), Side(text=f"{PASTE}1")), (case_line(left),))


def _left(run: Run) -> Case | None:
    """An output put together from what a server left in its texts, for the parser that fits; None where none does."""
    proof = offered_proof(run, services().runner.checked(run))
    if proof is None:
        return None
    made = changed_case(run.case, run.pieces, proof)
    return made.model_copy(update={"title": "what leaked", "notes": ()})


def is_alone(subject: Subject, sides: tuple[Side, ...]) -> bool:
    """Return whether a recording stands beside nothing but itself: its raw output is unknown, and nobody put one."""
    same = len(sides) == len(PAIR) and all(replace(side, chunk="") == Side() for side in sides)
    return same and not subject.case.has_raw and services().runner.run(subject.case).choice.plays


def without_itself(subject: Subject, sides: tuple[Side, ...]) -> tuple[Side, ...]:
    """The sides that another output is put beside: a recording once, where it stands beside itself."""
    return sides[:1] if is_alone(subject, sides) else sides
