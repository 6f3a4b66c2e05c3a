"""Writes a JSON value from a notation that is not JSON, while it arrives.

`NotationParser` says what it reads (an opening bracket, a key, a piece of a string, a word) and `JsonBuilder` writes
JSON text from it: keys and values own the characters they come from, all JSON punctuation is synthetic. A key is
written together with its value, so brackets appended to what was written always make it whole.

A string that its schema lets stay one goes out piece by piece; any other waits for its end and is written by the
types its schema allows. So does text that has no type (`typed`): it is a string only where it can be nothing else. A
group is a bracket of which it is not known yet whether it is an array (Python's parentheses and braces): everything
in it waits until what follows its first value tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from parsers.arguments.coerce import (
    can_only_be_string,
    can_stream,
    item_schema,
    json_to_json,
    keeps_string,
    property_schema,
    text_to_json,
    types_in_words,
    types_of,
)
from parsers.arguments.contract import ArgumentParser, Output
from parsers.arguments.json_value import CLOSERS, coerce_json, escape_json
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import Segment, SegmentKind
from parsers.vocabulary.states import NOWHERE, Part, Pieces, Placed

Piece = tuple[str, int, int]
NO_NAME: Piece = ("", NOWHERE, NOWHERE)


@dataclass(slots=True)
class _Frame(Part):
    """An open container. `count` is the number of values in it so far, where more than two are two; `key` are the
    pieces of a key that waits for its value; `place`, where the bracket of a group will stand among what is kept."""

    PLACES: ClassVar[frozenset[str]] = frozenset({"key"})
    bracket: str
    schema: Mapping[str, Any] | None
    count: int = 0
    key: list[Piece] | None = None
    key_schema: Mapping[str, Any] | None = None
    place: int | None = None


class JsonBuilder(Part):
    """Writer of one JSON value to `out.arguments`."""

    __slots__ = ("_frames", "_groups", "_kept", "_out", "_schema", "_string", "_typed", "_waits")
    APART: ClassVar[frozenset[str]] = frozenset({"_out"})

    def __init__(self, out: Output) -> None:
        self._out = out
        self._frames: list[_Frame] = []
        self._schema: Mapping[str, Any] | None = None
        self._string: Placed | None = None
        self._waits = False
        self._typed = True
        self._kept: list[tuple[Segment, ...]] = []
        self._groups = 0

    @property
    def depth(self) -> int:
        """Number of open containers."""
        return len(self._frames)

    def open(self, bracket: str, at: int, *, unsure: bool = False) -> None:
        """A container begins at raw offset `at`. `unsure`: a parenthesis, or a brace that may begin a set, is a group
        until it is settled."""
        frame = _Frame(bracket, self._value_schema())
        self._groups += unsure
        self._begin(at)
        if unsure:
            frame.place = len(self._kept)
        self._synthetic("" if unsure else bracket, at)
        self._frames.append(frame)

    @property
    def unsure(self) -> bool:
        """Return whether it is not known yet what the innermost bracket is."""
        return self._frames[-1].place is not None

    @property
    def in_object(self) -> bool:
        """Return whether the innermost bracket is an object's, as far as is known."""
        return self._frames[-1].bracket == "{"

    def be_array(self) -> None:
        """The innermost bracket, which was a group, is a set's: JSON has arrays for them."""
        frame = self._frames[-1]
        frame.bracket = "["
        self._settle(frame, "[")

    def comma(self) -> None:
        """A comma follows a value: a group is an array."""
        frame = self._frames[-1]
        if frame.place is not None:
            self._settle(frame, "[")

    def close(self, at: int) -> None:
        """The innermost container ends."""
        frame = self._frames.pop()
        self._forget_key(frame)
        if frame.place is not None and frame.bracket == "(":
            array = frame.count != 1
            self._synthetic("]" if array else "", at)
            self._settle(frame, "[" if array else "")
        else:
            if frame.place is not None:
                self._settle(frame, "{")
            self._synthetic(CLOSERS.get(frame.bracket, "]"), at)

    def close_all(self, at: int) -> None:
        """Every container ends here."""
        while self._frames:
            self.close(at)

    def key(self, pieces: list[Piece]) -> None:
        """A key of the innermost object, in pieces (text, start, end)."""
        frame = self._frames[-1]
        frame.key = pieces
        if frame.place is not None:
            self._settle(frame, "{")
        frame.key_schema = property_schema(frame.schema, "".join([text for text, _, _ in pieces]))

    def begin_string(self, at: int, *, typed: bool = True) -> None:
        """A string value begins, or text without a type."""
        self._schema, self._typed = self._value_schema(), typed
        self._waits = not (keeps_string(self._schema) if typed else can_stream(self._schema))
        self._string = Placed()
        if not self._waits:
            self._begin(at)
            self._synthetic('"', at)

    def string(self, text: str, start: int, end: int, *, raw: bool = True) -> None:
        """A piece of the open string; `raw`: it stands in the output as it is."""
        if self._waits and self._string is not None:
            self._string.append((text, start, end))
            return
        out = escape_json(text)
        self._write((Segment(out, start, end, "copied" if raw and out == text else "converted"),))

    def end_string(self, at: int) -> None:
        """The open string is over."""
        pieces, self._string = self._string or Placed(), None
        if not self._waits:
            self._synthetic('"', at)
            return
        text = "".join([text for text, _, _ in pieces])
        raw = f'"{escape_json(text)}"'
        written = json_to_json(raw, self._schema) if self._typed else text_to_json(text, self._schema)
        self._value(written, raw, pieces or [("", at, at)])

    def scalar(self, text: str | None, start: int, end: int, *, raw: str) -> None:
        """A word that means the JSON `text`, or says no type (None), and stands in the output as `raw`."""
        self._schema = self._value_schema()
        written = text_to_json(raw, self._schema) if text is None else json_to_json(text, self._schema)
        self._value(written, text or f'"{escape_json(raw)}"', [(raw, start, end)], copied=written == raw)

    def _value(self, text: str, before: str, pieces: list[Piece], *, copied: bool = False) -> None:
        """Write a whole value over the characters of its pieces; `before` is its JSON as it was read."""
        written = text if text == before else coerce_json(text, self._schema)
        self._begin(pieces[0][1])
        self._write(_spread(written, pieces, copied=copied))

    def _value_schema(self) -> Mapping[str, Any] | None:
        """The schema of the value that begins here."""
        if not self._frames:
            return self._out.schema
        frame = self._frames[-1]
        if frame.bracket == "{":
            return frame.key_schema
        is_array = frame.place is None or "array" in (types_of(frame.schema) or ())
        return item_schema(frame.schema) if is_array else frame.schema

    def _begin(self, at: int) -> None:
        """Write what stands before a value: a comma, and the key in an object."""
        if not self._frames:
            return
        frame = self._frames[-1]
        at = frame.key[0][1] if frame.key else at
        before = [Segment(", ", at, at, "synthetic")] if frame.count else []
        frame.count = min(frame.count + 1, 2)
        if frame.bracket == "{":
            self._write_key(frame, before, at)
        elif before:
            self._write(tuple(before))

    def _write_key(self, frame: _Frame, before: list[Segment], at: int) -> None:
        pieces, frame.key = frame.key or [], None
        before.append(Segment('"', at, at, "synthetic"))
        for text, start, end in pieces:
            if start != at:
                self._write(tuple(before))
                before = []
            out = escape_json(text)
            kind: SegmentKind = "copied" if out == text and end - start == len(text) else "converted"
            if out:
                before.append(Segment(out, start, end, kind))
            at = end
        self._write((*before, Segment('": ', at, at, "synthetic")))

    def _synthetic(self, text: str, at: int) -> None:
        segments = (Segment(text, at, at, "synthetic"),)
        if self._groups:
            self._kept.append(segments)
        else:
            self._out.arguments(text, at, at, segments)

    def _write(self, segments: tuple[Segment, ...]) -> None:
        if self._groups:
            self._kept.append(segments)
        else:
            self._send(segments)

    def _send(self, segments: tuple[Segment, ...]) -> None:
        first = segments[0]
        text, start, end = first.text, first.start, first.end
        if len(segments) > 1:
            text, end = "".join([part.text for part in segments]), segments[-1].end
        if text:
            self._out.arguments(text, start, end, None if first.kind == "copied" else segments)
        else:
            self._out.marker(start, end)

    def _settle(self, frame: _Frame, bracket: str) -> None:
        place = frame.place or 0
        at = self._kept[place][0].start
        self._kept[place] = (Segment(bracket, at, at, "synthetic"),)
        frame.place = None
        self._groups -= 1
        if not self._groups:
            kept, self._kept = self._kept, []
            for segments in kept:
                self._send(segments)

    @property
    def passes(self) -> bool:
        """Return whether the piece of a string goes out at once."""
        return self._string is not None and not self._waits and not self._groups

    def held_from(self) -> int | None:
        """The first raw offset of what waits: a group, a string, a key; None where nothing does."""
        kept, frames, string = self._kept, self._frames, self._string
        start = kept[0][0].start if kept else None
        if frames and (key := frames[-1].key) and (start is None or key[0][1] < start):
            start = key[0][1]
        if string and (start is None or string[0][1] < start):
            start = string[0][1]
        return start

    def wanted(self) -> str:
        """Return why a value waits, in words."""
        if self._groups:
            return "A bracket is an array if a comma follows its first value."
        if self._string is not None and self._waits:
            return f"The schema wants {types_in_words(self._schema)}: the value is written when it is whole."
        return "A key is sent with its value."

    def cut(self, at: int) -> None:
        """The output ends inside the value: what waits goes nowhere, what was written is closed if that is wanted."""
        self._cut_groups()
        pieces, self._string = self._string, None
        if pieces is not None and self._waits:
            self._cut_string(pieces)
        for frame in self._frames:
            self._forget_key(frame)
        if self._out.closes:
            closers = '"' * (pieces is not None and not self._waits)
            self._synthetic(
                closers + "".join([CLOSERS.get(frame.bracket, "]") for frame in reversed(self._frames)]), at
            )
        self._frames = []

    def _cut_groups(self) -> None:
        """A bracket that waited to be told goes nowhere, with all that is in it."""
        if not self._groups:
            return
        for segments in self._kept:
            self._drop([(part.text, part.start, part.end) for part in segments])
        self._drop(self._string or [])
        first = next(number for number, frame in enumerate(self._frames) if frame.place is not None)
        for frame in self._frames[first:]:
            self._forget_key(frame)
        del self._frames[first:]
        self._kept, self._groups, self._string = [], 0, None

    def _cut_string(self, pieces: list[Piece]) -> None:
        """A string that waited is cut off: it goes out only if it can have been nothing but a string."""
        text = "".join([piece for piece, _, _ in pieces])
        if self._out.closes or not can_only_be_string(text, self._schema):
            self._drop(pieces)
        else:
            self._begin(pieces[0][1])
            self._write(_spread(f'"{escape_json(text)}', pieces))

    def _forget_key(self, frame: _Frame) -> None:
        self._drop(frame.key or [], DropReason(Cause.KEY_WITHOUT_VALUE))
        frame.key = None

    def _drop(self, pieces: list[Piece], reason: DropReason = CUT) -> None:
        for _, start, end in pieces:
            self._out.drop(start, end, reason)


