"""One JSON value passed through as a call's arguments, with single values coerced to the tool's schema.

Text goes out as soon as it is read, in the model's own spelling. Only a value that its schema may want rewritten
waits for its end: a string where the schema does not say exactly string, a scalar where it does. Without a schema
nothing waits and nothing changes.

Where cut-off arguments are to be closed by appending (`Output.closes`), text since the last point at which closing
brackets would make valid JSON is kept back as the tail; it is dropped when the output ends there.

The stack of frames mirrors the open brackets: each frame holds the schema of its container and the key whose value is
being read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from parsers.arguments.coerce import item_schema, json_to_json, property_schema, stays_string, streams, types_of
from parsers.arguments.contract import CUT, Waiting
from parsers.arguments.json_scan import CLOSERS, JsonScanner, Unit, decode_string
from parsers.vocabulary.events import Segment
from parsers.vocabulary.trace import Hold

HALF_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})?\\(?:u[0-9a-fA-F]{0,3})?\Z")


class ValueOutput(Protocol):
    """The part of a codec's Output that a value needs."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON Schema of the value, when known."""

    @property
    def closes(self) -> bool:
        """Whether cut-off text is to be closed by appending."""

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The next piece of the value."""

    def dropped(self, start: int, end: int, reason: str) -> None:
        """Characters that reach nobody."""


@dataclass(slots=True)
class Frame:
    """An open container: its schema, whether it is an object, and the pieces of the current key."""

    schema: Mapping[str, Any] | None
    is_object: bool
    key: list[str] = field(default_factory=list)
    value_schema: Mapping[str, Any] | None = None


class JsonValue:
    """Reader of one value. `done` is set when it is over; the character after it is not consumed."""

    __slots__ = (
        "_frames",
        "_held",
        "_held_at",
        "_last",
        "_root",
        "_started",
        "_tail",
        "_tail_at",
        "done",
        "out",
        "scan",
    )

    def __init__(self, out: ValueOutput, *, strict: bool = False) -> None:
        self.out = out
        self.scan = JsonScanner(strict=strict)
        self.done = False
        self._root = out.schema
        self._frames: list[Frame] = []
        self._held: Waiting | None = None
        self._held_at = 0
        self._started = False
        self._last: Unit = "ws"
        self._tail = Waiting()
        self._tail_at = 0

    @property
    def closed(self) -> bool:
        """Whether a terminal cannot match here because a string is open."""
        return self.scan.in_string

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool = False) -> int:
        """Pass buffer[pos:end] on; stops where the value ends, a string opens or closes, or an escape is split."""
        sent = pos
        was_open = not self.scan.in_string
        while pos < end and not self.done:
            if self._scalar_over(buffer[pos]):
                sent = self._end_value(buffer, sent, pos, base)
                self.done = not self._frames and self._started
                self._flush_tail()
                if self.done:
                    break
            unit, stop = self.scan.step(buffer, pos, end, final=final)
            if unit in ("hold", "error"):
                break
            sent = self._unit(unit, buffer, sent, pos, stop, base)
            pos = stop
            if self.out.closes:
                self._guard(unit, buffer, sent, pos, base)
                sent = pos
            if self.scan.in_string is was_open:
                break
        self._pass(buffer, sent, pos, base)
        return pos

    def _scalar_over(self, char: str) -> bool:
        return self._last == "scalar" and (char in '{}[],:"' or char.isspace())

    def _unit(self, unit: Unit, buffer: str, sent: int, pos: int, stop: int, base: int) -> int:
        """Follow one unit; returns up to where the buffer has been passed on or put aside."""
        last, self._last = self._last, unit
        if unit == "string":
            if self.scan.is_key and self._frames:
                self._frames[-1].key.append(buffer[pos:stop])
            return sent
        if unit == "quote":
            return self._quote(buffer, sent, pos, stop, base)
        if unit == "scalar" and last != "scalar":
            return self._begin_value(buffer, sent, pos, base, held=not self._passes(json_string=False))
        if unit in ("open", "close", "colon", "comma"):
            self._structure(unit, buffer[pos])
        return sent

    def _quote(self, buffer: str, sent: int, pos: int, stop: int, base: int) -> int:
        if self.scan.in_string:
            if self.scan.is_key:
                self._frames[-1].key = []
                return sent
            return self._begin_value(buffer, sent, pos, base, held=not self._passes(json_string=True))
        if not self.scan.is_key:
            sent = self._end_value(buffer, sent, stop, base)
            self.done = not self._frames
        return sent

    def _structure(self, unit: Unit, char: str) -> None:
        self._started = True
        if unit == "open":
            self._frames.append(Frame(self._schema(), char == "{"))
        elif unit == "close":
            if self._frames:
                self._frames.pop()
            self.done = not self._frames
        elif unit == "colon" and self._frames and self._frames[-1].schema is not None:
            frame = self._frames[-1]
            frame.value_schema = property_schema(frame.schema, decode_string('"' + "".join(frame.key) + '"'))

    def _schema(self) -> Mapping[str, Any] | None:
        """The schema of the value that begins here."""
        if not self._frames:
            return self._root
        frame = self._frames[-1]
        return frame.value_schema if frame.is_object else item_schema(frame.schema)

    def _passes(self, *, json_string: bool) -> bool:
        """Whether the value that begins here can go out while it is read."""
        schema = self._schema()
        if json_string:
            return streams(schema)
        types = types_of(schema)
        return types is None or "string" not in types

    def _begin_value(self, buffer: str, sent: int, pos: int, base: int, *, held: bool) -> int:
        self._started = True
        if not held:
            return sent
        self._pass(buffer, sent, pos, base)
        self._held, self._held_at = Waiting(), base + pos
        return pos

    def _end_value(self, buffer: str, sent: int, stop: int, base: int) -> int:
        """A scalar or string ends at `stop`: if it was held, rewrite it if need be and let it go."""
        self._last = "ws"
        if self._held is None:
            return sent
        self._held.add(buffer[sent:stop], base + sent)
        raw = self._held.text()
        text = json_to_json(raw, self._schema())
        self._release(self._held, text if text == raw else coerced(text, self._schema()), base + stop)
        return stop

    def _release(self, held: Waiting, text: str, end: int) -> None:
        self._held = None
        self._flush_tail()
        self.out.arguments(text, self._held_at, end, held.spelled(text))

    def _guard(self, unit: Unit, buffer: str, start: int, stop: int, base: int) -> None:
        """Pass text on only up to a point from which appended brackets give valid JSON."""
        if self._held is not None or start == stop:
            self._pass(buffer, start, stop, base)
        elif self._safe(unit, buffer[start:stop]):
            self._flush_tail()
            self._pass(buffer, start, stop, base)
        else:
            self._tail_at = self._tail_at if self._tail else base + start
            self._tail.add(buffer[start:stop], base + start)

    def _safe(self, unit: Unit, text: str) -> bool:
        """Whether brackets could be appended after this unit: not in a key, nor after half an escape sequence."""
        if unit == "string":
            return not self.scan.is_key and not HALF_ESCAPE.match(text)
        return unit in ("open", "close") or (unit == "quote" and not self.scan.is_key)

    def _flush_tail(self) -> None:
        if self._tail:
            for run in self._tail.runs():
                self.out.arguments(run.text, run.start, run.end)
            self._tail = Waiting()

    def _pass(self, buffer: str, start: int, stop: int, base: int) -> None:
        if start == stop:
            return
        if self._held is not None:
            self._held.add(buffer[start:stop], base + start)
        else:
            self.out.arguments(buffer[start:stop], base + start, base + stop)

    def finish(self, at: int) -> None:
        """No more text: let go of what is held. A scalar at the top is a whole value; one inside may be cut off."""
        if self._last == "scalar" and not self._frames:
            self._end_value("", 0, 0, at)
            self.done = True
        if self.done:
            self._flush_tail()
        elif self.out.closes:
            self._close(at)
        elif self._held is not None:
            self._cut_off(self._held, at)

    def _cut_off(self, held: Waiting, at: int) -> None:
        """A value that waited is cut off: it goes out only if it can have been nothing but a string."""
        raw = held.text()
        if raw.startswith('"') and stays_string(raw[1:], self._schema()):
            self._release(held, raw, at)
        else:
            self._drop(held, CUT)
            self._held = None

    def _close(self, at: int) -> None:
        """Drop what could not be completed and append the brackets that balance the rest."""
        for waiting in (self._tail, self._held or Waiting()):
            self._drop(waiting, "cut off: the arguments were closed before it")
        in_string = self.scan.in_string and not self.scan.is_key and self._held is None
        closers = '"' * in_string + "".join(CLOSERS[b] for b in reversed(self.scan.stack))
        self._tail, self._held = Waiting(), None
        self.out.arguments(closers, at, at, (Segment(closers, at, at, "synthetic"),))

    def _drop(self, waiting: Waiting, reason: str) -> None:
        for run in waiting.runs():
            self.out.dropped(run.start, run.end, reason)

    def hold(self, at: int) -> Hold | None:
        """The value that waits for its end."""
        start = self._tail_at if self._tail else self._held_at
        if self._held is None:
            return Hold(start, at, "codec", "Closing here must leave valid JSON.") if self._tail else None
        wanted = " or ".join(sorted(types_of(self._schema()) or ())) or "another type"
        return Hold(start, at, "codec", f"The schema wants {wanted}: the value is checked when it is whole.")

    def describe(self) -> str:
        """Where in the value the reader stands."""
        where = (
            "in a key"
            if self.scan.in_string and self.scan.is_key
            else "in a string"
            if self.scan.in_string
            else "between tokens"
        )
        return f"{where}, depth {self.scan.depth}"


class EarlyArguments:
    """Arguments that came before the name: kept as they are, and read again once the schema is known."""

    schema: Mapping[str, Any] | None = None
    closes = False

    def __init__(self, start: int) -> None:
        self._start = start
        self._text: list[str] = []

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """Keep a piece."""
        self._text.append(text)

    def replay(self, out: ValueOutput) -> None:
        """Read the whole value again with the schema of the call that is now named."""
        text = "".join(self._text)
        value, pos = JsonValue(out), 0
        while pos < len(text):
            pos = value.text(text, pos, len(text), self._start, final=True)
        value.finish(self._start + len(text))

    def dropped(self, start: int, end: int, reason: str) -> None:
        """Nothing is dropped while the text is only kept."""


class _Kept(EarlyArguments):
    """Output that keeps what a value became."""

    def __init__(self, schema: Mapping[str, Any] | None) -> None:
        super().__init__(0)
        self.schema = schema

    def text(self) -> str:
        """All of it."""
        return "".join(self._text)


def coerced(text: str, schema: Mapping[str, Any] | None) -> str:
    """JSON text with the values inside an object or array coerced to the schema; anything else as it is."""
    if schema is None or not text.startswith(("{", "[")):
        return text
    kept = _Kept(schema)
    value, pos = JsonValue(kept), 0
    while pos < len(text):
        pos = value.text(text, pos, len(text), 0, final=True)
    value.finish(len(text))
    return kept.text()
