"""The search over a case: what it runs on, and its result as JSON and as a smaller case.

The smaller case is the smallest failing form of the one it came from: it names it as its parent, says in its notes
what fails and how that was found, and replays first under the failing chunking, so that a plain run of it shows the
finding again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import Any

from parsers.cases.engines import ENGINES, Engine, choose
from parsers.cases.io import to_data
from parsers.cases.minimized import minimized_case
from parsers.cases.model import Case
from parsers.cases.run import characters, chunkings_of, replayer_of
from parsers.chunking import Chunking
from parsers.registry import Evidence
from parsers.replayer import Rerender
from parsers.search.find import Search
from parsers.search.found import Found, Group, Guess, OutcomeClass, Progress, Verdict
from parsers.search.played import Played
from parsers.search.sweep import MAX_REPLAYS
from parsers.types import Piece


@dataclass(slots=True)
class CaseFound:
    """What a search of a case found, and the smallest case that shows the worst of it."""

    case: Case
    found: Found
    minimized: Case | None = None


class CaseSearch:
    """A search over a case, with the arguments of run_case. The same seed finds the same.

    Raises UsageError where run_case does.
    """

    def __init__(
        self,
        case: Case,
        *,
        pieces: Sequence[Piece] | None = None,
        evidence: Evidence | None = None,
        engines: Mapping[str, Engine] = ENGINES,
        seed: int = 0,
        max_replays: int = MAX_REPLAYS,
        clock: Callable[[], float] | None = None,
        rerender: Rerender | None = None,
    ) -> None:
        self.case = case
        choice = choose(case, evidence, engines)
        replayer = replayer_of(case, choice, pieces or case.pieces() or characters(case.text()))
        chunkings_of(case, choice)
        if replayer.plays:
            self._search: Search | Played = Played(replayer, rules=case.compare.rules(), only=case.checks)
            return
        self._search = Search(
            replace(replayer, rerender=rerender),
            rules=case.compare.rules(),
            asked=case.replay,
            recorded=recorded_cuts(case),
            seed=seed,
            only=case.checks,
            max_replays=max_replays,
            clock=clock,
        )

    def run(self) -> Iterator[Progress]:
        """Search. Stop iterating at any time."""
        return self._search.run()

    def result(self) -> CaseFound:
        """What is known by now."""
        found = self._search.found()
        smaller = None if found.minimized is None else minimized_case(self.case, found.minimized)
        return CaseFound(self.case, found, smaller)


def recorded_cuts(case: Case) -> tuple[int, ...]:
    """Where the deltas met that a server sent."""
    return tuple(accumulate([len(delta.text) for delta in case.input.deltas or ()]))[:-1]


def find_json(result: CaseFound) -> dict[str, Any]:
    """What `find --json` prints. Keys beside the contract's own say more of the same."""
    found = result.found
    return {
        "findings": [finding.to_json() for finding in found.findings],
        "outcomes": [_outcome(one) for one in found.outcomes],
        "minimized": None if result.minimized is None else to_data(result.minimized),
        "replays": found.replays,
        "complete": found.complete,
        "verdict": _verdict(found.verdict),
        "groups": [_group(group) for group in found.groups],
        "holding": found.holding,
        "skipped": [{"check": name, "reason": why} for name, why in found.skipped],
        "variants": dict(found.variants),
    }


def _chunking(chunking: Chunking) -> dict[str, Any]:
    return chunking.model_dump(mode="json", exclude_defaults=True)


def _outcome(one: OutcomeClass) -> dict[str, Any]:
    parting = None if one.divergence is None else asdict(one.divergence)
    return {
        "message": one.message.to_json(),
        "finish_reason": one.finish_reason,
        "count": one.count,
        "honest": one.honest,
        "smallest": _chunking(one.smallest),
        "grade": one.grade,
        "divergence": parting,
        "raised": one.raised,
    }


def _group(group: Group) -> dict[str, Any]:
    counts = [[number, count] for number, count in sorted(group.counts.items())]
    return {"name": group.name, "label": group.label, "honest": group.honest, "counts": counts}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "kind": verdict.kind,
        "severity": verdict.severity,
        "about": verdict.about,
        "headline": verdict.headline,
        "details": list(verdict.details),
        "findings": list(verdict.findings),
        "proof": None if verdict.proof is None else verdict.proof.to_json(),
        "guesses": [_guess(guess) for guess in verdict.guesses],
    }


def _guess(guess: Guess) -> dict[str, Any]:
    return asdict(guess) | {"evidence": list(guess.evidence)}
