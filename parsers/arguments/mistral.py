"""`mistral`: what stands after [TOOL_CALLS], in both grammars.

    pre-v11   [TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}]
    v11+      [TOOL_CALLS]add{"a": 1}      also  add[ARGS]{...}  and  add[CALL_ID]abcdefghi[ARGS]{...}

The policy mistral_version decides, or (auto) the first character after the marker: an opening bracket means pre-v11.
The nine states and their names are those of vLLM's StreamingState; the machine's table has a row for each move and
this parser fires the triggers. Those of the array are named `prefix:event` as ijson's are, on which vLLM's parser
stands (since PR 19425), with the key where one matters.

v11+: a name is a run without white space, `{` or `[`; anything else before the arguments means that no call was meant
(REJECT). A call the output ends without arguments is kept when its name is a declared tool, or could be one if none
are declared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from parsers.arguments.contract import OPEN, Output, Waiting
from parsers.arguments.json_call import NO_VALUE
from parsers.arguments.json_value import EarlyArguments, JsonScanner, JsonValue, PassesJson, Unit, unescape_json
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import Segment
from parsers.vocabulary.seen import Standing
from parsers.vocabulary.states import NOWHERE, Part, Pieces
from parsers.vocabulary.trace import CodecState, Stand

_ARGUMENT_KEYS = ("arguments", "parameters")


class _ArrayReader(Part):
    """Reads the array of {"name", "arguments"} objects, for the parser whose `queue` gets the triggers.

    The array and its objects are read strictly, and a comma before a closing bracket is an error here. `value` is the
    reader of the arguments, while they are read.
    """

    APART: ClassVar[frozenset[str]] = frozenset({"_parser", "_out"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_string_at"})

    def __init__(self, parser: PassesJson) -> None:
        self.value: JsonValue | None = None
        self._parser = parser
        self._out = parser.out
        self._scan = JsonScanner(strict=True)
        self._string = Pieces()
        self._string_at = NOWHERE
        self._key = ""
        self._naming = self._named = self._has_arguments = False
        self._early: EarlyArguments | None = None
        self._expects_arguments = self._is_object = self._announced = False

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """Read up to the next trigger; up to a string boundary where a terminal may stand behind it."""
        if self._expects_arguments:
            return self._arguments(buffer, pos, end, base, final)
        scan, free = self._scan, end == len(buffer) and not self._scan.in_string
        while pos < end and not self._parser.queue:
            if scan.depth == 1 and not scan.in_string and not self._is_item(buffer[pos]):
                break
            if self._named and self._has_arguments and scan.leaves_open(buffer[pos], 2):
                self._out.diagnostic("missing_object_end", "The call's object is not closed.", base + pos, base + pos)
                scan.close()
                self._end_item(base + pos)
                continue
            previous = scan.previous
            unit, stop = scan.step(buffer, pos, end, final=final)
            if unit == "hold":
                break
            if unit == "error":
                self._fail()
                break
            if unit == "close" and previous == "comma":
                self._out.marker(base + pos, base + stop)
                self._fail()
            else:
                self._unit(unit, buffer[pos:stop], base + pos, base + stop)
            pos = stop
            if (unit == "quote" and not free) or self._expects_arguments:
                break
        self._parser.scope = None if scan.in_string else OPEN
        return pos

    def _announce(self, *triggers: str) -> None:
        """Fire what was found. Once a name is announced, nothing but the name is, which need not be what comes next."""
        if not self._naming:
            self._parser.queue += triggers

    def _fail(self) -> None:
        self._parser.queue.append("MALFORMED" if self._named else "REJECT")

    def _is_item(self, char: str) -> bool:
        """In the array only objects can be calls. One that begins is announced before its bracket is read."""
        if char == "{" and not self._announced:
            self._announced = True
            if self._scan.previous == "value":
                self._fail()
            else:
                self._key, self._named, self._has_arguments, self._early = "", False, False, None
                self._naming = self._parser.complete = False
                self._parser.queue.append("item:start_map")
            return False
        if char not in "{,]" and not char.isspace():
            self._parser.queue.append("REJECT")
            return False
        return True

    def _unit(self, unit: Unit, text: str, start: int, end: int) -> None:
        depth = self._scan.depth
        if unit == "quote":
            self._quote(start, end)
        elif unit == "string":
            self._string.append(text)
        if not (unit == "string" and self._in_name()):
            self._out.marker(start, end)
        if unit == "open" and depth == 2:
            self._announced = False
        elif unit == "close" and depth == 1:
            self._end_item(end)
        elif unit == "close" and depth == 0:
            self._parser.queue.append("end_array")
        elif unit == "colon" and depth == 2 and self._key in _ARGUMENT_KEYS and not self._has_arguments:
            self._expects_arguments = self._has_arguments = True

    def _in_name(self) -> bool:
        return self._scan.depth == 2 and not self._scan.is_key and self._key == "name" and not self._named

    def _quote(self, start: int, end: int) -> None:
        if self._scan.in_string:
            self._string, self._string_at = Pieces(), end
            return
        text, self._string = unescape_json("".join(self._string)), Pieces()
        if self._in_name():
            self._name(text, start)
        elif self._scan.is_key and self._scan.depth == 2:
            self._key, means = text, "other"  # the first of a kind counts, others are skipped
            if text in _ARGUMENT_KEYS and not self._has_arguments:
                means = "arguments"
            elif text == "name" and not self._named:
                means = "name"
            self._announce(f"item:map_key={means}")
            self._naming = self._naming or means == "name"
        self._string_at = NOWHERE

    def _name(self, text: str, end: int) -> None:
        if not text.strip():
            self._parser.queue.append("REJECT")
            return
        self._naming, self._named = False, True
        copied = end - self._string_at == len(text)
        segment = (Segment(text, self._string_at, end, "converted"),)
        self._out.name(text, self._string_at, end, None if copied else segment)
        if self._early is not None:
            self._early.replay(self._out)
        self._announce("item.name:string", "CONTINUE")

    def _end_item(self, at: int) -> None:
        if not self._named:
            self._parser.queue.append("REJECT")
            return
        if not self._has_arguments:
            self._parser.synthetic("{}", at)
        self._parser.complete = True
        self._parser.queue.append("item:end_map")

    def _arguments(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        value = self.value
        if value is None:
            pos = self._out.skip_space(buffer, pos, end, base)
            if pos == end:
                return pos
            if buffer[pos] in NO_VALUE:
                self._expects_arguments = False
                return self.text(buffer, pos, end, base, final=final)
            value = self._begin_value(buffer[pos], base + pos)
            if self._parser.queue:
                return pos
        stop = value.text(buffer, pos, end, base, final=final)
        self._parser.scope = None if value.scan.in_string else OPEN
        if value.done:
            self._end_value()
        elif stop == pos and not value.scan.in_string:
            self._parser.queue.append("REJECT")
        return stop

    def _begin_value(self, char: str, at: int) -> JsonValue:
        self._early = None if self._named else EarlyArguments(at)
        self.value = value = JsonValue(self._early or self._out, strict=not self._named)
        self._parser.open_value = value if self._named else None
        self._is_object = char == "{"
        if self._is_object:
            self._announce("item.arguments:start_map")
        else:
            message = "The arguments are not a JSON object."
            self._out.diagnostic("arguments_not_object", message, at, at + 1)
        return value

    def _end_value(self) -> None:
        self.value, self._expects_arguments, self._scan.previous = None, False, "value"
        self._parser.open_value = None
        self._parser.complete = True
        self._announce(*(["item.arguments:end_map", "CONTINUE"] if self._is_object else ["item.arguments:value"]))

    def finish(self, at: int) -> None:
        if self.value is not None:
            self.value.finish(at)
            self._parser.complete = self.value.done
        elif self._named and not self._parser.complete and self._out.closes:
            self._parser.synthetic("{}", at)


_NAME = re.compile(r"[^\s{\[]+")
_OPENING = re.compile(r"\[\s{0,64}(?!\s)")
_PLAUSIBLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
# What may fire next: at the beginning, and by what fired last. An object without a name is rejected where it ends.
_ITEMS = ("item:start_map", "end_array")
_FIRST = {"auto": (*_ITEMS, "NAME"), "pre_v11": _ITEMS, "v11": ("NAME",)}
_KEYS = ("item:map_key=name", "item:map_key=arguments", "item:map_key=other")
_DUE: Mapping[str, tuple[str, ...]] = {
    "item:start_map": _KEYS,
    "item:map_key=name": ("item.name:string",),
    "item:map_key=arguments": ("item.arguments:start_map", "item.arguments:value"),
    "item.arguments:start_map": ("item.arguments:end_map",),
    **dict.fromkeys(("item.name:string", "item.arguments:end_map"), ("CONTINUE",)),
    **dict.fromkeys(("item:map_key=other", "item.arguments:value", "CONTINUE"), (*_KEYS, "item:end_map")),
    "item:end_map": _ITEMS,
    "NAME": ("BRACE",),
    **dict.fromkeys(("BRACE", "ARGS"), ("DONE",)),
    **dict.fromkeys(("end_array", "CALL_ID", "DONE"), ()),
}
_Phase = Literal["start", "array", "name", "after_name", "id", "arguments", "after"]


class Mistral(PassesJson):
    """Reads the calls after one marker."""

    PLACES: ClassVar[frozenset[str]] = frozenset({"_id_at"})
    spans_states: ClassVar[bool] = True
    triggers: ClassVar[tuple[str, ...]] = (
        "item:start_map",
        "item:map_key=name",
        "item:map_key=arguments",
        "item:map_key=other",
        "item.name:string",
        "item.arguments:start_map",
        "item.arguments:end_map",
        "item.arguments:value",
        "item:end_map",
        "end_array",
        "CONTINUE",
        "NAME",
        "BRACE",
        "DONE",
        "OTHER",
        "REJECT",
        "MALFORMED",
    )

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._reset()

    @classmethod
    def due(cls, last: str, options: Mapping[str, Any], policy: Mapping[str, str]) -> tuple[str, ...] | None:
        return _FIRST[policy["mistral_version"]] if last in ("", "TOOL_CALLS") else _DUE.get(last)

    def _reset(self) -> None:
        self._phase: _Phase = "start"
        self.complete = False
        self._array: _ArrayReader | None = None
        self._name, self._id = Waiting(), Waiting()
        self._id_at = self._at = NOWHERE
        self._value: JsonValue | None = None
        self.open_value = None

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self._phase == "array" and self._array is not None:
            pos = self._array.text(buffer, pos, end, base, final=final)
        elif self._phase == "arguments":
            pos = self._arguments(buffer, pos, end, base, final)
        elif self._phase == "id":
            self._id.add(buffer[pos:end], base + pos)
            pos = end
        elif self._phase == "after":
            self.queue.append("OTHER")
        elif self._phase == "name" and (run := _NAME.match(buffer, pos, end)) is not None:
            self._name.add(run.group(), base + pos)
            pos = run.end()
        else:
            self._phase = "after_name" if self._phase == "name" else self._phase
            pos = self._look(buffer, pos, end, base, final=final)
        self._at = base + pos
        return pos

    def _look(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """The first character after the marker, or after the name, says what comes."""
        pos = self.out.skip_space(buffer, pos, end, base)
        if pos == end:
            return pos
        if self._phase == "after_name":
            self.queue.append("BRACE" if buffer[pos] == "{" else "REJECT")
            if buffer[pos] == "{":
                self._begin_arguments()
            return pos
        version = self.out.policy["mistral_version"]
        if buffer[pos] == "[" and version != "v11":
            opening = _OPENING.match(buffer, pos, end)
            if opening is not None and opening.end() == end and not final:
                return pos  # whether it begins a list of calls is not known
            if opening is None or (opening.end() < end and buffer[opening.end()] not in "{]"):
                self.queue.append("REJECT")
                return pos
            self._phase, self._array = "array", _ArrayReader(self)
            return self._array.text(buffer, pos, end, base, final=False)
        if version == "pre_v11" or buffer[pos] in "{[":
            self.queue.append("REJECT")
        else:
            self._phase = "name"
            self.queue.append("NAME")
        return pos

    def terminal(self, name: str, end: int) -> None:
        """Another marker, the call's id, or its arguments begin."""
        if name == "CALL_ID":
            for run in self._id.runs():
                self.out.drop(run.start, run.end, DropReason(Cause.ANOTHER_ID))
            self._phase, self._id, self._id_at = "id", Waiting(), end
        elif name == "ARGS":
            self._begin_arguments()
        elif name == "TOOL_CALLS":
            self._reset()

    def _begin_arguments(self) -> None:
        self._commit()
        self._phase, self._value, self.open_value = "arguments", None, None

    def _commit(self) -> None:
        """Name the call. Its id, where the model gave one, goes first."""
        given, words = self._id.runs(), self._id.trimmed()
        if words:
            start, end = words[0].start, words[-1].end
            self.out.marker(self._id_at, start)
            self.out.call_id(self._id.text().strip(), start, end, tuple(words) if len(words) > 1 else None)
            self.out.marker(end, given[-1].end)
        else:
            for run in given:
                self.out.marker(run.start, run.end)
        name, runs = self._name.text(), self._name.runs()
        start, end = (runs[0].start, runs[-1].end) if runs else (self._at, self._at)
        self.out.name(name, start, end, self._name.spelled(name))
        self._name, self._id, self._id_at = Waiting(), Waiting(), NOWHERE

    def _arguments(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        if self._value is None:
            pos = self.out.skip_space(buffer, pos, end, base)
            if pos == end:
                return pos
            self.open_value = self._value = JsonValue(self.out)
        stop = self._value.text(buffer, pos, end, base, final=final)
        self.scope = self._value.scope
        if self._value.done:
            self._phase, self.open_value, self.complete = "after", None, True
            self.queue.append("DONE")
        return stop

    def finish(self, at: int) -> None:
        name = self._name.text()
        if self._array is not None:
            self._array.finish(at)
        elif self._phase == "arguments" and self._value is not None:
            self._value.finish(at)
            self.complete = self._value.done
        elif self._phase == "arguments":
            self.synthetic("{}", at)
        elif self._phase in ("name", "after_name", "id") and self.out.knows(name) and _PLAUSIBLE.match(name):
            self._commit()
            self.synthetic("{}", at)

    def look(self, fed: int) -> Standing:
        value = self._value if self._array is None else self._array.value
        if value is None:
            return _AROUND[self._phase], None
        state, waits = value.look(self.value_of, self._at, fed)
        return state if self._phase in ("array", "arguments") else _AROUND[self._phase], waits


_IN_NAME = CodecState("in the name", Stand.NAME)
_AROUND: Mapping[_Phase, CodecState] = {
    "start": CodecState.before("the calls"),
    "array": CodecState("in the array"),
    "id": CodecState("in the call id"),
    "after": CodecState("after the call"),
    **dict.fromkeys(("name", "after_name", "arguments"), _IN_NAME),
}
