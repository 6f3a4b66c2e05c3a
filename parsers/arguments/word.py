"""`word`: one word of a header, which is structure. What no such word has is the REJECT trigger: it was prose.

    to=get_weather<|message|>

White space in front of it is prose as well, and so is an angle bracket that begins no terminal.
"""

from __future__ import annotations

import re
from typing import ClassVar

from parsers.arguments.contract import ArgumentParser

_WORD = re.compile(r"[^\s<>]*")


class Word(ArgumentParser):
    """Reads the word until a terminal of the state ends it."""

    triggers: ClassVar[tuple[str, ...]] = ("REJECT",)

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        found = _WORD.match(buffer, pos, end)
        stop = pos if found is None else found.end()
        self.out.marker(base + pos, base + stop)
        if stop < end:
            self.queue.append("REJECT")
        return stop
