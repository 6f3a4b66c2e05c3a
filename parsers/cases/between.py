"""Two parsers of one case: the search for an output on which they differ, and its result as JSON and as a case.

The case is given twice, once for each parser; both read the tokens of the first. The smallest output is a case under
the first parser that expects nothing: which of the two is right is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from parsers.cases.case import Case, CaseError
from parsers.cases.engines import ENGINES, Engine, choose, traced_chunking
from parsers.cases.find import Smaller, found_by_search, parting_json, recorded_cuts, smaller_case
from parsers.cases.io import to_data
from parsers.cases.run import characters, chunkings_of, replayer_of
from parsers.compare.delta_parting import StepSent
from parsers.replays.budget import Budget
from parsers.replays.chunking import Chunking, label
from parsers.replays.replayer import Replayer
from parsers.search.found import Progress
from parsers.search.parted import ParserSide, Parted, PartingFound
from parsers.search.parting import Parting
from parsers.search.sweep import MAX_REPLAYS
from parsers.vocabulary.types import Piece


@dataclass(slots=True, frozen=True)
class Between:
    """Holds what was found of two parsers of a case, and the smallest case on which they differ."""

    cases: tuple[Case, Case]
    found: PartingFound
    smallest: Case | None = None

    @property
    def differ(self) -> bool:
        """Return whether they do."""
        return self.found.first is not None


class SearchBetween:
    """A search over a case as two parsers have it. Raises CaseError and UsageError where CaseSearch does, and for a
    recorded stream, which has one chunking only."""

    def __init__(
        self,
        cases: tuple[Case, Case],
        *,
        pieces: Sequence[Piece] | None = None,
        engines: Mapping[str, Engine] = ENGINES,
        seed: int = 0,
        max_replays: int = MAX_REPLAYS,
        budget: Budget | None = None,
        stated: bool = False,
    ) -> None:
        """`stated`: the cases say what is right, and the second parser gives it."""
        self.cases = cases
        case, known = cases[0], tuple(pieces or cases[0].pieces() or characters(cases[0].text()))
        first, second = [_replayer(one, known, engines) for one in cases]
        self._search = Parting(
            first,
            second,
            rules=case.compare.rules(),
            asked=case.replay,
            recorded=recorded_cuts(case),
            seed=seed,
            max_replays=max_replays,
            honest_only=case.compare.cuts == "honest",
            budget=budget,
            stated=stated,
        )

    def run(self) -> Iterator[Progress]:
        """Search. Stop iterating at any time."""
        return self._search.run()

    def result(self) -> Between:
        """Return what is known by now."""
        found, case = self._search.found(), self.cases[0]
        small = found.smallest or found.first
        return Between(self.cases, found, None if small is None else _smallest(case, small))

    def replayed(self, chunking: Chunking | None = None) -> Parted:
        """The case under its own chunking, or another one, by both."""
        return self._search.at(chunking or traced_chunking(self.cases[0]))


def _replayer(case: Case, pieces: tuple[Piece, ...], engines: Mapping[str, Engine]) -> Replayer:
    choice = choose(case, None, engines)
    if choice.plays:
        raise CaseError("a recorded stream has one chunking: it cannot be searched beside a parser", "/parser/name")
    chunkings_of(case, choice)
    return replayer_of(case, choice, pieces)


def _smallest(case: Case, small: Parted) -> Case:
    form = Smaller(small.pieces, small.chunking, small.context)
    how = (f"The output was changed first: {small.change}.",) if small.change else ()
    notes = ("Two parsers give different messages here.", found_by_search(case.text(), small.text), *how)
    return smaller_case(case, form, "smallest output on which two parsers differ", notes)


def between_json(result: Between) -> dict[str, Any]:
    """What `find --json` has for two parsers."""
    found = result.found
    return {
        "differ": result.differ,
        "found": None if found.first is None else parted_json(found.first),
        "smallest": None if found.smallest is None else parted_json(found.smallest),
        "case": None if result.smallest is None else to_data(result.smallest),
        "replays": found.replays,
        "changed": found.changed,
        "allowed": found.allowed,
        "complete": found.complete,
        "given_up": found.given_up,
        "samples": [asdict(sample) for sample in found.samples],
    }


def parted_json(parted: Parted) -> dict[str, Any]:
    """One output under one chunking by two parsers."""
    step, message = parted.step, parted.message
    first = {"index": step.index, "fed": step.fed, "end": step.end} if step is not None else {}
    return {
        "text": parted.text,
        "chunking": parted.chunking.model_dump(mode="json", exclude_defaults=True) | {"label": label(parted.chunking)},
        "grade": parted.grade.value,
        "same": parted.same,
        "change": parted.change or None,
        "sides": [_side_json(side) for side in parted.sides],
        "step": None if step is None else {**first, "sent": [_sent_json(one) for one in step.sent]},
        "parting": None if message is None else parting_json(message),
    }


def _side_json(side: ParserSide) -> dict[str, Any]:
    there = None if side.there is None else {"index": side.there[0], **_sent_json(side.there[1])}
    raised = None if side.failure is None else str(side.failure)
    return {"message": side.message.to_json(), "finish_reason": side.finish_reason, "raised": raised, "there": there}


def _sent_json(sent: StepSent) -> dict[str, Any]:
    delta = None if sent.delta is None else sent.delta.to_openai()
    return {"delta": delta, "raised": None if sent.failure is None else str(sent.failure), "state": sent.state}
