"""Server-sent events: which texts are an SSE log, and its payloads.

Servers put one JSON object on each `data:` line, so lines are read one by one and blank lines, often lost in
a paste, mean nothing. What logs do to such lines is undone: a time stamp before `data:`, a line printed as b'...',
one payload wrapped over several lines, two on one line. Lines that are none of this are counted; at most as many
as there are fields, or it is another text that quotes a log. Field syntax: HTML Living Standard, 9.2.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from parsers.intake.jsonread import skip_space, value_at
from parsers.intake.model import Frame
from parsers.intake.unquote import printed_bytes

_FIELDS = ("id:", "retry:", ":")
DONE = "[DONE]"
_PREFIXED = re.compile(r"^[^{]{1,200}?\bdata: ?(?=\{|\[DONE\])")


@dataclass(slots=True)
class Events:
    """What the lines hold: payloads, where a response ended with `[DONE]`, and what else is in between.

    `ends` are counts of frames; `others` and `prefixed` are line numbers, of no field and of a field after a prefix.
    """

    frames: list[Frame] = field(default_factory=list)
    fields: int = 0
    ends: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    prefixed: list[int] = field(default_factory=list)
    event: str = ""
    broken: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether the end sentinel was seen."""
        return bool(self.ends)

    @property
    def mostly_fields(self) -> bool:
        """Whether at least half of the non-empty lines belong to an event stream."""
        return self.fields > 0 and len(self.others) <= self.fields


def read_events(text: str) -> Events | None:
    """The lines of `text` read as an event stream, or None where there is no data line at all."""
    if "data:" not in text:
        return None
    events = Events()
    for number, line in enumerate(text.split("\n"), 1):
        for part in _unwrapped(line):
            _read_line(events, number, part)
    _mend(events)
    return events


def _unwrapped(line: str) -> Iterator[str]:
    """The lines that a line stands for: one printed as bytes holds several."""
    inner = printed_bytes(line)
    if inner is None:
        yield line
        return
    yield from inner.split("\n")


def _read_line(events: Events, number: int, raw: str) -> None:
    line = raw.strip()
    if line.startswith("data:"):
        _read_data(events, number, raw.strip("\r").lstrip()[5:])
    elif line.startswith("event:"):
        events.fields += 1
        events.event = line[6:].strip()
    elif line.startswith(_FIELDS):
        events.fields += 1
    elif line and (found := _PREFIXED.match(line)):
        events.prefixed.append(number)
        _read_data(events, number, line[found.end() :])
    elif line:
        _read_other(events, number, raw.rstrip("\r"))
    else:
        events.event = ""


def _read_data(events: Events, number: int, data: str) -> None:
    _mend(events)
    events.fields += 1
    at = skip_space(data, 0)
    while at < len(data):
        if data.startswith(DONE, at):
            events.ends.append(len(events.frames))
            at += len(DONE)
        else:
            found = value_at(data, at)
            at = _read_value(events, number, data, at, found)
        rest = skip_space(data, at)
        at = skip_space(data, rest + 5) if data.startswith("data:", rest) else _left_over(events, number, data, rest)


def _read_value(events: Events, number: int, data: str, at: int, found: tuple[object, int] | None) -> int:
    """One payload at `at`; the offset after it."""
    if found is None:
        events.broken = [data[at:]]
        events.frames.append(Frame(number, None, events.event))
        return len(data)
    value, end = found
    events.frames.append(Frame(number, value if isinstance(value, dict) else None, events.event))
    return end


def _left_over(events: Events, number: int, data: str, rest: int) -> int:
    if rest < len(data):
        events.others.append(number)
    return len(data)


def _read_other(events: Events, number: int, line: str) -> None:
    """A line of no field: the rest of a payload that was wrapped, perhaps."""
    events.others.append(number)
    if events.broken:
        events.broken.append(line)


def _mend(events: Events) -> None:
    """Join the parts of a wrapped payload, if that makes it an object."""
    parts, events.broken = events.broken, []
    if len(parts) < 2:
        return
    found = value_at("".join(parts), 0)
    if found is not None and isinstance(found[0], dict):
        events.frames[-1].payload = found[0]
        del events.others[-(len(parts) - 1) :]
