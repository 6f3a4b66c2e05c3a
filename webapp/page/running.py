"""From a case to its replay, kept in the cache: what every page of the inspector starts from.

A replay has two parts. The *trace* is what the panes show. The *report* (other chunkings, checks) costs a dozen
replays; for a long output the page opens with the trace alone and asks for the report afterwards. What is kept of
the other replays is what the page says of them, not their traces: a divergent one is traced again when opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from threading import Lock

from pydantic import ValidationError

from parsers.cases.engines import policy_of, traced_chunking
from parsers.cases.io import loads
from parsers.cases.model import Case
from parsers.cases.run import CaseRun, chunkings_of, replayer_of, run_case
from parsers.compare.divergence import Divergence, divergence
from parsers.decoding import Decoded
from parsers.formats.model import Format
from parsers.replays.chunking import Chunking, spec
from parsers.replays.replayer import Replayer
from parsers.search.outcomes import fitting
from parsers.search.truncation import CutRecords
from parsers.selection.registry import Selection, policies
from parsers.vocabulary.trace import Finding, Trace
from parsers.vocabulary.types import Context, Piece
from webapp.cache import ByteCache
from webapp.engines import ENGINES, Choice
from webapp.page.badges import Badge
from webapp.page.compare_parts import Comparison
from webapp.page.compared import Compared, digest
from webapp.page.index import TraceIndex
from webapp.page.index import build as build_index
from webapp.page.tokens import Tokens
from webapp.runs.prepare import error_place, prepare
from webapp.runs.runner import collector_paused
from webapp.settings import Settings
from webapp.tokenizers.chat import rerender_for

STEP_BYTES = 1_800
PIECE_BYTES = 250
SHORT = 3_000  # tokens: up to here the report comes with the page


@dataclass(slots=True)
class Report:
    """What other replays of the same output say, and the checks."""

    own: Compared
    compared: list[Compared]
    findings: list[Finding]
    holding: list[str]
    skipped: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Run:
    """One case, replayed under one chunking. `report` and `cuts` are None until somebody asked for them.

    `pieces` are the tokens as they were decoded, `decoded` what that made of them, and `stored` the tokens before.
    `parting`: where another chunking than the case's own gives another message. `known` and `badges` are what
    `token_table` finds out about its tokens.
    """

    case: Case
    choice: Choice
    context: Context
    pieces: tuple[Piece, ...]
    chunking: Chunking
    trace: Trace
    index: TraceIndex
    key: str
    report: Report | None = None
    cuts: CutRecords | None = None
    parting: Divergence | None = None
    decoded: Decoded | None = None
    stored: tuple[Piece, ...] = ()
    known: Tokens | None = None
    badges: list[Badge] | None = None
    lock: Lock = field(default_factory=Lock)

    @property
    def format(self) -> Format:
        """The format that is shown."""
        return self.choice.format

    @property
    def selection(self) -> Selection:
        """Why it was chosen."""
        return self.choice.selection

    @property
    def policy(self) -> dict[str, str]:
        """Every policy with its value."""
        return policies(self.format, policy_of(self.case))

    @property
    def short(self) -> bool:
        """Whether the report is cheap enough to come with the page."""
        return len(self.pieces) <= SHORT

    def replayer(self) -> Replayer:
        """What replays its output, request and parser in other ways."""
        return replayer_of(self.case, self.choice, self.stored)

    def size(self) -> int:
        """About how many bytes this weighs."""
        return STEP_BYTES * len(self.trace.steps) + PIECE_BYTES * len(self.pieces) + 4 * len(self.trace.text) + 50_000


class Runner:
    """Runs cases for the page, within the limits of the settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._cache: ByteCache[Run] = ByteCache(settings.trace_cache_bytes, Run.size)
        self.comparisons: ByteCache[Comparison] = ByteCache(settings.trace_cache_bytes // 8, Comparison.size)
        self._cases: ByteCache[Case] = ByteCache(settings.trace_cache_bytes // 2, _case_size)

    def run(self, case: Case, chunking: Chunking | None = None) -> Run:
        """The replay of `case` under its own chunking, or under another one.

        Raises UsageError for what cannot be replayed, TooLarge over a limit.
        """
        key = hashlib.sha256(case.model_dump_json(exclude_defaults=True).encode()).hexdigest()
        run = self._cache.get((key, ""), lambda: self._run(case, key))
        if chunking is None or chunking == run.chunking:
            return run
        return self._cache.get((key, spec(chunking)), lambda: _traced(run, chunking))

    def kept(self, key: Hashable, compute: Callable[[], Run]) -> Run:
        """A run that somebody else computes, kept in the same cache."""
        return self._cache.get(key, compute)

    def opened(self, body: str) -> Case:
        """The case of a stored body. We wrote it, so it is validated, but not searched for what JSON cannot hold."""
        return self._cases.get(hashlib.sha256(body.encode()).digest(), lambda: _opened(body))

    def report(self, run: Run) -> Report:
        """The report on a run of `run()`; from then on its index knows where the findings are."""
        with run.lock:
            if run.report is None:
                with collector_paused():
                    written = rerender_for(run.case)
                    found = run_case(run.case, pieces=run.stored, engines=ENGINES, rerender=written)
                    run.report = _report(found)
                run.index.findings = sorted({found.step for found in run.report.findings if found.step})
        return run.report

    def _run(self, case: Case, key: str) -> Run:
        prepared = prepare(case, self.settings)
        case, choice, replayer, stored = prepared.case, prepared.choice, prepared.replayer, prepared.stored
        with error_place("/replay"), collector_paused():
            pieces, chunking = replayer.pieces, chunkings_of(case, choice)[0]
            trace = replayer.trace(chunking)
            index = build_index(trace, pieces, ())
        run = Run(case, choice, case.to_context(), pieces, chunking, trace, index, key)
        run.decoded, run.stored = replayer.decoded, stored
        return run


def _opened(body: str) -> Case:
    try:
        return Case.model_validate(json.loads(body))
    except ValidationError:
        return loads(body)  # says what is wrong in our words


def _case_size(case: Case) -> int:
    return 600 * len(case.input.tokens or case.input.deltas or ()) + 10_000


def _traced(run: Run, chunking: Chunking) -> Run:
    """The same run with another chunking traced. What there is to find in it is where it parts from the case's own."""
    replayer = run.replayer()
    with collector_paused():
        trace = replayer.trace(chunking)
        index = build_index(trace, run.pieces, ())
    parting = divergence(run.trace, trace, fitting(run.case.compare.rules(), replayer))
    index.findings = [] if parting is None else [parting.step_b or index.total]
    key = f"{hashlib.sha256(spec(chunking).encode()).hexdigest()[:8]}{run.key}"
    return replace(run, chunking=chunking, trace=trace, index=index, key=key, cuts=None, parting=parting, lock=Lock())


def _report(found: CaseRun) -> Report:
    own = Compared(traced_chunking(found.case), True, None, len(found.trace.steps))
    return Report(own, [digest(other) for other in found.compared], found.findings, found.holding, found.skipped)
