"""Who got which character of the output: the legend, which is a filter too, and the list of what was dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from parsers.vocabulary.drops import UNSAID
from webapp.page.glyphs import count
from webapp.page.index import TraceIndex
from webapp.page.roles import DRAWN, LEGEND, read_only

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
