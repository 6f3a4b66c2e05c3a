"""Python's printed values (repr), read without running anything: a bounded reader for pastes and log lines.

    'text'  b'bytes'  1  1.5  True  None  [..]  (..)  {k: v}  Name(1, key=..)  <Enum.member: 1>  'head' ... 'tail'

The last form is how servers shorten what they log. JSON's true, false and null are read too, as people mix both. The
reader keeps its own stack, so depth costs no recursion; it is linear and never raises. A text that ends inside a value
gives what stood before its end, and says so; of strings only a field keeps its half.

Grammar: Python reference, lexical analysis (string literals, escapes); SGLang's shortened dumps: sglang 0.5,
request_logger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

DEPTH = 60  # of brackets; deeper is nothing that anybody printed

_TOKEN = re.compile(
    r"""\s*+(?:
      (?P<string>[bBuU]?(?:'(?:[^'\\\n]++|\\[\s\S])*+'|"(?:[^"\\\n]++|\\[\s\S])*+"))
    | (?P<number>[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?+(?![\w.]))
    | (?P<name>[A-Za-z_][\w.]*+)
    | (?P<angle><[^<>\n]*+>)
    | (?P<dots>\.\.\.)
    | (?P<open>[\[({])
    | (?P<close>[\])}])
    | (?P<mark>[,:=])
    )""",
    re.VERBOSE,
)
_BLANK = re.compile(r"\s*+")
_OPENED = re.compile(r"\s*+[bBuU]?(?P<quote>['\"])(?:[^\\\n]|\\[^\n])*+\\?\s*+\Z")
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3})|\n|([\\'\"abfnrtv]))", re.DOTALL
)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CONSTANTS: dict[str, Any] = {
    "True": True, "False": False, "None": None, "true": True, "false": False, "null": None,
    "nan": float("nan"), "inf": float("inf"), "NaN": float("nan"),
}  # fmt: skip
_PAIRS = {"[": "]", "(": ")", "{": "}"}
_DIGITS = 18  # no token id, index or time has more


@dataclass(slots=True)
class Named:
    """`Name(1, key=2)`, or a bare name (`torch.int32`), whose `called` is false."""

    name: str
    args: list[Any] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    called: bool = False


@dataclass(slots=True)
class Shortened:
    """`'head' ... 'tail'`: what stood between them was never written."""

    head: Any
    tail: Any


@dataclass(slots=True)
class Literal:
    """The value read, the offset after it, and whether the text ended inside it."""

    value: Any
    end: int
    whole: bool = True


class _BadLiteralError(Exception):
    """What stands here is no printed value."""


_NOTHING: Any = object()
_SKIPPED: Any = object()


@dataclass(slots=True)
class _Frame:
    """One open bracket. `value` waits for its comma; `key` for its value; `short` after dots."""

    close: str
    name: str | None = None
    items: list[Any] = field(default_factory=list)
    fields: dict[Any, Any] = field(default_factory=dict)
    value: Any = _NOTHING
    key: Any = _NOTHING
    short: bool = False

    def put(self, value: Any) -> None:
        """The next value: it follows a comma, dots, or a string that it goes on with."""
        if self.value is _NOTHING:
            self.value = value
        elif self.short:
            self.value, self.short = Shortened(self.value, value), False
        elif isinstance(self.value, str) and isinstance(value, str):
            self.value += value
        else:
            raise _BadLiteralError

    def dots(self) -> None:
        """Between two values: the first is shortened. Alone: items were left out of the list."""
        if self.value is _NOTHING:
            self.value = _SKIPPED
        else:
            self.short = True

    def mark(self, mark: str) -> None:
        """A comma ends an item; a colon or an equals sign makes the value before it a key."""
        if mark == ",":
            self.flush()
        elif self.value is _NOTHING or self.key is not _NOTHING:
            raise _BadLiteralError
        elif mark == "=" and self.name is not None and isinstance(self.value, Named):
            self.key, self.value = self.value.name, _NOTHING
        elif mark == ":" and self.close == "}" and isinstance(self.value, str | int | float | None):
            self.key, self.value = self.value, _NOTHING
        else:
            raise _BadLiteralError

    def flush(self) -> None:
        """Keeps the value that waits."""
        if self.value is _NOTHING or self.short:
            raise _BadLiteralError
        if self.key is _NOTHING:
            self.items.append(self.value)
        else:
            self.fields[self.key] = self.value
        self.value = self.key = _NOTHING

    def built(self) -> Any:
        """The closed bracket's value."""
        if self.name is not None:
            return Named(self.name, self.items, self.fields, called=True)
        if self.close == "}":
            return self.fields or self.items or {}
        return self.items[0] if self.close == ")" and len(self.items) == 1 else self.items


def literal_at(text: str, at: int = 0) -> Literal | None:
    """The printed value at the offset, or None where there is none."""
    try:
        return _read(text, at)
    except _BadLiteralError:
        return None


def left_out(value: Any) -> bool:
    """Whether the value is the `...` of a printed list with items left out."""
    return value is _SKIPPED


def string_at(text: str, at: int) -> tuple[Literal, bool] | None:
    """The quoted string at the offset, whole or up to the end of its line, and whether bytes in it were no UTF-8."""
    found = _TOKEN.match(text, at)
    if found and found["string"]:
        value, lossy = unquoted(found["string"])
        return Literal(value, found.end()), lossy
    opened = re.compile(r"[bBuU]?['\"](?:[^\\\n]|\\[^\n])*+").match(text, at)
    if opened is None:
        return None
    head = opened[0]
    value, lossy = unquoted(head + head.lstrip("bBuU")[0])
    return Literal(value, opened.end(), whole=False), lossy


def unquoted(spelled: str) -> tuple[str, bool]:
    """What a quoted string stands for; and whether it was bytes that are no UTF-8, so that characters were lost."""
    is_bytes = spelled[0] in "bB"
    body = spelled.lstrip("bBuU")[1:-1]
    if not is_bytes:
        return _paired(_ESCAPE.sub(_character, body) if "\\" in body else body), False
    raw = _ESCAPE.sub(_byte, body).encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), True


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else found[0]
    if found[4]:
        return chr(int(found[4], 8))
    return _LETTERS.get(found[5], found[5]) if found[5] else ""


