"""Text in arguments of the keyvalue notation: bare words, and strings whose closing delimiter may be forgotten.

A string between delimiters holds anything, so a string that is never closed swallows the end of its call. Closing
brackets at the end of what is read therefore wait for more text, and once the call's own end follows them, everything
waits for the delimiter. If none comes, the string ended before those brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from parsers.codecs.base import Output
from parsers.codecs.coerce import NUMBER
from parsers.codecs.json_scan import escaped

BLANK_OR_CLOSER = " \t\r\n)]}"
ONLY_TOKENS = re.compile(r"(?:\s*<[^<>\s]{1,64}>)*\s*\Z")
CONSTANTS = frozenset({"true", "false", "null"})


def word_to_json(text: str) -> str:
    """A word as JSON: a constant, a number, a string as JSON writes it; anything else is a string's text.

    None is what the chat templates of Gemma 4 write for null.
    """
    if text == "None":
        return "null"
    if text in CONSTANTS or NUMBER.match(text):
        return text
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            json.loads(text)
        except ValueError:
            return f'"{escaped(text)}"'
        return text
    return f'"{escaped(text)}"'


class OpenTail:
    """Passes text on to `put(text, start, end)`, but for the tail."""

    __slots__ = ("_ended", "_put", "_tail")

    def __init__(self, put: Callable[[str, int, int], None]) -> None:
        self._put = put
        self._tail: list[tuple[str, int]] = []
        self._ended: int | None = None

    @property
    def at(self) -> int | None:
        """Where the tail begins."""
        return self._tail[0][1] if self._tail else None

    def text(self, text: str, at: int) -> None:
        """More of the string."""
        solid = len(text.rstrip(BLANK_OR_CLOSER)) if self._ended is None else 0
        if solid:
            self.flush()
            self._put(text[:solid], at, at + solid)
        if solid < len(text):
            self._tail.append((text[solid:], at + solid))

    def call_closes(self, text: str, at: int) -> None:
        """The end of the call stands in the string."""
        if self._ended is None and any(bracket in piece for piece, _ in self._tail for bracket in ")}"):
            self._ended = len(self._tail) + 1
        self.text(text, at)

    def flush(self) -> None:
        """The tail is text of the string after all."""
        tail, self._tail, self._ended = self._tail, [], None
        for text, at in tail:
            self._put(text, at, at + len(text))

    def drop(self, out: Output, at: int) -> int:
        """The tail is structure. Returns where it began, or `at` when there is none."""
        at = at if self.at is None else self.at
        for text, start in self._tail:
            out.marker(start, start + len(text))
        self._tail = []
        return at

    def closes(self) -> bool:
        """Whether the tail is the end of the call, with nothing but tokens after it."""
        rest = [text for text, _ in self._tail[self._ended :]] if self._ended is not None else ["-"]
        return ONLY_TOKENS.match("".join(rest)) is not None
