"""A log: frames of one API, and finding one in JSON values or in an event stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from parsers.intake.families import UNKNOWN, Family, family_of, is_error
from parsers.intake.jsonread import line_frames, object_frames
from parsers.intake.model import Frame, LogKind, number
from parsers.intake.sse import read_events

_ANSWERS = frozenset({"sglang_log", "tgi_answer"})  # families of whole answers: several of them are no stream


@dataclass(slots=True)
class Log:
    """Frames of one family.

    `ends`: after how many frames the stream's end sentinel was seen. `listed`: the frames stood in one array.
    `others` are the numbers of the lines that are no part of the log, `prefixed` of those after a log's prefix.
    """

    kind: LogKind
    family: Family
    frames: list[Frame]
    ends: list[int] = field(default_factory=list)
    listed: bool = False
    others: list[int] = field(default_factory=list)
    prefixed: list[int] = field(default_factory=list)

    @property
    def streamed(self) -> bool:
        """Whether the frames are the steps of a stream, not one whole answer."""
        return (self.kind != "json_response" or self.listed) and self.family.name not in _ANSWERS

    @property
    def cut(self) -> bool:
        """Whether the last frame breaks off and nothing follows it."""
        return bool(self.frames) and self.frames[-1].payload is None and self.ends[-1:] != [len(self.frames)]

    def place(self, frame: Frame) -> str:
        """Where the frame is, for a message."""
        return f"{'item' if self.listed else 'line'} {frame.line:,}"

    def parts(self) -> Iterator[list[Frame]]:
        """The frames, parted where the stream's end sentinel stood."""
        start = 0
        for end in [*dict.fromkeys(self.ends), len(self.frames)]:
            if end > start:
                yield self.frames[start:end]
            start = end

    @property
    def title(self) -> str:
        """What the log is, in words."""
        name, count = self.family.title, len(self.frames)
        if self.kind == "sse_log":
            return f"{name} SSE log, {number(count, 'chunk')}"
        if self.kind == "ndjson_log":
            return f"{name} log, {number(count, 'JSON object')}" + (" one after the other" if count > 1 else "")
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


def object_log(text: str) -> Log | None:
    """A log of objects one after the other: nothing else between them, or each on a line of its own."""
    frames, others = object_frames(text), list[int]()
    if frames is None or all(frame.payload is None for frame in frames):
        lines = line_frames(text)
        if lines is None:
            return None
        frames, others = lines
    elif len(frames) < 2:
        return None
    found = [family_of(frame.payload, framed=True) for frame in frames if frame.payload is not None]
    known = [family for family in found if family]
    strict = family_of(frames[0].payload) is not None if frames and frames[0].payload else bool(known)
    # At most a third may be unknown: a list of calls, or prose about a log, is model output.
    if not strict or (len(found) - len(known) + len(others)) * 3 > len(known):
        return None
    return Log("ndjson_log", _leading(found), frames, others=others)


def event_log(text: str) -> Log | None:
    """A log of server-sent events."""
    events = read_events(text)
    if events is None or not events.mostly_fields:
        return None
    found = [family_of(frame.payload, framed=True) for frame in events.frames if frame.payload is not None]
    if not events.done and not any(found):
        return None
    return Log(
        "sse_log",
        _leading(found),
        events.frames,
        events.ends,
        others=events.others,
        prefixed=events.prefixed,
    )


def is_failure(frame: Frame) -> bool:
    """Whether the frame is an error that the server sent in place of a chunk."""
    payload = frame.payload or {}
    return frame.event == "error" or is_error(payload) or (bool(payload.get("error")) and "choices" not in payload)


def _leading(found: list[Family | None]) -> Family:
    """The surest family, the first of equals: a log of chat chunks stays one when an error follows."""
    return max([family for family in found if family], key=lambda family: family.weight, default=UNKNOWN)
