"""Finds the top-level members of an object in a call's argument text, finished or cut off, with their places.

Not a validator: it only has to say where each key and value stands, so that the page can show them one by one and
point at the output they came from. String-aware, one pass, never raises.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_NEXT = re.compile(r'["{}\[\],:]')
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*("|$)', re.DOTALL)


@dataclass(slots=True)
class Member:
    """A key and the place [start, end) of its value in the argument text."""

    key: str
    start: int
    end: int


def members(text: str) -> list[Member]:
    """The members of the outermost object of `text`; nothing when it is not an object."""
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + 1] != "{":
        return []
    found: list[Member] = []
    key, value, depth, at = "", -1, 0, begin
    last_string = ""
    while match := _NEXT.search(text, at):
        char, at = match[0], match.end()
        if char == '"':
            closed = _STRING_END.match(text, at)
            at = closed.end() if closed else len(text)
            last_string = text[match.start() : at]
        elif char in "{[":
            depth += 1
        elif char == ":" and depth == 1 and value < 0:
            key, value = _spelled(last_string), at
        elif (char == "," and depth == 1) or char in "}]":
            depth -= char in "}]"
            if value >= 0 and depth == (1 if char == "," else 0):
                found.append(_member(text, key, value, match.start()))
                value = -1
            if depth == 0:
                return found
    if value >= 0:
        found.append(_member(text, key, value, len(text)))
    return found


def _member(text: str, key: str, start: int, end: int) -> Member:
    part = text[start:end]
    return Member(key, start + len(part) - len(part.lstrip()), start + len(part.rstrip()))


def _spelled(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal
