"""What came of a case as a test, whoever runs it: one word, every replay held to what is expected, and the one to
show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from parsers.cases.case import Case
from parsers.cases.engines import traced_chunking
from parsers.cases.expect import Difference, trace_differences
from parsers.cases.run import CaseRun
from parsers.replays.chunking import WHOLE, Chunking
from parsers.vocabulary.trace import Finding, Trace

CaseOutcome = Literal["ok", "FAIL", "known bug", "fixed", "not seen", "differs", "skip", "unusable"]


class Tried(NamedTuple):
    """One replay of a case: how many deltas it fed, and in what it is not as expected."""

    chunking: Chunking
    trace: Trace
    deltas: int
    different: list[Difference]


@dataclass(slots=True, frozen=True)
class CaseTest:
    """A case that ran as a test: its replays, the one under study first, and the errors that checks find."""

    run: CaseRun
    replays: tuple[Tried, ...]
    errors: tuple[Finding, ...]

    @property
    def failing(self) -> list[Tried]:
        """The replays that are not as expected."""
        return [one for one in self.replays if one.different]

    @property
    def outcome(self) -> CaseOutcome:
        """The word for it."""
        return outcome_of(self.run.case, different=bool(self.failing), broken=bool(self.errors))

    @property
    def smallest(self) -> Tried:
        """The replay of fewest deltas that shows what is wrong: of those that are not as expected, else of those that
        errors name as the wrong ones, else of those that differ from the first one, else that itself, which is the one
        that an error speaks of that names none.
        """
        shown = self.failing or self._named_wrong() or self.replays[:1]
        return min(shown, key=lambda one: one.deltas)

    @property
    def traced(self) -> CaseTest:
        """Only those of its replays of which the steps are known."""
        return replace(self, replays=tuple([one for one in self.replays if one.trace.steps]))

    def _named_wrong(self) -> list[Tried]:
        proofs = [error.proof for error in self.errors]
        if any(proof is None for proof in proofs):
            return []
        named = [proof.wrong or proof.chunking for proof in proofs if proof is not None and not proof.changes_case]
        told = {Chunking.model_validate(one) for one in named if one is not None}
        apart = {other.chunking for other in self.run.compared if not other.same}
        return [one for one in self.replays if one.chunking in told] or [
            one for one in self.replays if one.chunking in apart
        ]


def as_test(run: CaseRun, *, alone: bool = False) -> CaseTest:
    """What came of a run. `alone`: only the replay under study counts."""
    replays = tuple(_replays(run))
    errors = tuple([finding for finding in run.findings if finding.severity == "error"])
    return CaseTest(run, replays[:1] if alone else replays, errors)


def _replays(run: CaseRun) -> Iterator[Tried]:
    traced = traced_chunking(run.case)
    yield tried(run, traced, run.trace)
    if not run.plays and traced != WHOLE and run.whole.is_made:
        yield tried(run, WHOLE, run.whole)
    for other in run.compared:
        if other.chunking != WHOLE:
            yield tried(run, other.chunking, other.trace)._replace(deltas=other.deltas)  # most traces have no steps


def tried(run: CaseRun, chunking: Chunking, trace: Trace) -> Tried:
    """A replay of a case, traced in full, held to what the case expects."""
    different = trace_differences(run.case.known.expect, trace, run.case.compare)
    return Tried(chunking, trace, len(trace.steps) - 1, different)


def outcome_of(case: Case, *, different: bool, broken: bool) -> CaseOutcome:
    """The word for a case that ran. `different`: under some chunking it is not as expected; `broken`: a check finds an
    error, which a verdict that allows differences does not allow. Of a known bug of which nobody says what is right, a
    few chunkings that show nothing prove nothing."""
    verdict = case.known.verdict
    if verdict == "known_bug":
        return "known bug" if different or broken else "fixed" if case.known.expects else "not seen"
    if verdict == "implementation_defined" and different and not broken:
        return "differs"
    return "FAIL" if different or broken else "ok"
