"""The output as a source of values: the ways in which a word, a number or a string of the arguments may stand in it.

A value may be escaped in the output (JSON, Python, HTML), spelled otherwise (1e3 and 1000.0, True and true), or come
from the schema (a default, an enum). So the questions are lenient: a value counts as missing only if no reading of
the output has it. All work is linear in the output; searches that may each cost as much are limited.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from functools import cached_property

from parsers.types import Tool

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+")
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))""", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "a": "\a", "v": "\v", "\n": ""}
_SEARCHES = 200


class Source:
    """One output, and the declared tools."""

    def __init__(self, text: str, tools: Iterable[Tool]) -> None:
        self.text = text
        self._tools = tools
        self._left = _SEARCHES

    @cached_property
    def readings(self) -> tuple[str, ...]:
        """The output as it is, and with its escapes undone in the ways that change it."""
        forms = [self.text, unescape(self.text)]
        forms += [html.unescape(form) for form in forms if "&" in form]
        return tuple(dict.fromkeys(forms))

    @cached_property
    def _schemas(self) -> str:
        return json.dumps([[tool.name, tool.parameters] for tool in self._tools], ensure_ascii=False, default=str)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for form in (*self.readings, self._schemas) for word in _WORD.findall(form))

    @cached_property
    def _numbers(self) -> frozenset[float]:
        found = [_value(text) for form in (self.text, self._schemas) for text in _NUMBER.findall(form)]
        return frozenset(value for value in found if value is not None)

    @cached_property
    def _squeezed(self) -> tuple[str, ...]:
        return tuple(["".join(_WORD.findall(form)).casefold() for form in self.readings])

    def missing_word(self, text: str) -> str | None:
        """The first word of `text` that stands nowhere in the output."""
        return next((word for word in _WORD.findall(text) if not self._has_word(word.casefold())), None)

    def _has_word(self, word: str) -> bool:
        if word in self._words:
            return True
        self._left -= 1  # cut out of a longer word, or joined where something was left out
        return self._left < 0 or any(word in form for form in self._squeezed)

    def has_number(self, spelling: str, value: float) -> bool:
        """Whether the output has a number of this value, however it is spelled, or its digits."""
        if value in (0, 1) or abs(value) in self._numbers:
            return True
        self._left -= 1
        digits = spelling.lstrip("-")
        return self._left < 0 or any(digits in form for form in self.readings)


def unescape(text: str) -> str:
    """`text` with the escapes of JSON and Python strings undone; what is no escape stays."""
    if "\\" not in text:
        return text
    undone = _ESCAPE.sub(_unescaped, text)
    return undone.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(match: re.Match[str]) -> str:
    four, two, eight, char = match.groups()
    code = four or two or eight
    if code is None:
        return _CONTROL.get(char, char)
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else match.group()


def _value(text: str) -> float | None:
    plain = text.replace("_", "").replace(",", "")
    try:
        return float(int(plain, 0)) if plain[:2].lower() in ("0x", "0b", "0o") else float(plain)
    except (ValueError, OverflowError):
        return None
