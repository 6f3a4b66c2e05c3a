"""JSON as case files use it: read strictly, checked, and written so that a change shows as a changed line.

Strategy: reading refuses what two readers could understand differently (a key given twice, NaN, Infinity). Checking
walks decoded data without recursion and refuses what no UTF-8 JSON file can hold. Writing puts one item on a line,
except lists of numbers and the places the caller names, which stay on one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MAX_DEPTH = 100
MAX_INTEGER = 2**53 - 1
_INVISIBLE = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_SCALARS = frozenset({int, bool, type(None)})
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*")

Path = tuple[str | int, ...]
Inline = Callable[[Path], bool]
Atom = Callable[[Any], str]


class JsonError(ValueError):
    """Something JSON text or data may not hold, and the path to it."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join([f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path])


def read(text: str, line: int = 1) -> Any:
    """Decode JSON text. Raises JsonError with line and column, for a key given twice, and for NaN or Infinity.

    `line` is the number that its first line has where it stands in a file.
    """
    value, end = read_at(text, skip(text, 0), line)
    if end < len(text):
        raise JsonError(f"not JSON: Extra data at {place(text, end, line)}")
    return value


def read_at(text: str, start: int, line: int = 1) -> tuple[Any, int]:
    """Decode the JSON value at `start`; also where the text goes on behind it and white space. Raises as `read`."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg.removesuffix(' at')} at {place(text, error.pos, line)}") from error
    except RecursionError as error:
        raise JsonError(f"nested deeper than {MAX_DEPTH} levels") from error
    except JsonError:
        raise
    except ValueError as error:  # an integer of more digits than Python converts
        raise JsonError("a number has too many digits") from error
    return value, skip(text, end)


def skip(text: str, at: int, sign: str = "") -> int:
    """The offset after `sign`, which must stand at `at`, and white space. Raises JsonError where it does not."""
    if not text.startswith(sign, at):
        raise JsonError(f"not JSON: Expecting {sign!r} at {place(text, at)}")
    found = _SPACE.match(text, at + len(sign))
    return found.end() if found else at


def place(text: str, at: int, line: int = 1) -> str:
    """The place of an offset in words: line and column, from 1; `line` is the number of the first line."""
    return f"line {text.count(chr(10), 0, at) + line}, column {at - text.rfind(chr(10), 0, at)}"


def check(value: Any) -> None:
    """Raise JsonError where `value` is not plain JSON: lone surrogates, NaN, foreign types, too deep."""
    if not _is_plain(value):
        _check_each(value)


def _is_plain(value: Any) -> bool:
    """Return whether all that is in a value is surely plain JSON. Without places, which take most of the time."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                if _SURROGATE.search(item):
                    return False
            elif kind is list or kind is tuple:
                below += item
            elif kind is dict:
                below += item
                below += item.values()
                if set(map(type, item)) - {str}:
                    return False
            elif kind not in _SCALARS and not (kind is float and math.isfinite(item)):
                return False
        level = [*{id(item): item for item in below}.values()]
    return not level


def _check_each(value: Any) -> None:
    for path, item in walk(value, once=True):
        if isinstance(item, str):
            _check_text(item, path)
        elif isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise JsonError(f"key {key!r} is not a string", path)
                _check_text(key, path)
        elif isinstance(item, float) and not math.isfinite(item):
            raise JsonError("NaN and Infinity are not JSON", path)
        elif item is not None and not isinstance(item, bool | int | float | list | tuple):
            raise JsonError(f"{type(item).__name__} is not a JSON value", path)


def check_portable_numbers(value: Any) -> None:
    """Raise JsonError at an integer that not every JSON reader keeps (beyond 2**53 - 1)."""
    for path, item in walk(value, once=True):
        if not is_portable(item):
            raise JsonError("an integer beyond 2**53 - 1 is not kept by every JSON reader", path)


def is_portable(item: Any) -> bool:
    """Return whether it is no integer that some JSON readers change."""
    return not isinstance(item, int) or abs(item) <= MAX_INTEGER


