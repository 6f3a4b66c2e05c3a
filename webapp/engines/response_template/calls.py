"""The calls in a region's value, and where in the output their names and arguments stand.

A value is a call where it has a name and arguments, under `function` (the form chat templates use) or directly.
transformers gives arguments as an object; a client gets JSON text. The model's own spelling is kept where it means the
same object, and what was rewritten on the way (by a dialect option, by a tool's schema) is said to be converted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from parsers.cases.jsontext import same
from parsers.formats.extends import pointer_to
from parsers.vocabulary.events import Segment, SegmentKind
from webapp.engines.response_template.watching import Closed

DIALECT = ("string_delims", "unquoted_keys")
WHOLE = "{content}"  # a transform that changes nothing


class NoCallError(Exception):
    """A value is no call. The message says why."""


@dataclass(slots=True)
class Part:
    """A piece of a call: the text a client gets, and the segments of the output it comes from."""

    text: str
    segments: tuple[Segment, ...]

    @property
    def start(self) -> int:
        """Return where its first segment begins."""
        return self.segments[0].start

    @property
    def end(self) -> int:
        """Return where its last segment ends."""
        return self.segments[-1].end


@dataclass(slots=True)
class Call:
    """One call of a region."""

    name: Part
    arguments: Part
    id: Part | None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Return what of the output it owns."""
        return [(one.start, one.end) for one in (self.name, self.arguments, self.id) if one is not None]


@dataclass(slots=True)
class Region:
    """Holds what is known of an open region: its field as transformers loaded it, where it began, what opened it.

    `start` is the offset of its first character, opening delimiter included; `body` that of its text.
    """

    field: Any
    start: int
    body: int
    match: Any = None

    def captured(self, name: str) -> _Place:
        """Return where a named group of the opening pattern, one that matched, stands in the output."""
        shift = self.start - self.match.start()
        return _Place(self.match.start(name) + shift, self.match.end(name) + shift)


def calls_in(region: Region, closed: Closed) -> list[Call]:
    """The calls of a region that was read. Raises NoCallError where its value is something else."""
    finder = _Finder(region, closed)
    if not isinstance(closed.value, list):
        return [_call(finder, closed.value)]
    if not closed.value:
        raise NoCallError("the list of calls is empty")
    return [_call(finder.turned(index), item) for index, item in enumerate(closed.value)]


def _call(finder: _Finder, item: Any) -> Call:
    inner = item.get("function", item) if isinstance(item, dict) else None
    lead: tuple[Step, ...] = ("function",) if inner is not item else ()
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str) or not inner["name"]:
        raise NoCallError("the value has no name, neither under `function` nor directly")
    if "arguments" not in inner:
        if inner.keys() - {"name", "type", "id"}:
            raise NoCallError("the value has a name but no `arguments`")
        arguments = finder.synthetic("{}")
    else:
        arguments = _arguments(finder, (*lead, "arguments"), inner["arguments"])
    given = item.get("id")
    return Call(
        finder.string((*lead, "name"), inner["name"]),
        arguments,
        finder.string(("id",), given) if isinstance(given, str) and given else None,
    )


def _arguments(finder: _Finder, path: tuple[Step, ...], value: Any) -> Part:
    if isinstance(value, str):
        return finder.string(path, value)
    place = finder.place(path)
    if place is None:
        return finder.synthetic(json.dumps(value, ensure_ascii=False))
    raw = finder.text(place)
    if finder.plain and same(json.loads(raw), value):
        return part(raw, place, "copied")
    return part(json.dumps(value, ensure_ascii=False), place, "converted")


class _Finder:
    """Finds parts of a region's value in the output: of all of it, or of one item of a list after the other."""

    def __init__(self, region: Region, closed: Closed) -> None:
        self._region, self._closed = region, closed
        self._start, field = 0, region.field
        self._index: tuple[Step, ...] = ()
        self.plain = field.content == "json" and not any(field.content_args.get(key) for key in DIALECT)
        self._itself = field.transform in (None, WHOLE)
        own = self.plain and isinstance(closed.value, list) and (self._itself or field.transform_each)
        self._starts = items(closed.body) if own else []

    def turned(self, index: int) -> _Finder:
        """This, turned to another item."""
        self._index = (index,)
        self._start = self._starts[index] if index < len(self._starts) else 0
        return self

    def text(self, place: _Place) -> str:
        """The region's own text at a place of the output."""
        return self._closed.body[place.start - self._region.body : place.end - self._region.body]

    def place(self, path: tuple[Step, ...]) -> _Place | None:
        """Return where the value at `path` stands in the output: in the region's text, or in a named group before
        it."""
        found = self._source(path)
        if found is None:
            return None
        root, rest = found
        if root != "content":
            return None if rest else self._region.captured(root)
        inside = (
            locate(self._closed.body, rest, self._start)
            if self.plain
            else None
            if rest
            else _stripped(self._closed.body)
        )
        shift = self._region.body
        return None if inside is None else _Place(inside.start + shift, inside.end + shift)

    def _source(self, path: tuple[Step, ...]) -> tuple[str, tuple[Step, ...]] | None:
        """The slot that `path` comes from; an item's own keys go before the groups of the pattern."""
        field = self._region.field
        if self._itself:
            return "content", path
        if not field.transform_each:
            return source(field.transform, (*self._index, *path))
        found = source(field.transform, path)
        if found is None or (found[0] in self._closed.captures and not self._has(found[0])):
            return found
        return "content", (found[0], *found[1])

    def _has(self, key: str) -> bool:
        return locate(self._closed.body, (key,), self._start) is not None

    def string(self, path: tuple[Step, ...], value: str) -> Part:
        """A string of the value."""
        place = self.place(path)
        if place is None:
            return self.synthetic(value)
        inside = place.start >= self._region.body
        raw = self.text(place) if inside else value
        if inside and raw[:1] == '"' and self.plain:
            place, raw = _Place(place.start + 1, place.end - 1), raw[1:-1]
        return part(value, place, "copied" if raw == value else "converted")

    def synthetic(self, text: str) -> Part:
        """Text that stands nowhere in the output."""
        at = max(self._region.body + len(self._closed.body), 0)
        return Part(text, (Segment(text, at, at, "synthetic"),))


def part(text: str, place: tuple[int, int], kind: SegmentKind = "copied") -> Part:
    """Text from a place; what of it the prompt prefix wrote stands nowhere in the output."""
    start, end = place
    if start >= 0:
        return Part(text, (Segment(text, start, end, kind),))
    if end <= 0:
        return Part(text, (Segment(text, 0, 0, "synthetic"),))
    if kind == "converted":
        return Part(text, (Segment(text, 0, end, kind),))
    return Part(text, (Segment(text[:-start], 0, 0, "synthetic"), Segment(text[-start:], 0, end, kind)))


def _stripped(text: str) -> _Place:
    start = len(text) - len(text.lstrip())
    return _Place(start, max(len(text.rstrip()), start))


def streamed_name(region: Region, captures: Mapping[str, str]) -> Part | None:
    """The name of a call whose arguments can be sent as they come, or None.

    That is so where the text of the region is the arguments, as text, and everything else is known when it opens.
    """
    field = region.field
    if field.content != "text" or not isinstance(field.transform, dict) or field.transform_each:
        return None
    names = [name for _, name in slots(field.transform)]
    wanted, whole = {name.split(".")[0] for name in names}, not any(name.startswith("content.") for name in names)
    lead: tuple[Step, ...] = ("function",) if "function" in field.transform else ()
    name, arguments = (source(field.transform, (*lead, key)) for key in ("name", "arguments"))
    if not whole or not wanted <= {*captures, "content"} or arguments != ("content", ()):
        return None
    if name is None or name[1] or not captures.get(name[0]):
        return None
    return part(captures[name[0]], region.captured(name[0]))


def slots(transform: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """The slots of a transform: where each stands, as a JSON pointer that begins with `place`, and its name."""
    if isinstance(transform, str) and (found := SLOT.fullmatch(transform)):
        yield place, found[1]
    inner = (
        transform if isinstance(transform, dict) else dict(enumerate(transform if isinstance(transform, list) else ()))
    )
    for key, one in inner.items():
        yield from slots(one, place + pointer_to(key))


# Where in a region's text a part of its value stands


Step = str | int
DECODER = json.JSONDecoder()
SPACE = re.compile(r"[ \t\n\r]*")
SLOT = re.compile(r"\{(\w+(?:\.\w+)*)\}")


class _Place(NamedTuple):
    """Half-open range of characters in a region's text."""

    start: int
    end: int


def locate(text: str, path: Sequence[Step], start: int = 0) -> _Place | None:
    """The raw JSON text at `path` below the value at `start`, or None. Of a key given twice the last counts."""
    try:
        at = _skip(text, start)
        for step in path:
            found = _member(text, at, step) if isinstance(step, str) else None
            if found is None:
                return None
            at = found
        return _Place(at, DECODER.raw_decode(text, at)[1])
    except (ValueError, IndexError, RecursionError):
        return None


def _skip(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def _member(text: str, at: int, key: str) -> int | None:
    """Return where the value of `key` begins in the object at `at`."""
    if text[at] != "{":
        return None
    found, at = None, _skip(text, at + 1)
    while text[at] == '"':
        name, at = DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name == key:
            found = at
        at = _skip(text, DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def items(text: str) -> list[int]:
    """Return where the items of a JSON array begin; none in a text that is no JSON array."""
    starts: list[int] = []
    at = _skip(text, 0)
    try:
        while text[at] in "[,":
            at = _skip(text, at + 1)
            end = DECODER.raw_decode(text, at)[1]
            starts.append(at)
            at = _skip(text, end)
    except (ValueError, IndexError, RecursionError):
        return []
    return starts


def in_string(text: str) -> bool:
    """Return whether a JSON text ends inside a string: what follows was cut off from it."""
    inside = escaped = False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\" and inside:
            escaped = True
        elif char == '"':
            inside = not inside
    return inside


def source(transform: Any, path: Sequence[Step]) -> tuple[str, tuple[Step, ...]] | None:
    """Return where a part of the transformed value comes from: the slot's root, and the path below it.

    None: from no single slot, because it is a literal or is not there.
    """
    for index, step in enumerate(path):
        if isinstance(transform, str):
            return _rooted(transform, path[index:])
        known = transform if isinstance(transform, dict) else dict(enumerate(transform))
        if step not in known:
            return None
        transform = known[step]
    return _rooted(transform, ())


def _rooted(transform: Any, rest: Sequence[Step]) -> tuple[str, tuple[Step, ...]] | None:
    found = SLOT.fullmatch(transform) if isinstance(transform, str) else None
    if found is None:
        return None
    root, *keys = found[1].split(".")
    return root, (*keys, *rest)
