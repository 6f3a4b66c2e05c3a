"""Codec `mistral`: what stands after [TOOL_CALLS], in both grammars.

    pre-v11   [TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}]
    v11+      [TOOL_CALLS]add{"a": 1}      also  add[ARGS]{...}  and  add[CALL_ID]abcdefghi[ARGS]{...}

The policy mistral_version decides, or (auto) the first character after the marker: an opening bracket means pre-v11.
The nine states and their names are those of vLLM's StreamingState; the machine's table has a row for each move and
this codec fires the triggers.

v11+: a name is a run without white space, `{` or `[`; anything else before the arguments means that no call was meant
(REJECT). A call the output ends without arguments is kept when its name is a declared tool, or could be one if none
are declared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from parsers.codecs.base import OPEN, Codec, Output
from parsers.codecs.json_span import skip_space
from parsers.codecs.json_value import JsonValue
from parsers.codecs.mistral_array import ArrayReader
from parsers.events import Segment
from parsers.trace import Hold

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
