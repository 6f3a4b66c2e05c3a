"""`json_arguments`: one JSON object is all there is, the arguments of a call to the tool that the request names.

    {"city": "Bern"}

The call counts once the object begins as one does: a brace, then a key or the end. Anything else is the REJECT trigger,
and so is any text where the request names no tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from parsers.arguments.contract import Output
from parsers.arguments.json_span import JsonSpan
from parsers.arguments.json_value import WHITESPACE
from parsers.vocabulary.events import Segment
from parsers.vocabulary.states import NOWHERE, Pieces


class JsonArguments(JsonSpan):
    """Reads the object."""

    PLACES: ClassVar[frozenset[str]] = frozenset({"_lead_at"})
    triggers: ClassVar[tuple[str, ...]] = ("DONE", "REJECT", "OTHER")
    value_of: ClassVar[str] = "arguments, "

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._lead = Pieces()
        self._lead_at = NOWHERE
        self._named = False

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        if not self._named:
            pos = self._lead_in(buffer, pos, end, base)
        return super().text(buffer, pos, end, base, final=final) if self._named else pos

    def _lead_in(self, buffer: str, pos: int, end: int, base: int) -> int:
        """The brace and what shows that an object begins with it."""
        if not self._lead:
            pos = self.out.skip_space(buffer, pos, end, base)
            if pos == end:
                return pos
            if buffer[pos] != "{" or not self.out.named_tool:
                self.queue.append("REJECT")
                return pos
            self._lead, self._lead_at, pos = Pieces("{"), base + pos, pos + 1
        space = WHITESPACE.match(buffer, pos, end)
        if space is not None:
            self._lead.append(space.group())
            pos = space.end()
        if pos < end and buffer[pos] in '"}':
            self._begin()
        elif pos < end:
            self.queue.append("REJECT")
        return pos

    def _begin(self) -> None:
        at, text, name = self._lead_at, "".join(self._lead), self.out.named_tool or ""
        self._named = True
        self.out.name(name, at, at, (Segment(name, at, at, "synthetic"),))
        super().text(text, 0, len(text), at, final=False)
        self._lead_at = NOWHERE

    def finish(self, at: int) -> None:
        if self._lead and not self._named:
            self._begin()
        if self._named:
            super().finish(at)
