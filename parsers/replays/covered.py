"""Which lines of its source a parser ran at all, as whoever runs it tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class CoveredFunction:
    """A function of the files that a parser's classes stand in: the lines of its body, and those of them that ran.
    `first` is the line on which it begins."""

    name: str
    module: str
    first: int
    lines: tuple[int, ...]
    ran: tuple[int, ...]
