"""Values written in C++ source: strings, names, numbers, lists in braces, calls and chains of them.

No more of C++ than tables of test data are written in. Linear in the source; what is not understood is `Unread`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=tag)"|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|(?P<word>[A-Za-z_][\w:]*)|(?P<number>\d[\w.]*)|(?P<sign>[^\s])",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)


class UnreadError(Exception):
    """The source says something else than a value."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that stands for a value."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function or method with its arguments."""

    name: str
    arguments: tuple[Value, ...]


Value = str | float | Name | Call | list["Value"]
_Token = tuple[str, str]


def tokens_of(source: str, start: int = 0) -> Iterator[_Token]:
    """Kind and text of each token: text, word, number or sign; comments are left out."""
    for match in _TOKEN.finditer(source, start):
        if match["raw"] is not None:
            yield "text", match["raw"]
        elif match.lastgroup == "text":
            yield "text", _unescaped(match["text"])
        elif match.lastgroup is not None:
            yield match.lastgroup, match[match.lastgroup]


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        digits = match[1] or match[2]
        return chr(int(digits, 16)) if digits else _ESCAPES.get(match[3], match[3])

    return _ESCAPE.sub(plain, text)


class Reader:
    """Reads values one after the other from a place in the source."""

    def __init__(self, source: str, start: int = 0) -> None:
        self._tokens = tokens_of(source, start)
        self._next = next(self._tokens, ("", ""))

    def take(self) -> _Token:
        """The next token."""
        found, self._next = self._next, next(self._tokens, ("", ""))
        return found

    def sees(self, *signs: str) -> bool:
        """Return whether one of these signs is next."""
        return self._next[0] == "sign" and self._next[1] in signs

    def value(self) -> Value:
        """The next value."""
        if self.sees("{"):
            return list(self._listed("{", "}"))
        kind, text = self.take()
        if kind == "text":
            while self._next[0] == "text":
                text += self.take()[1]
            found: Value = text
        elif kind == "number":
            return text
        elif kind == "word":
            found = Call(text, tuple(self._listed("(", ")"))) if self.sees("(") else Name(text)
        else:
            raise UnreadError(text)
        return self._added(found)

    def _added(self, first: Value) -> Value:
        """Texts that are put together by +, where `std::string(...)` is its text."""
        if isinstance(first, Call) and first.name == "std::string" and len(first.arguments) == 1:
            first = first.arguments[0]
        if not self.sees("+"):
            return first
        self.take()
        second = self.value()
        if isinstance(first, str) and isinstance(second, str):
            return first + second
        raise UnreadError("+")

    def _listed(self, opener: str, closer: str) -> Iterator[Value]:
        if self.take() != ("sign", opener):
            raise UnreadError(opener)
        while not self.sees(closer):
            yield self.value()
            if not self.sees(",", closer):
                raise UnreadError(self._next[1])
            if self.sees(","):
                self.take()
        self.take()

    def chain(self) -> Iterator[Call]:
        """The calls of `.a(...).b(...)`, up to its end."""
        while self.sees("."):
            self.take()
            name = self.take()[1]
            yield Call(name, tuple(self._listed("(", ")")))
