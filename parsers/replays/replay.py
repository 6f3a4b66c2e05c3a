"""Replay: deltas through a parser, with every step recorded, or only the message when nobody looks.

`replay` gives a Trace with one Step per delta and a last one for the end of the output. `parse` is the same run
without a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from parsers.replays.columns import Steps, texts_of
from parsers.vocabulary.drops import LOST
from parsers.vocabulary.events import Dropped, Event, Failure, Marker, Raised, TextEvent
from parsers.vocabulary.trace import Ownership, ReadsOpenText, StateView, StreamParser, Trace, Transition
from parsers.vocabulary.types import Context, Delta, FormatError, Message, MessageDelta, Mode, UsageError
from parsers.wire.assemble import Assembler

_OURS = (FormatError, UsageError)  # the caller's fault, not the parser's


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
    assembler, texts, at = Assembler(), texts_of(deltas), 0
    reads_open = parser.read_open_text if isinstance(parser, ReadsOpenText) else None
    while at < len(deltas):
        if reads_open is not None:
            at, event, _ = reads_open(deltas, texts, at)
            if event is not None:
                assembler.absorb((event,))
            if at == len(deltas):
                break
        assembler.absorb(parser.feed(deltas[at]))
        at += 1
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
    sent: Sequence[MessageDelta | None] = (),
) -> Trace:
    """Run with tracing. Step i is delta i (from 1); the last step is the end of the output.

    A parser that raises is not fed again: the step has a `Raised` diagnostic, and what was made until then is kept.
    `sent` are the deltas that the first steps sent, where these do not follow from what the parser says.
    """
    parser.transitions = []
    texts = texts_of(deltas)
    recorder = _Recorder(parser, Steps(deltas, texts, sent), texts)
    recorder.begin(lambda: parser.begin(context, mode=mode, markers=markers))
    recorder.record(deltas, lambda: parser.finish(context.finish_reason))
    steps = recorder.steps
    message = recorder.message()
    return Trace(
        parser.name,
        tuple(reasons),
        dict(chunking or {}),
        mode,
        steps.text,
        steps,
        message,
        finish_reason(message, context.finish_reason),
        partition(steps.joined_events(), len(steps.text)),
        list(parser.rejected),
        examined=parser.examined,
    )


class _Recorder:
    """Records what the parser did in each delta."""

    def __init__(self, parser: StreamParser, steps: Steps, texts: Sequence[str]) -> None:
        self.steps = steps
        self._parser = parser
        self._texts = texts
        self._view = StateView("FAILED")
        self._failed: list[Event] | None = None

    def message(self) -> Message:
        """The message of all events."""
        assembler = Assembler()
        assembler.absorb(self.steps.joined_events())
        return assembler.message()

    def begin(self, call: Callable[[], None]) -> None:
        """Start the parser. What it fails with is told in the first step."""
        try:
            call()
        except _OURS:
            raise
        except Exception as error:
            self._failed = [Raised.at(0, 0, failure_of(error))]

    def record(self, deltas: Sequence[Delta], finish: Callable[[], list[Event]]) -> None:
        """Let the parser take all deltas and the end of the output."""
        at, parser = 0, self._parser
        reads_open = parser.read_open_text if isinstance(parser, ReadsOpenText) else None
        while at < len(deltas):
            if reads_open is not None and self._failed is None:
                stop, event, tail = reads_open(deltas, self._texts, at)
                if stop > at:
                    self.steps.add_open(stop - at, event, parser.view(), tail)
                    at = stop
                    continue
            self.steps.add(*self._step(partial(parser.feed, deltas[at])))
            at += 1
        self.steps.end(*self._step(finish))

    def _step(self, call: Callable[[], list[Event]]) -> tuple[list[Event], Sequence[Transition], StateView]:
        """What the parser does, the rows it fires, and its view then."""
        events, parser = self._events(call), self._parser
        moves: Sequence[Transition] = ()
        if parser.transitions:
            moves, parser.transitions = parser.transitions, []
        if self._failed is None:
            self._view = parser.view()
        return events, moves, self._view

    def _events(self, call: Callable[[], list[Event]]) -> list[Event]:
        if self._failed is not None:
            events, self._failed = self._failed, []
            return events
        try:
            return call()
        except _OURS:
            raise
        except Exception as error:
            self._failed = []
            return [Raised.at(*self.steps.span(len(self.steps)), failure_of(error))]


def failure_of(error: Exception) -> Failure:
    """An exception as a failure of the parser."""
    message, place = " ".join(str(error).split()), error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return Failure(type(error).__name__, message)
    return Failure(type(error).__name__, message, f"{place.tb_frame.f_code.co_qualname}, line {place.tb_lineno}")


def partition(events: Iterable[Event], size: int) -> list[Ownership]:
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
