"""Run a case: replay it, compare chunkings, check everything. What the command line, the API and the page all show.

The replay under study and the whole-text one are traced. Other chunkings only build their message; one that differs
is traced as well, so that it can be said where it parts.

`run_json` is the object that `replay --json` prints and POST /api/v1/replay answers. Everything in it that could grow
with the square of the output is bounded: a step shows at most HELD_CHARACTERS of what is held, and says the spans of
all of it. Whoever writes it out takes `run_parts`, for it is many times the output.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from parsers.cases.case import Case, CaseError
from parsers.cases.departure import departure
from parsers.cases.engines import ENGINES, RECORDED, Choice, Engine, choose, contract_of, engine_of, policy_of
from parsers.cases.input import Input
from parsers.cases.known import known_json
from parsers.cases.patience import NOT_MADE, Patience, refused_words
from parsers.checks import run_each_check
from parsers.checks.causes import by_cause
from parsers.checks.check import CheckReport, Need
from parsers.checks.leaks import unmistakable_markers
from parsers.checks.subject import subject_of
from parsers.compare.beside import Compared, compare_chunking
from parsers.decoding import Decoded, decode_pieces, schedule, settle_pieces
from parsers.formats.model import Format
from parsers.machine.program import Program
from parsers.replays.chunking import RECORDED as AS_RECORDED
from parsers.replays.chunking import TRACED, WHOLE, Chunking, Sent, by_characters, compared_with
from parsers.replays.cut_grades import CutGrade, Grader, studied
from parsers.replays.recorded import ServerStream, server_stream
from parsers.replays.replayer import Replayer, Replays, Rerender
from parsers.replays.tapes import UNASKED, Tapes
from parsers.search.variants import variants
from parsers.search.weighed import weigh_by_contract, weigh_by_cuts
from parsers.selection.registry import Evidence, Selection, known_format, policies
from parsers.vocabulary.events import CallEnd, Diagnostic, Dropped, Event, Marker, TextEvent
from parsers.vocabulary.observed import Observed
from parsers.vocabulary.trace import Finding, Step, Trace
from parsers.vocabulary.types import Context, Piece
from parsers.wire.api_events import Api, api_events, event_transcript
from parsers.wire.chunks import Dialect, Envelope, chunks, recorded_chunks, transcript

HELD_CHARACTERS = 512
STAND_INS = ("embedded", "characters")  # tokenizers that belong to no model
IGNORED = "The token ids of the recorded deltas are ignored: no tokenizer made tokens of them that spell the text."
UNSHARED = "Nobody knows which of the raw output came with which chunk: checks that need it are skipped."


@dataclass(slots=True)
class CaseRun:
    """Everything one case gives: the traced replay, the whole-text one, the compared ones, and what the checks say.

    `pieces` are the tokens as they were decoded, `decoded` what that made of them, and `stored` the tokens before.
    `holding` names the checks that ran and found nothing wrong; `skipped` the others, with what they lacked. `late`:
    which of the other chunkings were left, and why, in a sentence; "" where all were run. `left_out` are these, with
    what might have been tried after them.
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
    skipped: list[tuple[str, Need]] = field(default_factory=list)
    decoded: Decoded | None = None
    stored: tuple[Piece, ...] = ()
    late: str = ""
    left_out: tuple[Chunking, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """What besides is worth a line: chunkings that were left, what the engine did that nobody asked for."""
        events = [event for _, event in self.trace.events() if isinstance(event, Diagnostic)]
        noticed = [event.message for event in events if event.code == UNASKED]
        return [*[self.late] * bool(self.late), *noticed]

    @property
    def chunking(self) -> Chunking:
        """The chunking under study: the first that the case asks for, or of honest cuts another one."""
        told = self.trace.chunking
        return Chunking.model_validate({key: told[key] for key in told if key != "cuts" or told["by"] == "cuts"})

    @property
    def plays(self) -> bool:
        """Return whether a recorded stream was played back: then there is one replay only."""
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
    replayer = replace(replayer_of(case, choice, stored), rerender=rerender, known=Replays())
    return checked_run(case, choice, replayer, stored, compare=compare)


def checked_run(
    case: Case, choice: Choice, replayer: Replayer, stored: tuple[Piece, ...], *, compare: bool = True
) -> CaseRun:
    """The run of a case whose parser is chosen and whose tokens are known. See run_case.

    Without `compare` nothing is replayed but the output, streamed and whole. What `replayer.known` holds is not
    replayed again.
    """
    parts = checked_in_parts(case, choice, replayer, stored, compare=compare)
    try:
        while True:
            next(parts)
    except StopIteration as end:
        found: CaseRun = end.value
        return found


def checked_in_parts(
    case: Case, choice: Choice, replayer: Replayer, stored: tuple[Piece, ...], *, compare: bool = True
) -> Generator[float, None, CaseRun]:
    """The same in parts, most of which take far less than a replay. Yields how much is done, from 0 to 1."""
    chunkings, rules = chunkings_of(case, choice), case.compare.rules()
    traced = _traced(case, choice, replayer)
    trace = replayer.trace(traced)
    ended = trace.failure is not None and trace.failure.ended  # every other replay would cost a process as well
    others = _others(case, choice, replayer, traced) if compare and not ended else []
    says_order = case.known.expect is not None and case.known.expect.events is not None  # which a message does not
    compare_with = partial(compare_chunking, replayer, trace=trace, rules=rules, in_full=says_order)
    made, late = yield from _compared(replayer, others, compare_with, Patience(choice.spent))
    beside, refused = [one for one in made if one.trace.is_made], [one.trace for one in made if not one.trace.is_made]
    if len(chunkings) == 1 and not late and not refused and not all(one.same for one in beside):
        beside += map(compare_with, _certain(replayer, [traced, *others]))
    # One delta is one part, however long: not the first one, for whoever has just opened the output moves.
    whole = trace if choice.plays else replayer.trace(WHOLE)
    late = late or refused_words(refused, whole, others)
    after = _certain(replayer, [traced, *others]) if late and len(chunkings) == 1 else []
    tried = [one.chunking for one in beside] + [WHOLE] * whole.is_made
    left_out = [one for one in (*others, WHOLE, *after) if one not in tried] if late else []
    yield len(others) / (len(others) + 1)
    written = tuple(variants(replayer, trace, kinds=("rerendered",)))
    subject = subject_of(replayer, trace, whole, beside, rules=rules, variants=written, counted=compare and not late)
    report = CheckReport([], [], [])
    for done in run_each_check(report, subject, case.checks):
        yield (len(others) + done) / (len(others) + 1)
    weigh_by_contract(report, subject)
    weigh_by_cuts(report, subject, replayer)
    report.findings = by_cause(report.findings)
    trace.findings = report.findings
    trace.reasons = (*trace.reasons, *[late] * bool(late))
    return CaseRun(
        case=case,
        format=choice.format,
        selection=choice.selection,
        context=replayer.context,
        pieces=replayer.pieces,
        trace=trace,
        whole=whole,
        compared=beside,
        findings=report.findings,
        holding=report.holding,
        skipped=report.skipped,
        decoded=replayer.decoded,
        stored=stored,
        late=late,
        left_out=tuple(dict.fromkeys(left_out)),
    )


def tried_chunkings(case: Case, choice: Choice, replayer: Replayer) -> list[Chunking]:
    """The chunkings that the check of a case tries, the one under study first. Raises as `chunkings_of`."""
    traced = _traced(case, choice, replayer)
    whole = [] if choice.plays else [WHOLE]
    return list(dict.fromkeys([traced, *_others(case, choice, replayer, traced), *whole]))


def _traced(case: Case, choice: Choice, replayer: Replayer) -> Chunking:
    return studied(replayer, chunkings_of(case, choice), honest_only=case.compare.cuts == "honest")


def _others(case: Case, choice: Choice, replayer: Replayer, traced: Chunking) -> list[Chunking]:
    """The chunkings that are compared with the one under study: of cuts that the case wants honest, those that are."""
    others = [] if choice.plays else compared_with(chunkings_of(case, choice), traced)
    if case.compare.cuts != "honest":
        return others
    grader = Grader(replayer)
    return [chunking for chunking in others if grader.chunking(chunking) is CutGrade.HONEST]


def _compared(
    replayer: Replayer, others: Sequence[Chunking], compare: Callable[[Chunking], Compared], patience: Patience
) -> Generator[float, None, tuple[list[Compared], str]]:
    """The other chunkings beside the first, as many as there is patience for, and what is said where they are not
    all. Yields as `checked_in_parts`."""
    made: list[Compared] = []
    for number, chunking in enumerate(others):
        if not patience.foreseen(replayer, others[number:]):
            return made, NOT_MADE.format(left=len(others) - number, all=len(others), spent=patience.spent)
        yield number / (len(others) + 1)
        if chunking == WHOLE:
            replayer.trace(chunking)  # its steps are wanted below, and answer for its message
        for part in replayer.in_parts(chunking):
            yield (number + part) / (len(others) + 1)
        made.append(compare(chunking))
    return made, ""


def _certain(replayer: Replayer, tried: Sequence[Chunking]) -> list[Chunking]:
    """The chunking by the cuts that a server makes whatever the model's tokens are, where none of several deltas was
    tried: only beside it what one delta gives is known to depend on the cuts."""
    grader = Grader(replayer)
    streamed = [one for one in tried if one != WHOLE and grader.chunking(one) is CutGrade.HONEST]
    return [] if streamed or not grader.honest else [grader.finest]


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
    if choice.black_box and grammar is not None and not grammar.terminals:  # it says nothing of what the parser reads
        grammar = None
    stream, reasons = case.input.stream, choice.selection.reasons
    reasons = (*reasons, *[IGNORED] * ignores_ids(case))
    decoded = decode_pieces(
        tuple(pieces), case.decode, decoder=case.decoder, prompt_tail=context.prompt_tail, end_tokens=fmt.end_tokens
    )
    how = {"done": case.input.done, "gaps": case.input.gaps}
    server = None if stream is None else server_stream(stream, decoded.pieces, case.input.deltas, **how)
    if choice.plays and server is not None:
        context = replace(context, finish_reason=context.finish_reason or server.cut_short)
        if server.fed is None:
            reasons, decoded = (*reasons, *[UNSHARED] * case.has_raw), Decoded((), None, ())
    terminals, contract = fmt.terminals, choice.declared.over(contract_of(case, choice.contract))
    if choice.plays and not (case.has_raw and choice.grammar):  # whatever the model is called, any marker was left
        terminals = {**{text: text for text in unmistakable_markers()}, **terminals}
    own = {marker: marker for marker in (*choice.markers, *case.parser.markers)}
    terminals = {**{name: text for name, text in terminals.items() if len(text) > 1}, **own}
    return Replayer(
        choice.make,
        decoded.pieces,
        context,
        mode=case.mode(),
        markers=case.markers(),
        reasons=reasons,
        terminals=terminals,
        longest_terminal=Program(fmt, fmt.policy.model_dump(), frozenset(), skip_tools=False).longest,
        black_box=choice.black_box,
        one_shot=choice.one_shot,
        format=grammar,
        policy={} if grammar is None else policies(grammar, policy_of(case, choice.contract)),
        server=server,
        plays=choice.plays,
        decoded=decoded,
        late=schedule(case.decode),
        sent=sent_of(case, server),
        spelled=case.decode is None and case.decoder != "byte_fallback",
        start_given=case.context.reasoning_open is not None,
        own_tokenizer=_is_cut_by_its_own(case, decoded.pieces),
        empty_deltas=_sends_empty(case, decoded.pieces),
        late_text=case.decode is not None,
        single_tokens=choice.declared.single_tokens,
        contract=contract,
        tapes=None if choice.replays is None else Tapes(choice.replays),
    )


def _is_cut_by_its_own(case: Case, pieces: Sequence[Piece]) -> bool:
    """Return whether the tokenizer that a case names made the tokens: where nobody ran it, characters stand in."""
    named = case.tokenizer is not None and case.tokenizer.name not in (None, *STAND_INS)
    return named and not by_characters(pieces)


def _sends_empty(case: Case, pieces: Sequence[Piece]) -> bool:
    """Return whether the recording shows deltas without text, or tokens without text make them."""
    recorded = any(not delta.text for delta in case.input.deltas or ())
    return recorded or any(piece.recorded and not piece.text for piece in pieces)


def sent_of(case: Case, server: ServerStream | None = None) -> Sent | None:
    """The deltas that a server sent: those of the input, else the chunks of the stream that the tokens came with."""
    deltas = case.input.deltas
    if deltas is not None:
        known = all(delta.ids is not None or not delta.text for delta in deltas)
        counts = tuple([len(delta.ids or ()) for delta in deltas]) if known else None
        return Sent(tuple([len(delta.text) for delta in deltas]), counts)
    if server is None or server.fed is None:
        return None
    fed = server.fed
    return Sent(tuple([sum([len(piece.text) for piece in part]) for part in fed]), tuple([len(part) for part in fed]))


def ignores_ids(case: Case) -> bool:
    """Return whether the deltas of a case have ids that no token of it stands for."""
    return case.input.tokens is None and any(delta.ids for delta in case.input.deltas or ())


def settled_case(case: Case, pieces: Sequence[Piece]) -> Case:
    """The case that holds decoded tokens as its own, so that nothing is left to decode.

    A text that a policy left out is left out of its token; the token keeps its id and kind.
    """
    bare = case.model_copy(update={"decode": None, "input": Input(text="".join([piece.text for piece in pieces]))})
    stored = bare.with_pieces(settle_pieces(pieces))
    return stored.model_copy(update={"input": Input(tokens=stored.input.tokens)})


def characters(text: str) -> tuple[Piece, ...]:
    """A piece for each code point: the stand-in where no tokenizer is at hand."""
    return tuple([Piece(char) for char in text])


def sse(run: CaseRun, dialect: Dialect = "reasoning") -> str:
    """The event stream that a client receives, its sentinel included. The same run always gives the same text.

    A recorded stream that is played back is written as it was recorded, in its own dialect.
    """
    if run.plays:
        return "".join(transcript(recorded_chunks(run.case.input.stream or ())))
    return "".join(transcript(chunks(run.trace, Envelope.of(run.trace, run.context, dialect))))


def api_stream(run: CaseRun, api: Api) -> str:
    """The event stream that a client of another API receives; of a recorded stream what it says, told anew."""
    return event_transcript(api_events(api, run.trace, Envelope.of(run.trace, run.context), len(run.pieces)))


def run_json(run: CaseRun) -> dict[str, Any]:
    """The whole run. Absent text is null; owners are content, reasoning, name, id, arguments, marker, dropped."""
    return {key: [*value] if isinstance(value, Iterator) else value for key, value in run_parts(run).items()}


def run_parts(run: CaseRun, steps: range | None = None) -> dict[str, Any]:
    """The keys of `run_json`, the summary first; lists that grow with the output are iterators, made as they are read.

    `steps`: of deltas and steps only those at these places, from 0; places beyond the end have none.
    """
    trace = run.trace
    places = range(len(trace.steps)) if steps is None else range(steps.start, min(steps.stop, len(trace.steps)))
    return {
        "parser": trace.parser,
        "reasons": list(trace.reasons),
        "mode": trace.mode,
        "message": trace.message.to_json(),
        "finish_reason": trace.finish_reason,
        "known": known_json(run.case, departure(run.case, trace)),
        "findings": (finding.to_json() for finding in run.findings),
        "whole": run.whole.message.to_json(),
        "rejected_calls": (call.to_json() for call in trace.rejected_calls),
        "chunking": trace.chunking_json,
        "partition": ([part.start, part.end, part.owner, part.why or None] for part in trace.partition),
        "deltas": (_delta_json(trace.steps[place]) for place in places),
        "steps": (step_json(trace, trace.steps[place]) for place in places),
    }


def _delta_json(step: Step) -> dict[str, Any] | None:
    return None if step.delta is None else step.delta.to_openai()


def step_json(trace: Trace, step: Step) -> dict[str, Any]:
    """One step of a trace, as `replay --json` prints it."""
    return {
        "index": step.index,
        "span": list(step.span),
        "text": trace.text[step.span.start : step.span.end],
        "ids": list(step.ids),
        "state": step.state,
        "held": _held(trace, step),
        "holds": [{"span": [h.start, h.end], "kind": h.kind, "reason": h.reason} for h in step.holds],
        "transitions": [
            {
                "from": move.from_state,
                "trigger": move.trigger,
                "to": move.to_state,
                "row": move.row,
                "span": [move.start, move.end],
                "note": move.note,
            }
            for move in step.transitions
        ],
        "events": [_event_json(event) for event in step.events],
        "delta": _delta_json(step),
        **_observed_json(trace.observed, step.index),
    }


def _observed_json(observed: Observed | None, index: int) -> dict[str, Any]:
    """What somebody else's parser showed of itself at a step; nothing where it showed nothing at all."""
    if observed is None or index > len(observed.steps):
        return {}
    micros = observed.micros[index - 1] if index <= len(observed.micros) else None
    changed = [asdict(one) for one in observed.steps[index - 1].changed]
    return {"observed": {"micros": micros, "changed": changed}}


def _event_json(event: Event) -> dict[str, Any]:
    out: dict[str, Any] = {"type": event.kind, "span": [event.start, event.end]}
    call = getattr(event, "call", None)
    if call is not None:
        out["call"] = call
    if isinstance(event, TextEvent):
        parts = event.parts()
        segments = [{"text": part.text, "span": [part.start, part.end], "kind": part.kind} for part in parts]
        out |= {"text": event.text, "segments": segments}
    elif isinstance(event, CallEnd):
        out["complete"] = event.complete
    elif isinstance(event, Marker):
        out["terminal"] = event.terminal
    elif isinstance(event, Dropped):
        out["reason"] = event.reason.words
    elif isinstance(event, Diagnostic):
        out |= {"code": event.code, "severity": event.severity, "message": event.message}
    return out


def _held(trace: Trace, step: Step) -> str | None:
    start = min((hold.start for hold in step.holds), default=0)
    end = max((hold.end for hold in step.holds), default=0)
    text = trace.text[start : min(end, start + HELD_CHARACTERS)]
    return (text + "…" if end - start > HELD_CHARACTERS else text) or None
