"""The events that leave a parser: in order, adjacent text of one kind as one event, those of an open call held back.

Text that goes on in the same place stays a list of pieces until its run ends, so a long value in one delta costs
linear time. A run never outlasts `take`: adjacent text is one event per delta. Empty text and empty spans give none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from msgspec.structs import replace

from parsers.machine.held_events import STRUCTURE, HeldEvents, joined
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import (
    CallArguments,
    CallStart,
    ContentText,
    Diagnostic,
    Dropped,
    Event,
    Marker,
    ReasoningText,
    Segment,
    SegmentKind,
    Severity,
    TextEvent,
)
from parsers.vocabulary.states import Part

_TextKind = type[ContentText] | type[ReasoningText] | type[CallArguments]
_SPACE = re.compile(r"\s+")
NO_CALL_WAITS = DropReason(Cause.NO_CALL_WAITS)


class Writer(Part):
    """Events in order. Between hold() and release() they go to a list of their own.

    `quiet` is set while the structure and the arguments of a call go nowhere, because it is not wanted. `call` is the
    number of the call that is being written, None where there is none; `argued` whether it has arguments, `written`
    whether anything in the output stands for them.
    """

    __slots__ = (
        "_breaks",
        "_events",
        "_joined",
        "_run",
        "_run_call",
        "_run_parts",
        "_run_segments",
        "_target",
        "_written",
        "argued",
        "call",
        "joins",
        "quiet",
        "written",
    )
    APART: ClassVar[frozenset[str]] = frozenset(
        {
            *("_events", "_target", "_joined", "joins"),
            *("_run", "_run_parts", "_run_segments", "_run_call"),
        }
    )
    INSTEAD: ClassVar[tuple[str, ...]] = ("_held",)
    NUMBERS: ClassVar[frozenset[str]] = frozenset({"call"})

    def __init__(self) -> None:
        self.quiet = self.argued = self.written = False
        self.joins = True  # what is held and goes on in the same place is one event in a state
        self.call: int | None = None
        self._events: list[Event] = []
        self._target = self._events
        self._joined = 0  # so many of those that are held do not go on in the next one
        self._run: TextEvent | Marker | None = None
        self._run_parts: list[str] = []  # its text, once there is more than a piece, and the segments of that
        self._run_segments: list[Segment] | None = None
        self._run_call = 0
        self._written: set[_TextKind] = set()
        self._breaks: set[_TextKind] = set()

    # runs: the last event of the target, while what follows may go on in it

    def text(
        self,
        kind: _TextKind,
        text: str,
        start: int,
        end: int,
        segments: tuple[Segment, ...] | None = None,
        call: int = 0,
    ) -> None:
        """Add text of a kind; it joins the run before it if it follows it directly."""
        run = self._run
        if type(run) is kind and run.end == start and self._run_call == call:
            self._go_on(run, text, end, segments)
            return
        if run is not None:
            self._end_run()
        if kind is CallArguments:
            event: TextEvent = CallArguments(start, end, text, segments, call)
        else:
            if kind in self._breaks:
                self._breaks.remove(kind)
                copied = segments or (Segment(text, start, end),)
                text, segments = f"\n{text}", (Segment("\n", start, start, "synthetic"), *copied)
            self._written.add(kind)
            event = kind(start, end, text, segments)
        self._run, self._run_call = event, call
        self._target.append(event)

    def _go_on(self, run: TextEvent, text: str, end: int, segments: tuple[Segment, ...] | None) -> None:
        if not self._run_parts:
            self._run_parts = [run.text]
            self._run_segments = None if run.segments is None else [*run.segments]
        if segments is not None and self._run_segments is None:
            self._run_segments = [Segment("".join(self._run_parts), run.start, run.end)]
        if self._run_segments is not None:
            self._run_segments += segments or (Segment(text, run.end, end),)
        self._run_parts.append(text)
        run.end = end

    def _end_run(self) -> None:
        """What follows is an event of its own."""
        run, self._run = self._run, None
        if self._run_parts and isinstance(run, TextEvent):
            run.text, self._run_parts = "".join(self._run_parts), []
            run.segments = None if self._run_segments is None else tuple(self._run_segments)

    def content(self, text: str, start: int) -> None:
        """Content, copied from the raw text at `start`."""
        self.text(ContentText, text, start, start + len(text))

    def reasoning(self, text: str, start: int) -> None:
        """Reasoning, copied from the raw text at `start`."""
        self.text(ReasoningText, text, start, start + len(text))

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The next piece of the call's arguments."""
        if not text or self.quiet:
            return
        if self.call is None:
            self.leave_out(start, end, NO_CALL_WAITS)
        else:
            self.argued, self.written = True, self.written or start < end
            self.text(CallArguments, text, start, end, segments, self.call)

    def join(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        """Content that stands for the raw spans, in order (one empty span: for nothing)."""
        start, end = spans[0][0], spans[-1][1]
        kind: SegmentKind = "synthetic" if start == end else "converted"
        parts = [Segment("" if number else text, *span, kind) for number, span in enumerate(spans)]
        self.text(ContentText, text, start, end, tuple(parts))

    def marker(self, start: int, end: int, terminal: str = STRUCTURE) -> None:
        """Characters that are structure: a terminal by its name, or what stands between terminals."""
        if start >= end or self.quiet:
            return
        if terminal != STRUCTURE:
            self.add(Marker(start, end, terminal))
            return
        run = self._run
        if type(run) is Marker and run.end == start:
            run.end = end
            return
        if run is not None:
            self._end_run()
        last = self._target[-1] if self._target else None
        if isinstance(last, Marker) and last.terminal == STRUCTURE and last.end == start:
            start = last.start
            self._target.pop()
        self._run = Marker(start, end)
        self._target.append(self._run)

    def skip_space(self, buffer: str, pos: int, end: int, base: int) -> int:
        """White space from `pos` on is structure; returns where it ends. `base` is the raw offset of buffer[0]."""
        match = _SPACE.match(buffer, pos, end)
        if match is None:
            return pos
        self.marker(base + pos, base + match.end())
        return match.end()

    def may_pass(self, kind: _TextKind) -> bool:
        """Return whether text of a kind is an event of its own at once, with nothing before it: it may be made without
        this writer."""
        waits = self._target is not self._events or self._events or kind in self._breaks
        return not (waits or self.quiet or (kind is CallArguments and self.call is None))

    def passed(self, kind: _TextKind) -> None:
        """Text of a kind was made without this writer."""
        if kind is not CallArguments:  # no line is broken before those
            self._written.add(kind)

    # single events

    def add(self, event: Event) -> None:
        """Add an event that is not merged."""
        if self._run is not None:
            self._end_run()
        self._target.append(event)

    def leave_out(self, start: int, end: int, reason: DropReason) -> None:
        """Characters that reach nobody."""
        if start < end:
            self.add(Dropped(start, end, reason))

    def drop(self, start: int, end: int, reason: DropReason) -> None:
        """Characters of a call that reach nobody."""
        if not self.quiet:
            self.leave_out(start, end, reason)

    def diagnostic(self, code: str, message: str, start: int, end: int, severity: Severity = "warning") -> None:
        """Something the user should know."""
        self.add(Diagnostic(start, end, code, severity, message))

    def line_break(self) -> None:
        """What follows is another message of the model: its content and reasoning begin on a new line."""
        self._end_run()
        self._breaks = {*self._written}

    # what is held

    def hold(self) -> None:
        """From now on events are held."""
        self._end_run()
        self._target, self._joined = [], 0

    def after_start(self, events: Sequence[Event]) -> None:
        """Put events right after the held call's start, before anything that came early."""
        self._end_run()
        at = next(at for at, event in enumerate(self._target, 1) if isinstance(event, CallStart))
        self._target[at:at] = events
        self._joined = 0

    @property
    def _held(self) -> HeldEvents | None:
        held = self._target
        if held is self._events:
            return None
        if self.joins:
            held[self._joined :] = joined(held[self._joined :])
            self._joined = max(len(held) - 1, 0)
        return HeldEvents(tuple(held))

    @_held.setter
    def _held(self, held: HeldEvents | None) -> None:
        self._events, self._run = [], None
        self._target = self._events if held is None else list(held.events)
        self._joined = 0 if held is None else max(len(held.events) - 1, 0)

    def held_arguments(self) -> str:
        """The text of the arguments among the held events."""
        self._end_run()
        return "".join([event.text for event in self._target if isinstance(event, CallArguments)])

    def rewrite_arguments(self, text: str) -> None:
        """The arguments among the held events are another text, of the same characters of the output."""
        self._end_run()
        for at, event in enumerate(self._target):
            if isinstance(event, CallArguments):
                segments = (Segment(text, event.start, event.end, "converted"),)
                self._target[at], text = replace(event, text=text, segments=segments), ""
        self._joined = 0

    def release(self) -> list[Event]:
        """Stop holding. Returns what was held; it is forgotten unless it is added again."""
        self._end_run()
        held, self._target = self._target, self._events
        return held

    def extend(self, events: Iterable[Event]) -> None:
        """Add events that were held."""
        self._end_run()
        self._target.extend(events)

    def put_before(self, events: Iterable[Event]) -> None:
        """Put events before all others that are not held."""
        self._events[:0] = events

    def take(self) -> list[Event]:
        """The events that are not held, since the last take."""
        if self._run is not None:
            self._end_run()
        events = self._events
        if self._target is events:
            self._target = self._events = []
        else:
            self._events = []
        return events


# Tool call ids that a server would make up, here from a seed so that a replay always gives the same.
#
# Shapes: chatcmpl_tool `chatcmpl-tool-` and 32 hex digits (vLLM), call_hex `call_` and 16 hex digits (vllm.rs),
# call_hex12 and call_hex24 the same with 12 and 24 (candle-vllm's stream state and its parsers), mistral9 nine letters
# or digits (mistral-common checks this), kimi `functions.NAME:INDEX` (Kimi K2's own form).

ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HEX_DIGITS = {"call_hex12": 12, "call_hex": 16, "call_hex24": 24}


def call_id(dialect: str, format_dialect: str, seed: int, index: int, name: str) -> str:
    """The id of call `index`, in the policy's dialect or the format's own."""
    chosen = format_dialect if dialect == "format" else dialect
    if chosen == "kimi":
        return f"functions.{name}:{index}"
    digest = hashlib.sha256(f"tool call id {seed} {index}".encode()).digest()
    if chosen == "mistral9":
        return "".join(ALPHANUMERIC[byte % len(ALPHANUMERIC)] for byte in digest[:9])
    if chosen in _HEX_DIGITS:
        return f"call_{digest.hex()[: _HEX_DIGITS[chosen]]}"
    return f"chatcmpl-tool-{digest.hex()[:32]}"
