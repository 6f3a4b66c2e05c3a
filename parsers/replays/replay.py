"""Replay: deltas through a parser, with every step recorded, or only the message when nobody looks.

`replay` gives a Trace with one Step per delta and a last one for the end of the output. `parse` is the same run
without a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Dropped, Event, Failure, Marker, Raised, TextEvent
from parsers.vocabulary.trace import Ownership, StateView, Step, StreamParser, Trace, Transition
from parsers.vocabulary.types import Context, Delta, FormatError, Message, Mode, Span, UsageError
from parsers.wire.assemble import Assembler

REFUSALS = (FormatError, UsageError)  # of the whole run: no fault of the parser


def finish_reason(message: Message, reason: str | None) -> str:
    """The finish_reason the client sees: length stays, calls make tool_calls, else what the model gave, or stop."""
    if reason == "length":
        return "length"
    return "tool_calls" if message.tool_calls else reason or "stop"


def parse(
    parser: StreamParser,
    deltas: Sequence[Delta],
    context: Context,
    *,
    mode: Mode = "text",
    markers: Mapping[str, int] | None = None,
) -> Message:
    """Run without tracing and return the message."""
    parser.transitions = None
    parser.begin(context, mode=mode, markers=markers)
    assembler = Assembler()
    for delta in deltas:
        assembler.absorb(parser.feed(delta))
    assembler.absorb(parser.finish(context.finish_reason))
    return assembler.message()


def replay(
    parser: StreamParser,
    deltas: Sequence[Delta],
    context: Context,
    *,
    mode: Mode = "text",
    markers: Mapping[str, int] | None = None,
    chunking: Mapping[str, Any] | None = None,
    reasons: Sequence[str] = (),
) -> Trace:
    """Run with tracing. Step i is delta i (from 1); the last step is the end of the output.

    A parser that raises is not fed again: the step has a `Raised` diagnostic, and what was made until then is kept.
    """
    parser.transitions = []
    texts = [delta.text for delta in deltas]
    trace = Trace(parser.name, tuple(reasons), dict(chunking or {}), mode, "".join(texts))
    recorder = _Recorder(parser, trace)
    recorder.begin(lambda: parser.begin(context, mode=mode, markers=markers))
    for delta, text in zip(deltas, texts, strict=True):
        recorder.step(partial(parser.feed, delta), len(text), delta.token_ids)
    recorder.step(lambda: parser.finish(context.finish_reason), 0, (), end=True)
    trace.message = recorder.assembler.message()
    trace.finish_reason = finish_reason(trace.message, context.finish_reason)
    trace.rejected_calls = list(parser.rejected)
    trace.examined = parser.examined
    trace.partition = partition([event for _, event in trace.events()], len(trace.text))
    return trace


class _Recorder:
    """Turns what the parser did in one delta into a Step."""

    def __init__(self, parser: StreamParser, trace: Trace) -> None:
        self._parser = parser
        self._trace = trace
        self._at = 0
        self._view = StateView("FAILED")
        self._failed: list[Event] | None = None
        self.assembler = Assembler()

    def begin(self, call: Callable[[], None]) -> None:
        """Start the parser. What it fails with is told in the first step."""
        try:
            call()
        except REFUSALS:
            raise
        except Exception as error:
            self._failed = [Raised.at(0, 0, failure_of(error))]

    def step(self, call: Callable[[], list[Event]], length: int, ids: tuple[int, ...], *, end: bool = False) -> None:
        """Let the parser take one delta, and record what it did."""
        events = self._events(call, length)
        assembler, parser = self.assembler, self._parser
        delta = assembler.add(events)
        transitions: tuple[Transition, ...] = ()
        if parser.transitions:
            transitions, parser.transitions = tuple(parser.transitions), []
        view = self._view if self._failed is not None else parser.view()
        self._view = view
        span = Span(self._at, self._at + length)
        self._at += length
        lengths = (assembler.reasoning_length, assembler.content_length, assembler.calls)
        index, events_ = len(self._trace.steps) + 1, tuple(events)
        step = Step(index, span, ids, view.state, view.holds, transitions, events_, delta, view, end, *lengths)
        self._trace.steps.append(step)

    def _events(self, call: Callable[[], list[Event]], length: int) -> list[Event]:
        if self._failed is not None:
            events, self._failed = self._failed, []
            return events
        try:
            return call()
        except REFUSALS:
            raise
        except Exception as error:
            self._failed = []
            return [Raised.at(self._at, self._at + length, failure_of(error))]


def failure_of(error: Exception) -> Failure:
    """An exception as a failure of the parser."""
    message, place = " ".join(str(error).split()), error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return Failure(type(error).__name__, message)
    return Failure(type(error).__name__, message, f"{place.tb_frame.f_code.co_qualname}, line {place.tb_lineno}")


def partition(events: Sequence[Event], size: int) -> list[Ownership]:
    """Who owns each character. Runs tile [0, size); what no event claims is dropped with the reason 'lost'.

    A name inside an id (Kimi's header) belongs to the name.
    """
    claims: list[Ownership] = []
    for event in events:
        claims += _claims(event)
    claims.sort(key=attrgetter("start", "end"))
    runs: list[Ownership] = []
    at = 0
    for claim in _split_ids(claims):
        if claim.start > at:
            _push(runs, Ownership(at, claim.start, "dropped", LOST))
        start = max(claim.start, at)
        if claim.end > start:
            _push(runs, Ownership(start, claim.end, claim.owner, claim.reason))
            at = claim.end
    if at < size:
        _push(runs, Ownership(at, size, "dropped", LOST))
    return runs


def _claims(event: Event) -> list[Ownership]:
    if isinstance(event, TextEvent) and event.owner is not None:
        if event.segments is None:
            return [Ownership(event.start, event.end, event.owner)]
        return [Ownership(part.start, part.end, event.owner) for part in event.segments if part.end > part.start]
    if isinstance(event, Dropped):
        return [Ownership(event.start, event.end, "dropped", event.reason)]
    if isinstance(event, Marker):
        return [Ownership(event.start, event.end, "marker")]
    return []


def _split_ids(claims: list[Ownership]) -> list[Ownership]:
    """Cut the name out of the id that contains it."""
    out: list[Ownership] = []
    for claim in claims:
        last = out[-1] if out else None
        if last is not None and last.owner == "id" and claim.owner == "name" and claim.end <= last.end:
            out[-1:] = [Ownership(last.start, claim.start, "id"), claim, Ownership(claim.end, last.end, "id")]
        else:
            out.append(claim)
    return [run for run in out if run.end > run.start]


def _push(runs: list[Ownership], run: Ownership) -> None:
    last = runs[-1] if runs else None
    if last is not None and last.owner == run.owner and last.reason == run.reason and last.end == run.start:
        last.end = run.end
    else:
        runs.append(run)
