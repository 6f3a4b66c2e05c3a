"""The patterns of a template, watched: how far they looked, and whether they come to an end.

A template is made by whoever pastes it, and its regular expressions run in this process. A replay has a budget for all
its searches, counted in characters looked at, so that it is the same on every machine. What no count of characters
shows, a pattern that goes back and forth over the same ones, is stopped by a guard: the time that a search takes, in
units of what a known search takes here at the same moment. A replay over either is refused as a whole: what was read
until then would depend on the chunking. What is expensive before a search begins (long patterns, repeats of repeats)
is refused by `shape`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from parsers.vocabulary.types import UsageError

MOST_EXAMINED = 1_000_000_000  # characters, by all searches of a replay
SEARCH_YARDS, REPLAY_YARDS = 100_000, 250_000  # some seconds
SLOW_SECONDS = 0.001
REPLACEMENTS = 500_000_000
_YARD, _CLOTH = re.compile(r"(?:[ab]|[bc])*d"), "abc" * 60


class OverBudgetError(UsageError):
    """The patterns of a template cost more than a replay may."""


class RegionTooLargeError(ValueError):
    """A region has too many strings between delimiters of the template."""

    def __init__(self) -> None:
        super().__init__(f"its length times its strings between delimiters is more than {REPLACEMENTS:,}")


def _yard() -> float:
    """Seconds that a known search takes this thread: a slow machine has a long yard."""
    times = []
    for _ in range(3):
        began = time.thread_time()
        _YARD.search(_CLOTH)
        times.append(time.thread_time() - began)
    return max(min(times), 1e-6)


@dataclass(slots=True)
class Budget:
    """Holds what one replay may still spend on searches; `examined` counts the characters looked at."""

    yard: float = field(default_factory=_yard)
    yards: float = REPLAY_YARDS
    examined: int = 0

    def timeout(self) -> float:
        """Return how many seconds the next search may take. Raises OverBudgetError where nothing is left."""
        if self.examined > MOST_EXAMINED:
            words = f"the patterns of this template look at more than {MOST_EXAMINED:,} characters for this output"
            raise OverBudgetError(f"{words}: shorten the output, or give delimiters that are texts")
        if self.yards <= 0:
            raise self.endless()
        return min(SEARCH_YARDS, self.yards) * self.yard

    def spend(self, seconds: float) -> None:
        """A search took this long. Only what is slow counts."""
        if seconds > SLOW_SECONDS:
            self.yards -= seconds / self.yard

    def endless(self) -> OverBudgetError:
        """Return what is raised for a search that does not come to an end."""
        words = "a pattern of this template goes back and forth over this output without an end"
        return OverBudgetError(f"{words}: write a repeat inside a repeat as one repeat")


class Watched:
    """A compiled pattern of the `regex` module, or what ResponseParser uses of one."""

    def __init__(self, pattern: Any, budget: Budget) -> None:
        self.pattern = pattern
        self._budget = budget

    def search(self, text: str, at: int = 0, **options: Any) -> Any:
        """The first match from `at`. Raises OverBudgetError."""
        budget, timeout, began = self._budget, self._budget.timeout(), time.thread_time()
        try:
            found = self.pattern.search(text, at, timeout=timeout, **options)
        except TimeoutError as error:
            raise budget.endless() from error
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
    """Find out whether a region's own patterns can be run over its text. Raises OverBudgetError, RegionTooLargeError.

    The content parsers compile and run their patterns themselves, without a guard; so they are tried here first.
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
            raise RegionTooLargeError


def _each(values: list[str], args: Mapping[str, Any], budget: Budget, engine: Any) -> None:
    inner = args.get("value_parser")
    if isinstance(inner, dict):
        for value in values:
            rehearse(value, inner.get("name", "text"), inner.get("args") or {}, budget, engine)