def _byte(found: re.Match[str]) -> str:
    """Bytes above ASCII as the escapes that encode back to them."""
    if found[1] or found[4]:
        code = int(found[1], 16) if found[1] else int(found[4], 8) & 0xFF
        return chr(code) if code < 0x80 else chr(0xDC00 + code)
    return found[0] if found[2] or found[3] else _character(found)


def _paired(text: str) -> str:
    """Two escapes that are halves of one character joined, as JSON spells it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _read(text: str, at: int) -> Literal | None:
    stack = [_Frame("")]
    end = at
    while found := _TOKEN.match(text, end):
        end = found.end()
        _step(stack, found, text)
        if len(stack) == 1:
            return Literal(stack[0].value, end)
    return _ended(stack, text, end)


def _step(stack: list[_Frame], found: re.Match[str], text: str) -> None:
    """One token into the open brackets."""
    kind, top = found.lastgroup, stack[-1]
    word = found[kind or 0]
    if kind == "open":
        _open(stack, word)
    elif kind == "close":
        _close(stack, word)
    elif kind == "mark":
        top.mark(word)
    elif kind == "dots":
        top.dots()
    elif kind == "name" and text.startswith("(", found.end()):
        _push(stack, _Frame("", name=word))  # its bracket is the next token
    else:
        top.put(_scalar(kind, word))


def _open(stack: list[_Frame], word: str) -> None:
    top = stack[-1]
    if top.name is not None and not top.close:
        top.close = ")"
    else:
        _push(stack, _Frame(_PAIRS[word]))


def _push(stack: list[_Frame], frame: _Frame) -> None:
    if len(stack) > DEPTH:
        raise _BadLiteralError
    stack.append(frame)


def _close(stack: list[_Frame], word: str) -> None:
    top = stack.pop()
    if word != top.close or (top.key is not _NOTHING and top.value is _NOTHING):
        raise _BadLiteralError
    if top.value is not _NOTHING:
        top.flush()
    stack[-1].put(top.built())


def _scalar(kind: str | None, word: str) -> Any:
    if kind == "string":
        return unquoted(word)[0]
    if kind == "name":
        return _CONSTANTS[word] if word in _CONSTANTS else Named(word)
    if kind == "angle":
        return _member(word)
    if word.lstrip("+-").isdigit():
        if len(word) > _DIGITS:
            raise _BadLiteralError
        return int(word)
    return float(word)


def _member(word: str) -> Any:
    """`<Reason.stop: 'stop'>` is the value after its colon; any other object is its name."""
    name, colon, value = word[1:-1].partition(": ")
    found = _TOKEN.fullmatch(value) if colon else None
    return unquoted(found["string"])[0] if found and found["string"] else Named(name)


def _ended(stack: list[_Frame], text: str, end: int) -> Literal | None:
    """What stood in the brackets that were open when the text ended. None: it goes on with no printed value."""
    rest = _BLANK.match(text, end)
    at_end = rest is not None and rest.end() == len(text)
    if len(stack) == 1 or not (at_end or _OPENED.match(text, end)):
        return None
    top = stack[-1]
    if text[end : end + 1] in ("", "'", '"') and isinstance(top.value, int | float | Named):
        top.value = _NOTHING  # half a number, half a name, or the letter before a quote
    half = None if at_end or top.key is _NOTHING else string_at(text, rest.end() if rest else end)
    if half is not None and top.value is _NOTHING:
        top.put(half[0].value)
    while len(stack) > 1:
        _give_up(stack)
    value = stack[0].value
    return None if value is _NOTHING else Literal(value, len(text), whole=False)


def _give_up(stack: list[_Frame]) -> None:
    """Closes the innermost bracket with what it holds."""
    top = stack.pop()
    if top.value is not _NOTHING and not top.short:
        top.flush()
    stack[-1].put(top.built())
