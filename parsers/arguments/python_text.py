"""Python's literals, from any cut of the text: string literals with their escapes, numbers, words.

A quote that closes a string is told from one inside it by what follows: a value is followed by a comma, a colon or a
closing bracket, and another literal right after it continues the string as in Python. A quote followed by anything
else was left unescaped by the model and is text of the string (vLLM 0.33.0 repairs such strings for LFM2). So a quote
waits for the next character that is not white space. In the value of a keyword it takes more to close a string that
has held such a quote: what follows must be the next keyword, or the end of the call and of the list.

Escape sequences that Python does not know, and halves of surrogate pairs, stay as they are written.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from parsers.arguments.coerce import LONE_SURROGATE, NUMBER, Schema, text_to_json, types_of
from parsers.arguments.contract import ESCAPED, Output
from parsers.vocabulary.states import NOWHERE, Part, Pieces

QUOTES = "'\""
_FOLLOWERS = ",:)]}"
_NAME = r"[A-Za-z_][\w.]*"
_END_OF_VALUE = re.compile(
    rf"\s*(?:,\s*{_NAME}\s*=(?:[^=]|\Z)|\)\s*(?:{_NAME}\(|,\s*{_NAME}\(|\]?\s*(?:<[|/]|\Z)|\]\s*\n))"
)
_MAY_END_VALUE = re.compile(rf"\s*(?:,\s*(?:{_NAME})?\s*=?|\)\s*,?\s*(?:{_NAME})?|\)\s*\]?\s*<?)?\Z")
_LOOKAHEAD = 80
_SPACE = re.compile(r"\s+")
_RUN = {quote: re.compile(rf"[^\\{quote}]+") for quote in QUOTES}
_SIMPLE = {
    **{"\n": "", "\\": "\\", "'": "'", '"': '"'},
    **{"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"},
}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_HEX = frozenset("0123456789abcdefABCDEF")
_LONGEST_NAME = 96
_LOW_SURROGATE = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}\Z")
_HIGH_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")

_DIGITS = "[0-9](?:_?[0-9])*"
_DECIMAL = re.compile(rf"([+-]?)({_DIGITS})?(?:(\.)({_DIGITS})?)?([eE][+-]?{_DIGITS})?\Z")
_OTHER_BASE = re.compile(r"[+-]?0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)\Z")
_LONGEST_INTEGER = 256
WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}


def python_number(text: str) -> str | None:
    """A number as Python writes it, as JSON; in its own spelling where that is JSON."""
    if NUMBER.match(text):
        return text
    if len(text) <= _LONGEST_INTEGER and _OTHER_BASE.match(text):
        return str(int(text, 0))
    match = _DECIMAL.match(text)
    if match is None or not (match[2] or match[4]):
        return None
    whole = (match[2] or "").replace("_", "").lstrip("0") or "0"
    fraction = f".{(match[4] or '0').replace('_', '')}" if match[3] else ""
    return f"{match[1].replace('+', '')}{whole}{fraction}{(match[5] or '').replace('_', '')}"


def unescape(text: str) -> tuple[str, int] | None:
    """Return the meaning of the escape sequence that `text` begins with, and its length; None while it may go on."""
    if len(text) == 1:
        return None
    kind = text[1]
    if kind in _SIMPLE:
        return _SIMPLE[kind], 2
    if kind in "01234567":
        return _octal(text)
    if kind in _HEX_DIGITS:
        return _hexadecimal(text, _HEX_DIGITS[kind])
    return _named(text) if kind == "N" else (text[:2], 2)


def _octal(text: str) -> tuple[str, int] | None:
    digits = 1
    while digits < 3 and digits + 1 < len(text) and text[digits + 1] in "01234567":
        digits += 1
    if digits < 3 and digits + 1 == len(text):
        return None
    return chr(int(text[1 : digits + 1], 8)), digits + 1


def _hexadecimal(text: str, digits: int) -> tuple[str, int] | None:
    given = text[2 : 2 + digits]
    wrong = next((at for at, char in enumerate(given) if char not in _HEX), None)
    if wrong is not None:
        return text[: 2 + wrong], 2 + wrong
    if len(given) < digits:
        return None
    if _HIGH_SURROGATE.match(text[:6]):
        return _pair(text)
    code = int(given, 16)
    clean = code <= 0x10FFFF and not LONE_SURROGATE.match(chr(code))
    return chr(code) if clean else text[: 2 + digits], 2 + digits


def _pair(text: str) -> tuple[str, int] | None:
    """Two escapes that are one character; the first alone stays as written."""
    second = text[6:]
    if _LOW_SURROGATE.match(second):
        high, low = int(text[2:6], 16), int(second[2:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), 12
    hopeful = len(second) < 6 and r"\u".startswith(second[:2]) and all(char in _HEX for char in second[2:])
    return None if hopeful else (text[:6], 6)


def _named(text: str) -> tuple[str, int] | None:
    """A character by its Unicode name, between braces."""
    if len(text) == 2:
        return None
    last = text[-1]
    if last != ("{" if len(text) == 3 else "}"):
        fits = len(text) > 3 and (last in " -" or (last.isascii() and last.isalnum()))
        return None if fits and len(text) < _LONGEST_NAME else (text[:-1], len(text) - 1)
    if last == "{":
        return None
    try:
        return unicodedata.lookup(text[3:-1]), len(text)
    except KeyError:
        return text, len(text)


class StringReader(Part):
    """Reads one string value: a literal, or several that follow each other.

    `put` gets its pieces: text, start, end, and whether they stand in the output as they are.

    `open`: no marker can match; `done`: the value is over and the next character is not read.
    """

    __slots__ = (
        *("_at", "_broken", "_closing", "_escape", "_is_key", "_of_keyword", "_out", "_phase", "_put"),
        *("_quote", "_quotes", "_triple"),
    )
    APART: ClassVar[frozenset[str]] = frozenset({"_out", "_put"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_at"})

    def __init__(
        self, out: Output, put: Callable[[str, int, int, bool], None], *, is_key: bool, of_keyword: bool
    ) -> None:
        self._out = out
        self._put = put
        self._is_key = is_key
        self._of_keyword = of_keyword
        self._phase: Literal["before", "opened", "text", "closing", "done"] = "before"
        self._quote = ""
        self._triple = self._broken = False
        self._escape = ""
        self._quotes = ""
        self._closing = Pieces()
        self._at = NOWHERE

    @property
    def open(self) -> bool:
        """Return whether the text is inside the string for sure."""
        return self._phase in ("opened", "text")

    @property
    def done(self) -> bool:
        """Return whether the value is over."""
        return self._phase == "done"

    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """Read on; stops where the string may be over, where it is, and where more text must tell."""
        while pos < end and self._phase != "done":
            before = pos
            if self._phase == "before":
                self._quote, self._triple, self._phase = buffer[pos], False, "opened"
                self._out.marker(base + pos, base + pos + 1)
                return pos + 1
            if self._phase == "opened":
                pos = self._opened(buffer, pos, end, base, final)
            elif self._phase == "text":
                if self._broken and self._waits(buffer, pos, final):
                    break
                pos = self._inside(buffer, pos, end, base)
            else:
                pos = self._close(buffer, pos, end, base)
            if (pos == before and self._phase == "opened") or self._phase == "closing":
                break
        return pos

    def _opened(self, buffer: str, pos: int, end: int, base: int, final: bool) -> int:
        """After one quote: a second one closes an empty string, or is the second of three."""
        if buffer[pos] != self._quote:
            self._phase = "text"
        elif pos + 1 < end and buffer[pos + 1] == self._quote:
            self._out.marker(base + pos, base + pos + 2)
            self._phase, self._triple = "text", True
            pos += 2
        elif final or pos + 1 < len(buffer):
            self._begin_close(self._quote, base + pos)
            pos += 1
        return pos

    def _begin_close(self, quotes: str, at: int) -> None:
        self._phase, self._closing, self._at = "closing", Pieces([quotes]), at

    def _inside(self, buffer: str, pos: int, end: int, base: int) -> int:
        if self._escape or buffer[pos] == "\\":
            return self._escaped(buffer, pos, end, base)
        doubtful = self._broken and self._doubtful(buffer, pos)
        if doubtful and _END_OF_VALUE.match(buffer[pos + 1 : pos + 1 + _LOOKAHEAD]) is None:
            self._put(buffer[pos], base + pos, base + pos + 1, True)
            return pos + 1
        if buffer[pos] == self._quote:
            return self._quoted(pos, base)
        self._give_quotes()
        run = _RUN[self._quote].match(buffer, pos, end)
        stop = pos if run is None else run.end()
        self._put(buffer[pos:stop], base + pos, base + stop, True)
        return stop

    def _waits(self, buffer: str, pos: int, final: bool) -> bool:
        """Return whether more text must tell if this quote closes a string that holds unescaped ones."""
        if not self._doubtful(buffer, pos) or final:
            return False
        rest = buffer[pos + 1 : pos + 1 + _LOOKAHEAD]
        return len(rest) < _LOOKAHEAD and _MAY_END_VALUE.match(rest) is not None

    def _doubtful(self, buffer: str, pos: int) -> bool:
        broken = self._broken and self._of_keyword and not self._triple and not self._escape
        return broken and buffer[pos] == self._quote

    def _quoted(self, pos: int, base: int) -> int:
        if not self._triple:
            self._begin_close(self._quote, base + pos)
            return pos + 1
        self._at = self._at if self._quotes else base + pos
        self._quotes += self._quote
        if len(self._quotes) == 3:
            self._begin_close(self._quotes, self._at)
            self._quotes = ""
        return pos + 1

    def _give_quotes(self) -> None:
        """Fewer than three quotes are text of a string that three close."""
        if self._quotes:
            self._put(self._quotes, self._at, self._at + len(self._quotes), True)
            self._quotes = ""

    def _escaped(self, buffer: str, pos: int, end: int, base: int) -> int:
        self._give_quotes()
        meaning = _SIMPLE.get(buffer[pos + 1]) if pos + 1 < end and not self._escape else None
        if meaning:  # the usual case, which needs no state
            self._put(meaning, base + pos, base + pos + 2, False)
            return pos + 2
        while pos < end:
            self._at = self._at if self._escape else base + pos
            self._escape += buffer[pos]
            pos += 1
            while self._escape and (found := unescape(self._escape)) is not None:
                text, length = found
                self._give(text, length)
                if self._escape and self._escape[0] != "\\":
                    self._escape = ""
                    return pos - 1
            if not self._escape:
                break
        return pos

    def _give(self, text: str, length: int) -> None:
        """Pass on what `length` characters of the escape sequence mean."""
        stop = self._at + length
        if text:
            self._put(text, self._at, stop, text == self._escape[:length])
        else:
            self._out.marker(self._at, stop)
        self._escape, self._at = self._escape[length:], stop

    def _close(self, buffer: str, pos: int, end: int, base: int) -> int:
        """After a closing quote: the next character says whether it was one."""
        space = _SPACE.match(buffer, pos, end)
        if space is not None:
            self._closing.append(space.group())
            return space.end()
        char = buffer[pos]
        if char in QUOTES and not self._broken:
            self._end()
            self._phase = "before"
            return self.text(buffer, pos, end, base, final=False)
        if self._is_key or char in _FOLLOWERS:
            self._end()
        else:
            text = "".join(self._closing)
            if not self._broken:
                message = "A quote inside the string is not escaped; it is taken for text, because of what follows it."
                self._out.diagnostic("unescaped_quote", message, self._at, self._at + 1)
            self._broken, self._phase = True, "text"
            self._put(text, self._at, self._at + len(text), True)
        return pos

    def _end(self) -> None:
        self._phase = "done"
        self._out.marker(self._at, self._at + sum(map(len, self._closing)))

    def gap(self) -> None:
        """A token that is no text stands here, or the end: a string whose quote was read is over."""
        if self._phase == "closing":
            self._end()

    def finish(self) -> tuple[int, int] | None:
        """No more text. Returns what was cut off."""
        if rest := self._escape or self._quotes:
            return self._at, self._at + len(rest)
        self.gap()
        return None

    def passes(self) -> str | None:
        """See ArgumentParser.passes."""
        if self._phase != "text" or self._escape or self._quotes:
            return None
        return f"{ESCAPED}|{self._quote}"

    def held_from(self) -> int | None:
        """The first raw offset of what waits."""
        return self._at if self._escape or self._quotes or self._phase == "closing" else None


# Values that Python's str() wrote, as the JSON they mean: None, ['a', 'b'], {'k': True}.
#
# Chat templates that do not write JSON (Seed-OSS; Qwen3-Coder in some versions) render arguments so, and models repeat
# what they saw. Only the spelling of each token changes; whether the whole is JSON then is up to the reader of JSON.

_TOKEN = re.compile(
    r"""('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s'"\[\]{},:]+)\s*""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_STRUCTURE = {**{char: char for char in "[]{}"}, ",": ", ", ":": ": "}
_SIGNS = frozenset(_STRUCTURE.values())
_CONTAINERS = {"{": "object", "[": "array"}


def plain_to_json(text: str, schema: Schema | None) -> str:
    """As `text_to_json`; what stays a string there is read as escaped JSON, or as Python, where the schema allows what
    it would be."""
    found = text_to_json(text, schema)
    start = text.strip()
    types: Any = types_of(schema) or ()
    if start == "None" and "null" in types:
        return "null"
    if found.startswith('"') and _CONTAINERS.get(start[:1]) in types:
        meant = text_to_json(_once_escaped(start) or python_to_json(start) or "", schema)
        return found if meant.startswith('"') else meant
    return found


def _once_escaped(text: str) -> str | None:
    """What a text says whose every quote is escaped, as inside a JSON string (SGLang 0.5.23's GLM detectors take such
    for what it would be there); None for other text."""
    try:
        found = json.loads(f'"{text}"', strict=False) if '\\"' in text else None
    except ValueError:
        return None
    return found if isinstance(found, str) and not LONE_SURROGATE.search(found) else None


def python_to_json(text: str) -> str | None:
    """The text with every token spelled as in JSON, or None where one is no literal of Python."""
    parts: list[str] = []
    pos = 0
    while pos < len(text):
        token = _TOKEN.match(text, pos)
        written = None if token is None else _token(token[1])
        if token is None or written is None or (parts and {parts[-1], written}.isdisjoint(_SIGNS)):
            return None
        if written in ("]", "}") and parts and parts[-1] == ", ":
            parts.pop()
        parts.append(written)
        pos = token.end()
    return "".join(parts)


def _token(token: str) -> str | None:
    if token[0] in QUOTES:
        return json.dumps(_ESCAPE.sub(_unescaped, token[1:-1]), ensure_ascii=False)
    return _STRUCTURE.get(token) or WORDS.get(token) or python_number(token)


def _unescaped(match: re.Match[str]) -> str:
    found = unescape(match.group())
    return match.group() if found is None else found[0]
