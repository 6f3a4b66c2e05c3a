"""`json_call`: one JSON object that names the tool and holds its arguments; `json_calls`: an array of them.

    {"name": "get_weather", "arguments": {"city": "Bern"}}

Keys come in any order, and the arguments value is passed on in the model's own spelling. Further keys are structure;
where no key holds the arguments, they are the arguments (`_LooseKeys`).
An object under one of the `wrapper_keys` is the call itself: {"type": "function", "function": {"name": ...}}.
Until the call is committed (its name is known, and with `require_arguments` the start of its arguments too) the
object is read strictly: the first character that JSON could not have is the REJECT trigger, and so is an object that
ends without naming a tool. From then on it is read leniently, because the call stands.

`json_calls`: a JSON array of call objects, or one such object.

    [{"name": "add", "arguments": {"a": 1}}, {"name": "get_time", "arguments": {}}]

Each object is read as `json_call` reads it, so it is strict until its call is committed. The first call is opened
by the format, on its marker or on the bracket itself; a bracket that begins no call is then text again, like the rest
of a candidate. From there on the parser speaks:

ITEM      the next object of the array begins
ITEM_END  the object is over
DONE      the array is over; a single object is over
REJECT    the object that was begun, or what should be the first one, is no call
OTHER     the array goes on with something that is no object, or text follows it

An object that follows without a comma is taken for the next call, a closing bracket too many is dropped, and a call
whose braces are not closed ends with the array. A terminal of the machine that leaves this parser in force begins
another array or object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal

from parsers.arguments.coerce import property_schema
from parsers.arguments.contract import OPEN, Output
from parsers.arguments.json_value import (
    EarlyArguments,
    JsonScanner,
    JsonValue,
    PassesJson,
    Unit,
    coerce_json,
    unescape_json,
)
from parsers.arguments.lead import Lead
from parsers.vocabulary.drops import CUT
from parsers.vocabulary.events import Segment
from parsers.vocabulary.seen import Standing
from parsers.vocabulary.states import NOWHERE, Part, Pieces, Placed
from parsers.vocabulary.trace import CodecState, Stand

NO_VALUE = frozenset("}],:")  # where one of these stands, no value begins
_Phase = Literal["before", "object", "arguments", "after"]
_BEFORE_ARGUMENTS = CodecState.before("the arguments")
_AROUND = {"before": CodecState.before("the object"), "after": CodecState("after the object")}


class JsonCall(PassesJson):
    """Reads one call object. Options: name_keys, argument_keys (first one wins), wrapper_keys, require_arguments."""

    APART: ClassVar[frozenset[str]] = frozenset(
        {"_name_keys", "_argument_keys", "_wrapper_keys", "_needs_arguments", "_reported"}
    )
    PLACES: ClassVar[frozenset[str]] = frozenset({"_name", "_string_at"})
    triggers: ClassVar[tuple[str, ...]] = ("DONE", "REJECT", "OTHER")
    options: ClassVar[Mapping[str, Any]] = {
        "name_keys": ["name"],
        "argument_keys": ["arguments", "parameters"],
        "wrapper_keys": [],
        "require_arguments": False,
    }

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        chosen = self.settings
        self._name_keys = frozenset(chosen["name_keys"])
        self._argument_keys = frozenset(chosen["argument_keys"])
        self._wrapper_keys = frozenset(chosen["wrapper_keys"])
        self._needs_arguments: bool = chosen["require_arguments"]
        self._scan = JsonScanner(strict=True)
        self._phase: _Phase = "before"
        self._level = 1
        self._string = Pieces()
        self._key = ""
        self._name: tuple[str, int, int] | None = None
        self._value: JsonValue | None = None
        self._early: EarlyArguments | None = None
        self._read_arguments = self._committed = self._odd = False
        self._loose = _LooseKeys(out)
        self._lead: Lead | None = None  # where calls need arguments, once their beginning is read
        self._string_at = NOWHERE
        self._reported = 0  # up to here the object's text has gone out; what follows is structure

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self._phase != "arguments":
            pos = self._around_arguments(buffer, pos, end, base, final)
        if self._phase == "arguments":
            pos = self._arguments(buffer, pos, end, base, final)
        self._at = base + pos
        return pos

    def _around_arguments(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        if self._phase == "before":
            pos = self.out.skip_space(buffer, pos, end, base)
            if pos < end and buffer[pos] == "{":
                self._phase = "object"
            elif pos < end:
                self.queue.append("REJECT")
        if self._phase == "object":
            return self._object(buffer, pos, end, base, final)
        return self.after_value(buffer, pos, end, base) if self._phase == "after" else pos

    def _object(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        """Units of the outer object, up to the arguments or its end; up to a string boundary where a terminal may
        stand behind it."""
        scan, free = self._scan, end == len(buffer) and not self._scan.in_string
        self._reported = base + pos
        while pos < end:
            if self._committed and self.complete and buffer[pos] == "{" and scan.leaves_open("{", 1):
                self.out.diagnostic("missing_object_end", "The call's object is not closed.", base + pos, base + pos)
                self._end(base + pos)
                break
            unit, stop = scan.step(buffer, pos, end, final=final)
            if unit == "hold":
                break
            if unit == "string" and self._is_name():
                fits = self.out.quoted_name_fits(buffer[pos:stop])
                if fits < stop - pos:
                    self.queue.append("REJECT")
                    pos += fits
                    break
            if unit == "error" or not self._unit(unit, buffer[pos:stop], base + pos, base + stop):
                self.queue.append("REJECT")
                pos = stop if unit in ("quote", "close") else pos
                break
            if scan.odd and not self._odd:
                self._odd = True
                self._report(base + stop)
                message = "The call's object is not JSON here; the call stands, because its name was sent."
                self.out.diagnostic("malformed_call", message, base + pos, base + pos + 1)
            pos = stop
            if self._phase != "object" or (unit == "quote" and not free):
                break
        self._report(base + pos)
        self.scope = None if scan.in_string else OPEN
        return pos

    def _report(self, at: int) -> None:
        """What stands before `at` and was not given to anybody is structure."""
        if self._reported < at:
            self.out.marker(self._reported, at)
            self._reported = at

    def _unit(self, unit: Unit, text: str, start: int, end: int) -> bool:
        """Follow one unit of the outer object; False rejects the candidate."""
        scan, fits = self._scan, True
        if unit == "string":
            self._string.append(text)
            if self._is_name():
                self._report(start)
                self._reported = end
        elif unit == "quote":
            fits = self._quote(start)
        elif unit == "scalar" and self._awaits_name():
            return False
        elif unit == ("comma" if scan.depth == self._level else "close") and scan.depth <= self._level:
            self._loose.open = None
        if self._loose.open is not None:
            self._report(start)
            self._loose.open.pieces.append((text, start))
            self._reported = end
        if unit == "colon" and scan.depth == self._level and self._awaits_arguments():
            self._phase, self._read_arguments = "arguments", True
            self._settle(end)
        elif unit == "open" and text == "{" and self._wraps():
            self._level, self._key = scan.depth, ""
            self._settle(end)
        elif unit == "close":
            self._level = min(self._level, scan.depth)
            return scan.depth > 0 or self._end(end)
        return fits

    def _settle(self, at: int) -> None:
        """None of the loose keys is an argument."""
        self._report(at)
        self._loose.settle()

    def _wraps(self) -> bool:
        """Return whether the object that opens here is the call: nothing of it is known yet, and its key says so."""
        fits = self._key in self._wrapper_keys and self._scan.depth == self._level + 1
        return fits and self._name is None and not self._read_arguments

    def _is_name(self) -> bool:
        return self._scan.depth == self._level and not self._scan.is_key and self._awaits_name()

    def _awaits_name(self) -> bool:
        return self._scan.depth == self._level and self._key in self._name_keys and self._name is None

    def _awaits_arguments(self) -> bool:
        return self._key in self._argument_keys and not self._read_arguments

    def _quote(self, at: int) -> bool:
        """A string of the outer object opens or closes; False where a name has nothing in it."""
        is_key = self._scan.depth == self._level and self._scan.is_key
        if self._scan.in_string:
            self._string, self._string_at = Pieces(), at + 1
            if is_key:
                self._loose.begin()
        elif is_key:
            self._key = unescape_json("".join(self._string))
            if self._awaits_name() or self._awaits_arguments() or self._key in self._wrapper_keys:
                self._loose.leave_open()
            else:
                self._loose.name(self._key)
        elif self._is_name():
            name = unescape_json("".join(self._string))
            self._name = (name, self._string_at, at)
            if not name.strip():
                return False
            self._commit()
        if not self._scan.in_string:
            self._string, self._string_at = Pieces(), NOWHERE
        return True

    def _commit(self) -> None:
        """Name the call, once enough of it is known."""
        if self._committed or self._name is None or (self._needs_arguments and not self._read_arguments):
            return
        text, start, end = self._name
        self._committed, self._scan.strict = True, False
        copied = end - start == len(text)
        self.out.name(text, start, end, None if copied else (Segment(text, start, end, "converted"),))
        self._name = ("", NOWHERE, NOWHERE)
        if self._early is not None:
            self._early.replay(self.out)

    def _arguments(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        value = self._value
        if value is None:
            if pos < end and buffer[pos].isspace() and not self._lead:
                pos = self.out.skip_space(buffer, pos, end, base)
            if pos == end:
                return pos
            if self._needs_arguments:
                pos = self._lead_in(buffer, pos, end, base)
                value = self._value
                if value is None or pos == end:
                    return pos
            elif buffer[pos] in NO_VALUE:
                self._phase, self._read_arguments = "object", False
                return self._object(buffer, pos, end, base, final)
            else:
                value = self._value = self._begin_value(base + pos, buffer[pos])
        scan = value.scan
        began_open = not scan.in_string
        stop = value.text(buffer, pos, end, base, final=final)
        self.scope = None if scan.in_string else OPEN
        if value.done:
            self._phase, self._scan.previous, self.complete, self.open_value = "object", "value", True, None
            return self._object(buffer, stop, end, base, final) if began_open else stop
        if stop == pos and not scan.in_string:
            self.queue.append("REJECT")
        return stop

    def _lead_in(self, buffer: str, pos: int, end: int, base: int) -> int:
        """Where only the arguments tell a call, they must begin as an object does."""
        if self._lead is None:
            self._lead = Lead()
        pos, begins = self._lead.read(buffer, pos, end, base)
        if begins:
            self._read_lead(self._lead)
        elif begins is False:
            self.queue.append("REJECT")
        return pos

    def _read_lead(self, lead: Lead) -> None:
        text, at = lead.taken()
        self._value = self._begin_value(at, "{")
        self._value.text(text, 0, len(text), at)

    def _begin_value(self, at: int, char: str) -> JsonValue:
        """The reader of the arguments; while the call has no name, its schema is not known and the text is kept."""
        self._commit()
        if char == '"':
            message = "The arguments are a JSON string, not an object (double-encoded)."
            self.out.diagnostic("double_encoded", message, at, at + 1)
        if self._committed:
            self.open_value = JsonValue(self.out)
            return self.open_value
        self._early = EarlyArguments(at)
        return JsonValue(self._early, strict=True)

    def _end(self, at: int) -> bool:
        """The outer object is over; False where it names no tool."""
        if not self._committed:
            return False
        self._report(at)
        if self._read_arguments or self._scan.odd:
            self._loose.settle()
        if not self._read_arguments:
            self._loose.write(at)
        self._phase, self.complete = "after", self._read_arguments or not self._scan.odd
        self.queue.append("DONE")
        return True

    def finish(self, at: int) -> None:
        if self._lead and self._value is None:
            self._read_lead(self._lead)
        self._loose.drop()
        if self._value is None and self._committed and self._phase != "after" and self.out.closes:
            self.synthetic("{}", at)
        if self._phase == "arguments" and self._value is not None:
            self._value.finish(at)
            self.complete = self._value.done
        if self.complete and self._phase != "after":
            self.out.diagnostic("missing_object_end", "The call's object is not closed.", at, at)

    def look(self, fed: int) -> Standing:
        phase, start = self._phase, None
        if phase == "arguments":
            value = self._value
            return (_BEFORE_ARGUMENTS, None) if value is None else value.look(self.value_of, self._at, fed)
        if self._committed:
            start = self._loose.start
        waits = None if start is None else self._waits(_LOOSE, start, fed)
        return _AROUND.get(phase) or _in_object(self._scan.depth, self._key), waits


_LOOSE = "These may be the arguments, if no key holds them."


@lru_cache(maxsize=64)  # asked for after every delta
def _in_object(depth: int, key: str) -> CodecState:
    return CodecState(f"in the call object, depth {depth}" + (f", key {key}" if key else ""), Stand.INSIDE)


_BRACES = re.compile(r"\}+")
_ArrayPhase = Literal["before", "first", "item", "ended", "between", "over"]
_AROUND_ITEMS: Mapping[_ArrayPhase, CodecState] = {
    "before": CodecState.before("the calls"),
    "first": CodecState("in the array, before its first object"),
    "between": CodecState("in the array"),
    "ended": CodecState("after the call"),
    "over": CodecState("after the calls"),
}


class JsonCalls(PassesJson):
    """Reads the calls for a run of states. Its options are those of json_call."""

    APART: ClassVar[frozenset[str]] = frozenset({"_options"})
    spans_states: ClassVar[bool] = True
    triggers: ClassVar[tuple[str, ...]] = ("ITEM", "ITEM_END", *JsonCall.triggers)
    options: ClassVar[Mapping[str, Any]] = JsonCall.options

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._options = options
        self._item = JsonCall(out, options)
        self._phase: _ArrayPhase = "before"
        self._array_open = False

    @classmethod
    def due(cls, last: str, options: Mapping[str, Any], policy: Mapping[str, str]) -> tuple[str, ...]:
        return {"ITEM_END": ("ITEM", "DONE"), "DONE": ()}.get(last, ("ITEM_END",))

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self._phase == "item":
            return self._read(buffer, pos, end, base, final)
        if self._phase == "over" or (self._phase == "ended" and not self._array_open):
            return self.after_value(buffer, pos, end, base)
        pos = self.out.skip_space(buffer, pos, end, base)
        if pos == end:
            return pos
        if self._phase in ("before", "first"):
            return self._begin(buffer, pos, end, base, final)
        return self._between(buffer, pos, end, base)

    def _begin(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        """The call is open already: its object begins, or the array before it."""
        if buffer[pos] == "{":
            self._phase = "item"
            return self._read(buffer, pos, end, base, final)
        if buffer[pos] != "[" or self._array_open:
            self.queue.append("REJECT")
            return pos
        self._phase, self._array_open = "first", True
        self.out.marker(base + pos, base + pos + 1)
        return pos + 1

    def _read(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        stop = self._item.text(buffer, pos, end, base, final=final)
        self.scope, self.complete, self.open_value = self._item.scope, self._item.complete, self._item.open_value
        for trigger in self._item.queue:
            if trigger == "DONE":
                self._phase, self._array_open = "ended", self._array_open and buffer[stop - 1] != "]"
                self.queue += ["ITEM_END"] if self._array_open else ["ITEM_END", "DONE"]
            else:
                self.queue.append(trigger)
        self._item.queue.clear()
        return stop

    def _between(self, buffer: str, pos: int, end: int, base: int) -> int:
        """After an object of the array: a comma, the next object or the array's end."""
        char = buffer[pos]
        if char in ",]":
            self.out.marker(base + pos, base + pos + 1)
            if char == "]":
                self._phase, self._array_open = "over", False
                self.queue.append("DONE")
            return pos + 1
        if char == "}":
            return self.drop_surplus(_BRACES, buffer, pos, end, base)
        if char != "{":
            self._phase = "over"
        self.queue.append("ITEM" if char == "{" else "OTHER")
        return pos

    def terminal(self, name: str, end: int) -> None:
        """The machine has opened the next call, closed one, or met a marker of its own."""
        if name == "ITEM":
            self._next("item")
        elif name == "ITEM_END":
            self._phase = "between" if self._array_open else "over"
        elif name not in self.triggers:
            self._unclosed(end)
            self._next("before")
            self._array_open = False

    def _next(self, phase: _ArrayPhase) -> None:
        self._item, self._phase, self.open_value = JsonCall(self.out, self._options), phase, None
        self.complete = self._told_surplus = False

    def _unclosed(self, at: int) -> None:
        if self._phase == "between":
            self.out.diagnostic("missing_array_end", "The array of calls is not closed.", at, at)

    def finish(self, at: int) -> None:
        self._item.over = self.over
        self._item.finish(at)
        self.complete = self._item.complete
        self._unclosed(at)

    def passed(self, at: int) -> None:
        self._item.passed(at)
        self.scope = self._item.scope

    def look(self, fed: int) -> Standing:
        standing = self._item.look(fed)
        return standing if self._phase == "item" else (_AROUND_ITEMS[self._phase], standing[1])


