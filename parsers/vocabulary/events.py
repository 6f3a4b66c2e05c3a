"""Typed events: what a parser says about the output, each with its place in the output text.

Text events (`TextEvent`) carry text that reaches the client. Where the text is a plain copy of the raw span,
`segments` is None and the span says it all; otherwise each segment maps a part of the text to its raw span:
copied (same characters), converted (the raw span was rewritten, e.g. a number quoted) or synthetic (no raw
span: punctuation the format implies). Marker and Dropped account for the rest, so that every character of
the output has exactly one owner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from msgspec import Struct

from parsers.vocabulary.drops import DropReason
from parsers.vocabulary.types import Owner

SegmentKind = Literal["copied", "converted", "synthetic"]
Severity = Literal["error", "warning", "info"]
END_TOKEN = "end_token"  # the terminal of a marker that ends the turn, which formats do not have as one of their own


class Segment(Struct, gc=False):
    """A part of an event's text and the raw span [start, end) it came from."""

    text: str
    start: int
    end: int
    kind: SegmentKind = "copied"


class Event(Struct, gc=False):
    """Common part: the raw span [start, end) the event speaks about."""

    kind: ClassVar[str] = "Event"
    owner: ClassVar[Owner | None] = None
    start: int
    end: int


class TextEvent(Event, gc=False):
    """Text for the client. `segments` None means one copied segment over the whole span."""

    text: str
    segments: tuple[Segment, ...] | None = None

    def parts(self) -> tuple[Segment, ...]:
        """The segments, spelled out."""
        if self.segments is None:
            return (Segment(self.text, self.start, self.end),)
        return self.segments


class ReasoningText(TextEvent, gc=False):
    """A piece of reasoning."""

    kind: ClassVar[str] = "ReasoningText"
    owner: ClassVar[Owner | None] = "reasoning"


class ContentText(TextEvent, gc=False):
    """A piece of content."""

    kind: ClassVar[str] = "ContentText"
    owner: ClassVar[Owner | None] = "content"


class CallId(TextEvent, gc=False):
    """The id of call `call`, whole and once; synthetic when the parser generated it."""

    kind: ClassVar[str] = "CallId"
    owner: ClassVar[Owner | None] = "id"
    call: int = 0


class CallName(TextEvent, gc=False):
    """The name of call `call`, whole and once, before any of its arguments."""

    kind: ClassVar[str] = "CallName"
    owner: ClassVar[Owner | None] = "name"
    call: int = 0


class CallArguments(TextEvent, gc=False):
    """A piece of the JSON text of call `call`'s arguments; pieces only ever append."""

    kind: ClassVar[str] = "CallArguments"
    owner: ClassVar[Owner | None] = "arguments"
    call: int = 0


class ReasoningEnd(Event, gc=False):
    """Reasoning is over."""

    kind: ClassVar[str] = "ReasoningEnd"


class CallStart(Event, gc=False):
    """Call `call` begins; committed only once its name is known."""

    kind: ClassVar[str] = "CallStart"
    call: int = 0


class CallEnd(Event, gc=False):
    """Call `call` ends; `complete` is false when the output cut it off or left its JSON open."""

    kind: ClassVar[str] = "CallEnd"
    call: int = 0
    complete: bool = True


class Marker(Event, gc=False):
    """Characters that are structure: a terminal (by name) or what stands between terminals ('structure')."""

    kind: ClassVar[str] = "Marker"
    owner: ClassVar[Owner | None] = "marker"
    terminal: str = "structure"


class Dropped(Event, gc=False):
    """Characters that reach nobody, and why."""

    kind: ClassVar[str] = "Dropped"
    owner: ClassVar[Owner | None] = "dropped"
    reason: DropReason


class Diagnostic(Event, gc=False):
    """Something the user should know. `code` is stable, `message` is for people."""

    kind: ClassVar[str] = "Diagnostic"
    code: str = ""
    severity: Severity = "warning"
    message: str = ""


@dataclass(slots=True, frozen=True)
class Failure:
    """An exception that a parser raised: its type, what it says on one line, and the function and line it came from.

    `slow`: it raised nothing, but was stopped because it took more than its budget. `ended`: it ran in a process of its
    own, which it did not survive. `unasked`: it was not tried, because of what it had done with the same output.
    `before`: it had been fed nothing yet. `rests`: it was not tried, for it does not answer lately, whatever it is fed.
    `unplaced`: at which step it was nobody knows.
    """

    kind: str
    message: str = ""
    place: str = ""
    slow: bool = False
    ended: bool = False
    unasked: bool = False
    before: bool = False
    rests: bool = False
    unplaced: bool = False

    def __str__(self) -> str:
        return self.words + (f" (in {self.place})" if self.place else "")

    @property
    def words(self) -> str:
        """The failure without its place."""
        return f"{self.kind}: {self.message}" if self.message else self.kind

    @property
    def uninstalled(self) -> bool:
        """Return whether something is missing that the parser imports."""
        return self.kind in ("ImportError", "ModuleNotFoundError")

    @property
    def cause(self) -> tuple[str, str]:
        """What failures of one cause share: what they say may differ from output to output, and so does what a process
        said, which stands behind the reason why it ended."""
        said = re.split("[:;]", self.message, maxsplit=1)[0] if self.ended else self.message
        return self.kind, self.place or said


class Raised(Diagnostic, gc=False):
    """The parser raised while it read these characters. It is not fed again."""

    failure: Failure = Failure("Exception")

    @classmethod
    def at(cls, start: int, end: int, failure: Failure) -> Raised:
        """The diagnostic of a failure."""
        return cls(start, end, "parser_raised", "error", str(failure), failure)