def _spread(text: str, pieces: list[Piece], *, copied: bool = False) -> tuple[Segment, ...]:
    """Text that stands for all of the pieces together."""
    kind: SegmentKind = "copied" if copied else "converted"
    return tuple([Segment("" if number else text, start, end, kind) for number, (_, start, end) in enumerate(pieces)])


# What parsers of such notations share: open brackets, and the word that is being read.

PAIRS = {"]": "[", ")": "(", "}": "{"}


class NotationParser(ArgumentParser):
    """Base of parsers that read brackets and words step by step.

    `_steps` are the readers by phase: each is given the text from a position on, reads on at least one character or
    changes the phase, and returns where it stopped.
    """

    APART: ClassVar[frozenset[str]] = frozenset({"_steps"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_name", "_word_at"})

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        super().__init__(out, options)
        self._builder = JsonBuilder(out)
        self._steps: Mapping[str, Callable[[str, int, int, int], int]] = {}
        self._phase = ""
        self._name: Piece = NO_NAME
        self._committed = self._is_key = False
        self._stack: list[str] = []
        self._open = Counter[str]()
        self._word = Pieces()
        self._word_at = NOWHERE

    def _mark(self, pos: int, base: int) -> int:
        """The character at `pos` is structure."""
        self.out.marker(base + pos, base + pos + 1)
        return pos + 1

    def _refuse(self, pos: int, trigger: str = "REJECT") -> int:
        self.queue.append(trigger)
        return pos

    def _commit(self, at: int, *, bracketed: bool = True) -> None:
        """The call is named, and its arguments begin."""
        self._committed = True
        self.out.name(*self._name)
        self._name = NO_NAME
        if bracketed:
            self.out.bracketed()
        self._builder.open("{", at)

    def _push(self, char: str) -> None:
        self._stack.append(char)
        self._open[char] += 1

    def _pop(self, at: int) -> None:
        self._open[self._stack.pop()] -= 1
        self._builder.close(at)
        self._phase = "after"

    def _read(self, pattern: re.Pattern[str], buffer: str, pos: int, end: int, base: int) -> int:
        """Read on in a word; returns `pos` where it does not go on."""
        run = pattern.match(buffer, pos, end)
        if run is None:
            return pos
        self._word_at = self._word_at if self._word else base + pos
        self._word.append(run.group())
        return run.end()

    def _take_word(self) -> Piece:
        """The word that was read without white space at its end, which is structure, and where it stands."""
        raw, start = "".join(self._word), self._word_at
        self._word, self._word_at = Pieces(), NOWHERE
        text = raw.rstrip()
        if len(text) < len(raw):
            self.out.marker(start + len(text), start + len(raw))
        return text, start, start + len(text)
