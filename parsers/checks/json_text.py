"""JSON arguments as text, read by the checks themselves: as far as it has come, and as values with their places.

`JsonPrefix` is a push-down check: can this text still become one JSON object? It reads RFC 8259 strictly, keeps only
the stack of open brackets, and looks at each character once, however the text is cut. It judges the parsers' own JSON
reading, so it shares nothing with it. `read_object` gives the tree of a text that it has accepted. Nothing recurses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from parsers.vocabulary.words import quoted

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
_QUOTES = re.compile(r'\\.|"', re.DOTALL)
_DIGITS, _HEX = "0123456789", "0123456789abcdefABCDEF"
_LETTERS = ("rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l")  # what may be left of a word
# What stands inside a scalar: state -> (characters, next state) pairs. `end` is the end of the scalar; in a state of
# _NUMBER_ENDS something else may follow.
_SCALARS: dict[str, tuple[tuple[str, str], ...]] = {
    "string": (('"', "end"), ("\\", "escape")),
    "escape": (('"\\/bfnrt', "string"), ("u", "hex 1")),
    **{f"hex {at}": ((_HEX, f"hex {at + 1}" if at < 4 else "string"),) for at in (1, 2, 3, 4)},
    **{rest: ((rest[0], rest[1:] or "end"),) for rest in _LETTERS},
    "minus": ((_DIGITS, "whole"), ("0", "zero")),
    "zero": ((".", "point"), ("eE", "exponent")),
    "whole": ((_DIGITS, "whole"), (".", "point"), ("eE", "exponent")),
    "point": ((_DIGITS, "fraction"),),
    "fraction": ((_DIGITS, "fraction"), ("eE", "exponent")),
    "exponent": (("+-", "sign"), (_DIGITS, "power")),
    "sign": ((_DIGITS, "power"),),
    "power": ((_DIGITS, "power"),),
}
_AFTER = {state: {char: after for chars, after in rows for char in chars} for state, rows in _SCALARS.items()}
_BEGINS = {
    "t": "rue",
    "f": "alse",
    "n": "ull",
    '"': "string",
    "-": "minus",
    **dict.fromkeys(_DIGITS, "whole"),
    "0": "zero",
}
_NUMBER_ENDS = frozenset(("zero", "whole", "fraction", "power"))


class JsonPrefix:
    """Feed text; learn the first character that no JSON object could have there.

    `done` is true once the object is closed. After a bad character the checker must not be fed again.
    """

    __slots__ = ("_expect", "_is_key", "_scalar", "_stack")

    def __init__(self) -> None:
        self._expect: _Expect = "object"
        self._stack: list[str] = []
        self._is_key = False
        self._scalar = ""

    @property
    def done(self) -> bool:
        """Return whether one whole object has been read."""
        return self._expect == "done"

    @property
    def in_string(self) -> bool:
        """Return whether a string is open, so that what follows stands inside it."""
        return self._scalar.startswith(("string", "escape", "hex"))

    @property
    def stands(self) -> str:
        """Return where it stands, as one word: in a string, in another scalar, or before what may come next."""
        return "string" if self.in_string else "scalar" if self._scalar else self._expect

    @property
    def awaits(self) -> str:
        """Return what may come next, in words."""
        if self.in_string:
            return 'the closing `"` of a string' if self._scalar == "string" else "the rest of an escape sequence"
        if self._scalar and self._scalar not in _NUMBER_ENDS:
            return f"`{self._scalar}`" if self._scalar in _LETTERS else "a digit"
        if self._expect == "next" or self._scalar:
            return "a `,` or `}`" if self._stack[-1] == "{" else "a `,` or `]`"
        return _AWAITS[self._expect]

    def feed(self, text: str, start: int = 0) -> int | None:
        """Read `text` from `start` on. Returns the offset of the first impossible character, or None."""
        position, end = start, len(text)
        while position < end:
            scalar = self._scalar
            if scalar == "string" and (plain := _PLAIN.match(text, position)) is not None:
                position = plain.end()
            elif (
                self._inside(text[position]) if scalar else text[position] in _BLANK or self._structure(text[position])
            ):
                position += 1
            elif scalar in _NUMBER_ENDS:
                self._end()
            else:
                return position
        return None

    def _inside(self, char: str) -> bool:
        """Take a character inside a scalar; false where it cannot stand there."""
        after = _AFTER[self._scalar].get(char)
        if after == "end":
            self._end()
        elif after is not None or self._scalar in ("escape", "hex 4"):  # a bad escape is over, too
            self._scalar = after or "string"
        return after is not None

    def _end(self) -> None:
        """The end of a scalar, or of a container."""
        self._expect = "colon" if self._is_key else "next" if self._stack else "done"
        self._scalar, self._is_key = "", False

    def _structure(self, char: str) -> bool:
        """Take a character between scalars, or the first of one; false where it cannot stand there."""
        expect = self._expect
        if expect == "colon":
            self._expect = "value" if char == ":" else expect
            return char == ":"
        if char in "}]":
            fits = expect in ("next", "first_key" if char == "}" else "first_value")
            if not fits or self._stack[-1] != ("{" if char == "}" else "["):
                return False
            self._stack.pop()
            self._end()
            return True
        if expect == "next":
            if char == ",":
                self._expect = "key" if self._stack[-1] == "{" else "value"
            return char == ","
        if char in "{[" and expect in (("object", "first_value", "value") if char == "{" else ("first_value", "value")):
            self._stack.append(char)
            self._expect = "first_key" if char == "{" else "first_value"
            return True
        self._is_key = expect in ("first_key", "key")
        if expect not in ("object", "done") and (char == '"' or not self._is_key):
            self._scalar = _BEGINS.get(char, "")
        return bool(self._scalar)


def misfit(text: str, at: int) -> str:
    """Return what stands at the first impossible character of a text, in words: after which string, and what is due."""
    reader, before = JsonPrefix(), text[:at].rstrip(_BLANK)
    reader.feed(text[:at])
    found = quoted(text[at])
    if before.endswith('"') and not reader.in_string and not reader.done:
        quotes = [match.start() for match in _QUOTES.finditer(before) if match[0] == '"']
        found += f" after the string {quoted(before[quotes[-2] :])}"
    return f"{found} stands after its end" if reader.done else f"{found} stands instead of {reader.awaits}"


def stands_at(text: str, at: int) -> str:
    """Return where the first impossible character of a text stands, as one word (`JsonPrefix.stands`)."""
    reader = JsonPrefix()
    reader.feed(text[:at])
    return reader.stands


def is_whole_object(text: str) -> bool:
    """Return whether a text is one whole JSON object, of any depth."""
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
