"""The search over a stream that is played back: its output cannot be changed and has one chunking, so that there is
nothing to search. What was recorded is judged, and the verdict says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from parsers.checks import CheckReport, run_checks
from parsers.chunking import RECORDED, label
from parsers.compare import EXACT, Rules
from parsers.replayer import Replayer
from parsers.search.compared import fitting
from parsers.search.found import Found, OutcomeClass, Progress, Verdict
from parsers.search.subject import subject_of
from parsers.search.verdict import verdict
from parsers.trace import Trace

NOT_SEARCHED = (
    "This is a recorded stream: it has one chunking, and its output cannot be changed, so nothing was searched. "
    "What the server sent was judged as it is."
)


class Played:
    """Has the interface of `Search`, and is over after one replay."""

    def __init__(self, replayer: Replayer, *, rules: Rules = EXACT, only: Sequence[str] | None = None) -> None:
        self._replayer = replayer
        self._rules = fitting(rules, replayer)
        self._only = only

    def run(self) -> Iterator[Progress]:
        """Replay it once."""
        yield Progress("replay", 0, 1, 0)
        _ = self._report
        yield Progress("done", 1, 1, 1)

    def found(self) -> Found:
        """What the checks say of it."""
        report, own = self._report, self._outcome
        said = (self._replayer.text, report.findings, report.holding, report.skipped)
        return Found(*said, [own], [], [], self._verdict(), replays=1)

    @cached_property
    def _trace(self) -> Trace:
        return self._replayer.trace(RECORDED)

    @cached_property
    def _report(self) -> CheckReport:
        return run_checks(subject_of(self._replayer, self._trace, self._trace, (), rules=self._rules), self._only)

    @property
    def _outcome(self) -> OutcomeClass:
        trace = self._trace
        return OutcomeClass(0, trace.message, trace.finish_reason, 1, 1, RECORDED, label(RECORDED))

    def _verdict(self) -> Verdict:
        said = verdict(self._report.findings, self._trace, self._replayer)
        said.details = (*said.details, NOT_SEARCHED)
        return said
