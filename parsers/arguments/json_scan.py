"""JSON, one lexical unit at a time, from any cut of the text.

`step` looks at the buffer at a position and answers which unit begins there and where it stops. It keeps only the
stack of open brackets and whether a string is open, so every character is looked at once. Units never split an
escape sequence: an incomplete one is HOLD until more text or the end comes.

Strict scanning stops with ERROR at the first character that no JSON text could have there; this is how a candidate
for a bare call is told from prose. Lenient scanning follows strings and brackets and lets everything else pass,
because the arguments of a call that is already known are passed on as the model wrote them; `odd` remembers that it
did, and a string after a value is taken for the next key, its comma forgotten. Two liberties hold in both: control
characters inside strings, and a comma before a closing bracket.
"""

from __future__ import annotations

import json
import re
from typing import Literal

Unit = Literal["ws", "open", "close", "colon", "comma", "quote", "string", "scalar", "hold", "error"]
Previous = Literal["start", "open", "colon", "comma", "value", "key"]

WHITESPACE = re.compile(r"[ \t\r\n]+")
STRING_RUN = re.compile(r'(?:[^"\\]++|\\["\\/bfnrt])++')  # with the escapes that are whole in two characters
SCALAR_RUN = re.compile(r'[^\s"{}\[\],:]+')
HEX = re.compile(r"[0-9a-fA-F]{0,4}")
SCALAR_START = frozenset("-0123456789tfnTFNI")
HIGH_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
CLOSERS = {"{": "}", "[": "]"}


class JsonScanner:
    """Incremental JSON scanner. `stack` holds the open brackets; `is_key` says what the open string is."""

    __slots__ = ("_in_scalar", "in_string", "is_key", "odd", "previous", "stack", "strict")

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.stack: list[str] = []
        self.in_string = False
        self.is_key = self.odd = False
        self.previous: Previous = "start"
        self._in_scalar = False

    @property
    def depth(self) -> int:
        """Number of open brackets."""
        return len(self.stack)

    def step(self, buffer: str, pos: int, end: int, *, final: bool = False) -> tuple[Unit, int]:
        """The unit at `pos` and where it stops, at most `end`. `final`: do not hold, nothing more will come."""
        if self.in_string:
            return self._in_string(buffer, pos, end, final)
        char = buffer[pos]
        fresh, self._in_scalar = not self._in_scalar, False
        if char in " \t\r\n":
            match = WHITESPACE.match(buffer, pos, end)
            return "ws", match.end() if match else pos + 1
        if char == '"':
            return self._open_string(pos)
        if char in "{[":
            return self._open(char, pos)
        if char in "}]":
            return self._close(char, pos)
        if char in ",:":
            return self._separator(char, pos)
        return self._scalar(buffer, pos, end, fresh)

    def _in_string(self, buffer: str, pos: int, end: int, final: bool) -> tuple[Unit, int]:
        run = STRING_RUN.match(buffer, pos, end)
        if run is not None:
            return "string", run.end()
        if buffer[pos] == '"':
            self.in_string = False
            self.previous = "key" if self.is_key else "value"
            return "quote", pos + 1
        stop = _escape_end(buffer, pos, end)
        if stop is None and not final:
            return "hold", pos
        return "string", end if stop is None else stop

    def _open_string(self, pos: int) -> tuple[Unit, int]:
        in_object = self.depth > 0 and self.stack[-1] == "{"
        is_key = in_object and self.previous in ("open", "comma")
        if not self._allows(is_key or self._value_expected()):
            return "error", pos
        is_key = is_key or (in_object and self.previous == "value")
        self.in_string, self.is_key = True, is_key
        return "quote", pos + 1

    def _open(self, char: str, pos: int) -> tuple[Unit, int]:
        if not self._allows(self._value_expected()):
            return "error", pos
        self.stack.append(char)
        self.previous = "open"
        return "open", pos + 1

    def _close(self, char: str, pos: int) -> tuple[Unit, int]:
        fits = bool(self.stack) and CLOSERS[self.stack[-1]] == char and self.previous not in ("colon", "key")
        if not self._allows(fits):
            return "error", pos
        if self.stack:
            self.stack.pop()
        self.previous = "value"
        return "close", pos + 1

    def _separator(self, char: str, pos: int) -> tuple[Unit, int]:
        fits = self.previous == ("value" if char == "," else "key") and bool(self.stack)
        if not self._allows(fits):
            return "error", pos
        self.previous = "comma" if char == "," else "colon"
        return ("comma" if char == "," else "colon"), pos + 1

    def _scalar(self, buffer: str, pos: int, end: int, fresh: bool) -> tuple[Unit, int]:
        if fresh and not self._allows(self._value_expected() and buffer[pos] in SCALAR_START):
            return "error", pos
        match = SCALAR_RUN.match(buffer, pos, end)
        stop = match.end() if match else pos + 1
        self.previous, self._in_scalar = "value", True
        return "scalar", stop

    def _allows(self, fits: bool) -> bool:
        """Whether scanning goes on: what does not fit is an error when strict, and only remembered when lenient."""
        self.odd = self.odd or not fits
        return fits or not self.strict

    def _value_expected(self) -> bool:
        if not self.stack:
            return self.previous == "start"
        if self.stack[-1] == "{":
            return self.previous == "colon"
        return self.previous in ("open", "comma")


def _escape_end(buffer: str, pos: int, end: int) -> int | None:
    """Where the escape sequence at `pos` ends, or None when the text stops inside it. A surrogate pair is one."""
    stop = _one_escape(buffer, pos, end)
    if stop is None or not HIGH_SURROGATE.match(buffer, pos, stop):
        return stop
    if stop < end and buffer[stop] != "\\":
        return stop
    if stop == end or stop + 1 == end:
        return None
    return _one_escape(buffer, stop, end) if buffer[stop + 1] == "u" else stop


def _one_escape(buffer: str, pos: int, end: int) -> int | None:
    if pos + 1 >= end:
        return None
    if buffer[pos + 1] != "u":
        return pos + 2
    digits = HEX.match(buffer, pos + 2, end)
    stop = digits.end() if digits else pos + 2
    return None if stop == end and stop < pos + 6 else stop


_ENCODE = json.JSONEncoder(ensure_ascii=False).encode  # dumps makes an encoder for every call; pieces are small


def escaped(text: str) -> str:
    """Text as the inside of a JSON string."""
    return _ENCODE(text)[1:-1]


def decode_string(raw: str) -> str:
    """The value of a JSON string literal with its quotes; malformed escapes stay as written."""
    try:
        value = json.loads(raw, strict=False)
    except ValueError:
        return raw[1:-1]
    return value if is_clean(value) else raw[1:-1]


def is_clean(value: str) -> bool:
    """Whether a decoded string can be written as UTF-8 (no lone surrogate)."""
    return not any("\ud800" <= char <= "\udfff" for char in value)
