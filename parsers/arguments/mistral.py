"""Mistral before tokenizer v11: after [TOOL_CALLS] stands a JSON array of {"name", "arguments"} objects.

ijson (event driven, as in vLLM's parser since PR 19425) says what the structure means; this reader says where it
stands, because ijson has no positions. The text is cut string-aware and ijson is fed one structural piece at a time:
brackets, separators, whole keys and the name. The bodies of other strings, of numbers and of the arguments never
reach it, as ijson is quadratic on long strings (measured with 3.6.0), so the arguments are only announced to it by
their brackets.

Every event that moves the machine becomes a trigger named `prefix:event`, with the key where one matters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import ijson

from parsers.arguments.contract import OPEN, Codec, Output
from parsers.arguments.json_scan import JsonScanner, Unit, decode_string
from parsers.arguments.json_span import skip_space
from parsers.arguments.json_value import EarlyArguments, JsonValue
from parsers.vocabulary.events import Segment
from parsers.vocabulary.trace import Hold

NO_VALUE = frozenset("}],:")
ARGUMENT_KEYS = ("arguments", "parameters")


class ArrayReader:
    """Reads the array for the codec it belongs to; `over` after its closing bracket."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._out = codec.out
        self._scan = JsonScanner(strict=True)
        self._events: Any = ijson.sendable_list()
        self._ijson = ijson.basic_parse_coro(self._events)
        self._string: list[str] = []
        self._string_at = 0
        self._key = ""
        self._scalar = self._named = self._names = self._has_arguments = False
        self._value: JsonValue | None = None
        self._early: EarlyArguments | None = None
        self._expects_arguments = self._is_object = self._opened = False
        self.over = False

    @property
    def value(self) -> JsonValue | None:
        """The reader of the arguments, while they are read."""
        return self._value

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """Read up to the next trigger or scope change."""
        if self._expects_arguments:
            return self._arguments(buffer, pos, end, base, final)
        while pos < end and not self._codec.queue:
            if self._scan.depth == 1 and not self._scan.in_string and not self._item(buffer[pos], base + pos):
                break
            unit, stop = self._scan.step(buffer, pos, end, final=final)
            if unit == "hold":
                break
            if unit == "error":
                self._codec.queue.append("MALFORMED" if self._named else "REJECT")
                break
            self._unit(unit, buffer[pos:stop], base + pos, base + stop)
            pos = stop
            if unit == "quote" or self._expects_arguments:
                break
        self._codec.scope = None if self._scan.in_string else OPEN
        return pos

    def _item(self, char: str, at: int) -> bool:
        """In the array only objects can be calls. One that begins is announced before its bracket is read."""
        if char == "{" and not self._opened:
            self._opened = True
            self._feed(char, at)
            return False
        if char not in "{,]" and not char.isspace():
            self._codec.queue.append("REJECT")
            return False
        return True

    def _unit(self, unit: Unit, text: str, start: int, end: int) -> None:
        if self._scalar and unit != "scalar":
            self._scalar = False
            self._feed("0", end)
        if unit == "quote":
            self._quote(start, end)
            return
        if unit == "string":
            self._string.append(text)
            if not self._in_name():
                self._out.marker(start, end)
            return
        self._out.marker(start, end)
        self._scalar = unit == "scalar"
        if unit == "open" and self._scan.depth == 2:
            self._opened = False
        elif unit not in ("ws", "scalar"):
            self._feed(text, end)
        if unit == "colon" and self._scan.depth == 2 and self._key in ARGUMENT_KEYS and not self._has_arguments:
            self._expects_arguments = self._has_arguments = True

    def _in_name(self) -> bool:
        return self._scan.depth == 2 and not self._scan.is_key and self._key == "name" and not self._named

    def _quote(self, start: int, end: int) -> None:
        if self._scan.in_string:
            self._string, self._string_at = [], end
            self._out.marker(start, end)
            return
        text = decode_string('"' + "".join(self._string) + '"')
        if self._scan.is_key:
            self._key = text if self._scan.depth == 2 else self._key
            self._feed(json.dumps(text), end)
        elif self._in_name():
            self._name(text, start)
            self._feed(json.dumps(text), end)
        else:
            self._feed('""', end)
        self._out.marker(start, end)

    def _name(self, text: str, end: int) -> None:
        if not text.strip():
            self._codec.queue.append("REJECT")
            return
        self._named = self._names = True
        copied = end - self._string_at == len(text)
        segment = (Segment(text, self._string_at, end, "converted"),)
        self._out.name(text, self._string_at, end, None if copied else segment)
        if self._early is not None:
            self._early.replay(self._out)

    def _feed(self, text: str, at: int, *, quiet: bool = False) -> None:
        """Give ijson one structural piece and turn what it says into triggers. quiet: the piece is the arguments'."""
        depth = self._scan.depth
        try:
            self._ijson.send(text.encode("utf-8", "replace"))
        except ijson.JSONError:
            self._codec.queue.append("MALFORMED" if self._named else "REJECT")
        for event, value in () if quiet else self._events:
            self._event(event, value, depth, at)
        del self._events[:]

    def _event(self, event: str, value: Any, depth: int, at: int) -> None:
        queue = self._codec.queue
        if event == "start_map" and depth == 1:
            self._key, self._named, self._has_arguments, self._early = "", False, False, None
            self._codec.complete = False
            queue.append("item:start_map")
        elif event == "map_key" and depth == 2:
            queue.append(f"item:map_key={self._meaning(value)}")
        elif event == "string" and depth == 2 and self._names:
            self._names = False
            queue += ["item.name:string", "CONTINUE"]
        elif event == "end_map" and depth == 1:
            self._end_item(at)
        elif event == "end_array" and depth == 0:
            self.over = True
            queue.append("end_array")

    def _meaning(self, key: str) -> str:
        """What a key of the call's object stands for. The first of a kind counts, its repetitions are skipped."""
        if key in ARGUMENT_KEYS and not self._has_arguments:
            return "arguments"
        return "name" if key == "name" and not self._named else "other"

    def _end_item(self, at: int) -> None:
        if not self._named:
            self._codec.queue.append("REJECT")
            return
        if not self._has_arguments:
            self._out.arguments("{}", at, at, (Segment("{}", at, at, "synthetic"),))
        self._codec.complete = True
        self._codec.queue.append("item:end_map")

    def _arguments(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        value = self._value
        if value is None:
            pos = skip_space(self._out, buffer, pos, end, base)
            if pos == end:
                return pos
            if buffer[pos] in NO_VALUE:
                self._expects_arguments = False
                return self.text(buffer, pos, end, base, final=final)
            value = self._begin_value(buffer[pos], base + pos)
            if self._codec.queue:
                return pos
        stop = value.text(buffer, pos, end, base, final=final)
        self._codec.scope = None if value.closed else OPEN
        if value.done:
            self._end_value(base + stop)
        elif stop == pos and not value.closed:
            self._codec.queue.append("REJECT")
        return stop

    def _begin_value(self, char: str, at: int) -> JsonValue:
        self._early = None if self._named else EarlyArguments(at)
        self._value = value = JsonValue(self._early or self._out, strict=not self._named)
        self._is_object = char == "{"
        if not self._is_object:
            message = "The arguments are not a JSON object."
            self._out.diagnostic("arguments_not_object", message, at, at + 1)
        else:
            self._feed("{", at, quiet=True)
            self._codec.queue.append("item.arguments:start_map")
        return value

    def _end_value(self, at: int) -> None:
        self._value, self._expects_arguments, self._scan.previous = None, False, "value"
        self._codec.complete = True
        self._feed("}" if self._is_object else "0", at, quiet=True)
        self._codec.queue += ["item.arguments:end_map", "CONTINUE"] if self._is_object else ["item.arguments:value"]

    def finish(self, at: int) -> None:
        """The output ends here."""
        if self._value is not None:
            self._value.finish(at)
            self._codec.complete = self._value.done
        elif self._named and not self._codec.complete and self._out.closes:
            self._out.arguments("{}", at, at, (Segment("{}", at, at, "synthetic"),))


# Codec `mistral`: what stands after [TOOL_CALLS], in both grammars.
#
#     pre-v11   [TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}]
#     v11+      [TOOL_CALLS]add{"a": 1}      also  add[ARGS]{...}  and  add[CALL_ID]abcdefghi[ARGS]{...}
#
# The policy mistral_version decides, or (auto) the first character after the marker: an opening bracket means pre-v11.
# The nine states and their names are those of vLLM's StreamingState; the machine's table has a row for each move and
# this codec fires the triggers.
#
# v11+: a name is a run without white space, `{` or `[`; anything else before the arguments means that no call was meant
# (REJECT). A call the output ends without arguments is kept when its name is a declared tool, or could be one if none
# are declared.

NAME = re.compile(r"[^\s{\[]+")
PLAUSIBLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
Phase = Literal["start", "array", "name", "after_name", "id", "arguments", "after"]


class Mistral(Codec):
    """Reads the calls after one marker."""

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

    def _reset(self) -> None:
        self._phase: Phase = "start"
        self.complete = False
        self._array: ArrayReader | None = None
        self._name: list[str] = []
        self._id: list[str] = []
        self._name_at = self._id_at = self._at = 0
        self._value: JsonValue | None = None

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """See Codec.text."""
        stop = self._step(buffer, pos, end, base, final)
        self._at = base + stop
        return stop

    def _step(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        if self._phase == "array" and self._array is not None:
            return self._array.text(buffer, pos, end, base, final=final)
        if self._phase == "arguments":
            return self._arguments(buffer, pos, end, base, final)
        if self._phase == "id":
            self._id.append(buffer[pos:end])
            return end
        if self._phase == "after":
            self.queue.append("OTHER")
            return pos
        if self._phase == "name":
            return self._name_text(buffer, pos, end, base)
        return self._look(buffer, pos, end, base)

    def _look(self, buffer: str, pos: int, end: int, base: int) -> int:
        """The first character after the marker, or after the name, says what comes."""
        pos = skip_space(self.out, buffer, pos, end, base)
        if pos == end:
            return pos
        if self._phase == "after_name":
            self.queue.append("BRACE" if buffer[pos] == "{" else "REJECT")
            if buffer[pos] == "{":
                self._begin_arguments()
            return pos
        version = self.out.policy["mistral_version"]
        if buffer[pos] == "[" and version != "v11":
            self._phase, self._array = "array", ArrayReader(self)
            return self._array.text(buffer, pos, end, base, final=False)
        if version == "pre_v11" or buffer[pos] in "{[":
            self.queue.append("REJECT")
        else:
            self._phase, self._name_at = "name", base + pos
            self.queue.append("NAME")
        return pos

    def _name_text(self, buffer: str, pos: int, end: int, base: int) -> int:
        match = NAME.match(buffer, pos, end)
        if match is not None:
            self._name.append(match.group())
            return match.end()
        self._phase = "after_name"
        return self._look(buffer, pos, end, base)

    def terminal(self, name: str, end: int) -> None:
        """See Codec.terminal: another marker, the call's id, or its arguments begin."""
        if name == "CALL_ID":
            self.out.dropped(self._id_at, self._id_at + sum(map(len, self._id)), "another call id follows")
            self._phase, self._id, self._id_at = "id", [], end
        elif name == "ARGS":
            self._begin_arguments()
        elif name == "TOOL_CALLS":
            self._reset()

    def _begin_arguments(self) -> None:
        self._commit()
        self._phase, self._value = "arguments", None

    def _commit(self) -> None:
        """Name the call. Its id, where the model gave one, goes first."""
        name, raw = "".join(self._name), "".join(self._id)
        call_id = raw.strip()
        start = self._id_at + len(raw) - len(raw.lstrip())
        self.out.marker(self._id_at, start)
        if call_id:
            self.out.call_id(call_id, start, start + len(call_id))
        self.out.marker(start + len(call_id), self._id_at + len(raw))
        self.out.name(name, self._name_at, self._name_at + len(name))

    def _arguments(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        if self._value is None:
            pos = skip_space(self.out, buffer, pos, end, base)
            if pos == end:
                return pos
            self._value = JsonValue(self.out)
        stop = self._value.text(buffer, pos, end, base, final=final)
        self.scope = None if self._value.closed else OPEN
        if self._value.done:
            self._phase, self.complete = "after", True
            self.queue.append("DONE")
        return stop

    def finish(self, at: int) -> None:
        """See Codec.finish."""
        if self._array is not None:
            self._array.finish(at)
        elif self._value is not None and self._phase == "arguments":
            self._value.finish(at)
            self.complete = self._value.done
        elif self._phase in ("name", "after_name", "id", "arguments"):
            self._finish_bare(at)

    def _finish_bare(self, at: int) -> None:
        """A call without arguments: an empty object, if the name may be meant as one."""
        name = "".join(self._name)
        if self._phase != "arguments":
            if not (self.out.knows(name) and PLAUSIBLE.match(name)):
                return
            self._commit()
        self.out.arguments("{}", at, at, (Segment("{}", at, at, "synthetic"),))

    def hold(self) -> Hold | None:
        """See Codec.hold."""
        value = self._array.value if self._array is not None else self._value
        return None if value is None else value.hold(self._at)

    def describe(self) -> str:
        """See Codec.describe."""
        value = self._array.value if self._array is not None else self._value
        if value is not None and self._phase in ("array", "arguments"):
            return f"arguments, {value.describe()}"
        words = {
            "start": "before the calls",
            "array": "in the array",
            "id": "in the call id",
            "after": "after the call",
        }
        return words.get(self._phase, "in the name")
