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
from parsers.arguments.lead import Lead
from parsers.vocabulary.events import Segment


class JsonArguments(JsonSpan):
    """Reads the object."""

    triggers: ClassVar[tuple[str, ...]] = ("DONE", "REJECT", "OTHER")
    value_of: ClassVar[str] = "arguments, "

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._lead = Lead()
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
        pos, begins = self._lead.read(buffer, pos, end, base) if self.out.named_tool else (pos, False)
        if begins:
            self._begin()
        elif begins is False:
            self.queue.append("REJECT")
        return pos

    def _begin(self) -> None:
        (text, at), name = self._lead.taken(), self.out.named_tool or ""
        self._named = True
        self.out.name(name, at, at, (Segment(name, at, at, "synthetic"),))
        super().text(text, 0, len(text), at, final=False)

    def finish(self, at: int) -> None:
        if self._lead and not self._named:
            self._begin()
        if self._named:
            super().finish(at)
