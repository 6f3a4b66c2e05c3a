"""Who owns each character of an output, from what the events claim."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter

from parsers.replays.lazy import Lazy
from parsers.vocabulary.drops import LOST, DropReason
from parsers.vocabulary.events import Dropped, Event, Marker, TextEvent
from parsers.vocabulary.trace import Ownership
from parsers.vocabulary.types import Owner

# Characters [start, end) that an event claims, the owner, and for dropped ones the reason.
Claim = tuple[int, int, Owner, DropReason | None]


class _Runs:
    """Runs that tile an output, as columns: those of one owner that touch are one."""

    def __init__(self, found: Iterable[Claim], size: int) -> None:
        self.starts, self._ends, self._codes = array("i"), array("i"), array("i")
        self._kinds: list[tuple[Owner, DropReason | None]] = []
        self._known: dict[tuple[Owner, DropReason | None], int] = {}
        at = 0
        for start, end, owner, reason in _split_ids(sorted(found, key=itemgetter(0, 1))):
            if start > at:
                self._add(at, start, ("dropped", LOST))
                at = start
            if end > at:
                self._add(at, end, (owner, reason))
                at = end
        if at < size:
            self._add(at, size, ("dropped", LOST))

    def run(self, index: int) -> Ownership:
        return Ownership(self.starts[index], self._ends[index], *self._kinds[self._codes[index]])

    def claims(self) -> Iterator[Claim]:
        kinds = self._kinds
        columns = zip(self.starts, self._ends, self._codes, strict=True)
        return ((start, end, *kinds[code]) for start, end, code in columns)

    def _add(self, start: int, end: int, kind: tuple[Owner, DropReason | None]) -> None:
        """What follows the last run, and belongs to one owner."""
        code = self._known.get(kind)
        if code is None:
            code = self._known[kind] = len(self._kinds)
            self._kinds.append(kind)
        if self._codes and self._codes[-1] == code:
            self._ends[-1] = end
            return
        self.starts.append(start)
        self._ends.append(end)
        self._codes.append(code)


class Partition(Lazy[Ownership]):
    """Runs that tile an output of `size` characters, worked out when somebody looks. What no claim covers is dropped as
    lost."""

    def __init__(self, claims: Callable[[], Iterable[Claim]], size: int) -> None:
        self._claims = claims
        self._size = size

    @cached_property
    def _runs(self) -> _Runs:
        return _Runs(self._claims(), self._size)

    def __len__(self) -> int:
        return len(self._runs.starts)

    def claims(self) -> Iterator[Claim]:
        """The runs as plain values."""
        return self._runs.claims()

    def _make(self, index: int) -> Ownership:
        return self._runs.run(index)


def claims_on(runs: Sequence[Ownership]) -> Iterator[Claim]:
    """Runs as plain values, which takes far less than to make them where they are a partition."""
    if isinstance(runs, Partition):
        return runs.claims()
    return ((run.start, run.end, run.owner, run.reason) for run in runs)


def partition(events: Iterable[Event], size: int) -> Partition:
    """Who owns each character. Runs tile [0, size); what no event claims is dropped with the reason 'lost'.

    A name inside an id (Kimi's header) belongs to the name.
    """
    claims = [claim for event in events for claim in claims_of(event)]
    return Partition(lambda: claims, size)


def claims_of(event: Event) -> list[Claim]:
    """The characters that an event claims."""
    if isinstance(event, TextEvent) and event.owner is not None:
        if event.segments is None:
            return [(event.start, event.end, event.owner, None)]
        return [(part.start, part.end, event.owner, None) for part in event.segments if part.end > part.start]
    if isinstance(event, Dropped):
        return [(event.start, event.end, "dropped", event.reason)]
    if isinstance(event, Marker):
        return [(event.start, event.end, "marker", None)]
    return []


def _split_ids(claims: list[Claim]) -> list[Claim]:
    """Cut the name out of the id that contains it. Returns no claim to nothing."""
    out: list[Claim] = []
    for claim in claims:
        start, end, owner, _ = claim
        if owner == "name" and out and out[-1][2] == "id" and end <= out[-1][1]:
            first, last = out[-1][:2]
            out[-1:] = [(first, start, "id", None), claim, (end, last, "id", None)]
        else:
            out.append(claim)
    return [claim for claim in out if claim[1] > claim[0]]
