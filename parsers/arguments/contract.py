"""What a codec is: the reader of a call's arguments inside one state (or a run of states) of the machine.

The machine hands a codec text up to the next terminal the codec is willing to see, and the codec hands events back
through an Output. Which terminals are visible is the codec's `scope`:

* OPEN: the terminals of the state, and the codec's own literals for `open`;
* any other name: only the codec's own literals of that name;
* None: nothing can match. This is how a codec inside a JSON string wins over markers.

A codec may stop early (its scope changed, it queued a trigger, it needs more text to decide). It never raises on
model output and never looks at a character twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from parsers.vocabulary.events import Segment, Severity
from parsers.vocabulary.trace import Hold

OPEN = "open"
CUT = "cut off before its end"


def is_quoted(text: str) -> bool:
    """Whether a pair of matching quotes stands around a text."""
    return len(text) > 1 and text[0] == text[-1] and text[0] in "'\""


class Output(Protocol):
    """Where a codec puts what it found. All positions are raw offsets in the output text."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON Schema of the open call's arguments, when its tool is declared and named."""

    def knows(self, name: str) -> bool:
        """Whether a tool of that name is declared, or none are."""

    @property
    def policy(self) -> Mapping[str, str]:
        """The policies in force."""

    @property
    def closes(self) -> bool:
        """Whether cut-off arguments are to be closed by appending (policy truncated_call: close)."""

    def marker(self, start: int, end: int, terminal: str = "structure") -> None:
        """Characters that are structure."""

    def dropped(self, start: int, end: int, reason: str) -> None:
        """Characters that reach nobody."""

    def diagnostic(self, code: str, message: str, start: int, end: int, severity: Severity = "warning") -> None:
        """Something the user should know."""

    def call_id(self, text: str, start: int, end: int) -> None:
        """The id the model gave the call; before its name."""

    def name(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The call's whole name. This is what commits a tentative call."""

    def arguments(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The next piece of the arguments' JSON text."""


class Codec(ABC):
    """Base of all codecs. One instance reads one visit to a state; with `spans_states` a run of states of its own.

    `options` are the options with their defaults, `choices` the values of those that are words. `complete` says
    whether the arguments are whole; `over` is set before finish() when it is the output that ends, `cut` besides
    when it was cut off; `surplus` once a closing bracket too many was reported. `queue` holds the triggers that are
    due, first one first; the machine fires them before it hands over more text.
    """

    triggers: ClassVar[tuple[str, ...]] = ("DONE",)
    awaits: ClassVar[str] = "An escape sequence is sent whole."  # why text may be left with the machine
    spans_states: ClassVar[bool] = False
    options: ClassVar[Mapping[str, Any]] = {}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, out: Output, options: Mapping[str, Any]) -> None:
        self.out = out
        self.queue: list[str] = []
        self.scope: str | None = OPEN
        self.complete = False
        self.over = self.cut = self.surplus = False

    @classmethod
    def scopes(cls, options: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        """The codec's own literals by scope name."""
        return {}

    @classmethod
    def closers(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The texts that end a string value wherever they stand in it; none where strings are quoted and escaped."""
        return ()

    @abstractmethod
    def text(self, buffer: str, pos: int, end: int, base: int, *, final: bool) -> int:
        """Read buffer[pos:end]; `base` is the raw offset of buffer[0]. Returns where reading stopped."""

    def literal(self, name: str, start: int, end: int) -> int:
        """One of the codec's own literals stands at raw [start, end). Returns up to where (raw) it was read."""
        return end

    def terminal(self, name: str, end: int) -> None:  # noqa: B027 - most codecs read one state only
        """A terminal of the machine moved it to another state that this codec goes on reading."""

    def finish(self, at: int) -> None:  # noqa: B027 - a codec that passes everything on has nothing to finish
        """The value is over, by a terminal or the end of the output, at raw offset `at`."""

    def hold(self) -> Hold | None:
        """What the codec has read and not passed on yet."""
        return None

    def describe(self) -> str:
        """The codec's state in a few words."""
        return ""


# Text that waits, with the places it came from: a token that was left out in between makes a gap.


class Waiting:
    """Texts in the order of their places in the output."""

    __slots__ = ("_reached", "_runs")

    def __init__(self) -> None:
        self._runs: list[tuple[int, list[str]]] = []
        self._reached = 0

    def __bool__(self) -> bool:
        return bool(self._runs)

    def add(self, text: str, at: int) -> None:
        """More text, which stands at `at` in the output."""
        if not text:
            return
        if not self._runs or at != self._reached:
            self._runs.append((at, []))
        self._runs[-1][1].append(text)
        self._reached = at + len(text)

    def text(self) -> str:
        """All of it."""
        return "".join([run.text for run in self.runs()])

    def runs(self) -> list[Segment]:
        """What stands together, one segment each. Joined once: a long text is not copied again."""
        for _, texts in self._runs:
            texts[:] = ["".join(texts)]
        return [Segment(text, at, at + len(text)) for at, (text,) in self._runs]

    def spelled(self, text: str) -> tuple[Segment, ...] | None:
        """The segments of an event that sends it as `text`; None where that is the text itself, all in one place."""
        runs = self.runs()
        if text == self.text():
            return tuple(runs) if len(runs) > 1 else None
        first = (text, *[""] * len(runs))
        return tuple([Segment(said, run.start, run.end, "converted") for said, run in zip(first, runs, strict=False)])
