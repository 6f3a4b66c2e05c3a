"""Values as programs write them: JSON, what Python prints (repr, pprint), and Node (console.log, util.inspect).
A failure is None, never an exception.

    JSON    Python's decoder; bad JSON, very long integers and deep nesting make the input plain text
    Python  'text'  b'bytes'  1  1.5  True  None  [..]  (..)  {k: v}  Name(1, key=..)  <Enum.member: 1>
            'head' ... 'tail'  as servers shorten what they log (SGLang 0.5, request_logger)
    Node    { key: 'text' +\n 'text' }  Name { .. }  undefined  `text`  [Object]  ... 3 more items  SomeError: .. at ..
            (Node 20, lib/internal/util/inspect.js); what it left out stands in the tree as `LEFT_OUT`
    Ruby    {"key"=>'text', :symbol=>nil}, and from 3.4 on { symbol: nil }

The reader of printed values runs nothing and keeps its own stack. JSON's true, false and null are read too, as people
mix both. A text that ends inside a value gives what stood before its end, and says so; of strings only a field keeps
its half. Prompts of a shell and an assignment before a value are looked past.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from parsers.intake.evidence import Payload
from parsers.intake.plain_text import string_value

DEPTH = 60  # of brackets; deeper is nothing that anybody printed

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
# Strings and the signs that JSON is built with; an open string runs to the end.
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[\[\]{},]', re.DOTALL)

_TOKEN = re.compile(
    r"""\s*+(?:
      (?P<string>\"""[\s\S]{0,100000}?\"""(?!")
        |[bBuU]?(?:'(?:[^'\\\n]++|\\[\s\S])*+'|"(?:[^"\\\n]++|\\[\s\S])*+")
        |`(?:[^`\\]++|\\[\s\S])*+`)
    | (?P<date>\d{4}-\d\d-\d\dT[\d:.]{5,15}Z)
    | (?P<left>\[(?:(?:(?:Object|Array|Circular|Function|AsyncFunction|Getter|Setter|class)\b(?!\()|Symbol\()[^\[\]\n]*+
        |_?[A-Z]\w{0,60}Error(?::\ \[\n[\s\S]{0,4000}?\n\s*\](?=\])|:[^\n]*?(?=\][,\n]))?+)\])
    | (?P<error>_?[A-Z]\w{0,60}Error(?:\ \[\w{1,60}\])?+:(?=\ )[\s\S]{0,4000}?
        (?:\n\s+at\ [^\n]*?(?=\s*\{?\n|,?\n|\Z))++)
    | (?P<number>[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?+(?![\w.]))
    | (?P<symbol>:[A-Za-z_]\w*+(?==>))
    | (?P<name>Symbol\([^()\n]{1,200}\)(?=:)|[A-Za-z_][\w.]*+)
    | (?P<angle><[^<>\n]*+>)
    | (?P<more>\.\.\.\ \d++\ more\ \w++)
    | (?P<dots>\.\.\.)
    | (?P<open>[\[({])
    | (?P<close>[\])}])
    | (?P<join>\+(?=\s*['"`]))
    | (?P<mark>=>|[,:=])
    )""",
    re.VERBOSE,
)
_BLANK = re.compile(r"\s*+")
_OPENED = re.compile(r"\s*+[bBuU]?(?P<quote>['\"])(?:[^\\\n]|\\[^\n])*+\\?\s*+\Z")
_OPEN_STRING = re.compile(r"[bBuU]?['\"](?:[^\\\n]|\\[^\n])*+")
_CONSTANTS: dict[str, Any] = {
    "True": True, "False": False, "None": None, "true": True, "false": False, "null": None,
    "nan": float("nan"), "inf": float("inf"), "NaN": float("nan"), "undefined": None,
    "nil": None,
}  # fmt: skip
_KEEPS = (":", "=>")  # between a key and its value
_PAIRS = {"[": "]", "(": ")", "{": "}"}
_LEFT = re.compile(r"<(?:\.\.\.|dict len=\d)")  # google-genai's `<... Max depth ...>` and `<dict len=6>`
_DIGITS = 18  # no token id, index or time has more

# Before a printed value: shell and Python prompts on their own lines, `In [1]:`, and `name =` or `name:`.
_BEFORE = re.compile(
    r"\s*+(?:(?:>>>|\$|irb[^>\n]{0,40}+>) [^\n]*+\n\s*+)*+(?:=> )?+(?:(?:In|Out) ?\[\d{1,6}\]: ?)?+"
    r"(?:[A-Za-z_][\w.]*+(?:: ?list(?:\[\w+\])?)? ?[=:] ?+)?+"
)
_AFTER = re.compile(r"\s*+;?\s*+(?:(?:>>>|\$)(?: [^\n]*+)?+(?:\n\s*+|\Z))*+")


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
    """The value read and the offset after it.

    `whole`: the text did not end inside it. `lossy`: bytes in it were no UTF-8, so that characters were lost.
    """

    value: Any
    end: int
    whole: bool = True
    lossy: bool = False


class _BadLiteralError(Exception):
    """There is no printed value here."""


# What stands in a tree where the program that printed it left a value out.
LEFT_OUT = Named("[left out]")
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
        """Take the next value: it follows a comma, dots, or a string that it goes on with."""
        if self.value is _NOTHING:
            self.value = value
        elif self.short:
            self.value, self.short = Shortened(self.value, value), False
        elif isinstance(self.value, str) and isinstance(value, str):
            self.value += value
        else:
            raise _BadLiteralError

    def mark(self, mark: str) -> None:
        """End an item at a comma; make the value before a colon or an equals sign a key."""
        if mark == ",":
            self.flush()
        elif self.value is _NOTHING or self.key is not _NOTHING:
            raise _BadLiteralError
        elif mark == "=" and self.name is not None and isinstance(self.value, Named):
            self.key, self.value = self.value.name, _NOTHING
        elif mark in _KEEPS and self.close == "}" and isinstance(self.value, str | int | float | None):
            self.key, self.value = self.value, _NOTHING
        elif mark == ":" and self.close == "}" and isinstance(self.value, Named) and not self.value.called:
            self.key, self.value = self.value.name, _NOTHING
        else:
            raise _BadLiteralError

    def flush(self) -> None:
        """Keep the value that waits."""
        if self.value is _NOTHING or self.short:
            raise _BadLiteralError
        if self.key is _NOTHING:
            self.items.append(self.value)
        else:
            self.fields[self.key] = self.value
        self.value = self.key = _NOTHING

    def built(self) -> Any:
        """Return the closed bracket's value."""
        if self.name is not None:
            return Named(self.name, self.items, self.fields, called=True)
        if self.close == "}":
            return LEFT_OUT if self.items == [LEFT_OUT] else self.fields or self.items or {}
        return self.items[0] if self.close == ")" and len(self.items) == 1 else self.items


def object_of(value: Any) -> Payload:
    """Return the value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[Payload] | None:
    """Return the value when it is a list of objects, else None."""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return None


def choices_of(payload: Payload) -> list[Payload] | None:
    """Return the payload's `choices` when they are a list of objects, else None."""
    return objects_of(payload.get("choices"))


def ids_of(value: Any) -> tuple[int, ...] | None:
    """Return a tuple of token ids when the value is a list of non-negative integers, else None."""
    if isinstance(value, list) and all(type(item) is int and item >= 0 for item in value):
        return tuple(value)
    return None


def word_of(value: Any) -> str | None:
    """Return the value when it is a string, else None."""
    return value if isinstance(value, str) else None


def word_or_number_of(value: Any) -> str | int | None:
    """Return the value when it is a string or an integer, as a stop reason is, else None."""
    return value if isinstance(value, str) or type(value) is int else None


def skip_space(text: str, at: int) -> int:
    """Return the offset of the first character at or after `at` that is not JSON white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def value_at(text: str, at: int) -> tuple[Any, int] | None:
    """Return the JSON value at `at` and the offset after it, or None. Lone surrogate escapes are let through."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def whole_value(text: str) -> Any:
    """Return the JSON object or array that is all of `text`, or None."""
    start = skip_space(text, 0)
    found = value_at(text, start) if text.startswith(("{", "["), start) else None
    return found[0] if found is not None and skip_space(text, found[1]) == len(text) else None


def whole_object(text: str) -> Payload | None:
    """Return the JSON object that is all of `text`, or None."""
    value = whole_value(text)
    return value if isinstance(value, dict) else None


def unfinished_value(text: str) -> Any:
    """Return the JSON value that a text begins, as far as its members are whole; None without any."""
    stack: list[str] = []
    safe = 0
    for found in _JSON_TOKEN.finditer(text):
        token = found[0]
        if token in ("{", "["):
            stack.append("}" if token == "{" else "]")
        elif token in ("}", "]") and stack and stack[-1] == token:
            stack.pop()
        elif token != ",":
            continue
        safe = found.start() if token == "," else found.end()
    value = value_at(text[:safe] + "".join(reversed(stack)), skip_space(text, 0)) if stack else None
    return value[0] if value else None


def literal_at(text: str, at: int = 0) -> Literal | None:
    """Return the printed value at the offset, or None where there is none."""
    stack, end = [_Frame("")], at
    try:
        while found := _TOKEN.match(text, end):
            end = found.end()
            _step(stack, found, text)
            if len(stack) == 1:
                return Literal(stack[0].value, end)
        return _unfinished_literal(stack, text, end)
    except _BadLiteralError:
        return None


def is_left_out(value: Any) -> bool:
    """Return True for the `...` of a printed list with items left out."""
    return value is _SKIPPED


def string_at(text: str, at: int) -> Literal | None:
    """Return the string that Python quotes at the offset, whole or up to the end of its line."""
    found = _TOKEN.match(text, at)
    if found and found["string"]:
        value, lossy = string_value(found["string"])
        return Literal(value, found.end(), lossy=lossy)
    opened = _OPEN_STRING.match(text, at)
    if opened is None:
        return None
    head = opened[0]
    value, lossy = string_value(head + head.lstrip("bBuU")[0])
    return Literal(value, opened.end(), whole=False, lossy=lossy)


def quoted_at(text: str, at: int) -> Literal | None:
    """Return the quoted string at the offset, as JSON spells it or as Python does."""
    found = string_at(text, at)
    if found is not None and found.whole and text[at] == '"':
        exact = value_at(text, at)
        if exact is not None and exact[1] == found.end:
            return Literal(exact[0], exact[1])
    return found


def start_of(body: str) -> int:
    """Return the offset of a printed value, after prompts and an assignment."""
    found = _BEFORE.match(body)
    return found.end() if found else 0


def ends_at(body: str, at: int) -> bool:
    """Return True where nothing but prompts follows."""
    found = _AFTER.match(body, at)
    return found is not None and found.end() == len(body)


def values_in(body: str) -> list[Literal]:
    """Return the values that are all of the body: one of JSON, or printed ones; [] where there is anything else."""
    values: list[Literal] = []
    at = start_of(body)
    exact = value_at(body, at)
    if exact is not None and ends_at(body, exact[1]):
        return [Literal(*exact)]
    while at < len(body):
        found = literal_at(body, at)
        if found is None:
            return []
        values.append(found)
        after = _AFTER.match(body, found.end)
        at = after.end() if after else found.end
        again = _BEFORE.match(body, at)
        at = again.end() if again and again.end() < len(body) else at
    return values


def json_values_in(body: str) -> list[Literal]:
    """Return the JSON values that are all of the body after an assignment; [] where there is anything else."""
    at = skip_space(body, start_of(body))
    values: list[Literal] = []
    while at < len(body) and (exact := value_at(body, at)) is not None:
        values.append(Literal(*exact))
        at = skip_space(body, exact[1])
    return values if at == len(body) else []


def _step(stack: list[_Frame], found: re.Match[str], text: str) -> None:
    kind, top = found.lastgroup, stack[-1]
    word = found[kind or 0]
    if kind == "open" and top.name is not None and not top.close:
        top.close = ")"
    elif kind == "open":
        if word == "{" and _names_object(top.value):
            top.value = _NOTHING  # Node writes the class before the braces
        _push(stack, _Frame(_PAIRS[word]))
    elif kind == "close":
        if word != top.close or top.short or (top.key is not _NOTHING and top.value is _NOTHING):
            raise _BadLiteralError
        _fold(stack)
    elif kind == "mark":
        top.mark(word)
    elif kind == "dots" and top.value is _NOTHING:
        top.value = _SKIPPED  # items were left out
    elif kind in ("left", "error", "more"):
        top.put(LEFT_OUT)
    elif kind == "join":
        pass
    elif kind == "dots":
        top.short = True
    elif kind == "name" and text.startswith("(", found.end()):
        _push(stack, _Frame("", name=word))  # its bracket is the next token
    else:
        top.put(_scalar(kind, word, inside=any(frame.name is not None for frame in stack)))


def _names_object(value: Any) -> bool:
    return isinstance(value, Named) and not value.called


def _push(stack: list[_Frame], frame: _Frame) -> None:
    if len(stack) > DEPTH:
        raise _BadLiteralError
    stack.append(frame)


def _fold(stack: list[_Frame]) -> None:
    """Give what the innermost bracket holds to the one around it."""
    top = stack.pop()
    if top.value is not _NOTHING and not top.short:
        top.flush()
    stack[-1].put(top.built())


def _scalar(kind: str | None, word: str, *, inside: bool) -> Any:
    """Return a value that is no bracket; `inside` a printed object, three quotes have no escapes between them."""
    if kind == "string":
        return string_value(word, bare=inside)[0]
    if kind == "date":
        return word
    if kind == "symbol":
        return word[1:]
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
    """Return the value of `<Reason.stop: 'stop'>` after its colon; of any other object its name."""
    if _LEFT.match(word):
        return LEFT_OUT
    name, colon, value = word[1:-1].partition(": ")
    found = _TOKEN.fullmatch(value) if colon else None
    return string_value(found["string"])[0] if found and found["string"] else Named(name)


def _unfinished_literal(stack: list[_Frame], text: str, end: int) -> Literal | None:
    """Return what stood in brackets that were open at the text's end; None where no printed value goes on."""
    rest = _BLANK.match(text, end)
    at_end = rest is not None and rest.end() == len(text)
    if len(stack) == 1 or not (at_end or _OPENED.match(text, end)):
        return None
    top = stack[-1]
    if text[end : end + 1] in ("", "'", '"') and isinstance(top.value, int | float | Named):
        top.value = _NOTHING  # half a number, half a name, or the letter before a quote
    half = None if at_end or top.key is _NOTHING else string_at(text, rest.end() if rest else end)
    if half is not None and top.value is _NOTHING:
        top.put(half.value)
    while len(stack) > 1:
        _fold(stack)
    value = stack[0].value
    return None if value is _NOTHING else Literal(value, len(text), whole=False)
