"""JSON objects as a transport carries them: server-sent events, objects one after the other, objects on lines.

Servers put one JSON object on each `data:` line, and blank lines, often lost in a paste, mean nothing. What logs do to
such lines is undone: a time stamp before `data:`, a line printed as b'...', one payload wrapped over several lines, two
on one line. Lines that are none of this are counted; time stamps are kept. Field syntax: HTML Living Standard, 9.2.6.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from parsers.intake.evidence import Payload
from parsers.intake.moments import Moment, curl_moment, moment_in, stamped
from parsers.intake.plain_text import printed_bytes
from parsers.intake.written_values import literal_at, skip_space, value_at, whole_object

_FIELDS = ("id:", "retry:", ":")
_DONE = "[DONE]"
_PREFIXED = re.compile(r"^[^{]{1,200}?\bdata: ?(?=\{|\[DONE\])")
# What may stand before an object on a line of its own: nothing, or a time stamp and a level.
_BEFORE_OBJECT = re.compile(r"""(?!.{0,200}\bdata:)[^{'"]{0,200}(?=\{)""")

# What somebody wrote behind an object to those who read its line.
_REMARK = re.compile(r"(?<=\})[ \t]+(?:#|//|<-+|\u2190)[^{}\"']*\Z")

# Dots for members that were left out at the end of an object or array; strings are looked past.
_DOTS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|,?[ \t]*(?:\u2026|\.\.\.)(?=[ \t]*[}\]])")


@dataclass(slots=True)
class Frame:
    """One payload of a log and the line (from 1) it starts on. None: it is not a JSON object.

    `event` is the name that server-sent events gave it, `moment` its time stamp. `shortened`: somebody who quotes it
    wrote dots in place of a part of it.
    """

    line: int
    payload: Payload | None
    event: str = ""
    moment: Moment | None = None
    shortened: bool = False


@dataclass(slots=True)
class _Events:
    """The lines of an event stream: payloads, where a response ended with `[DONE]`, and what else stood between.

    `ends` are counts of frames; `others` and `prefixed` are line numbers, of no field and of a field after a prefix.
    `now` is the time stamp of the line that is read, or that of curl's line about the data that begins with it.
    """

    frames: list[Frame] = field(default_factory=list)
    fields: int = 0
    ends: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    prefixed: list[int] = field(default_factory=list)
    event: str = ""
    now: Moment | None = None
    broken: list[str] = field(default_factory=list)


def read_event_lines(text: str) -> _Events | None:
    """Read the lines of `text` as an event stream; None where there is no data line at all."""
    if "data:" not in text:
        return None
    events = _Events()
    curl: Moment | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if (said := curl_moment(line)) is not None:
            curl = said
            continue
        inner = printed_bytes(line)
        events.now, rest = stamped(line)
        line = line if events.broken or inner is not None else rest
        if events.now is not None and not line.strip():
            continue  # what stamps lines stamps the blank ones too
        events.now, curl = events.now or curl, None if line.strip() else curl
        for part in [line] if inner is None else inner.split("\n"):
            _read_line(events, number, part)
    _join_broken(events)
    return events


def _read_line(events: _Events, number: int, raw: str) -> None:
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
        events.now = moment_in(found[0]) or events.now
        _read_data(events, number, line[found.end() :])
    elif line:
        events.others.append(number)
        if events.broken:
            events.broken.append(raw.rstrip("\r"))
    else:
        events.event = ""


def _read_data(events: _Events, number: int, data: str) -> None:
    """Take what follows `data:` on a line; other such fields may follow it there."""
    _join_broken(events)
    events.fields += 1
    at = skip_space(data, 0)
    while at < len(data):
        at = skip_space(data, _read_payload(events, number, data, at))
        if data.startswith("data:", at):
            at = skip_space(data, at + 5)
        elif at < len(data):
            events.others.append(number)
            return


def _read_payload(events: _Events, number: int, data: str, at: int) -> int:
    """Take the payload or the end sentinel at the offset, and return the offset after it."""
    if data.startswith(_DONE, at):
        events.ends.append(len(events.frames))
        return at + len(_DONE)
    found = value_at(data, at)
    short = _quoted_in_part(data[at:]) if found is None else None
    if found is None and short is None:
        events.broken = [data[at:]]
    value, end = found or (short, len(data))
    payload = value if isinstance(value, dict) else None
    events.frames.append(Frame(number, payload, events.event, events.now, short is not None))
    return end


def _join_broken(events: _Events) -> None:
    """Join the parts of a payload that was wrapped over lines, if that makes it an object."""
    parts, events.broken = events.broken, []
    found = value_at("".join(parts), 0) if len(parts) > 1 else None
    if found is not None and isinstance(found[0], dict):
        events.frames[-1].payload = found[0]
        del events.others[-(len(parts) - 1) :]


def object_frames(text: str) -> tuple[list[Frame], list[int]] | None:
    """Read JSON objects one after the other, or each on its own line, and the numbers of the other lines.

    None: there is no object, or only one.
    """
    frames = _adjacent_frames(text)
    if frames is None or all(frame.payload is None for frame in frames):
        return _line_frames(text)
    return (frames, []) if len(frames) > 1 else None


def _adjacent_frames(text: str) -> list[Frame] | None:
    """Read the objects with nothing but white space between. None: there is anything else.

    A last line that breaks off becomes a frame without payload.
    """
    frames: list[Frame] = []
    at, line = skip_space(text, 0), 1 + text.count("\n", 0, skip_space(text, 0))
    while at < len(text):
        found = value_at(text, at)
        if found is None and "\n" not in text[at:].rstrip():
            frames.append(Frame(line, None))
            break
        if found is None or not isinstance(found[0], dict):
            return None
        frames.append(Frame(line, found[0]))
        after = skip_space(text, found[1])
        line += text.count("\n", at, after)
        at = after
    return frames


def _line_frames(text: str) -> tuple[list[Frame], list[int]] | None:
    """Read the objects on lines of their own, each after a short prefix at most, and the other lines.

    A line that begins as an object and is none becomes a frame without payload. None: there is no object at all.
    """
    frames: list[Frame] = []
    others: list[int] = []
    curl: Moment | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if (said := curl_moment(line)) is not None:
            curl = said
            continue
        inner = printed_bytes(line) or line
        found = _BEFORE_OBJECT.match(inner)
        if found:
            rest = _REMARK.sub("", inner[found.end() :]).rstrip(" \t\r),")
            payload = whole_object(rest) or _printed_dict(rest)
            short = None if payload is not None else _quoted_in_part(rest)
            frames.append(Frame(number, payload or short, "", moment_in(found[0]) or curl, short is not None))
            curl = None
        elif line.strip():
            others.append(number)
    return (frames, others) if frames else None


def _quoted_in_part(text: str) -> Payload | None:
    """Return the object in which somebody wrote dots in place of its last members, or of those of a part of it."""
    return whole_object(_DOTS.sub(lambda found: found[0] if found[0][0] == '"' else "", text))


def _printed_dict(text: str) -> Payload | None:
    """Return the object that is printed as a Python dict, if it holds nothing but JSON's values."""
    found = literal_at(text) if text.startswith("{'") else None
    if found is None or not found.whole or found.end < len(text):
        return None
    try:
        return whole_object(json.dumps(found.value))
    except (TypeError, ValueError, RecursionError):
        return None
