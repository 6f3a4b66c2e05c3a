"""Arguments that are not one JSON object: closed by appending, or completed from tags in the buffer.

Closing cuts back to the last place from which brackets make valid JSON (an unfinished key, word or escape goes) and
appends what is open. It never changes what stands before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.arguments.coerce import property_schema
from parsers.arguments.entities import decode_entities
from parsers.arguments.json_value import CLOSERS, JsonScanner, JsonValue, coerce_json
from parsers.arguments.python_text import plain_to_json
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.events import Dropped, Event, Marker, Segment
from parsers.wrappers.attempt import as_object

_OPENING = re.compile(r'<parameter(?:=|\s+name=)\s*"?([^<>"\s]+)"?\s*>|<arg_key>([^<>]*)</arg_key>\s*<arg_value>')
_CLOSING = {"p": "</parameter>", "a": "</arg_value>"}
_COMMAS = " \t\r\n,"
_SURPLUS = _COMMAS + "]}"


class _Closed:
    """Output that keeps what can be closed of a value."""

    schema: Mapping[str, Any] | None = None
    closes = True

    def __init__(self) -> None:
        self.kept = 0
        self.closers = ""

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """A piece that stays, or (with segments) what closes it."""
        if segments is not None:
            self.closers = text
        else:
            self.kept = end

    def drop(self, start: int, end: int, reason: DropReason) -> None:
        """What cannot be closed is left out."""


def find_closing(arguments: str, *, over: bool) -> tuple[int, str] | None:
    """Return how many characters of the arguments stay, and what is appended, to make one object; None: no such repair.

    Where the output is `over`, a number or word at the end may be cut off itself, and does not stay.
    """
    if not arguments.strip():
        return 0, "{}"
    if not arguments.lstrip().startswith("{"):
        return None
    found = (None if over else _balanced(arguments)) or _cut_back(arguments)
    return found if as_object(arguments[: found[0]] + found[1]) is not None else None


def _balanced(arguments: str) -> tuple[int, str] | None:
    """All of it but commas and space at the end, with its open string and brackets closed."""
    scan, pos = JsonScanner(strict=False), 0
    while pos < len(arguments):
        _, pos = scan.step(arguments, pos, len(arguments), final=True)
    kept = len(arguments) if scan.in_string else len(arguments.rstrip(_COMMAS))
    closers = '"' * scan.in_string + "".join([CLOSERS[bracket] for bracket in reversed(scan.stack)])
    return (kept, closers) if as_object(arguments[:kept] + closers) is not None else None


def _cut_back(arguments: str) -> tuple[int, str]:
    """The arguments up to the last place from which brackets make valid JSON; brackets too many are left out."""
    out = _Closed()
    value, pos = JsonValue(out), 0
    while pos < len(arguments) and not value.done:
        pos = value.text(arguments, pos, len(arguments), 0, final=True)
    value.finish(pos)
    surplus = value.done and not arguments[pos:].strip(_SURPLUS)
    return (pos if surplus else out.kept, out.closers) if value.done is surplus else (len(arguments), "")


def close_arguments(segments: Sequence[Segment], kept: int, closers: str, at: int) -> tuple[list[Segment], list[Event]]:
    """The segments of repaired arguments, and the events of what was cut off them. They end at raw offset `at`."""
    out: list[Segment] = []
    cut: list[Event] = []
    for part in segments:
        inside = max(0, min(len(part.text), kept))
        kept -= inside
        middle = part.end if part.kind == "synthetic" or inside == len(part.text) else part.start + inside
        if inside:
            out.append(Segment(part.text[:inside], part.start, middle, part.kind))
        if middle < part.end:
            cut.append(Dropped(middle, part.end, DropReason(Cause.UNREPAIRABLE)))
    place = out[-1].end if out else at
    return [*out, Segment(closers, place, place, "synthetic")], cut


@dataclass(slots=True)
class Parameter:
    """A tagged parameter in the buffer: raw places of the whole tag, its key and its value."""

    key: str
    value: str
    start: int
    value_at: int
    end: int


def find_parameters(text: str, at: int) -> Iterator[Parameter]:
    """The closed parameters in a text that stands at raw offset `at`."""
    pos = 0
    while (opening := _OPENING.search(text, pos)) is not None:
        closing = _CLOSING[opening.group()[1]]
        stop = text.find(closing, opening.end())
        if stop < 0:
            return
        key = opening.group(1) or opening.group(2).strip()
        pos = stop + len(closing)
        yield Parameter(key, text[opening.end() : stop], at + opening.start(), at + opening.end(), at + pos)


def add_parameters(
    segments: Sequence[Segment], found: Sequence[Parameter], schema: Mapping[str, Any] | None, *, decode: bool
) -> tuple[list[Segment], list[Event]]:
    """The arguments with the parameters added at their end, and the markers around the new values."""
    head, tail = _at_brace(segments)
    full = "".join([part.text for part in head]).strip() != "{"
    events: list[Event] = []
    for parameter in found:
        inner = property_schema(schema, parameter.key)
        raw = parameter.value.removeprefix("\n").removesuffix("\n")
        value_at = parameter.value_at + parameter.value.startswith("\n")
        text = coerce_json(plain_to_json(decode_entities(raw) if decode else raw, inner), inner)
        lead = (", " if full else "") + json.dumps(parameter.key, ensure_ascii=False) + ": "
        head.append(Segment(lead, value_at, value_at, "synthetic"))
        head.append(Segment(text, value_at, value_at + len(raw), "converted"))
        events += [Marker(parameter.start, value_at), Marker(value_at + len(raw), parameter.end)]
        full = True
    return [*head, *tail], events


def _at_brace(segments: Sequence[Segment]) -> tuple[list[Segment], list[Segment]]:
    """The segments before the last closing brace, and those from it on."""
    index = max(number for number, part in enumerate(segments) if "}" in part.text)
    part = segments[index]
    size = part.text.rindex("}")
    middle = part.start + size if part.kind == "copied" else part.end
    first, rest = Segment(part.text[:size], part.start, middle, part.kind), Segment(part.text[size:], middle, part.end)
    rest.kind = part.kind if part.kind == "copied" else "synthetic"
    return [*segments[:index], *([first] if size else [])], [rest, *segments[index + 1 :]]
