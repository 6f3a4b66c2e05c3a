"""What a parser is: the interface of every parser that can be replayed, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from parsers.events import Event
from parsers.trace import RejectedCall, StateView, Transition
from parsers.types import Context, Delta, Mode


class StreamParser(Protocol):
    """What every parser of this package can do.

    `transitions` is None while tracing is off; `examined` counts the characters looked at since begin().
    """

    name: str
    transitions: list[Transition] | None
    rejected: list[RejectedCall]
    examined: int

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        """Start a new output. `markers` are the marker texts that are single tokens, with their ids."""

    def feed(self, delta: Delta) -> list[Event]:
        """Read one delta and return the events it gave rise to."""

    def finish(self, reason: str | None = None) -> list[Event]:
        """The output is over, for this finish_reason."""

    def view(self) -> StateView:
        """The parser's state as it would answer now."""
