"""Whether a text may become the arguments that a case states as a value, as far as it goes.

A value has many texts: spaced, escaped and in another order. A text that has not ended is held to what it says so far,
in one pass: a key is the beginning of one that is still to come, a string the beginning of the one that is stated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from parsers.cases.jsontext import same, skip

_STRING = re.compile(r'"((?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*+)("|(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z)')
_HALF = re.compile("[\ud800-\udbff]\\Z")  # of a pair: no character yet
_SCALAR = re.compile(r"[-+.0-9A-Za-z]*")
_OTHER_SPELLING = frozenset(".eE")


class _EndedError(Exception):
    """The text is over, and all of it fits."""


def may_become(text: str, value: Mapping[str, Any]) -> bool:
    """Return whether JSON text of that value may begin with this. What may not does not become it by more text."""
    try:
        return _value(text, 0, value) == len(text)
    except _EndedError:
        return True
    except ValueError:
        return False


def _value(text: str, at: int, wanted: Any) -> int:
    """The offset behind the value and white space. Raises ValueError where another one stands there."""
    if isinstance(wanted, Mapping):
        return _object(text, at, wanted)
    if isinstance(wanted, list | tuple):
        return _items(text, at, wanted)
    if isinstance(wanted, str):
        return _string(text, at, (wanted,))[1]
    return _scalar(text, at, wanted)


def _object(text: str, at: int, wanted: Mapping[str, Any]) -> int:
    at, left = _sign(text, at, "{"), dict(wanted)
    while left:
        key, at = _string(text, at, left)
        at = _value(text, _sign(text, at, ":"), left.pop(key))
        at = _sign(text, at, ",") if left else at
    return _sign(text, at, "}")


def _items(text: str, at: int, wanted: Sequence[Any]) -> int:
    at = _sign(text, at, "[")
    for number, item in enumerate(wanted):
        at = _value(text, _sign(text, at, ",") if number else at, item)
    return _sign(text, at, "]")


def _string(text: str, at: int, wanted: Collection[str]) -> tuple[str, int]:
    """One of these strings, and the offset behind it."""
    at = _there(text, at)
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError("no string stands there")
    said: str = json.loads(f'"{found[1]}"')
    if found[2] == '"' and said in wanted:
        return said, skip(text, found.end())
    if found[2] != '"' and any(one.startswith(_HALF.sub("", said)) for one in wanted):
        raise _EndedError
    raise ValueError("another string stands there")


def _scalar(text: str, at: int, wanted: Any) -> int:
    """A number or a word, which may go on where the text is over: digits as the number is usually written."""
    at = _there(text, at)
    found = _SCALAR.match(text, at)
    word = found[0] if found is not None else ""
    end = at + len(word)
    if end < len(text):
        if not same(json.loads(word), wanted):
            raise ValueError("another value stands there")
        return skip(text, end)
    is_number = not isinstance(wanted, bool) and wanted is not None
    if json.dumps(wanted).startswith(word) or (is_number and not _OTHER_SPELLING.isdisjoint(word)):
        raise _EndedError
    raise ValueError("another value stands there")


def _sign(text: str, at: int, sign: str) -> int:
    return skip(text, _there(text, at), sign)


def _there(text: str, at: int) -> int:
    """The offset of what stands there behind white space. Raises _EndedError where nothing does."""
    at = skip(text, at)
    if at == len(text):
        raise _EndedError
    return at
