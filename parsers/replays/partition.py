"""Who owns each character of an output, from what the events claim."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from functools import cached_property
from operator import attrgetter

from parsers.replays.lazy import Lazy
from parsers.vocabulary.drops import LOST, DropReason
from parsers.vocabulary.events import Dropped, Event, Marker, TextEvent
from parsers.vocabulary.trace import Ownership
from parsers.vocabulary.types import Owner


class _Runs:
    """Runs that tile an output, as columns: those of one owner that touch are one."""

    def __init__(self, found: Iterable[Ownership], size: int) -> None:
        self.starts, self._ends, self._codes = array("i"), array("i"), array("i")
        self._kinds: list[tuple[Owner, DropReason | None]] = []
        self._known: dict[tuple[Owner, DropReason | None], int] = {}
        at = 0
        for claim in _split_ids(sorted(found, key=attrgetter("start", "end"))):
            if claim.start > at:
                self._add(at, claim.start, ("dropped", LOST))
            if claim.end > at:
                self._add(max(claim.start, at), claim.end, (claim.owner, claim.reason))
            at = max(at, claim.end)
        if at < size:
            self._add(at, size, ("dropped", LOST))

    def run(self, index: int) -> Ownership:
        return Ownership(self.starts[index], self._ends[index], *self._kinds[self._codes[index]])

    def _add(self, start: int, end: int, kind: tuple[Owner, DropReason | None]) -> None:
        code = self._known.setdefault(kind, len(self._kinds))
        if code == len(self._kinds):
            self._kinds.append(kind)
        if self.starts and self._codes[-1] == code and self._ends[-1] == start:
            self._ends[-1] = end
            return
        self.starts.append(start)
        self._ends.append(end)
        self._codes.append(code)


class Partition(Lazy[Ownership]):
    """Runs that tile an output of `size` characters, worked out when somebody looks. What no claim covers is dropped as
    lost."""

    def __init__(self, claims: Callable[[], Iterable[Ownership]], size: int) -> None:
        self._claims = claims
        self._size = size

    @cached_property
    def _runs(self) -> _Runs:
        return _Runs(self._claims(), self._size)

    def __len__(self) -> int:
        return len(self._runs.starts)

    def _make(self, index: int) -> Ownership:
        return self._runs.run(index)


def partition(events: Iterable[Event], size: int) -> Partition:
    """Who owns each character. Runs tile [0, size); what no event claims is dropped with the reason 'lost'.

    A name inside an id (Kimi's header) belongs to the name.
    """
    claims = [claim for event in events for claim in claims_of(event)]
    return Partition(lambda: claims, size)


def claims_of(event: Event) -> list[Ownership]:
    """The characters that an event claims."""
    if isinstance(event, TextEvent) and event.owner is not None:
        if event.segments is None:
            return [Ownership(event.start, event.end, event.owner)]
        return [Ownership(part.start, part.end, event.owner) for part in event.segments if part.end > part.start]
    if isinstance(event, Dropped):
        return [Ownership(event.start, event.end, "dropped", event.reason)]
    if isinstance(event, Marker):
        return [Ownership(event.start, event.end, "marker")]
    return []


def _split_ids(claims: list[Ownership]) -> list[Ownership]:
    """Cut the name out of the id that contains it."""
    out: list[Ownership] = []
    for claim in claims:
        last = out[-1] if out else None
        if last is not None and last.owner == "id" and claim.owner == "name" and claim.end <= last.end:
            out[-1:] = [Ownership(last.start, claim.start, "id"), claim, Ownership(claim.end, last.end, "id")]
        else:
            out.append(claim)
    return [run for run in out if run.end > run.start]
