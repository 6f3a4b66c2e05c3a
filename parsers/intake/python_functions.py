"""What Python's own functions and methods do to plain values, where a file of Python is read and not run.

Values are what JSON has besides tuples, sets and bytes; records, and names that stand for something outside of the
file, are of `python_values`. Nothing here has an effect outside of its arguments, or makes more than `TEXT` characters
or `ITEMS` items: what would raises UnresolvedError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

TEXT = 2_000_000
ITEMS = 200_000
BITS = 256  # of a number
TYPES: Mapping[str, type] = {
    one.__name__: one for one in (bool, int, float, str, bytes, list, dict, tuple, set, frozenset)
}
_PLAIN = (*TYPES.values(), type(None))


class UnresolvedError(Exception):
    """A value that the file does not tell. `why`: a few words, for behind a colon; `told`: what is lost by it is named
    already."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why, self.told = why, False


def within(value: Any) -> Any:
    """The value, where it is no larger than what is kept."""
    size = TEXT if isinstance(value, str | bytes) else ITEMS
    if isinstance(value, str | bytes | list | dict | tuple | set) and len(value) > size:
        raise UnresolvedError(f"a value has more than {size:,} parts")
    if type(value) is int and value.bit_length() > BITS:
        raise UnresolvedError("a number is too large")
    return value


def plain(value: Any) -> Any:
    """The value, where it and all in it are plain: nothing else has a text or an order that the file tells.

    A value may stand in many places of another one, so what is gone through is counted.
    """
    stack, left = [value], ITEMS
    while stack:
        one = stack.pop()
        left -= 1
        if not isinstance(one, _PLAIN) or left < 0:
            raise UnresolvedError("a value is too large" if left < 0 else "a value is made by something else")
        if isinstance(one, dict):
            stack += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            stack += one
    return value


def many(value: Any) -> list[Any]:
    """What a loop over a value goes through."""
    if not isinstance(value, str | bytes | list | dict | tuple | set | frozenset):
        raise UnresolvedError("a loop goes over what is not known")
    return list(value)


def _range(*ends: int) -> list[int]:
    found = range(*ends)
    if len(found) > ITEMS:
        raise UnresolvedError("a range is too long")
    return list(found)


def _sorted(values: Any, reverse: bool = False) -> list[Any]:
    return sorted(plain(many(values)), reverse=reverse)


def _zip(*values: Any, strict: bool = False) -> list[Any]:
    return list(zip(*map(many, values), strict=strict))


def _enumerate(values: Any, start: int = 0) -> list[Any]:
    return list(enumerate(many(values), start))


def _isinstance(value: Any, kinds: Any) -> bool:
    told = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(isinstance(kind, type) and kind in TYPES.values() for kind in told) or not isinstance(value, _PLAIN):
        raise UnresolvedError("isinstance asks for a class of another file")
    return isinstance(value, told)


def _dumps(value: Any, *, indent: int | None = None, **how: Any) -> str:
    if how.keys() - {"ensure_ascii", "separators", "sort_keys"} or (indent is not None and not 0 <= indent <= 8):
        raise UnresolvedError("json.dumps is asked for what is not known here")
    return json.dumps(plain(value), indent=indent, **how)


def _dict(*given: Any, **more: Any) -> dict[Any, Any]:
    return dict(*given, **more)


def _of(kind: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one value that is to be plain."""
    return lambda *values, **more: kind(*map(plain, values), **more)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: _of(kind) for name, kind in TYPES.items() if name in ("bool", "int", "float", "str")},
    **{name: lambda *values, kind=TYPES[name]: kind(*map(many, values)) for name in ("list", "tuple", "set")},
    "dict": _dict,
    "len": len,
    "repr": _of(repr),
    "abs": abs,
    "ord": ord,
    "chr": chr,
    "sum": lambda values: sum(plain(many(values))),
    "min": lambda *values: min(plain(many(values[0]) if len(values) == 1 else list(values))),
    "max": lambda *values: max(plain(many(values[0]) if len(values) == 1 else list(values))),
    "any": lambda values: any(many(values)),
    "all": lambda values: all(many(values)),
    "range": _range,
    "sorted": _sorted,
    "reversed": lambda values: many(values)[::-1],
    "zip": _zip,
    "enumerate": _enumerate,
    "isinstance": _isinstance,
    # What other modules of the standard library do with plain values.
    "json.dumps": _dumps,
    "json.loads": json.loads,
    "copy.copy": lambda value: value.copy() if isinstance(value, list | dict | set) else value,
    "copy.deepcopy": lambda value: _deep(plain(value)),
    # A request's tool, as pydantic makes one of its dict: the dict says all of it.
    "ChatCompletionToolsParam.model_validate": lambda value: value,
}

_OF_TEXT = (
    "capitalize", "casefold", "count", "encode", "endswith", "find", "index", "isalnum", "isalpha", "isascii",
    "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip", "partition",
    "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines",
    "startswith", "strip", "swapcase", "title", "upper",
)  # fmt: skip
_METHODS: Mapping[type, tuple[str, ...]] = {
    str: _OF_TEXT,
    bytes: ("decode", "hex", "startswith", "endswith"),
    list: ("append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse"),
    dict: ("clear", "copy", "get", "items", "keys", "pop", "setdefault", "update", "values"),
    tuple: ("count", "index"),
    set: ("add", "copy", "discard", "union", "update"),
}


def called_method(owner: Any, name: str, given: Sequence[Any], more: Mapping[str, Any]) -> Any:
    """What a method of a plain value gives."""
    kind = type(owner)
    if kind is str and name in ("join", "replace"):
        return _joined(owner, name, given, more)
    if name not in _METHODS.get(kind, ()):
        raise UnresolvedError(f"a method .{name}() is not known here")
    found = getattr(owner, name)(*given, **more)
    within(owner)
    return list(found) if isinstance(owner, dict) and name in ("items", "keys", "values") else found


def _joined(text: str, name: str, given: Sequence[Any], more: Mapping[str, Any]) -> str:
    """The methods that can make much of little."""
    if name == "join":
        parts = many(*given)
        if sum(map(len, parts)) + len(text) * len(parts) > TEXT:
            raise UnresolvedError("a text is too long")
        return text.join(parts)
    old, new, *_ = (*given, "", "")
    if text.count(old) * len(new) + len(text) > TEXT:
        raise UnresolvedError("a text is too long")
    return text.replace(*given)


def formatted(pattern: str, make: Callable[[], str]) -> str:
    """A text by a pattern, where that asks for no width that makes much of little."""
    digits = 0
    for char in pattern:
        digits = digits + 1 if char.isdigit() else 0
        if digits > 3:
            raise UnresolvedError("a pattern asks for too much")
    return make()


def _deep(value: Any) -> Any:
    """A copy of plain data."""
    if isinstance(value, dict):
        return {key: _deep(one) for key, one in value.items()}
    return type(value)(map(_deep, value)) if isinstance(value, list | tuple) else value
