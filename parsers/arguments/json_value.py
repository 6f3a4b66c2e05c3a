"""JSON as it arrives: its lexical units, and one value that is passed through as a call's arguments.

`JsonScanner.step` answers which unit begins at a position and where it stops. It keeps only the stack of open brackets
and whether a string is open, so every character is looked at once. Units never split an escape sequence: an incomplete
one is HOLD until more text or the end comes.

Strict scanning stops with ERROR at the first character that no JSON text could have there; this is how a candidate
for a bare call is told from prose. Lenient scanning follows strings and brackets and lets everything else pass,
because the arguments of a call that is already known are passed on as the model wrote them; `odd` remembers that it
did, and a string after a value is taken for the next key, its comma forgotten. Two liberties hold in both: control
characters inside strings, and a comma before a closing bracket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, Literal

from parsers.arguments.coerce import (
    LONE_SURROGATE,
    can_only_be_string,
    describes_contents,
    item_schema,
    json_to_json,
    keeps_string,
    property_schema,
    types_in_words,
    types_of,
)
from parsers.arguments.contract import OPEN, READ_ALONG, ArgumentParser, Output, ValueOutput, Waiting
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import Segment
from parsers.vocabulary.seen import FED, Standing
from parsers.vocabulary.states import NOWHERE, Part, Pieces
from parsers.vocabulary.trace import CodecState, Retelling, Stand

Unit = Literal["ws", "open", "close", "colon", "comma", "quote", "string", "scalar", "hold", "error"]
_AN_OBJECT: Mapping[str, Any] = {"type": "object"}  # what arguments are anyway: a string may hold them, encoded twice
_Previous = Literal["start", "open", "colon", "comma", "value", "key"]

WHITESPACE = re.compile(r"[ \t\r\n]+")
CLOSERS = {"{": "}", "[": "]"}
_STRING_RUN = re.compile(r'(?:[^"\\]++|\\["\\/bfnrt])++')  # with the escapes that are whole in two characters
_SCALAR_RUN = re.compile(r'[^\s"{}\[\],:]+')
_HEX = re.compile(r"[0-9a-fA-F]{0,4}")
_HIGH_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")

_UNITS: Mapping[str, Unit] = {
    **dict.fromkeys(" \t\r\n", "ws"),
    **{"{": "open", "[": "open", "}": "close", "]": "close", ":": "colon", ",": "comma", '"': "quote"},
}
# Where JSON allows what begins with a character: the innermost open bracket, and what stood last before it.
_VALUE = frozenset({"start", "{colon", "[open", "[comma"})
_KEY = frozenset({"{open", "{comma"})
_ALLOWED: Mapping[str, frozenset[str]] = {
    **{"{": _VALUE, "[": _VALUE, '"': _VALUE | _KEY, ":": frozenset({"{key"}), ",": frozenset({"{value", "[value"})},
    **{"}": _KEY | {"{value"}, "]": frozenset({"[open", "[comma", "[value"})},
    **dict.fromkeys("-0123456789tfnTFNI", _VALUE),
}
_NOWHERE: frozenset[str] = frozenset()
_IS_KEY = _KEY | {"{value"}  # a string here is a key; after a value its comma was forgotten
_BRACKETS = re.compile(r"[{}\[\]]")
_SPACES = " \t\r\n"
_BETWEEN_SCALARS = tuple(_UNITS)
_AFTER: Mapping[str, _Previous] = {",": "comma", ":": "colon", "{": "open", "[": "open"}


class JsonScanner(Part):
    """Incremental JSON scanner. `stack` holds the open brackets, `depth` their number; `is_key` says what the open
    string is."""

    __slots__ = ("_in_scalar", "depth", "in_string", "is_key", "odd", "previous", "stack", "strict")

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.stack: list[str] = []
        self.depth = 0
        self.in_string = False
        self.is_key = self.odd = False
        self.previous: _Previous = "start"
        self._in_scalar = False

    def step(self, buffer: str, pos: int, end: int, *, final: bool = False) -> tuple[Unit, int]:
        """The unit at `pos` and where it stops, at most `end`. `final`: do not hold, nothing more will come."""
        if self.in_string:
            return self._in_string(buffer, pos, end, final)
        char = buffer[pos]
        unit = _UNITS.get(char, "scalar")
        goes_on = self._in_scalar and unit == "scalar"
        self._in_scalar = unit == "scalar"
        if unit == "ws":
            match = WHITESPACE.match(buffer, pos, end)
            return "ws", match.end() if match else pos + 1
        place = self.stack[-1] + self.previous if self.stack else self.previous
        if not goes_on and place not in _ALLOWED.get(char, _NOWHERE):
            self.odd = True
            if self.strict:
                self._in_scalar = False
                return "error", pos
        if unit == "scalar":
            match = _SCALAR_RUN.match(buffer, pos, end)
            self.previous = "value"
            return "scalar", match.end() if match else pos + 1
        if unit == "quote":
            self.in_string, self.is_key = True, place in _IS_KEY
        elif unit == "open":
            self.stack.append(char)
            self.depth, self.previous = self.depth + 1, "open"
        elif unit == "close":
            self._close()
        else:
            self.previous = "comma" if char == "," else "colon"
        return unit, pos + 1

    def follow(self, text: str, within: int) -> int:
        """Read text whose units nobody asks about, leniently; there are no escapes in it. Returns where it stopped:
        behind a bracket that leaves fewer than `within` open, else at the end."""
        at = 0
        for number, part in enumerate(text.split('"')):
            if number and self.in_string:
                self.in_string, self.previous = False, "key" if self.is_key else "value"
            elif number:
                self.in_string, self.is_key = True, self.stack[-1] + self.previous in _IS_KEY
            if not self.in_string and (units := part.rstrip(_SPACES)):
                self.previous = _AFTER.get(units[-1], "value")
                closed = self._follow_brackets(units, within)
                if closed is not None:
                    return at + closed
            at += len(part) + 1
        self.depth = len(self.stack)
        self._in_scalar = not (self.in_string or text.endswith(_BETWEEN_SCALARS))
        return len(text)

    def _follow_brackets(self, units: str, within: int) -> int | None:
        """Open and close brackets; where one leaves fewer than `within` open, return where it ends."""
        for number, bracket in enumerate(_BRACKETS.findall(units)):
            if bracket in CLOSERS:
                self.stack.append(bracket)
                continue
            self.stack.pop()
            if len(self.stack) < within:
                self.depth, self.previous, self._in_scalar = len(self.stack), "value", False
                return [found.end() for found in _BRACKETS.finditer(units)][number]
        return None

    def _in_string(self, buffer: str, pos: int, end: int, final: bool) -> tuple[Unit, int]:
        run = _STRING_RUN.match(buffer, pos, end)
        if run is not None:
            return "string", run.end()
        if buffer[pos] == '"':
            self.in_string = False
            self.previous = "key" if self.is_key else "value"
            return "quote", pos + 1
        stop = _escape_end(buffer, pos, end)
        if stop is None and not final:
            return "hold", pos
        return "string", end if stop is None else stop

    def copy(self) -> JsonScanner:
        """A scanner in the same state."""
        made = JsonScanner(strict=self.strict)
        made.stack, made.depth, made.previous = [*self.stack], self.depth, self.previous
        made.in_string, made.is_key, made.odd, made._in_scalar = self.in_string, self.is_key, self.odd, self._in_scalar
        return made

    def leaves_open(self, char: str, depth: int) -> bool:
        """Return whether a character shows that the object at this depth ended without its brace: it stands where a key
        or the brace is due, and begins another object, or ends the list around it."""
        if self.in_string or self.depth != depth or self.stack[-1:] != ["{"]:
            return False
        return (char == "{" and self.previous == "comma") or (char == "]" and self.previous == "value")

    def close(self) -> None:
        """The innermost bracket is closed, though its closer does not stand there."""
        before = self.previous
        self._close()
        self.previous = before

    def _close(self) -> None:
        if self.stack:
            self.stack.pop()
            self.depth -= 1
        self.previous = "value"


def _escape_end(buffer: str, pos: int, end: int) -> int | None:
    """Return where the escape sequence at `pos` ends; None when the text stops inside it. A surrogate pair is one."""
    stop = _one_escape(buffer, pos, end)
    if stop is None or not _HIGH_SURROGATE.match(buffer, pos, stop):
        return stop
    if stop < end and buffer[stop] != "\\":
        return stop
    if stop == end or stop + 1 == end:
        return None
    return _one_escape(buffer, stop, end) if buffer[stop + 1] == "u" else stop


def _one_escape(buffer: str, pos: int, end: int) -> int | None:
    if pos + 1 >= end:
        return None
    if buffer[pos + 1] != "u":
        return pos + 2
    digits = _HEX.match(buffer, pos + 2, end)
    stop = digits.end() if digits else pos + 2
    return None if stop == end and stop < pos + 6 else stop


_ENCODE = json.JSONEncoder(ensure_ascii=False).encode  # dumps makes an encoder for every call; pieces are small


def escape_json(text: str) -> str:
    """Text as the inside of a JSON string."""
    return _ENCODE(text)[1:-1]


def unescape_json(raw: str) -> str:
    """Return what the inside of a JSON string means. It stays as written where an escape sequence is malformed, or
    where the meaning could not be written as UTF-8."""
    if "\\" not in raw:
        return raw
    try:
        value: str = json.loads(f'"{raw}"', strict=False)
    except ValueError:
        return raw
    return raw if LONE_SURROGATE.search(value) else value


# One value, passed through with single values coerced to the tool's schema.
#
# Text goes out as soon as it is read, in the model's own spelling. Only a value that its schema may want rewritten
# waits for its end: a string where the schema allows none, a scalar where it allows one. Without a schema nothing
# waits and nothing changes.
#
# Where cut-off arguments are to be closed by appending (`Output.closes`), text since the last point at which closing
# brackets would make valid JSON is kept back as the tail; it is dropped when the output ends there.

_HALF_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})?\\(?:u[0-9a-fA-F]{0,3})?\Z")
_DEEPEST = 100  # brackets; a state that is told of later is copied with all that are open
_STRUCTURE: frozenset[Unit] = frozenset({"open", "close", "colon", "comma"})


@dataclass(slots=True)
class _Frame(Part):
    """An open container: its schema, whether it is an object, and the pieces of the current key, where that is one."""

    schema: Mapping[str, Any] | None
    is_object: bool
    key: Pieces | None = None
    value_schema: Mapping[str, Any] | None = None


class JsonValue(Part):
    """Reader of one value. `done` is set when it is over; the character after it is not consumed.

    The stack of frames mirrors the open brackets; each holds the schema of its container. From a container on of which
    the schema does not say what it holds, and which is the `_free`-th that is open, nothing is asked of that.
    """

    __slots__ = (
        *("_frames", "_free", "_held", "_held_at", "_in_scalar", "_root", "_started", "_tail", "_tail_at"),
        *("done", "out", "scan"),
    )
    PLACES: ClassVar[frozenset[str]] = frozenset({"_held_at", "_tail_at"})

    def __init__(self, out: ValueOutput, *, strict: bool = False) -> None:
        self.out = out
        self.scan = JsonScanner(strict=strict)
        self.done = False
        self._root = _AN_OBJECT if out.schema is None and not strict else out.schema
        self._frames: list[_Frame] = []
        self._free = 0
        self._held: Waiting | None = None
        self._held_at = NOWHERE
        self._started = self._in_scalar = False
        self._tail: Waiting | None = None
        self._tail_at = NOWHERE

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool = False) -> int:
        """Pass buffer[pos:end] on. Stops where the value ends or an escape is split, and where a string opens or
        closes unless all of the text was searched for terminals."""
        scan, sent, closes = self.scan, pos, self.out.closes
        free = end == len(buffer) and not scan.in_string
        while pos < end and not self.done:
            if self._free and free and (stop := self._follow(buffer, pos, end)) > pos:
                pos = stop
                continue
            if self._in_scalar and (buffer[pos] in '{}[],:"' or buffer[pos].isspace()):
                sent = self._end_value(buffer, sent, pos, base)
                self.done = not self._frames and self._started
                self._flush_tail()
                if self.done:
                    break
            unit, stop = scan.step(buffer, pos, end, final=final)
            if unit in ("hold", "error"):
                break
            if self._free:
                if scan.depth < self._free:
                    self._free, self.done = 0, not scan.depth
            elif unit == "quote":
                sent = self._quote(buffer, sent, pos, stop, base)
            elif unit == "scalar":
                sent = self._scalar(buffer, sent, pos, base)
            elif unit in _STRUCTURE:
                self._structure(unit, buffer[pos])
            elif unit == "string" and scan.is_key and self._frames and (key := self._frames[-1].key) is not None:
                key.append(buffer[pos:stop])
            pos = stop
            if closes:
                self._guard(unit, buffer, sent, pos, base)
                sent = pos
            if unit == "quote" and not free:
                break
        if sent < pos:
            self._pass(buffer, sent, pos, base)
        return pos

    def _follow(self, buffer: str, pos: int, end: int) -> int:
        """Read on while nobody asks what it is, up to a string with escapes. Returns where it stopped."""
        escape = buffer.find("\\", pos, end)
        limit = end if escape < 0 else buffer.rfind('"', pos, escape)
        if limit <= pos:
            return pos
        stop = pos + self.scan.follow(buffer[pos:limit], self._free)
        if self.scan.depth < self._free:
            self._free, self.done = 0, not self.scan.depth
        return stop

    def _scalar(self, buffer: str, sent: int, pos: int, base: int) -> int:
        """A scalar begins or goes on; returns up to where the buffer has been passed on or put aside."""
        if self._in_scalar:
            return sent
        self._in_scalar = True
        types = types_of(self._schema())
        return self._begin_value(buffer, sent, pos, base, held=types is not None and "string" in types)

    def _quote(self, buffer: str, sent: int, pos: int, stop: int, base: int) -> int:
        """A string opens or closes; returns up to where the buffer has been passed on or put aside."""
        self._in_scalar = False
        if self.scan.in_string:
            if self.scan.is_key:
                self._frames[-1].key = Pieces()
                return sent
            return self._begin_value(buffer, sent, pos, base, held=not keeps_string(self._schema()))
        if not self.scan.is_key:
            sent = self._end_value(buffer, sent, stop, base)
            self.done = not self._frames
        return sent

    def _structure(self, unit: Unit, char: str) -> None:
        self._started, self._in_scalar = True, False
        if unit == "open":
            schema = self._schema()
            if not (describes_contents(schema, char) or self.scan.strict or self.out.closes):
                self._free = self.scan.depth
            else:
                self._frames.append(_Frame(schema, char == "{"))
        elif unit == "close":
            if self._frames:
                self._frames.pop()
            self.done = not self._frames
        elif self._frames and (frame := self._frames[-1]).schema is not None:
            if unit == "comma":  # the key before it is over, also where what follows is none
                frame.key = frame.value_schema = None
            elif frame.key is not None:
                frame.value_schema = property_schema(frame.schema, unescape_json("".join(frame.key)))

    def _schema(self) -> Mapping[str, Any] | None:
        if not self._frames:
            return self._root
        frame = self._frames[-1]
        return frame.value_schema if frame.is_object else item_schema(frame.schema)

    def _begin_value(self, buffer: str, sent: int, pos: int, base: int, *, held: bool) -> int:
        self._started = True
        if not held:
            return sent
        self._pass(buffer, sent, pos, base)
        self._held, self._held_at = Waiting(), base + pos
        return pos

    def _end_value(self, buffer: str, sent: int, stop: int, base: int) -> int:
        """A scalar or string ends at `stop`: if it was held, rewrite it if need be and let it go."""
        self._in_scalar = False
        if self._held is None:
            return sent
        self._held.add(buffer[sent:stop], base + sent)
        raw = self._held.text()
        text = json_to_json(raw, self._schema())
        self._release(self._held, text if text == raw else coerce_json(text, self._schema()), base + stop)
        return stop

    def _release(self, held: Waiting, text: str, end: int) -> None:
        self._held = None
        self._flush_tail()
        self.out.arguments(text, self._held_at, end, held.spelled(text))
        self._held_at = NOWHERE

    def _guard(self, unit: Unit, buffer: str, start: int, stop: int, base: int) -> None:
        """Pass text on only up to a point from which appended brackets give valid JSON: no key, nor half an escape."""
        if self._held is not None or start == stop:
            self._pass(buffer, start, stop, base)
        elif self._may_close_after(unit, buffer[start:stop]):
            self._flush_tail()
            self._pass(buffer, start, stop, base)
        else:
            if self._tail is None:
                self._tail, self._tail_at = Waiting(), base + start
            self._tail.add(buffer[start:stop], base + start)

    def _may_close_after(self, unit: Unit, text: str) -> bool:
        if unit == "string":
            return not self.scan.is_key and not _HALF_ESCAPE.match(text)
        return unit in ("open", "close") or (unit == "quote" and not self.scan.is_key)

    def _flush_tail(self) -> None:
        tail, self._tail = self._tail, None
        if tail is not None:
            self._tail_at = NOWHERE
            for run in tail.runs():
                self.out.arguments(run.text, run.start, run.end)

    def _pass(self, buffer: str, start: int, stop: int, base: int) -> None:
        if start == stop:
            return
        if self._held is not None:
            self._held.add(buffer[start:stop], base + start)
        else:
            self.out.arguments(buffer[start:stop], base + start, base + stop)

    def finish(self, at: int) -> None:
        """No more text: let go of what is held. A scalar at the top is a whole value; one inside may be cut off."""
        if self._in_scalar and not self._frames:
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
        if raw.startswith('"') and can_only_be_string(raw[1:], self._schema()):
            self._release(held, raw, at)
        else:
            self._held = None
            for run in held.runs():
                self.out.drop(run.start, run.end, CUT)

    def _close(self, at: int) -> None:
        """Drop what could not be completed and append the brackets that balance the rest."""
        for run in (run for waiting in (self._tail, self._held) if waiting is not None for run in waiting.runs()):
            self.out.drop(run.start, run.end, DropReason(Cause.CUT_AFTER_CLOSING))
        in_string = self.scan.in_string and not self.scan.is_key and self._held is None
        closers = '"' * in_string + "".join(CLOSERS[b] for b in reversed(self.scan.stack))
        self._tail = self._held = None
        self.out.arguments(closers, at, at, (Segment(closers, at, at, "synthetic"),))

    @property
    def scope(self) -> str | None:
        """The scope of a parser that reads this value; see ArgumentParser."""
        return None if self.scan.in_string else OPEN

    def passes(self) -> str | None:
        """See ArgumentParser.passes: a string in which all but quotes and escapes goes out as it is, and any text where
        nobody asks what it is."""
        scan = self.scan
        if scan.in_string and not scan.is_key:
            return None if self._held is not None or self._tail is not None else r'["\\]'
        return READ_ALONG if self._free else None

    def pass_on(self, text: str) -> str | None:
        """See ArgumentParser.pass_on."""
        scan = self.scan
        if not self._free or scan.depth > _DEEPEST or "\\" in text:
            return None
        if scan.depth - text.count("}") - text.count("]") < self._free:
            return None
        scan.follow(text, self._free)
        return self.passes()

    def retelling(self, of: str) -> Retelling | None:
        """See ArgumentParser.retelling; `of` as in `look`."""
        return partial(_states, of, self.scan.copy()) if self._free and self.scan.depth <= _DEEPEST else None

    def look(self, of: str, at: int, fed: int) -> Standing:
        """See ArgumentParser.look: the value is that `of` something, and was read up to an offset."""
        scan = self.scan
        state = _state(of, scan.in_string, scan.is_key, scan.depth)
        if self._held is None and self._tail is None:
            return state, None
        start = self._held_at if self._tail is None else self._tail_at
        return state, ("codec", self._why_held(), start, FED if at == fed else at)

    def _why_held(self) -> str:
        if self._held is None:
            return "Closing here must leave valid JSON."
        if self._schema() is _AN_OBJECT:
            return "The string may hold the arguments, encoded twice: it is written when whole."
        wanted = types_in_words(self._schema()) or "another type"
        return f"The schema wants {wanted}: the value is checked when it is whole."


@lru_cache(maxsize=512)  # asked for after every delta
def _state(of: str, in_string: bool, is_key: bool, depth: int) -> CodecState:
    where = ("in a key" if is_key else "in a string") if in_string else "between tokens"
    return CodecState(f"{of}{where}, depth {depth}", Stand.INSIDE)


def _states(of: str, scan: JsonScanner, texts: Sequence[str]) -> list[CodecState]:
    """Where the reader of a value stands after each of these texts, which it follows."""
    scan, found = scan.copy(), []
    for text in texts:
        scan.follow(text, 0)
        found.append(_state(of, scan.in_string, scan.is_key, scan.depth))
    return found


class EarlyArguments(Part):
    """Arguments that came before the name: kept as they are, and read again once the schema is known."""

    PLACES: ClassVar[frozenset[str]] = frozenset({"_start"})
    schema: Mapping[str, Any] | None = None
    closes = False

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._text = Pieces()

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """Keep a piece."""
        self._text.append(text)

    def drop(self, start: int, end: int, reason: DropReason) -> None:
        """Nothing is dropped while the text is only kept."""

    def text(self) -> str:
        """All that was kept."""
        return "".join(self._text)

    def replay(self, out: ValueOutput) -> None:
        """Read the whole value again with the schema of the call that is now named."""
        _read_whole(self.text(), self._start, out)


def _read_whole(text: str, start: int, out: ValueOutput) -> int:
    """Read the value that text begins with; returns where it ends, which need not be where the text does."""
    value, pos = JsonValue(out), 0
    while pos < len(text) and not value.done:
        pos = value.text(text, pos, len(text), start, final=True)
    value.finish(start + pos)
    return pos


def coerce_json(text: str, schema: Mapping[str, Any] | None) -> str:
    """JSON text with the values inside an object or array coerced to the schema; anything else as it is."""
    if schema is None or not text.startswith(("{", "[")):
        return text
    kept = EarlyArguments()
    kept.schema = schema
    end = _read_whole(text, 0, kept)
    return kept.text() + text[end:]


# What argument parsers share that pass on such a value.


class PassesJson(ArgumentParser):
    """Base of argument parsers that pass on a JSON value: `open_value` reads it while all text is its own, else None.
    `value_of` says in words what the value is."""

    value_of: ClassVar[str] = "arguments, "

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self.open_value: JsonValue | None = None

    def passes(self) -> str | None:
        value = self.open_value
        return None if value is None else value.passes()

    def pass_on(self, text: str) -> str | None:
        value = self.open_value
        return None if value is None else value.pass_on(text)

    def retelling(self) -> Retelling | None:
        value = self.open_value
        return None if value is None else value.retelling(self.value_of)

    def passed(self, at: int) -> None:
        super().passed(at)
        self.scope = OPEN if self.open_value is None else self.open_value.scope
