"""JSON arguments as text, read by the checks themselves: as far as it has come, and as values with their places.

`JsonPrefix` is a push-down check: can this text still become one JSON object? It reads RFC 8259 character by character
and keeps only the stack of open brackets, so pieces may be cut anywhere and each character is looked at once. It is
deliberately independent of the parsers' own JSON reading: it judges their output. Strictly JSON: no NaN, no line break
inside a string, no comma before a closing bracket. `read_object` gives the tree of a text that it has accepted.

Nothing here recurses, so neither depth nor length is limited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

_Expect = Literal["object", "first_key", "key", "colon", "first_value", "value", "next", "done"]

_BLANK = " \t\n\r"
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_AWAITS: dict[_Expect, str] = {
    "object": "the opening brace",
    "first_key": "a key in double quotes or `}`",
    "key": "a key in double quotes",
    "colon": "a `:`",
    "first_value": "a value or `]`",
    "value": "a value",
    "done": "nothing more",
}
_WORDS = {"t": "rue", "f": "alse", "n": "ull"}
_DIGITS = "0123456789"
# Number automaton: state -> (characters, next state) pairs. States in _NUMBER_ENDS may be followed by something else.
_NUMBER: dict[str, tuple[tuple[str, str], ...]] = {
    "minus": (("0", "zero"), (_DIGITS, "whole")),
    "zero": ((".", "point"), ("eE", "exponent")),
    "whole": ((_DIGITS, "whole"), (".", "point"), ("eE", "exponent")),
    "point": ((_DIGITS, "fraction"),),
    "fraction": ((_DIGITS, "fraction"), ("eE", "exponent")),
    "exponent": (("+-", "sign"), (_DIGITS, "power")),
    "sign": ((_DIGITS, "power"),),
    "power": ((_DIGITS, "power"),),
}
_NUMBER_ENDS = frozenset(("zero", "whole", "fraction", "power"))


class JsonPrefix:
    """Feed text; learn the first character that no JSON object could have there.

    `done` is true once the object is closed. After a bad character the checker must not be fed again.
    """

    __slots__ = ("_escape", "_expect", "_in_string", "_is_key", "_number", "_stack", "_word")

    def __init__(self) -> None:
        self._expect: _Expect = "object"
        self._stack: list[str] = []
        self._in_string = False
        self._is_key = False
        self._escape = 0
        self._number = ""
        self._word = ""

    @property
    def done(self) -> bool:
        """Whether one whole object has been read."""
        return self._expect == "done"

    @property
    def in_string(self) -> bool:
        """Whether a string is open, so that what follows stands inside it."""
        return self._in_string

    @property
    def awaits(self) -> str:
        """What may come next, in words."""
        if self._in_string:
            return "the rest of an escape sequence" if self._escape else 'the closing `"` of a string'
        if self._word or (self._number and self._number not in _NUMBER_ENDS):
            return f"`{self._word}`" if self._word else "a digit"
        if self._expect == "next" or self._number:
            return "a `,` or `}`" if self._stack[-1] == "{" else "a `,` or `]`"
        return _AWAITS[self._expect]

    def feed(self, text: str, start: int = 0) -> int | None:
        """Read `text` from `start` on. Returns the offset of the first impossible character, or None."""
        position, end = start, len(text)
        while position < end:
            after = self._read(text, position)
            if after < 0:
                return position
            position = after
        return None

    def _read(self, text: str, position: int) -> int:
        """Where reading goes on, or -1 for an impossible character."""
        char = text[position]
        if self._in_string:
            return self._string(text, position)
        if self._word:
            return self._letter(char, position)
        if self._number:
            return self._digit(char, position)
        if char in _BLANK:
            return position + 1
        return position + 1 if self._structure(char) else -1

    def _string(self, text: str, position: int) -> int:
        char = text[position]
        if self._escape:
            return position + 1 if self._escaped(char) else -1
        if char == '"':
            self._in_string = False
            self._expect = "colon" if self._is_key else self._after_value()
        elif char == "\\":
            self._escape = 1
        else:
            plain = _PLAIN.match(text, position)
            return plain.end() if plain else -1
        return position + 1

    def _escaped(self, char: str) -> bool:
        """One character after a backslash: 1 awaits the letter, 2 to 5 the four digits of \\u."""
        if self._escape == 1:
            self._escape = 2 if char == "u" else 0
            return char in '"\\/bfnrtu'
        self._escape = (self._escape + 1) % 6
        return char in "0123456789abcdefABCDEF"

    def _letter(self, char: str, position: int) -> int:
        if char != self._word[0]:
            return -1
        self._word = self._word[1:]
        if not self._word:
            self._expect = self._after_value()
        return position + 1

    def _digit(self, char: str, position: int) -> int:
        for chars, state in _NUMBER[self._number]:
            if char in chars:
                self._number = state
                return position + 1
        if self._number not in _NUMBER_ENDS:
            return -1
        self._number = ""
        self._expect = self._after_value()
        return position

    def _after_value(self) -> _Expect:
        return "next" if self._stack else "done"

    def _structure(self, char: str) -> bool:
        expect = self._expect
        if expect == "object":
            return char == "{" and self._open(char)
        if expect == "colon":
            self._expect = "value"
            return char == ":"
        if char in "}]":
            return self._close(char)
        if expect == "next":
            self._expect = "key" if self._stack[-1] == "{" else "value"
            return char == ","
        if expect in ("first_key", "key"):
            return char == '"' and self._open_string(key=True)
        return expect != "done" and self._value(char)

    def _value(self, char: str) -> bool:
        if char in "{[":
            return self._open(char)
        if char == '"':
            return self._open_string(key=False)
        self._word = _WORDS.get(char, "")
        if not self._word:
            self._number = "minus" if char == "-" else "zero" if char == "0" else "whole" if char in _DIGITS else ""
        return bool(self._word or self._number)

    def _open(self, char: str) -> bool:
        self._stack.append(char)
        self._expect = "first_key" if char == "{" else "first_value"
        return True

    def _open_string(self, *, key: bool) -> bool:
        self._in_string, self._is_key = True, key
        return True

    def _close(self, char: str) -> bool:
        fits = self._expect in ("next", "first_key" if char == "}" else "first_value")
        if not fits or self._stack[-1] != ("{" if char == "}" else "["):
            return False
        self._stack.pop()
        self._expect = self._after_value()
        return True


def is_whole_object(text: str) -> bool:
    """Whether a text is one whole JSON object, of any depth."""
    reader = JsonPrefix()
    return reader.feed(text) is None and reader.done


# Values with their places.

Kind = Literal["object", "array", "string", "integer", "number", "boolean", "null"]

Scalar = str | int | float | bool | None

_LONG = 300
_NODE = re.compile(
    r"""[\s,:]*(?:(?P<open>[{\[])|(?P<close>[}\]])|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?P<word>[^\s,}\]]+))"""
)


@dataclass(slots=True)
class Member:
    """A key of an object, where its opening quote stands, and its value."""

    key: str
    at: int
    value: Node


@dataclass(slots=True)
class Node:
    """A JSON value at [start, end) of its text. `value` is set for scalars, `members` and `items` for containers."""

    kind: Kind
    start: int
    end: int = 0
    value: Scalar = None
    members: list[Member] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)


def read_object(text: str) -> Node:
    """The tree of `text`, which must be one valid JSON object."""
    root = Node("array", 0)
    stack = [root]
    key: tuple[str, int] | None = None
    for match in _NODE.finditer(text):
        group = str(match.lastgroup)
        start, end = match.span(group)
        if group == "close":
            stack.pop().end = end
            continue
        if group == "string" and stack[-1].kind == "object" and key is None:
            key = (json.loads(match.group(group)), start)
            continue
        node = _node(group, match.group(group), start, end)
        if key is None:
            stack[-1].items.append(node)
        else:
            stack[-1].members.append(Member(*key, node))
            key = None
        if group == "open":
            stack.append(node)
    return root.items[0]


def walk(root: Node) -> Iterator[Node]:
    """Every node of the tree, without recursion."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.items
        waiting += [member.value for member in node.members]


def _node(group: str, text: str, start: int, end: int) -> Node:
    if group == "open":
        return Node("object" if text == "{" else "array", start)
    if group == "string":
        return Node("string", start, end, json.loads(text))
    if text in ("true", "false"):
        return Node("boolean", start, end, text == "true")
    return Node("null", start, end) if text == "null" else _number(text, start, end)


def _number(text: str, start: int, end: int) -> Node:
    """Whole numbers are integers however they are spelled; very long ones are read as floats."""
    digits = text.lstrip("-").isdigit()
    value: int | float = int(text) if digits and len(text) < _LONG else float(text)
    whole = digits or float(value).is_integer()
    return Node("integer" if whole else "number", start, end, value)
