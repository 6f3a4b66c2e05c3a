"""Real parsers with one fault planted: `Broken` changes the events of a built-in parser, `BrokenDeltas` its deltas.

A fault is a function from the number of the delta and what the parser made of it to what is sent instead. It notes in
`hit` the first delta in which it did something, so that a test can ask whether a finding points there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from parsers.checks import run_checks
from parsers.checks.subject import subject_of
from parsers.replays.chunking import TRACED, WHOLE
from parsers.replays.recorded import BlackBox
from parsers.replays.replayer import Replayer
from parsers.selection.registry import build, get_format, policies
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import Finding, RejectedCall, StateView, StreamParser, Trace, Transition
from parsers.vocabulary.types import Context, Delta, MessageDelta, Mode, Piece
from parsers.wire.assemble import Assembler

_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
Made = tuple[list[Finding], Trace]


class Fault:
    """What is wrong with a parser. Faults override what they need."""

    def __init__(self) -> None:
        self.hit: int | None = None
        self.text = ""

    def begin(self) -> None:
        """A new output."""

    def mark(self, number: int) -> None:
        """The fault did something in this delta."""
        self.hit = self.hit or number

    def events(self, number: int, events: list[Event]) -> list[Event]:
        """The events that are sent instead of these."""
        return events

    def delta(self, number: int, delta: MessageDelta | None) -> MessageDelta | None:
        """The delta that is sent instead of this one."""
        return delta

    def view(self, view: StateView) -> StateView:
        """The state that is shown instead of this one."""
        return view

    def cost(self, examined: int) -> int:
        """The work that is counted instead of this."""
        return examined


class Broken:
    """A built-in parser with a fault in its events."""

    def __init__(self, fmt: str, fault: Fault) -> None:
        self.name = fmt
        self.inner = build(get_format(fmt))
        self.fault = fault
        self.transitions: list[Transition] | None = None
        self.rejected: list[RejectedCall] = []
        self.number = 0

    @property
    def examined(self) -> int:
        return self.fault.cost(self.inner.examined)

    @examined.setter
    def examined(self, value: int) -> None:
        raise AssertionError("nobody sets it")

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        self.inner.transitions = self.transitions
        self.number, self.fault.text = 0, ""
        self.fault.begin()
        self.inner.begin(context, mode=mode, markers=markers)
        self.rejected = self.inner.rejected

    def feed(self, delta: Delta) -> list[Event]:
        self.fault.text += delta.text
        return self.changed(self.inner.feed(delta))

    def finish(self, reason: str | None = None) -> list[Event]:
        return self.changed(self.inner.finish(reason))

    def changed(self, events: list[Event]) -> list[Event]:
        self.number += 1
        if self.inner.transitions:
            self.transitions, self.inner.transitions = self.inner.transitions, []
        return self.fault.events(self.number, events)

    def view(self) -> StateView:
        return self.fault.view(self.inner.view())


class BrokenDeltas:
    """The same for a parser of which only the deltas are seen."""

    def __init__(self, fmt: str, fault: Fault) -> None:
        self.inner = build(get_format(fmt))
        self.fault = fault
        self.assembler = Assembler()
        self.number = 0

    def begin(self, context: Context) -> None:
        self.number, self.fault.text, self.assembler = 0, "", Assembler()
        self.fault.begin()
        self.inner.transitions = None
        self.inner.begin(context)

    def feed(self, delta: Delta) -> MessageDelta | None:
        self.fault.text += delta.text
        return self.sent(self.inner.feed(delta))

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self.sent(self.inner.finish(reason))

    def sent(self, events: list[Event]) -> MessageDelta | None:
        self.number += 1
        return self.fault.delta(self.number, self.assembler.add(events))


def replayer_of(fmt: str, text: str, make: Callable[[], Any], context: Context, black_box: bool) -> Replayer:
    format_ = get_format(fmt)
    pieces = tuple([Piece(token, number, token.encode()) for number, token in enumerate(_TOKEN.findall(text))])
    terminals = {name: literal for name, literal in format_.terminals.items() if len(literal) > 1}
    longest = max([len(literal) for literal in terminals.values()], default=0)
    policy = policies(format_, {})
    return Replayer(make, pieces, context, "text", None, (), terminals, longest, black_box, None, format_, policy)


def judged(fmt: str, text: str, make: Callable[[], StreamParser], context: Context, *, black_box: bool) -> Made:
    """What the checks find of a parser on an output that is streamed token by token, and the replay."""
    replayer = replayer_of(fmt, text, make, context, black_box)
    trace = replayer.trace(TRACED)
    return run_checks(subject_of(replayer, trace, replayer.trace(WHOLE), [])).findings, trace


def open_box(fmt: str, text: str, fault: Fault, context: Context) -> Made:
    """A parser that shows its work."""
    return judged(fmt, text, lambda: Broken(fmt, fault), context, black_box=False)


def closed_box(fmt: str, text: str, fault: Fault, context: Context) -> Made:
    """A parser of which only the deltas are seen."""
    return judged(fmt, text, lambda: BlackBox("broken", BrokenDeltas(fmt, fault)), context, black_box=True)
