"""The overview band: the whole output at a glance, over steps: states, roles, emissions, findings.

One SVG in percent, so it fits every width. Its size does not depend on the output's: whatever is narrower than a
column (a thousandth of the width) is merged into its neighbour.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from parsers.vocabulary.trace import Finding
from webapp.page.glyphs import count
from webapp.page.index import TraceIndex
from webapp.page.roles import DRAWN

COLUMNS = 1000
DOTS = 300
LETTER = 0.72  # width of a letter of a label, in percent of a band about 950 px wide
BAR = {"content": (32.0, 4.0), "reasoning": (24.0, 12.0), "name": (24.0, 12.0), "arguments": (28.0, 8.0),
       "marker": (32.5, 3.0), "dropped": (24.0, 12.0)}  # fmt: skip


@dataclass(slots=True)
class StateBar:
    """A stay in one state, steps `first` to `last`."""

    state: str
    label: str
    first: int
    last: int
    x: float
    width: float

    @property
    def middle(self) -> float:
        """Where the label stands, in percent."""
        return round(self.x + self.width / 2, 3)


@dataclass(slots=True)
class RoleBar:
    """A run of one role."""

    role: str
    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Mark:
    """A finding's place."""

    x: float
    step: int
    severity: str


@dataclass(slots=True)
class Overview:
    """The band of a whole trace, and the counts beside it."""

    total: int
    states: list[StateBar]
    roles: list[RoleBar]
    emissions: list[float]
    findings: list[Mark]
    held: tuple[float, float] | None
    cursor: float
    words: str
    changes: int
    emitted: int
    found: int


def overview(index: TraceIndex, findings: Sequence[Finding], step: int) -> Overview:
    """The band with the cursor on `step`."""
    states = _state_bars(index)
    return Overview(
        total=index.total,
        states=states,
        roles=list(_role_bars(index)),
        emissions=_dots(index),
        findings=[Mark(centre(f.step, index.total), f.step, f.severity) for f in findings if f.step],
        held=held_band(index, step),
        cursor=centre(step, index.total),
        words=_words(index, states, step),
        changes=len(index.changes),
        emitted=len(index.emissions),
        found=len(findings),
    )


def centre(step: int, total: int) -> float:
    """The middle of a step, in percent of the band."""
    return round((step - 0.5) * 100 / max(total, 1), 3)


def held_band(index: TraceIndex, step: int) -> tuple[float, float] | None:
    """x and width of what is held at `step`, up to the step that lets it go."""
    if not index.step(step).holds:
        return None
    share = 100 / index.total
    return round((step - 1) * share, 3), round((index.releases[step - 1] - step + 1) * share, 3)


def _state_bars(index: TraceIndex) -> list[StateBar]:
    total = index.total
    size = max(1, -(-total // COLUMNS))
    columns = [index.trace.steps[at].state for at in range(0, total, size)]
    bars, first = [], 1
    for state, group in groupby(columns):
        last = min(total, first + size * len(list(group)) - 1)
        width = (last - first + 1) * 100 / total
        bars.append(StateBar(state, _fitting(state, width), first, last, _share(first - 1, total), round(width, 3)))
        first = last + 1
    return bars


def _fitting(label: str, width: float) -> str:
    """As much of a label as its bar has room for: all, its first letter, or nothing."""
    if len(label) * LETTER + 0.8 <= width:
        return label
    return label[:1] if width >= LETTER + 0.4 else ""


def _share(steps: float, total: int) -> float:
    return round(steps * 100 / max(total, 1), 3)


def _role_bars(index: TraceIndex) -> Iterator[RoleBar]:
    """The partition, from characters to steps; runs of one role that touch are one bar."""
    smallest = 100 / COLUMNS
    waiting: RoleBar | None = None
    for owner in index.trace.partition:
        role = DRAWN.get(owner.owner, owner.owner)
        left, right = _x(index, owner.start), _x(index, owner.end)
        if waiting and (waiting.role == role or right - waiting.x < smallest):
            waiting.width = round(right - waiting.x, 3)
            continue
        if waiting:
            yield waiting
        y, height = BAR[role]
        waiting = RoleBar(role, left, y, round(max(right - left, smallest), 3), height)
    if waiting:
        yield waiting


def _x(index: TraceIndex, offset: int) -> float:
    """A character's place in percent: its step, and its share of the step."""
    at = min(bisect_left(index.step_ends, offset), index.total - 1)
    span = index.trace.steps[at].span
    inside = (offset - span.start) / (span.end - span.start) if span.end > span.start else 0
    return _share(at + min(max(inside, 0), 1), index.total)


def _dots(index: TraceIndex) -> list[float]:
    columns = {step * DOTS // (index.total + 1): step for step in index.emissions}
    return [centre(step, index.total) for step in columns.values()]


def _words(index: TraceIndex, states: list[StateBar], step: int) -> str:
    """The text alternative of the picture."""
    stays = ", ".join(f"{bar.state} {bar.first} to {bar.last}" for bar in states[:30])
    more = f" and {len(states) - 30} more stays" if len(states) > 30 else ""
    found = f" {count(len(index.findings), 'step')} with findings." if index.findings else ""
    return f"States over {count(index.total, 'step')}: {stays}{more}. The cursor is at step {step}.{found}"
