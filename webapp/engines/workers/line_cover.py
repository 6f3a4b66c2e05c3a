"""Which lines of a parser's own files ran, of all that could: what of its code some outputs never tried.

The files are those in which the classes of its objects stand. A line is one that the interpreter would stop at, inside
a function: what runs when a module is imported is no part of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dis import findlinestarts
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

MOST_FUNCTIONS = 1_000
MOST_LINES = 20_000
_PASSED_OVER = {"pydantic", "pydantic_core", "typing_extensions", "builtins"}
_INNER = "<"  # with which names of lambdas and comprehensions begin: they are part of what is around them

_Function = tuple[str, int, frozenset[int]]  # name, first line, lines


class LineCover:
    """Inside `with`: the lines that run in the files of some objects' classes."""

    def __init__(self, objects: Iterable[Any]) -> None:
        modules = {base.__module__ for one in objects for base in type(one).__mro__}
        self._files = {file: name for name in sorted(modules) if (file := _file_of(name))}
        self._ran: dict[str, set[int]] = {file: set() for file in self._files}
        self._before: Any = None

    def __enter__(self) -> LineCover:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_raised: object) -> None:
        sys.settrace(self._before)

    def told(self) -> list[dict[str, Any]]:
        """The functions of the files with their lines, as the protocol has them."""
        found: list[dict[str, Any]] = []
        left = MOST_LINES
        for file, module in self._files.items():
            for name, first, lines in _functions(file):
                left -= len(lines)
                if left < 0 or len(found) >= MOST_FUNCTIONS:
                    return found
                ran = sorted(lines & self._ran[file])
                found.append({"name": name, "module": module, "first": first, "lines": sorted(lines), "ran": ran})
        return found

    def _called(self, frame: FrameType, _event: str, _value: Any) -> Any:
        return self._happened if frame.f_code.co_filename in self._ran else None

    def _happened(self, frame: FrameType, event: str, _value: Any) -> Any:
        if event == "line":
            self._ran[frame.f_code.co_filename].add(frame.f_lineno)
        return self._happened


def _file_of(module: str) -> str:
    """The file of a module; empty for what came with the interpreter or makes classes for others."""
    top = module.partition(".")[0]
    if top in _PASSED_OVER or top in getattr(sys, "stdlib_module_names", ()):
        return ""
    return getattr(sys.modules.get(module), "__file__", None) or ""


@lru_cache(maxsize=256)
def _functions(file: str) -> tuple[_Function, ...]:
    """The functions of a file in order; none where its source cannot be read."""
    try:
        with open(file, "rb") as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return ()
    return tuple(sorted(_within(code, ""), key=lambda one: one[1]))


def _within(code: CodeType, prefix: str) -> Iterator[_Function]:
    for inner in code.co_consts:
        if not isinstance(inner, CodeType):
            continue
        if inner.co_name.startswith(_INNER):
            continue
        name = prefix + inner.co_name
        if inner.co_flags & _OPTIMIZED:
            lines = frozenset(_lines(inner))
            if lines:
                yield name, inner.co_firstlineno, lines
        yield from _within(inner, name + ".")


_OPTIMIZED = 1  # the flag of code that is a function's, and no class body's


def _lines(code: CodeType) -> Iterator[int]:
    """The lines of a function, with those of what has no name in it. That of its `def` is none of its body."""
    own = {line for _, line in findlinestarts(code) if line}
    yield from (own - {code.co_firstlineno}) or own
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_name.startswith(_INNER):
            yield from _lines(inner)
