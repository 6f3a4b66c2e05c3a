"""The patterns of a template, watched: how far they looked, and for how long.

A template is made by whoever pastes it, and its regular expressions run in this process. Each search has a deadline,
a parser has a budget for all its searches, and a template that exceeded it once is not searched with again. What is
expensive before a search begins (long patterns, repeats of repeats) is refused by `shape`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

SEARCH_SECONDS = 1.0
SLOW_SECONDS = 0.001
BUDGET_SECONDS = 2.0
REPLACEMENTS = 500_000_000


class TooSlowError(ValueError):
    """A pattern took longer than it may."""

    def __init__(self) -> None:
        super().__init__(f"the patterns of this template need more than {BUDGET_SECONDS:g} seconds")


@dataclass(slots=True)
class Fuse:
    """Shared by all parsers of one template: once one was too slow, the others do not try."""

    blown: bool = False


@dataclass(slots=True)
class Budget:
    """Holds what one parser may still spend on searches that are slow; `examined` counts the characters looked at."""

    fuse: Fuse = field(default_factory=Fuse)
    left: float = BUDGET_SECONDS
    examined: int = 0

    def timeout(self) -> float:
        """Return how long the next search may take. Raises TooSlowError where nothing is left."""
        if self.fuse.blown or self.left <= 0:
            self.fuse.blown = True
            raise TooSlowError
        return min(SEARCH_SECONDS, self.left)

    def spend(self, seconds: float) -> None:
        """A search took this long. Only what is slow counts."""
        if seconds > SLOW_SECONDS:
            self.left -= seconds


class Watched:
    """A compiled pattern of the `regex` module, or what ResponseParser uses of one.

    The time that counts is the thread's own: a busy machine makes no pattern slow.
    """

    def __init__(self, pattern: Any, budget: Budget) -> None:
        self.pattern = pattern
        self._budget = budget

    def search(self, text: str, at: int = 0, **options: Any) -> Any:
        """The first match from `at`."""
        budget, began = self._budget, time.thread_time()
        try:
            found = self.pattern.search(text, at, timeout=budget.timeout(), **options)
        except TimeoutError as error:
            budget.fuse.blown = True
            raise TooSlowError from error
        budget.spend(time.thread_time() - began)
        budget.examined += (len(text) if found is None else found.end()) - at
        return found

    def finditer(self, text: str) -> Iterator[Any]:
        """Every match."""
        at = 0
        while at <= len(text) and (found := self.search(text, at)) is not None:
            yield found
            at = found.end() + (found.end() == found.start())


def rehearse(text: str, name: str, args: Mapping[str, Any], budget: Budget, engine: Any) -> None:
    """Find out whether a region's own patterns can be run over its text in time. Raises TooSlowError.

    The content parsers compile and run their patterns themselves, without a deadline; so they are tried here first.
    `engine` is the `regex` module.
    """
    if name == "xml-inline" and isinstance(args.get("tag_pattern"), str):
        found = Watched(engine.compile(args["tag_pattern"], engine.DOTALL), budget).finditer(text)
        _each([match.groupdict().get("value") or "" for match in found], args, budget, engine)
    elif name == "kv-lines":
        lines = text.split(args.get("line_sep") or "\n")
        _each([line.partition(args.get("kv_sep") or ":")[2] for line in lines], args, budget, engine)
    elif name == "json":
        captured = 0
        for opening, closing in args.get("string_delims", ()):
            pattern = engine.compile(f"{re.escape(opening)}.*?{re.escape(closing)}", engine.DOTALL)
            captured += sum(1 for _ in Watched(pattern, budget).finditer(text))
        if captured * len(text) > REPLACEMENTS:
            raise TooSlowError


def _each(values: list[str], args: Mapping[str, Any], budget: Budget, engine: Any) -> None:
    inner = args.get("value_parser")
    if isinstance(inner, dict):
        for value in values:
            rehearse(value, inner.get("name", "text"), inner.get("args") or {}, budget, engine)
