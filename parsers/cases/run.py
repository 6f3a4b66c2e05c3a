"""Run a case: replay it, compare chunkings, check everything. What the command line, the API and the page all show.

The replay under study and the whole-text one are traced. Other chunkings only build their message; one that differs
is traced as well, so that it can be said where it parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsers.cases.decoded import IGNORED, decoded_of, ignores_ids, sent_of
from parsers.cases.engines import ENGINES, RECORDED, Choice, Engine, choose, engine_of, policy_of
from parsers.cases.model import Case, CaseError
from parsers.checks import run_checks
from parsers.chunking import DEFAULT_COMPARED, TRACED, WHOLE, Chunking
from parsers.chunking import RECORDED as AS_RECORDED
from parsers.compiled import Program
from parsers.decoding import Decoded, schedule
from parsers.formats.model import Format, builtin_formats
from parsers.recorded import server_stream
from parsers.registry import Evidence, Selection, known_format, policies
from parsers.replayer import Replayer, Rerender
from parsers.search.compared import Compared, compared
from parsers.search.subject import subject_of
from parsers.search.variants import variants
from parsers.trace import Finding, Trace
from parsers.types import Context, Piece

UNSHARED = "Nobody knows which of the raw output came with which chunk: checks that need it are skipped."


@dataclass(slots=True)
class CaseRun:
    """Everything one case gives: the traced replay, the whole-text one, the compared ones, and what the checks say.

    `pieces` are the tokens as they were decoded, `decoded` what that made of them, and `stored` the tokens before.
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
    decoded: Decoded | None = None
    stored: tuple[Piece, ...] = ()

    @property
    def plays(self) -> bool:
        """Whether a recorded stream was played back: then there is one replay only."""
        return engine_of(self.case) == RECORDED


def run_case(
    case: Case,
    *,
    pieces: Sequence[Piece] | None = None,
    evidence: Evidence | None = None,
    compare: bool = True,
    engines: Mapping[str, Engine] = ENGINES,
    rerender: Rerender | None = None,
) -> CaseRun:
    """Run a case. `pieces` are its tokens where the case holds none (a tokenizer made them).

    `compare` False leaves the other chunkings out, for outputs so large that they are asked for separately. `rerender`
    writes calls as the chat template of the model does, where there is one.
    Raises UsageError when the case cannot be replayed: no tokens for a token chunking, an unknown parser or policy.
    """
    choice = choose(case, evidence, engines)
    stored = tuple(pieces or case.pieces() or characters(case.text()))
    replayer = replayer_of(case, choice, stored)
    chunkings, rules = chunkings_of(case, choice), case.compare.rules()
    trace = replayer.trace(chunkings[0])
    whole = trace if choice.plays else replayer.trace(WHOLE)
    run = CaseRun(case, choice.format, choice.selection, replayer.context, replayer.pieces, trace, whole)
    run.decoded, run.stored = replayer.decoded, stored
    if compare and not choice.plays:
        others = chunkings[1:] or [c for c in DEFAULT_COMPARED if c != chunkings[0]]
        run.compared = [compared(replayer, chunking, trace, rules) for chunking in others]
    written = tuple(variants(replace(replayer, rerender=rerender), trace, kinds=("rerendered",)))
    subject = subject_of(replayer, trace, run.whole, run.compared, rules=rules, variants=written)
    report = run_checks(subject, case.checks)
    run.findings, run.holding, run.skipped = report.findings, report.holding, report.skipped
    trace.findings = report.findings
    return run


def chunkings_of(case: Case, choice: Choice) -> tuple[Chunking, ...]:
    """The chunkings a case asks for, the traced one first; a stream that is played back has one of its own only.

    Raises CaseError where it is asked for in another one, or as recorded where no deltas are.
    """
    if not choice.plays:
        place = next((place for place, asked in enumerate(case.replay) if asked.by == "recorded"), None)
        if place is not None and case.input.deltas is None and case.input.stream is None:
            words = "the output's deltas were not recorded: give them in input.deltas, or choose another chunking"
            raise CaseError(words, f"/replay/{place}/by")
        return case.replay or (TRACED,)
    for place, chunking in enumerate(case.replay):
        if chunking != AS_RECORDED:
            words = "a recorded stream is replayed as it was recorded, under no other chunking: leave this one out"
            raise CaseError(words, f"/replay/{place}")
    return (AS_RECORDED,)


def replayer_of(case: Case, choice: Choice, pieces: Sequence[Piece]) -> Replayer:
    """The replayer of a case: its parser and its request on these tokens.

    Where a stream is played back and nobody knows which tokens came with which chunk, it has no tokens.
    """
    fmt, context = choice.grammar or choice.format, case.to_context()
    grammar = choice.grammar or case.parser.format or known_format(choice.selection.name)
    stream, reasons = case.input.stream, choice.selection.reasons
    reasons = (*reasons, *[IGNORED] * ignores_ids(case))
    decoded = decoded_of(case, pieces, fmt)
    server = None if stream is None else server_stream(stream, decoded.pieces, case.input.deltas)
    if choice.plays and server is not None:
        context = replace(context, finish_reason=context.finish_reason or server.cut_short)
        if server.fed is None:
            reasons, decoded = (*reasons, *[UNSHARED] * case.has_raw), Decoded((), None, ())
    return Replayer(
        choice.make,
        decoded.pieces,
        context,
        case.mode(),
        case.markers(),
        reasons,
        _terminals(choice, fmt),
        Program(fmt, fmt.policy.model_dump(), frozenset(), skip_tools=False).longest,
        choice.black_box,
        choice.one_shot,
        grammar,
        {} if grammar is None else policies(grammar, policy_of(case)),
        server=server,
        plays=choice.plays,
        decoded=decoded,
        late=schedule(case.decode),
        sent=sent_of(case, server),
        spelled=case.decode is None and case.decoder == "byte_level",
    )


def _terminals(choice: Choice, fmt: Format) -> dict[str, str]:
    """The literals of the format. What is played back may be in any format, so that any marker of one counts."""
    if choice.plays and choice.grammar is None:
        texts = [text.strip() for known in builtin_formats().values() for text in known.terminals.values()]
        return {text: text for text in texts if len(text) > 1}
    return {name: text for name, text in fmt.terminals.items() if len(text) > 1}


def characters(text: str) -> tuple[Piece, ...]:
    """A piece for each code point: the stand-in where no tokenizer is at hand."""
    return tuple([Piece(char) for char in text])
