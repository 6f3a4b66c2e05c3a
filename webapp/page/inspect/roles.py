"""Cuts the output into runs of one role: what became of every character, the same cue in every pane."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from markupsafe import Markup

from parsers.vocabulary.channels import Channel, Part
from parsers.vocabulary.drops import UNSAID
from parsers.vocabulary.trace import Hold
from webapp.glyphs import count, show, show_lines
from webapp.page.inspect.index import TraceIndex

# The roles in the order of the legend. The id of a call is drawn as its name is: both say which call this is.
LEGEND = ("content", "reasoning", "name", "arguments", "marker", "held", "dropped")
DRAWN = {"id": "name"}
UNKNOWN = "unknown"  # the parser does not say


def read_only(text: str) -> str:
    """The roles of a filter, each once and in the order of the legend; whatever is no role is left out."""
    named = set(text.split(","))
    return ",".join([role for role in LEGEND if role in named])


@dataclass(slots=True)
class RoleRun:
    """Characters [start, end) of one role. `first` and `last`: its owner's run begins or ends here. `reason`: why
    it was dropped."""

    start: int
    end: int
    role: str
    text: str
    first: bool = True
    last: bool = True
    held: bool = False
    held_first: bool = False
    held_last: bool = False
    reason: str = ""

    @property
    def classes(self) -> str:
        """The CSS classes of this run."""
        flags = {"run-start": self.first, "run-end": self.last, "role-held": self.held}
        flags |= {"held-start": self.held_first, "held-end": self.held_last}
        return " ".join(["run", f"role-{self.role}", *[name for name, on in flags.items() if on]])

    @property
    def title(self) -> str:
        """What hovering says: why the characters were dropped."""
        return f"dropped: {self.reason}" if self.reason else ""

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show(self.text)

    @property
    def lines(self) -> Markup:
        """As `html`, with a line break after each newline."""
        return show_lines(self.text)


def runs(
    index: TraceIndex, start: int, end: int, holds: Iterable[Hold] = (), cuts: Iterable[int] = ()
) -> list[RoleRun]:
    """The characters [start, end) as runs, split also at `cuts` and at the ends of `holds`.

    Of a parser that does not say what becomes of them, they have no role.
    """
    held = list(holds)
    edges = {*cuts, *(hold.start for hold in held), *(hold.end for hold in held)}
    found: list[RoleRun] = []
    at = bisect_right(index.owner_starts, start) - 1
    partition = index.trace.partition
    if not partition and start < end:
        places = [start, *sorted(edge for edge in edges if start < edge < end), end]
        text = index.trace.text
        return [RoleRun(left, right, UNKNOWN, text[left:right]) for left, right in itertools.pairwise(places)]
    while start < end and 0 <= at < len(partition) and partition[at].start < end:
        owner = partition[at]
        low, high = max(owner.start, start), min(owner.end, end)
        places = [low, *sorted(edge for edge in edges if low < edge < high), high]
        for left, right in itertools.pairwise(places):
            found.append(_run(index, left, right, at, held))
        at += 1
    return found


def _run(index: TraceIndex, left: int, right: int, at: int, held: list[Hold]) -> RoleRun:
    owner = index.trace.partition[at]
    run = RoleRun(left, right, DRAWN.get(owner.owner, owner.owner), index.trace.text[left:right])
    run.first, run.last = left == owner.start, right == owner.end
    over = [hold for hold in held if hold.start <= left and right <= hold.end]
    run.held = bool(over)
    run.held_first = any(hold.start == left for hold in over)
    run.held_last = any(hold.end == right for hold in over)
    run.reason = owner.why
    return run


@dataclass(slots=True)
class Destination:
    """Where a stretch of the output went, in words, and the role it has there."""

    role: str
    text: str
    detail: str = ""


def destinations(index: TraceIndex, start: int, end: int) -> list[Destination]:
    """What became of the characters [start, end), each destination once, in order."""
    found: dict[tuple[str, str], Destination] = {}
    if not index.trace.partition and start < end:
        return [Destination(UNKNOWN, "the parser does not say")]
    for run in runs(index, start, end):
        owner = index.trace.partition[bisect_right(index.owner_starts, run.start) - 1]
        text = _words(index, owner.owner, run.start)
        found.setdefault((text, owner.why), Destination(run.role, text, owner.why))
    return list(found.values())


def _words(index: TraceIndex, owner: str, offset: int) -> str:
    if owner in {"name", "id", "arguments"}:
        call = index.call_at(offset)
        number = call.number if call else 0
        return str(Channel(number, cast(Part, owner)))
    return {"marker": "a marker, not shown to the client", "dropped": "nobody: dropped"}.get(owner, owner)


# Who got which character of the output: the legend, which is a filter too, and the list of what was dropped.

PLACES_SHOWN = 6
REASONS_SHOWN = 4


@dataclass(slots=True)
class Toggle:
    """One role of the legend. `only` is the filter after pressing its button."""

    role: str
    characters: int
    pressed: bool
    only: str

    @property
    def label(self) -> str:
        """The button's accessible name."""
        return f"{self.role}, {count(self.characters, 'character')}"


@dataclass(slots=True)
class Drop:
    """What was dropped for one reason. `places`: (span in words, the step that fed it); `more` are not listed."""

    reason: str
    characters: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)
    more: int = 0

    @property
    def words(self) -> str:
        """How often and how much."""
        return f"{count(len(self.places) + self.more, 'place')}, {count(self.characters, 'character')}"


@dataclass(slots=True)
class Ownership:
    """What the legend and the list of drops show. `hidden` reasons are not listed."""

    toggles: list[Toggle]
    drops: list[Drop]
    hidden: int
    dropped: str


def ownership(index: TraceIndex, step: int, only: str) -> Ownership:
    """The legend under the filter `only`, and all drops, the largest reasons first."""
    sizes = Counter({"held": len(index.trace.held_text(index.step(step)))})
    for run in index.trace.partition:
        sizes[DRAWN.get(run.owner, run.owner)] += run.end - run.start
    drops = sorted(_drops(index), key=lambda drop: -drop.characters)
    places = sum(len(drop.places) + drop.more for drop in drops)
    return Ownership(
        toggles=[_toggle(role, sizes[role], only.split(",")) for role in LEGEND],
        drops=drops[:REASONS_SHOWN],
        hidden=len(drops[REASONS_SHOWN:]),
        dropped=f"{count(places, 'place')}, {count(sizes['dropped'], 'character')}" if drops else "",
    )


def _toggle(role: str, characters: int, shown: list[str]) -> Toggle:
    pressed = role in shown
    after = [other for other in shown if other != role] if pressed else [*shown, role]
    return Toggle(role, characters, pressed, read_only(",".join(after)))


def _drops(index: TraceIndex) -> list[Drop]:
    found: dict[str, Drop] = {}
    for run in index.trace.partition:
        if run.owner != "dropped":
            continue
        why = run.why or UNSAID.words
        drop = found.setdefault(why, Drop(why))
        drop.characters += run.end - run.start
        if len(drop.places) < PLACES_SHOWN:
            drop.places.append((f"{run.start:,}–{run.end:,}", index.step_at(run.start)))
        else:
            drop.more += 1
    return list(found.values())
