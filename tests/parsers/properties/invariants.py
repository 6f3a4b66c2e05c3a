"""What holds for every parser, policy, chunking and output, however broken the output is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from parsers.formats.model import Format
from parsers.machine.call_life import LIFE, CallState
from parsers.machine.machine import Machine
from parsers.machine.program import Program
from parsers.replays.chunking import Chunking, apply
from parsers.replays.replay import parse, replay
from parsers.selection.registry import build, policies
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    TextEvent,
)
from parsers.vocabulary.trace import Step, StreamParser, Trace
from parsers.vocabulary.types import Context, Delta, Message, Mode, Piece

Claim = tuple[int, int, str]


@dataclass(repr=False)
class Run:
    """An output with all that decides what a parser makes of it."""

    fmt: Format
    pieces: tuple[Piece, ...]
    policy: Mapping[str, str] = field(default_factory=dict)
    context: Context = field(default_factory=Context)
    mode: Mode = "text"
    markers: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        words = (self.text, self.fmt.name, self.policy, self.context, self.mode, [p.text for p in self.pieces][:99])
        return f"Run{words!r}"

    @cached_property
    def parser(self) -> StreamParser:
        """One for all chunkings: what an output leaves behind in it must not change how the next is read."""
        return build(self.fmt, self.policy)

    @cached_property
    def text(self) -> str:
        return "".join([piece.text for piece in self.pieces])

    def deltas(self, chunking: Chunking) -> Sequence[Delta]:
        """A parser that reads text does not see the pieces: one is cut faster than many."""
        return apply(chunking, self.pieces if self.mode == "ids" else (Piece(self.text),), self.mode)

    def trace(self, chunking: Chunking) -> Trace:
        return self.replayed(self.deltas(chunking))

    def read_in_full(self, parser: Machine, chunking: Chunking) -> Trace:
        """The same without the short way through open text."""
        parser.passes_open_text = False
        try:
            return self.trace(chunking)
        finally:
            parser.passes_open_text = True

    def replayed(self, deltas: Sequence[Delta]) -> Trace:
        return replay(self.parser, deltas, self.context, mode=self.mode, markers=self.markers)

    def message(self, chunking: Chunking) -> Message:
        return parse(self.parser, self.deltas(chunking), self.context, mode=self.mode, markers=self.markers)

    @cached_property
    def longest(self) -> int:
        """Characters of the longest literal that the parser may wait for."""
        return Program(self.fmt, policies(self.fmt, self.policy), frozenset(), skip_tools=False).longest


def as_text(text: str) -> tuple[Piece, ...]:
    """Pasted text: one piece a character."""
    return tuple([Piece(char) for char in text])


def as_ids(text: str, markers: Mapping[str, int], special: Mapping[str, bool], typed: int = 0) -> tuple[Piece, ...]:
    """Recorded ids: markers are single tokens, all else is one token a character. Bit n of `typed`: the n-th marker
    was typed out by ordinary tokens."""
    pieces: list[Piece] = []
    at = seen = 0
    while at < len(text):
        marker = max((m for m in markers if text.startswith(m, at)), key=len, default=None)
        if marker is not None:
            seen += 1
        if marker is not None and not typed >> (seen - 1) & 1:
            kind = "special" if special[marker] else "added"
            pieces.append(Piece(marker, markers[marker], marker.encode(), kind, True))  # type: ignore[arg-type]
            at += len(marker)
        else:
            pieces.append(Piece(text[at], ord(text[at]), None, "text", True))
            at += 1
    return tuple(pieces)


def check(run: Run, seed: int = 0, cuts: Sequence[int] = ()) -> Message:
    """All invariants for the output whole, one character at a time, and cut at random."""
    whole = run.trace(Chunking(by="whole"))
    check_trace(run, whole)
    fine = run.trace(Chunking(by="char"))
    check_trace(run, fine)
    if isinstance(run.parser, Machine):
        assert fine.steps == run.read_in_full(run.parser, Chunking(by="char")).steps
    assert fine.message == whole.message
    assert fine.partition == whole.partition
    assert _happened(fine) == _happened(whole)
    for largest in (3, 40):
        chunking = Chunking(by="random", unit="char", max=largest, seed=seed)
        assert run.message(chunking) == whole.message, f"random cuts, seed {seed}, up to {largest}"
    inside = sorted({cut for cut in cuts if 0 < cut < len(run.text)})
    trace = run.trace(Chunking(by="cuts", cuts=tuple(inside)))
    check_trace(run, trace)
    assert trace.message == whole.message
    return whole.message


def _happened(trace: Trace) -> tuple[object, ...]:
    """What must not depend on the chunking besides the message: rows fired, diagnostics, rejected calls."""
    rows = [(row.from_state, row.trigger, row.row, row.start, row.end) for s in trace.steps for row in s.transitions]
    said = [(event.code, event.start, event.end) for _, event in trace.events() if isinstance(event, Diagnostic)]
    return rows, said, trace.rejected_calls


def check_trace(run: Run, trace: Trace) -> None:
    """The invariants of one trace."""
    assert trace.text == run.text
    _check_partition(trace)
    _check_copies(trace)
    _check_calls(trace)
    _check_deltas(trace)
    _check_holds(run, trace)
    _check_every_step_accounts(trace)
    _check_life_of_calls(trace)


def claims_of(event: Event) -> list[Claim]:
    """The raw spans an event owns."""
    if isinstance(event, TextEvent):
        return [(part.start, part.end, str(event.owner)) for part in event.parts() if part.end > part.start]
    if isinstance(event, Marker | Dropped):
        return [(event.start, event.end, str(event.owner))]
    return []


def owned(events: Sequence[Event]) -> list[Claim]:
    """All claims in order, with the id cut away around a name that stands in it. Overlaps are errors."""
    found = sorted((claim for event in events for claim in claims_of(event)), key=lambda c: (c[0], c[2] != "id", c[1]))
    out: list[Claim] = []
    for start, end, owner in found:
        if out and out[-1][2] == "id" and owner == "name" and end <= out[-1][1]:
            first, last, _ = out.pop()
            out += [(first, start, "id"), (start, end, "name"), (end, last, "id")]
            continue
        assert not out or out[-1][1] <= start, f"{out[-1]} and {(start, end, owner)} overlap"
        out.append((start, end, owner))
    return [claim for claim in out if claim[0] < claim[1]]


def _check_partition(trace: Trace) -> None:
    at = 0
    for start, end, _ in owned([event for _, event in trace.events()]):
        assert start == at, f"nobody owns {trace.text[at:start]!r} at {at}"
        at = end
    assert at == len(trace.text), f"nobody owns {trace.text[at:]!r} at {at}"
    runs = trace.partition
    assert [run.start for run in runs] == [0, *(run.end for run in runs)][: len(runs)]
    assert not any(run.reason == LOST for run in runs)


def _check_copies(trace: Trace) -> None:
    for _, event in trace.events():
        assert 0 <= event.start <= event.end <= len(trace.text)
        if isinstance(event, TextEvent):
            parts = event.parts()
            assert "".join([part.text for part in parts]) == event.text
            for part in parts:
                raw = trace.text[part.start : part.end]
                assert (part.text == raw) if part.kind == "copied" else (part.kind == "converted" or not raw)


def _check_calls(trace: Trace) -> None:
    """Each call: start, id, name, arguments in pieces, end; indices dense, one call open at a time."""
    opened: int | None = None
    begun = 0
    stage = 0
    order = {CallStart: 0, CallId: 1, CallName: 2, CallArguments: 3, CallEnd: 4}
    for _, event in trace.events():
        if type(event) not in order:
            continue
        assert isinstance(event, CallStart | CallId | CallName | CallArguments | CallEnd)
        if isinstance(event, CallStart):
            assert opened is None
            assert event.call == begun
            opened, begun, stage = event.call, begun + 1, 0
            continue
        rank = order[type(event)]
        assert event.call == opened
        assert rank == stage + 1 or (rank == stage == 3) or (rank == 4 and stage == 2), (event, stage)
        stage = rank
        if isinstance(event, CallEnd):
            opened = None
    assert opened is None
    assert begun == len(trace.message.tool_calls)


def _check_life_of_calls(trace: Trace) -> None:
    """From step to step a call goes only where the table leads, and its events go out only while it stands."""
    last = CallState.NONE
    for step in trace.steps:
        state = CallState[step.view.call_state or "NONE"]
        assert state in _reachable(last), (last, state, step.index)
        assert (step.view.call is None) is (state not in (CallState.TENTATIVE, CallState.NAMED, CallState.OPEN))
        sent = [event for event in step.events if isinstance(event, CallArguments)]
        assert not sent or state is CallState.OPEN or any(isinstance(event, CallEnd) for event in step.events)
        last = state


@cache
def _reachable(state: CallState) -> frozenset[CallState]:
    """The state and all that lie behind it."""
    found = [state]
    for one in found:
        found += [after for after in LIFE[one].values() if after not in found]
    return frozenset(found)


def _check_deltas(trace: Trace) -> None:
    """What a client adds up is the message."""
    reasoning = "".join([delta.reasoning or "" for delta in trace.deltas if delta])
    content = "".join([delta.content or "" for delta in trace.deltas if delta])
    assert (reasoning, content) == (trace.message.reasoning or "", trace.message.content or "")
    for index, call in enumerate(trace.message.tool_calls):
        parts = [part for delta in trace.deltas if delta for part in delta.tool_calls if part.index == index]
        assert call.arguments.encode() is not None
        assert "".join([part.arguments or "" for part in parts]) == call.arguments
        assert [part.name for part in parts] == [call.name] + [None] * (len(parts) - 1)
        assert [part.id for part in parts] == [call.id] + [None] * (len(parts) - 1)


def _check_holds(run: Run, trace: Trace) -> None:
    for step in trace.steps:
        for hold in step.holds:
            assert 0 <= hold.start < hold.end <= step.span.end, hold
            assert hold.reason
            size = hold.end - hold.start
            assert hold.kind != "lexer" or size < 12 or size < run.longest, hold
    assert trace.steps[-1].end
    assert trace.steps[-1].holds == ()


def _check_every_step_accounts(trace: Trace) -> None:
    """After each step every character fed has an owner, or a hold that says why it waits."""
    spans: list[tuple[int, int]] = []
    fed = 0
    for step in trace.steps:
        fed = step.span.end
        spans += [(start, end) for event in step.events for start, end, _ in claims_of(event)]
        spans = merged(spans)
        covered = merged(spans + [(hold.start, hold.end) for hold in step.holds])
        assert covered == ([(0, fed)] if fed else []), _missing(trace, step, covered)


def merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without overlaps and touching ends."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _missing(trace: Trace, step: Step, covered: Sequence[tuple[int, int]]) -> str:
    at = covered[0][1] if covered and covered[0][0] == 0 else 0
    return f"step {step.index} in {step.state}: {trace.text[at : step.span.end]!r} at {at} has no owner and no hold"
