"""`json_span`: the call's arguments are one JSON value, written as it is.

White space around the value is structure. Text that is not a JSON object or array at all (a model that writes bare
words where arguments belong) is passed on up to the next terminal: it is what the model gave as arguments. After the
value, further closing brackets are dropped with a diagnostic and any other text is the OTHER trigger.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from parsers.arguments.contract import Output
from parsers.arguments.json_value import JsonValue, PassesJson
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.seen import Standing
from parsers.vocabulary.states import Placed
from parsers.vocabulary.trace import CodecState

_Phase = Literal["before", "value", "bare", "after"]


class JsonSpan(PassesJson):
    """Reads one JSON value; `complete` once it is whole. Nothing at all stands for an empty object."""

    triggers: ClassVar[tuple[str, ...]] = ("DONE", "OTHER")
    value_of: ClassVar[str] = ""

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._phase: _Phase = "before"
        self._value = JsonValue(out)
        self._words = Placed()

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if self._phase == "before":
            pos = self.out.skip_space(buffer, pos, end, base)
            if pos < end:
                self._phase = "value" if buffer[pos] in '{["' else "bare"
                self.open_value = self._value if self._phase == "value" else None
        if self._phase == "bare":
            self._bare_text(buffer[pos:end], base + pos)
            pos = end
        elif self._phase == "value" and pos < end:
            pos = self._read(buffer, pos, end, base, final)
        elif self._phase == "after":
            pos = self.after_value(buffer, pos, end, base)
        self._at = base + pos
        return pos

    def _read(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        pos = self._value.text(buffer, pos, end, base, final=final)
        self.scope = self._value.scope
        if self._value.done:
            self._phase, self.open_value, self.complete = "after", None, True
            self.queue.append("DONE")
        return pos

    def _bare_text(self, text: str, at: int) -> None:
        """Words instead of JSON. Nothing could close them, so where cut-off arguments are to be closed they wait."""
        if not self.out.closes:
            self.out.arguments(text, at, at + len(text))
        else:
            self._words.append((text, at))

    def _finish_bare(self, at: int) -> None:
        words, self._words = self._words, Placed()
        for text, start in words:
            if self.over:
                self.out.drop(start, start + len(text), DropReason(Cause.CUT_WORDS))
            else:
                self.out.arguments(text, start, start + len(text))
        if self.over:
            self.synthetic("{}", at)

    def finish(self, at: int) -> None:
        if self._words:
            self._finish_bare(at)
        if self._phase == "value":
            self._value.finish(at)
            self.complete = self._value.done
            return
        self.complete = self.complete or not self.over
        if self._phase == "before" and (self.complete or self.out.closes):
            self.synthetic("{}", at)

    def look(self, fed: int) -> Standing:
        state, waits = self._value.look(self.value_of, self._at, fed)
        if self._words:
            why = "It is no JSON, and closing here must leave valid JSON."
            waits = self._waits(why, self._words[0][1], fed)
        return _OUTSIDE.get(self._phase, state), waits


_OUTSIDE: Mapping[str, CodecState] = {
    "before": CodecState.before("the value"),
    "bare": CodecState("not JSON"),
    "after": CodecState("after the value"),
}
