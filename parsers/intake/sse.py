"""Server-sent events: which texts are an SSE log, and its payloads.

Servers put one JSON object on each `data:` line, so lines are read one by one and blank lines, often lost in
a paste, mean nothing. A text is a log when at least one payload has the shape of a streaming API (or is the
`[DONE]` sentinel) and at most one line in ten is neither a field nor a comment. Indented lines count, as in a
quoted block. Field syntax: HTML Living Standard, 9.2.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.intake.jsonread import whole_object
from parsers.intake.model import Frame

_FIELDS = ("event:", "id:", "retry:", ":")
DONE = "[DONE]"


@dataclass(slots=True)
class Events:
    """What the lines hold: payloads, how many lines are fields or not, and whether data follows `[DONE]`."""

    frames: list[Frame] = field(default_factory=list)
    fields: int = 0
    others: int = 0
    done: bool = False
    resumed: bool = False

    @property
    def mostly_fields(self) -> bool:
        """Whether nearly every non-empty line belongs to an event stream."""
        return self.fields > 0 and self.others * 10 <= self.fields


def read_events(text: str) -> Events | None:
    """The lines of `text` read as an event stream, or None where there is no data line at all."""
    if "data:" not in text:
        return None
    events = Events()
    for number, line in enumerate(text.split("\n"), 1):
        _read_line(events, number, line.strip())
    return events


def _read_line(events: Events, number: int, line: str) -> None:
    if line.startswith("data:"):
        events.fields += 1
        _read_data(events, number, line[5:].strip())
    elif line.startswith(_FIELDS):
        events.fields += 1
    elif line:
        events.others += 1


def _read_data(events: Events, number: int, data: str) -> None:
    if data == DONE:
        events.done = True
        return
    if not data:
        return
    events.resumed = events.resumed or events.done
    events.frames.append(Frame(number, whole_object(data)))