# Keys beside a call's name, where no key holds the arguments: then they are the arguments themselves.
#
#     {"name": "get_weather", "city": "Bern"}   ->   get_weather, {"city": "Bern"}
#
# Whether that is so shows at the end of the object, so these keys are kept until then, or until an arguments key comes.
# `id` and `type` belong to the call and not to its arguments, unless the tool declares them.

_OWN_KEYS = frozenset({"id", "type"})
_Piece = tuple[str, int]


@dataclass(slots=True)
class _Pair(Part):
    """A key and its value as pieces of raw text with their offsets."""

    key: str = ""
    pieces: Placed = field(default_factory=Placed)


class _LooseKeys(Part):
    """The pairs that are neither name nor arguments, in order; `open` is the one that is being read."""

    APART: ClassVar[frozenset[str]] = frozenset({"_out"})

    def __init__(self, out: Output) -> None:
        self._out = out
        self._pairs: list[_Pair] = []
        self.open: _Pair | None = None

    def begin(self) -> None:
        self.open = _Pair()
        self._pairs.append(self.open)

    def name(self, key: str) -> None:
        self._pairs[-1].key = key

    def leave_open(self) -> None:
        """The pair that was begun last is none of these: what was kept of it is structure."""
        self._mark(self._pairs.pop().pieces)
        self.open = None

    def settle(self) -> None:
        """None of them is an argument: they are structure."""
        self._mark(self._clear())

    def drop(self) -> None:
        """The object was cut off: nobody can say what they were."""
        for text, at in self._clear():
            self._out.drop(at, at + len(text), CUT)

    def write(self, at: int) -> None:
        """The object ends at `at`: write them as the arguments; an empty object where there are none."""
        count = 0
        for pair in self._pairs:
            if pair.key in _OWN_KEYS and property_schema(self._out.schema, pair.key) is None:
                self._mark(pair.pieces)
                continue
            start = pair.pieces[0][1]
            self._write(Segment(", " if count else "{", start, start, "synthetic"), *self._segments(pair.pieces))
            count += 1
        self._clear()
        self._write(Segment("}" if count else "{}", at, at, "synthetic"))

    def _write(self, *parts: Segment) -> None:
        for part in parts:
            self._out.arguments(part.text, part.start, part.end, (part,))

    def _mark(self, pieces: Sequence[_Piece]) -> None:
        for text, at in pieces:
            self._out.marker(at, at + len(text))

    def _segments(self, pieces: list[_Piece]) -> list[Segment]:
        """One pair: as it is, or with its value coerced to the schema."""
        text = "".join([piece for piece, _ in pieces])
        start, end = pieces[0][1], pieces[-1][1] + len(pieces[-1][0])
        written = coerce_json(f"{{{text}}}", self._out.schema)[1:-1]
        if written == text or end - start != len(text):
            return [Segment(piece, place, place + len(piece)) for piece, place in pieces]
        return [Segment(written, start, end, "converted")]

    def _clear(self) -> list[_Piece]:
        """Everything that is kept, in order; nothing is kept afterwards."""
        pieces = [piece for pair in self._pairs for piece in pair.pieces]
        self._pairs, self.open = [], None
        return pieces

    @property
    def start(self) -> int | None:
        return self._pairs[0].pieces[0][1] if self._pairs and self._pairs[0].pieces else None
