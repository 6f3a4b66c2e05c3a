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
from typing import Any

import ijson

from parsers.codecs.base import OPEN, Codec
from parsers.codecs.json_scan import JsonScanner, Unit, decode_string
from parsers.codecs.json_span import skip_space
from parsers.codecs.json_value import EarlyArguments, JsonValue
from parsers.events import Segment

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