def walk(value: Any, *, once: bool = False) -> Iterator[tuple[Path, Any]]:
    """Every value inside `value` with its path, in document order. Raises JsonError beyond MAX_DEPTH levels.

    `once`: what stands in a list several times as one object comes once.
    """
    todo: list[tuple[Path, Any]] = [((), value)]
    while todo:
        path, item = todo.pop()
        if len(path) > MAX_DEPTH:
            raise JsonError(f"nested deeper than {MAX_DEPTH} levels below this place", path[:4])
        yield path, item
        if isinstance(item, dict):
            todo.extend([((*path, key), inner) for key, inner in reversed(item.items())])
        elif isinstance(item, list | tuple):
            places = _first_places(item) if once else range(len(item))
            todo.extend([((*path, index), item[index]) for index in reversed(places)])


def _first_places(items: Sequence[Any]) -> list[int]:
    """Where each object of a list stands first."""
    found = dict(zip(map(id, reversed(items)), range(len(items) - 1, -1, -1), strict=True))
    return sorted(found.values())


def same(a: Any, b: Any) -> bool:
    """Return whether two decoded JSON values are equal: 1 equals 1.0, true does not equal 1, key order does not
    matter."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(item, b[key]) for key, item in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def atom(value: Any) -> str:
    """A scalar as JSON: UTF-8, with characters that cannot be seen or that reorder text escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def line(value: Any, atom: Atom = atom) -> str:
    """The value on one line, in reading spelling (a blank after `,` and `:`)."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{atom(key)}: {line(item, atom)}" for key, item in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join([line(item, atom) for item in value]) + "]"
    return atom(value)


def compact(value: Any) -> str:
    """The value on one line without blanks."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def utf8(text: str) -> bytes:
    """A text in UTF-8. Half a surrogate pair, which that lacks, is spelled as JSON escapes it."""
    return text.encode("utf-8", "backslashreplace")


def plain(value: Any, indent: int | None = None) -> str:
    """The value as programs read it, in UTF-8: half a surrogate pair, which that lacks, is escaped."""
    return halves_spelled(json.dumps(value, ensure_ascii=False, indent=indent))


def halves_spelled(text: str) -> str:
    """A text that UTF-8 can hold: half a surrogate pair is spelled as JSON escapes it."""
    return utf8(text).decode("utf-8")


def pretty(value: Any, inline: Inline, atom: Atom = atom) -> str:
    """The value over several lines, indented by two; on one line where `inline(path)` says so.

    `atom` spells scalars: JSON by default; `repr` makes a Python literal of the same layout.
    """
    return _pretty(value, (), inline, atom)


def _pretty(value: Any, path: Path, inline: Inline, atom: Atom) -> str:
    if not isinstance(value, dict | list | tuple) or not value or inline(path) or _numbers(value):
        return line(value, atom)
    inner, outer = "  " * (len(path) + 1), "  " * len(path)
    if isinstance(value, dict):
        items = [f"{atom(key)}: {_pretty(item, (*path, key), inline, atom)}" for key, item in value.items()]
        opener, closer = "{}"
    else:
        items = _pretty_items(value, path, inline, atom)
        opener, closer = "[]"
    body = f",\n{inner}".join(items)
    return f"{opener}\n{inner}{body}\n{outer}{closer}"


def _pretty_items(items: Sequence[Any], path: Path, inline: Inline, atom: Atom) -> list[str]:
    """The items of a list. Where one is written does not change how, so one object is written once."""
    made = {id(items[at]): _pretty(items[at], (*path, at), inline, atom) for at in _first_places(items)}
    return [made[id(item)] for item in items]


def _numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, int | float) for item in value)


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members. Raises JsonError for a key that is given twice: readers keep one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"key {atom(twice)} is given twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise JsonError(f"not JSON: {name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=each_key_once, parse_constant=_refuse_constant)


def _check_text(text: str, path: Path) -> None:
    found = _SURROGATE.search(text)
    if found:
        raise JsonError(f"lone surrogate U+{ord(found[0]):04X}: text must be valid Unicode", path)
