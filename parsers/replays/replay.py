"""Replay: deltas through a parser, with every step recorded, or only the message when nobody looks.

`replay` gives a Trace with one Step per delta and a last one for the end of the output. `parse` is the same run
without a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import Any

from parsers.machine.machine import Machine
from parsers.replays.budget import Look, OverBudgetError
from parsers.replays.columns import Recorded, Steps
from parsers.replays.delta_columns import texts_of
from parsers.replays.long_delta import LongDelta, longest
from parsers.replays.partition import Partition
from parsers.replays.reading import Reading
from parsers.replays.tapes import PlayedError
from parsers.vocabulary.events import Event, Failure, Raised
from parsers.vocabulary.seen import Seen
from parsers.vocabulary.trace import OpenText, StateView, StreamParser, Trace
from parsers.vocabulary.types import Context, Delta, FormatError, Message, MessageDelta, Mode, UsageError
from parsers.wire.assemble import Assembler

_BATCH = 256  # steps are recorded together
PART = 2_048  # deltas
REFUSALS = (FormatError, UsageError, MemoryError)  # of the whole run, or a limit of it: no fault of the parser


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
    look: Look | None = None,
) -> Message:
    """Run without tracing and return the message. `look` is called before each delta, and may raise."""
    parts = parse_in_parts(parser, deltas, context, mode=mode, markers=markers, look=look)
    while True:
        try:
            next(parts)
        except StopIteration as end:
            message: Message = end.value
            return message


def parse_in_parts(
    parser: StreamParser,
    deltas: Sequence[Delta],
    context: Context,
    *,
    mode: Mode = "text",
    markers: Mapping[str, int] | None = None,
    look: Look | None = None,
) -> Generator[float, None, Message]:
    """The same in parts of some deltas each. Yields how much is done, from 0 to 1."""
    parser.transitions = None
    parser.begin(context, mode=mode, markers=markers)
    assembler, texts, at = Assembler(), texts_of(deltas), 0
    reading, stop, most = Reading(parser, deltas, texts), 0, longest(parser)
    while at < len(deltas):
        if at >= stop:
            yield at / len(deltas)
            stop = at + PART
        if look is not None:
            look()
        if followed := reading.follow(at):
            reading.absorb(assembler, followed)
            at += sum([step[3] for step in followed])
        elif (found := reading.read_open(at)) is not None:
            assembler.absorb(() if found.event is None else (found.event,))
            at = found.stop
        else:
            if len(texts[at]) > most:
                events = LongDelta(parser, texts[at], look).absorbed(assembler)
            else:
                events = parser.feed(deltas[at])
                assembler.absorb(events)
            reading.learn(at, events)
            at += 1
    reading.settle()
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
    look: Look | None = None,
) -> Trace:
    """Run with tracing. Step i is delta i (from 1); the last step is the end of the output.

    A parser that raises is not fed again: the step has a `Raised` diagnostic, and what was made until then is kept.
    `sent` are the deltas that the first steps sent, where these do not follow from what the parser says. `look` is
    called before each delta; what it raises counts as raised by the parser.
    """
    parser.transitions = []
    texts = texts_of(deltas)
    steps = Steps(deltas, "".join(texts), sent)
    recorder = _Recorder(parser, steps, look)
    recorder.begin(partial(parser.begin, context, mode=mode, markers=markers))
    recorder.feed(deltas, texts)
    recorder.finish(context.finish_reason)
    message = recorder.assembler.message()
    return Trace(
        parser.name,
        tuple(reasons),
        dict(chunking or {}),
        mode,
        steps.text,
        steps,
        message,
        finish_reason(message, context.finish_reason),
        Partition(steps.claims, len(steps.text)),
        list(parser.rejected),
        examined=parser.examined,
    )


class _Recorder:
    """Records what the parser does with each delta. One that raises is asked nothing more."""

    def __init__(self, parser: StreamParser, steps: Steps, look: Look | None = None) -> None:
        self.assembler = Assembler()
        self._look = look
        self._parser = parser
        self._steps = steps
        self._looks: Callable[[], Seen] = _looker(parser)
        self._seen = Seen.of(StateView("FAILED"))  # after the last step
        self._failed = False
        self._waiting: list[Recorded] = []

    def begin(self, begin: Callable[[], None]) -> None:
        """Start the parser. What it fails with is told in the first step."""
        try:
            begin()
        except Exception as error:
            self._step([self._failure(error, 0, 0)])

    def feed(self, deltas: Sequence[Delta], texts: Sequence[str]) -> None:
        """Let it take all deltas. What is done with each that it is fed by itself stands here, for calls would take as
        long."""
        at, steps, parser, look, looks = len(self._steps), self._steps, self._parser, self._look, self._looks
        reading, waiting, is_behind = Reading(parser, deltas, texts), self._waiting, False
        stop, most = (0, 0.0) if self._failed else (len(deltas), longest(parser))
        while at < stop:
            if followed := reading.follow(at):
                self._settle()
                steps.add_kept(followed, reading.made_id)
                reading.absorb(self.assembler, followed)
                at, is_behind = len(steps), True
            elif (found := reading.read_open(at)) is not None:
                self._open_text(found, found.stop - at)
                at = found.stop
            else:
                before, text = looks() if is_behind else self._seen, texts[at]
                self._seen, is_behind = before, False
                try:
                    if look is not None:
                        look()
                    events = parser.feed(deltas[at]) if len(text) <= most else LongDelta(parser, text, look).told()
                except Exception as error:
                    self._step([self._failure(error, *steps.span(at))], len(text))
                    break
                moves = parser.transitions or ()
                if moves:
                    parser.transitions = []
                self._seen = seen = looks()
                step = 1, events, moves, seen, len(text)
                waiting.append(step)
                if (known := reading.learn(at, events)) is not None:
                    known.recorded = steps.kept_of(step, before, *known.begins)
                at += 1
            if len(waiting) >= _BATCH:
                self._settle()
        reading.settle()
        self._settle()
        if (fed := len(steps)) < len(deltas):
            steps.add([(len(deltas) - fed, (), (), self._seen, len(steps.text) - steps.span(fed)[0])])

    def finish(self, reason: str | None) -> None:
        """The output is over."""
        events: list[Event] = []
        if not self._failed:
            try:
                events = self._parser.finish(reason)
            except Exception as error:
                events = [self._failure(error, *self._steps.span(len(self._steps)))]
        if not self._steps.over:
            self._step(events)
        self._steps.close()

    def _open_text(self, found: OpenText, count: int) -> None:
        """Record so many deltas of open text."""
        self._seen = self._looks()
        is_plain = count == 1 or (found.tail is None and found.retold is None)
        events = () if found.event is None else (found.event,)
        self._waiting.append((count, events, () if is_plain else found, self._seen, found.length))

    def _step(self, events: list[Event], length: int = 0) -> None:
        """Record a step that told these events and was fed so many characters, and is the last of some."""
        moves, self._parser.transitions = self._parser.transitions or (), []
        if not self._failed:
            self._seen = self._looks()
        self._waiting.append((1, events, moves, self._seen, length))
        self._settle()

    def _settle(self) -> None:
        """Record the steps that wait."""
        self._steps.add(self._waiting)
        self.assembler.absorb([event for step in self._waiting for event in step[1]])
        self._waiting.clear()

    def _failure(self, error: Exception, start: int, end: int) -> Raised:
        """The parser raised this while it read [start, end). Raises a refusal of the whole run again."""
        if isinstance(error, REFUSALS):
            raise error
        self._failed, self._seen = True, self._seen.ended(start)
        return Raised.at(start, end, failure_of(error))


def _looker(parser: StreamParser) -> Callable[[], Seen]:
    """The parser's way to be looked at: by what a machine sees, unless its class has a `view` of its own."""
    if isinstance(parser, Machine) and type(parser).view is Machine.view:
        return parser.seen
    known: tuple[StateView, Seen] | None = None

    def seen() -> Seen:
        nonlocal known
        view = parser.view()
        if known is None or known[0] is not view:
            known = view, Seen.of(view)
        return known[1]

    return seen


def failure_of(error: Exception) -> Failure:
    """An exception as a failure of the parser."""
    if isinstance(error, PlayedError):
        return error.failure
    if isinstance(error, OverBudgetError):
        return Failure("TooSlow", str(error), slow=True)
    message, place = " ".join(str(error).split()), error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return Failure(type(error).__name__, message)
    return Failure(type(error).__name__, message, f"{place.tb_frame.f_code.co_qualname}, line {place.tb_lineno}")
