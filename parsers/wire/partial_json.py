"""The value of JSON that is not whole yet, as a client sees it that parses arguments while they come.

What is complete is there: members, items, numbers, words. A string that has not ended is not, and neither is its key.
The rules are those of jiter 0.19 with `partial_mode`, which anthropic's library parses the input of a tool with.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SCALAR = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
    r"|-?(?:0|[1-9][0-9]*+)(?:(?![.eE0-9])|\.[0-9]++(?![eE])|(?:\.[0-9]++)?[eE][+-]?[0-9]++)"
    r"|true|false|null|NaN|-?Infinity"
)
_STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+(?:\\(?:u[\s\S]{0,3})?)?'
_PARTS = [
    word[:size] for word in ("true", "false", "null", "NaN", "Infinity", "-Infinity") for size in range(1, len(word))
]
_CUT = "|".join(_PARTS)
_BEGUN = rf"(?:{_STRING}|-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:(?<=[0-9])[eE][+-]?)?)?|{_CUT})?"
_REST = re.compile(rf"\s*+{_BEGUN}\Z")
_SPACE = re.compile(r"[ \t\r\n]*+")


def partial_json(text: str) -> Any:
    """The value so far. Raises ValueError where the text cannot become JSON, or holds no value yet.

    Linear in the text; what stands behind a whole value is not looked at.
    """
    at = whole = begin = 0
    awaited, open_, kept = "value", list[str](), list[str]()
    while awaited != "nothing":
        at = _behind(_SPACE, text, at)
        char = text[at : at + 1]
        if awaited in ("first", "after") and char and char == open_[-1]:
            open_.pop()
            at = whole = at + 1
            awaited = "after" if open_ else "nothing"
        elif awaited == "after" and char not in ("", ","):
            kept.append(text[begin:whole] + open_.pop())  # what stands there ends the bracket, and is of the outer one
            begin = whole = at
            awaited = "after" if open_ else "nothing"
        elif awaited == "after":
            awaited, at = _separated(char, open_[-1]), at + 1
        elif awaited == "key" or (awaited == "first" and open_[-1] == "}"):
            awaited, at = _key(text, at)
        elif char and char in "[{":
            open_.append("]" if char == "[" else "}")
            at = whole = at + 1
            awaited = "first"
        else:
            end = _behind(_SCALAR, text, at)
            if end == at:
                _require_begun(text, at)
                break
            at = whole = end
            awaited = "after" if open_ else "nothing"
    try:
        return json.loads("".join([*kept, text[begin:whole], *reversed(open_)]))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _separated(char: str, closer: str) -> str:
    """What is awaited behind a value and a comma, or the end of the text."""
    if not char:
        return "nothing"
    return "item" if closer == "]" else "key"


def _key(text: str, at: int) -> tuple[str, int]:
    """Read a key and its colon: what is awaited behind, and where that stands."""
    end = _behind(_SCALAR, text, at) if text[at : at + 1] == '"' else at
    if end == at:
        if text[at : at + 1] not in ("", '"'):
            raise ValueError("a key must be a string")
        _require_begun(text, at)
        return "nothing", at
    at = _behind(_SPACE, text, end)
    char = text[at : at + 1]
    if char not in ("", ":"):
        raise ValueError(f"{char!r} stands where a colon is expected")
    return ("item" if char else "nothing"), at + 1


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _require_begun(text: str, at: int) -> None:
    """What is left must be the beginning of something."""
    if not _REST.match(text, at):
        raise ValueError("no value stands where one is expected")
