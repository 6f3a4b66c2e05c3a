"""A log: frames of one API, and finding one in JSON values or in an event stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.intake.families import UNKNOWN, Family, family_of
from parsers.intake.jsonread import object_frames
from parsers.intake.model import Frame, LogKind, number
from parsers.intake.sse import read_events


@dataclass(slots=True)
class Log:
    """Frames of one family.

    `ended`: the stream's end sentinel was seen, `resumed`: data follows it, `listed`: the frames stood in one array.
    """

    kind: LogKind
    family: Family
    frames: list[Frame]
    ended: bool = False
    resumed: bool = False
    listed: bool = False

    @property
    def streamed(self) -> bool:
        """Whether the frames are the steps of a stream, not one whole answer."""
        return self.kind != "json_response" or self.listed

    @property
    def cut(self) -> bool:
        """Whether the last frame breaks off and nothing follows it."""
        return bool(self.frames) and self.frames[-1].payload is None and not self.ended

    def place(self, frame: Frame) -> str:
        """Where the frame is, for a message."""
        return f"{'item' if self.listed else 'line'} {frame.line:,}"

    @property
    def title(self) -> str:
        """What the log is, in words."""
        name, count = self.family.title, len(self.frames)
        if self.kind == "sse_log":
            return f"{name} SSE log, {number(count, 'chunk')}"
        if self.kind == "ndjson_log":
            return f"{name} log, {number(count, 'JSON object')} one after the other"
        return f"JSON array of {number(count, name + ' object')}" if self.listed else f"{name} JSON response"


def response_log(value: Any) -> Log | None:
    """A log of the one JSON object, or of the objects of a JSON array, that an API sent."""
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    found = [family_of(item) for item in items]
    if None in found:
        return None
    frames = [Frame(at, item) for at, item in enumerate(items, 1)]
    return Log("json_response", _leading(found), frames, listed=isinstance(value, list))


def object_log(first: Any, text: str) -> Log | None:
    """A log of objects one after the other, of which `first` is the first."""
    if not isinstance(first, dict) or family_of(first) is None:
        return None
    frames = object_frames(text)
    if frames is None:
        return None
    found = [family_of(frame.payload, framed=True) for frame in frames if frame.payload is not None]
    return None if None in found else Log("ndjson_log", _leading(found), frames)


def event_log(text: str) -> Log | None:
    """A log of server-sent events."""
    events = read_events(text)
    if events is None or not events.mostly_fields:
        return None
    found = [family_of(frame.payload, framed=True) for frame in events.frames if frame.payload is not None]
    if not events.done and not any(found):
        return None
    return Log("sse_log", _leading(found), events.frames, events.done, events.resumed)


def _leading(found: list[Family | None]) -> Family:
    """The surest family, the first of equals: a log of chat chunks stays one when an error follows."""
    return max([family for family in found if family], key=lambda family: family.weight, default=UNKNOWN)
