"""Reading JSON that may be anything: a failure is None, never an exception.

Python's decoder raises ValueError on bad JSON and on integers of more than 4,300 digits, and RecursionError
on deep nesting; each is a reason to take the input for plain text. Lone surrogate escapes are let through
here and refused where text is made of them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from parsers.intake.literals import literal_at
from parsers.intake.model import Frame
from parsers.intake.unquote import printed_bytes

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
# Strings and the signs that JSON is built with; an open string runs to the end.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[\[\]{},]', re.DOTALL)
# What may stand before an object on a line of its own: nothing, or a time stamp and a level.
_PREFIX = re.compile(r"""(?!.{0,200}\bdata:)[^{'"]{0,200}(?=\{)""")


def skip_space(text: str, at: int) -> int:
    """The offset of the first character at or after `at` that is not JSON white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def value_at(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value that starts at `at` and the offset after it, or None."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def whole_object(text: str) -> dict[str, Any] | None:
    """The JSON object that is all of `text`, or None."""
    found = value_at(text, skip_space(text, 0))
    if found is None or not isinstance(found[0], dict) or skip_space(text, found[1]) != len(text):
        return None
    return found[0]


def object_frames(text: str) -> list[Frame] | None:
    """The JSON objects that stand one after the other in `text`, with nothing but white space between.

    A last line that breaks off becomes a frame without payload; anything else in between makes it None.
    """
    frames: list[Frame] = []
    at, line = skip_space(text, 0), 1 + text.count("\n", 0, skip_space(text, 0))
    while at < len(text):
        found = value_at(text, at)
        if found is None and "\n" not in text[at:].rstrip():
            frames.append(Frame(line, None))
            break
        if found is None or not isinstance(found[0], dict):
            return None
        frames.append(Frame(line, found[0]))
        after = skip_space(text, found[1])
        line += text.count("\n", at, after)
        at = after
    return frames


def line_frames(text: str) -> tuple[list[Frame], list[int]] | None:
    """The JSON objects that stand on lines of their own, each after a short prefix at most, and the other lines.

    A line that begins as an object and is none becomes a frame without payload. None: there is no object at all.
    """
    frames: list[Frame] = []
    others: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        inner = printed_bytes(line) or line
        found = _PREFIX.match(inner)
        if found:
            rest = inner[found.end() :].rstrip(" \t\r),")
            frames.append(Frame(number, whole_object(rest) or _printed_dict(rest)))
        elif line.strip():
            others.append(number)
    return (frames, others) if frames else None


def _printed_dict(text: str) -> dict[str, Any] | None:
    """The object that is printed as a Python dict, if it holds nothing but JSON's values."""
    found = literal_at(text) if text.startswith("{'") else None
    if found is None or not found.whole or found.end < len(text):
        return None
    try:
        return whole_object(json.dumps(found.value))
    except (TypeError, ValueError, RecursionError):
        return None


def closed(text: str) -> Any:
    """The JSON value that a text begins and does not finish, as far as its members are whole; None without any."""
    stack: list[str] = []
    safe = 0
    for found in _TOKEN.finditer(text):
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


def whole_characters(payload: dict[str, Any]) -> dict[str, Any]:
    """The object itself, or where strings of it hold half of a UTF-16 pair, a copy with U+FFFD in its place."""
    try:
        text = json.dumps(payload, ensure_ascii=False)
    except RecursionError:
        return {}
    if not has_lone_surrogate(text):
        return payload
    mended: dict[str, Any] = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return mended


def has_lone_surrogate(text: str) -> bool:
    """Whether the text holds half of a UTF-16 pair, which no UTF-8 text can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
