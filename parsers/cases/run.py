"""Run a case: replay it, compare chunkings, check everything. What the command line, the API and the page all show.

The replay under study and the whole-text one are traced. Other chunkings only build their message; one that differs
is traced as well, so that it can be said where it parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from parsers.cases.engines import ENGINES, Choice, Engine, choose, policy_of
from parsers.cases.model import Case
from parsers.checks import run_checks
from parsers.chunking import DEFAULT_COMPARED, TRACED, WHOLE
from parsers.compiled import Program
from parsers.formats.model import Format
from parsers.registry import Evidence, Selection, known_format, policies
from parsers.replayer import Replayer
from parsers.search.compared import Compared, compared
from parsers.search.subject import subject_of
from parsers.trace import Finding, Trace
from parsers.types import Context, Piece


@dataclass(slots=True)
class CaseRun:
    """Everything one case gives: the traced replay, the whole-text one, the compared ones, and what the checks say.

    `holding` names the checks that ran and found nothing wrong; `skipped` the others, with the reason.
    """

    case: Case
    format: Format
    selection: Selection
    context: Context
    pieces: tuple[Piece, ...]
    trace: Trace
    whole: Trace
    compared: list[Compared] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    holding: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def run_case(
    case: Case,
    *,
    pieces: Sequence[Piece] | None = None,
    evidence: Evidence | None = None,
    compare: bool = True,
    engines: Mapping[str, Engine] = ENGINES,
) -> CaseRun:
    """Run a case. `pieces` are its tokens where the case holds none (a tokenizer made them).

    `compare` False leaves the other chunkings out, for outputs so large that they are asked for separately.
    Raises UsageError when the case cannot be replayed: no tokens for a token chunking, an unknown parser or policy.
    """
    choice = choose(case, evidence, engines)
    replayer = replayer_of(case, choice, pieces or case.pieces() or characters(case.text()))
    chunkings, rules = case.replay or (TRACED,), case.compare.rules()
    trace, whole = replayer.trace(chunkings[0]), replayer.trace(WHOLE)
    run = CaseRun(case, choice.format, choice.selection, replayer.context, replayer.pieces, trace, whole)
    if compare:
        others = chunkings[1:] or [c for c in DEFAULT_COMPARED if c != chunkings[0]]
        run.compared = [compared(replayer, chunking, trace, rules) for chunking in others]
    report = run_checks(subject_of(replayer, trace, run.whole, run.compared, rules=rules), case.checks)
    run.findings, run.holding, run.skipped = report.findings, report.holding, report.skipped
    trace.findings = report.findings
    return run


def replayer_of(case: Case, choice: Choice, pieces: Sequence[Piece]) -> Replayer:
    """The replayer of a case: its parser and its request on these tokens."""
    fmt = choice.format
    grammar = case.parser.format or known_format(choice.selection.name)
    return Replayer(
        choice.make,
        tuple(pieces),
        case.to_context(),
        case.mode(),
        case.markers(),
        choice.selection.reasons,
        {name: text for name, text in fmt.terminals.items() if len(text) > 1},
        Program(fmt, fmt.policy.model_dump(), frozenset(), skip_tools=False).longest,
        choice.black_box,
        choice.one_shot,
        grammar,
        {} if grammar is None else policies(grammar, policy_of(case)),
    )


def characters(text: str) -> tuple[Piece, ...]:
    """A piece for each code point: the stand-in where no tokenizer is at hand."""
    return tuple([Piece(char) for char in text])
