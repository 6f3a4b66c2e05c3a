"""What a parser says of itself after a step, as a trace keeps it: one object while only the end of the text moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from msgspec import Struct

from parsers.vocabulary.trace import CodecState, Hold, HoldKind, Shape, StateView

# Why text is held in words, or what stands around the number of its characters in these
Words = str | tuple[str, ...]


class Beginning(ABC):
    """Why text is held that may become a literal: that depends on how much of it there is by then."""

    __slots__ = ()

    @abstractmethod
    def of(self, text: str) -> tuple[tuple[str, ...], Words]:
        """The terminals that this much of it may become, and why it is held."""


Reason = Words | Beginning
# Text that waits: (kind, reason, start, end) of a hold. Where the end is FED, it is that of all text that was fed.
Waits = tuple[HoldKind, Reason, int, int]
FED = -1
# Where an argument parser stands, and what it read and did not pass on yet
Standing = tuple[CodecState, Waits | None]


def held(waits: Waits, text: str, at: int = 0) -> tuple[Hold, tuple[str, ...]]:
    """What waits as a hold, and the terminals that it may become if it says so. It is not FED. `text` is that of the
    output from an offset on."""
    kind, reason, start, end = waits
    candidates: tuple[str, ...] = ()
    if isinstance(reason, Beginning):
        candidates, reason = reason.of(text[start - at : end - at])
    return Hold(start, end, kind, reason if isinstance(reason, str) else str(end - start).join(reason)), candidates


class Seen(Struct, gc=False, eq=False):
    """A view as a trace keeps it: what it is besides its holds and its call, that call, and what waits in order.

    What is FED may be the last of these only. A parser gives the same object while nothing else changes. What text may
    become that waits for a reason of its own kind (Beginning) stands there, and not in the shape.
    """

    shape: Shape
    call: int | None = None
    waits: Sequence[Waits] = ()

    @classmethod
    def of(cls, view: StateView) -> Seen:
        """The same as a view that says where everything ends."""
        shape = view.state, view.candidates, view.accepts, view.codec, view.call_state
        return cls(shape, view.call, [(hold.kind, hold.reason, hold.start, hold.end) for hold in view.holds])

    def ended(self, fed: int) -> Seen:
        """The same where so many characters were fed, which it stays when there are more."""
        if not self.waits or self.waits[-1][3] != FED:
            return self
        kind, reason, start, _ = self.waits[-1]
        return Seen(self.shape, self.call, [*self.waits[:-1], (kind, reason, start, fed)])

    def view(self, fed: int, text: str = "") -> StateView:
        """The view where so many characters were fed, of which `text` are the last ones: all that may wait in it."""
        state, candidates, accepts, codec, call_state = self.shape
        holds = list[Hold]()
        for waits in self.ended(fed).waits:
            hold, becomes = held(waits, text, fed - len(text))
            holds.append(hold)
            candidates = candidates or becomes
        return StateView(state, tuple(holds), candidates, accepts, self.call, codec, call_state)
