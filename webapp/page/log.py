"""The events pane: a line per event of the window, and a line for every step that only held text back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webapp.page.glyphs import count
from webapp.page.index import TraceIndex
from webapp.page.lines import EventLine, event_line, held_line
from webapp.page.window import Window

MATCHES_SHOWN = 300


@dataclass(slots=True)
class Log:
    """`lines` of the window, or of the whole trace when a filter is set; `more` matches are not shown."""

    lines: list[EventLine]
    note: str
    more: int = 0
    whole: bool = False


def log(index: TraceIndex, window: Window, words: str) -> Log:
    """The events of the window; with a filter, the matching events of the whole trace."""
    total = index.events_before[-1]
    terms = words.lower().split()
    if not terms:
        return Log(list(_lines(index, window.first, window.last)), count(total, "event"))
    found = [line for line in _lines(index, 1, index.total) if all(term in line.terms for term in terms)]
    note = f"{count(len(found), 'match', 'matches')} of {count(total, 'event')}"
    return Log(found[:MATCHES_SHOWN], note, max(0, len(found) - MATCHES_SHOWN), whole=True)


def _lines(index: TraceIndex, first: int, last: int) -> Iterator[EventLine]:
    for step in index.trace.steps[first - 1 : last]:
        for event in step.events:
            yield event_line(index, step, event)
        if step.holds and not step.events:
            yield held_line(index, step)
