"""What the cuts of a chunking stand at: a difference that a cut beside one marker brings about is another one than that
which a cut beside another does."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from parsers.checks.check import any_of
from parsers.replays.chunking import Chunking, resolved
from parsers.replays.replayer import Replayer
from parsers.search.shrink import specials
from parsers.search.sweep import MARKUP

INSIDE, BEFORE, BEHIND = "inside", "before", "behind"

# The markers that one cut stands at, each with where, and what looks like one if it is cut apart; none for a cut
# between other characters.
CutPlace = frozenset[tuple[str, str]]
CutPlaces = frozenset[CutPlace]


def cut_places(replayer: Replayer, chunking: Chunking) -> CutPlaces:
    """What each cut stands at."""
    text = replayer.text
    known = {*replayer.terminals.values(), *specials(replayer.pieces)}
    markers = any_of([one for one in known if len(one) > 1])
    spans = {match.span() for pattern in (markers, MARKUP) for match in pattern.finditer(text)}
    cuts = sorted({*(resolved(replayer.deltas(chunking)) if chunking.cuts is None else chunking.cuts)})
    found: dict[int, set[tuple[str, str]]] = {cut: set() for cut in cuts}
    for start, end in spans:
        marker = text[start:end]
        for cut in cuts[bisect_left(cuts, start) : bisect_right(cuts, end)]:
            where = BEFORE if cut == start else BEHIND if cut == end else INSIDE
            if where == INSIDE or marker in known:
                found[cut].add((marker, where))
    return frozenset(map(frozenset, found.values()))


def inside(places: CutPlaces) -> frozenset[str]:
    """The markers that are cut apart."""
    return frozenset(marker for place in places for marker, where in place if where == INSIDE)


def are_kept(places: CutPlaces, first: CutPlaces) -> bool:
    """Return whether cuts stand where first ones did: inside no other marker, and, where each of the first ones stood
    at a marker, each at one of those."""
    if not inside(places) <= inside(first):
        return False
    return frozenset() in first or all(any(place & one for one in first) for place in places)
