"""JSON that strangers wrote, read as data: bounded before it is parsed, and named by place when it is wrong.

A place is a JSON pointer (RFC 6901), '' for the whole document.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from parsers.vocabulary.types import UsageError

MAX_DEPTH = 40
MAX_BRACKETS = 2_000_000

_STRINGS = re.compile(rb'"[^"]*"')
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))  # what is neither a bracket nor a quote
_RUNS = re.compile(rb"[\[{]+|[\]}]+")

T = TypeVar("T")


class VocabularyError(UsageError):
    """A file that is not taken: what is wrong with it, and where."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message)


def parse_json(data: bytes) -> Any:
    """The value of a JSON text in UTF-8. Raises VocabularyError for anything else, and for one nested too deeply."""
    brackets = _brackets(data)
    count = brackets.count(b"[") + brackets.count(b"{")
    if count > MAX_BRACKETS:
        raise VocabularyError(f"the JSON has {count:,} lists and objects; no tokenizer file has so many")
    if _depth(brackets) > MAX_DEPTH:
        raise VocabularyError(
            f"the JSON is nested deeper than {MAX_DEPTH} levels; no tokenizer file is, so this is not one"
        )
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise VocabularyError(f"the file is not UTF-8 (byte {error.start}); save it as UTF-8 JSON") from None
    except json.JSONDecodeError as error:
        raise VocabularyError(
            f"the file is not whole JSON: {error.msg} (line {error.lineno}, column {error.colno}); fetch it again"
        ) from None
    except ValueError:  # an integer of thousands of digits
        raise VocabularyError("the JSON has a number that is too large; no tokenizer file has one") from None


def _brackets(data: bytes) -> bytes:
    """The brackets of a JSON text without those in its strings; quotes that are nothing but a pair go first."""
    quotes = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
    return _STRINGS.sub(b"", quotes.replace(b'""', b""))


def _depth(brackets: bytes) -> int:
    """Return how deeply brackets are nested. Pairs are taken away level by level; what is left then is looked at."""
    left, level = brackets, 0
    while left and level < MAX_DEPTH:
        left, level = left.replace(b"[]", b"").replace(b"{}", b""), level + 1
    if not left:
        return level
    level = deepest = 0
    for run in _RUNS.finditer(brackets):
        opening = run[0][:1] in b"[{"
        level += len(run[0]) if opening else -len(run[0])
        deepest = max(deepest, level)
    return deepest


def require_member(value: dict[str, Any], key: str, kind: type[T], pointer: str) -> T:
    """A member of an object that must be there and of its type."""
    if key not in value:
        raise VocabularyError(f"{key!r} is missing; give the tokenizer.json as it was published", pointer)
    return require_type(value[key], kind, f"{pointer}/{key}")


def require_type(value: Any, kind: type[T], pointer: str) -> T:
    """`value`, if it is of its type; true and false are no integers here."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise VocabularyError(
            f"expected {_WORDS.get(kind, kind.__name__)}, found {_WORDS.get(type(value), 'null')}", pointer
        )
    return value


def pointer_part(key: str) -> str:
    """A key as a part of a JSON pointer on one line; a long one is cut, to name a place it need not be whole."""
    shown = "".join([char if char.isprintable() else "?" for char in key[:40]])
    return shown.replace("~", "~0").replace("/", "~1")


_WORDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
}
