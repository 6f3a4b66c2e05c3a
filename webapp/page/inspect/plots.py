"""The overview band and the lag pane: the whole output at a glance.

The band is over steps: states, roles, emissions, findings.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from parsers.compare.lag import ChannelLag, LongestHold, Wait, channel_lags, longest_hold, stays, waits
from parsers.replays.partition import claims_on
from parsers.vocabulary.observed import UNKNOWN_STATE, brief
from parsers.vocabulary.trace import Finding
from webapp.glyphs import count, shorten
from webapp.page.drawing import COLUMNS, Bar, Column, Shape, bars, peaks, percent, rising, shapes, tiles
from webapp.page.inspect.index import DRAWN, TraceIndex, index_of
from webapp.page.search.lost import Beside
from webapp.runs.runner import Run, collector_paused

_DOTS = 300
_DELTAS = 24  # as many are told apart in a lane
_HELD = 12.0  # height of the lane of what is held
_LANE = 18.0  # from the top of one lane to that of the next
_COST = 14.0  # height of the dearest step's bar
ALONE = -22.0  # the top of a lane that is a band for itself
_LETTER = 0.72  # width of a letter of a label, in percent of a band about 950 px wide
_SLIM_LETTER = 1.15  # of one about 600 px wide
_BAR = {"content": (32.0, 4.0), "reasoning": (24.0, 12.0), "name": (24.0, 12.0), "arguments": (28.0, 8.0),
        "marker": (32.5, 3.0), "dropped": (24.0, 12.0), "lost": (24.0, 12.0)}  # fmt: skip


@dataclass(slots=True, frozen=True)
class _StateBar:
    """A stay in one state, steps `first` to `last`; or several that are too short to be drawn each by itself."""

    state: str
    first: int
    last: int
    x: float
    width: float
    names: tuple[str, ...] = ()  # what it may be called for short, the longest first

    @property
    def label(self) -> str:
        """The longest of its names that there is room for."""
        return self._fitting(_LETTER)

    @property
    def slim_label(self) -> str:
        """The same where the band is narrower."""
        return self._fitting(_SLIM_LETTER)

    def _fitting(self, letter: float) -> str:
        return next((name for name in self.names if len(name) * letter + 0.8 <= self.width), "")


@dataclass(slots=True, frozen=True)
class RoleBar:
    """A run of one role, in a lane whose top is `top`."""

    bar: Bar
    top: float = 0.0

    @property
    def y(self) -> float:
        return _BAR[self.bar.kind][0] + self.top

    @property
    def height(self) -> float:
        return _BAR[self.bar.kind][1]


@dataclass(slots=True, frozen=True)
class Lane:
    """One reading of the output in the band: what is right, or what came of it, where a parser does not say itself."""

    label: str
    bars: list[RoleBar]


@dataclass(slots=True, frozen=True)
class Overview:
    """The band of a whole trace, and the counts beside it. `findings` are places and severities. `costs`: how long the
    steps of an engine's parser took, as bars of (x, width, height); `dearest` is the longest, in microseconds. `holds`:
    how much was held after each step, and `most_held` at most. `gaps`: how long nothing came before each step, as such
    bars, where that was recorded. `by_delta`: of a parser that nobody knows the state of, and of an output that came at
    once, the first lane has the deltas."""

    total: int
    states: list[_StateBar]
    roles: list[RoleBar]
    emissions: list[float]
    findings: list[tuple[float, str]]
    held: tuple[float, float] | None
    cursor: float
    words: str
    changes: int
    emitted: int
    found: int
    costs: Sequence[tuple[float, float, float]] = ()
    dearest: int = 0
    holds: Sequence[Shape] = ()
    most_held: int = 0
    beside: Sequence[Lane] = ()
    gaps: Sequence[tuple[float, float, float]] = ()
    by_delta: bool = False
    of_attributes: bool = False


def overview(
    index: TraceIndex,
    findings: Sequence[Finding],
    step: int,
    marked: Sequence[int] = (),
    place: tuple[int, str] | None = None,
) -> Overview:
    """The band with the cursor on `step`. `marked` are the steps at which something is to be found, `place` the one
    that the verdict names, and how bad it is."""
    by_delta = _is_by_delta(index)
    states = _delta_bars(index.total) if by_delta else list(_state_bars(index))
    micros = () if index.trace.observed is None else index.trace.observed.micros
    marks: list[tuple[int, str]] = [(found.step, found.severity) for found in findings if found.step]
    if place is not None and place[0] not in [at for at, _ in marks]:
        marks.append(place)
    holds, most_held = _holds(index)
    return Overview(
        total=index.total,
        states=states,
        roles=role_bars(index, _place_of(index)) if index.beside is None else [],
        emissions=_dots(index),
        findings=[(_centre(at, index.total), severity) for at, severity in marks],
        held=_held_band(index, step),
        cursor=_centre(step, index.total),
        words=_band_words(index, states, step, marked, "Deltas" if by_delta else "States"),
        changes=len(index.changes),
        emitted=len(index.emissions),
        found=len(findings),
        costs=() if index.beside is not None else _costs(micros, index.total),
        gaps=_gap_bars(index),
        beside=[*_beside_lanes(index)],
        of_attributes=index.trace.observed is not None and not index.trace.observed.declared,
        dearest=max(micros, default=0),
        holds=holds,
        most_held=most_held,
        by_delta=by_delta,
    )


def _gap_bars(index: TraceIndex) -> Sequence[tuple[float, float, float]]:
    """One bar for each gap, in a lane of its own; there is room for it where no other reading is laid beside."""
    if index.arrivals is None or not index.is_timed or index.beside is not None:
        return ()
    return _costs([round(1000 * (gap or 0.0)) for gap in index.arrivals.gaps], index.total)


def _is_by_delta(index: TraceIndex) -> bool:
    """Return whether deltas say more than states: where no state is known, or one delta went through all of them."""
    unknown = index.total <= _DELTAS + 1 and all(step.state == UNKNOWN_STATE for step in index.trace.steps)
    return unknown or index.total == len(("delta", "end"))


def _holds(index: TraceIndex) -> tuple[list[Shape], int]:
    """The lane of what was held, as high as its most; nothing where nothing ever was."""
    kept = [(step - 1, step, ("held", end - start)) for step, start, end in index.trace.columns.held() if end > start]
    most = max([size for _, _, (_, size) in kept], default=0)
    return shapes(peaks(kept, index.total), rising(most, _HELD, _LEAST)), most


def _costs(micros: Sequence[int], total: int) -> list[tuple[float, float, float]]:
    """A bar for each step, or for each column of many, as high as the root of its dearest step: one slow step leaves
    the others to be seen. Those near nothing are left out."""
    most, size = max(micros, default=0), max(1, -(-total // COLUMNS))
    tops = [max(micros[at : at + size]) for at in range(0, len(micros), size)]
    return [
        (percent(at * size, total), percent(size, total), round(_COST * (top / most) ** 0.5, 1))
        for at, top in enumerate(tops)
        if top * 200 > most
    ]


def role_bars(index: TraceIndex, x: Callable[[int], float], top: float = 0.0) -> list[RoleBar]:
    """The roles of the characters; `x` gives the place of a character in percent."""

    def kind(at: int) -> str:
        return index.owned(at)[2]

    if not index.owner_starts:
        return []
    return [RoleBar(bar, top) for bar in tiles([*index.owner_starts, len(index.trace.text)], kind, x)]


def _beside_lanes(index: TraceIndex) -> Iterator[Lane]:
    """The right reading, and under it the same with what this run lost of it."""
    beside, x = index.beside, _place_of(index)
    for top, label in enumerate(("Expected", "This run")):
        parts = beside.parts if beside is not None else ()
        places = [((part.shown if top else part.role), x(part.start), x(part.end)) for part in parts]
        if places:
            yield Lane(label, [RoleBar(bar, _LANE * top) for bar in bars(places)])


def lost_bars(beside: Beside) -> list[RoleBar]:
    """A band for itself of what is right, with what is lost of it."""
    many = beside.parts[-1].end
    places = [(part.shown, percent(part.start, many), percent(part.end, many)) for part in beside.parts]
    return [RoleBar(bar, ALONE) for bar in bars(places)]


def _centre(step: int, total: int) -> float:
    return percent(step - 0.5, total)


def _held_band(index: TraceIndex, step: int) -> tuple[float, float] | None:
    """x and width of what is held at `step`, up to the step that lets it go."""
    if not index.step(step).holds:
        return None
    return percent(step - 1, index.total), percent(index.releases[step - 1] - step + 1, index.total)


def _state_bars(index: TraceIndex) -> Iterator[_StateBar]:
    """Every stay from where it begins; those that follow one another and are narrower than a column share a bar."""
    total, state_after = index.total, index.trace.columns.state
    size = max(1, -(-total // COLUMNS))
    firsts = sorted({1, *index.changes, *_seen_changes(index)})
    short: list[tuple[int, str]] = []  # the stays that are not drawn yet
    drawn: list[tuple[int, int, str]] = []
    for first, after in zip(firsts, [*firsts[1:], total + 1], strict=True):
        if short and (after - first >= size or first - short[0][0] >= size):
            drawn.append(_together(short, first))
            short = []
        short.append((first, _said(state_after(first))))
    drawn.append(_together(short, total + 1))
    names = _short_names({state for _, _, state in drawn})
    for first, last, state in drawn:
        yield _StateBar(state, first, last, percent(first - 1, total), percent(last - first + 1, total), names[state])


def _said(state: str) -> str:
    return "not known" if state == UNKNOWN_STATE else state


def _delta_bars(total: int) -> list[_StateBar]:
    """A bar for each delta, and one for the end."""
    return [
        _StateBar(words, at, at, percent(at - 1, total), percent(1, total), (words, str(at)))
        for at, words in [*[(at, f"delta {at}") for at in range(1, total)], (total, "end")]
    ]


def _seen_changes(index: TraceIndex) -> Iterable[int]:
    """Where the state that an engine's parser was seen in changed: of it no row tells."""
    if index.trace.observed is None:
        return ()
    states = [step.state for step in index.trace.steps]
    return [at + 1 for at in range(1, len(states)) if states[at] != states[at - 1]]


def _together(short: Sequence[tuple[int, str]], after: int) -> tuple[int, int, str]:
    """The bar of stays in a row, up to the step before `after`."""
    return short[0][0], after - 1, ", ".join(dict.fromkeys([state for _, state in short]))


def _short_names(states: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What each may be called: its whole name, and those ends and beginnings of it that mean no other state. What is
    no whole name says so: it may be the name of a state that is not drawn here."""
    cut = {state: [brief(state)] if brief(state) != state else _cuts(state.split("_")) for state in states}
    meant = Counter([name for names in cut.values() for name in set(names)])
    return {state: (state, *[name for name in names if meant[name] == 1]) for state, names in cut.items()}


def _cuts(words: Sequence[str]) -> list[str]:
    """The ends of a name and its beginnings, the longest first; of several states in a row there is none."""
    if any("," in word for word in words):
        return []
    cuts = [("_".join(words[-many:]), "_".join(words[:many])) for many in range(len(words) - 1, 0, -1)]
    return [name for end, beginning in cuts for name in (f"…{end}", f"{beginning}…")]


def _place_of(index: TraceIndex) -> Callable[[int], float]:
    """Gives the place of a character in percent: its step, and its share of the step."""
    ends, total = index.step_ends, index.total

    def place(offset: int) -> float:
        at = min(bisect_left(ends, offset), total - 1)
        start, end = ends[at - 1] if at else 0, ends[at]
        inside = (offset - start) / (end - start) if end > start else 0
        return percent(at + min(max(inside, 0), 1), total)

    return place


def _dots(index: TraceIndex) -> list[float]:
    total = index.total
    columns = {step * _DOTS // (total + 1): step for step in index.emissions}
    return [_centre(step, total) for step in columns.values()]


def _band_words(index: TraceIndex, states: list[_StateBar], step: int, marked: Sequence[int], lane: str) -> str:
    stays = ", ".join(f"{brief(bar.state)} {bar.first} to {bar.last}" for bar in states[:30])
    more = f" and {len(states) - 30} more stays" if len(states) > 30 else ""
    found = f" {count(len(marked), 'step')} with findings." if marked else ""
    return f"{lane} over {count(index.total, 'step')}: {stays}{more}. The cursor is at step {step}.{found}"


# The lag pane: how long each character waited before it left, over the whole output, and how much was held.
#
# Drawn once per trace: three rows of at most a thousand columns, whatever the output's length.
# Only the cursor depends on the step.

_HEIGHT = 36.0  # of the tallest bar of a row
_LONGEST = 10
_LEAST = 2.0  # a bar that is lower could not be seen
_UNTOLD = "This parser does not say which characters its text comes from, so nobody can tell how long they waited."
_STRIP_TOP = 24.0  # where the band's row of roles begins, see _BAR


@dataclass(slots=True, frozen=True)
class LagPlot:
    """Holds what does not depend on the cursor. `known` is false where the parser does not say where its text comes
    from.

    `longest` are the longest waits, each with its role and what waited. `steps` has for each column the step that fed
    its first character, as JSON: there a click leads.
    """

    known: bool
    length: int
    peak: int = 0
    held_peak: int = 0
    lags: list[Shape] = field(default_factory=list)
    roles: list[Shape] = field(default_factory=list)
    holds: list[Shape] = field(default_factory=list)
    channels: list[ChannelLag] = field(default_factory=list)
    longest: list[tuple[Wait, str, str]] = field(default_factory=list)
    waiting: int = 0
    hold: LongestHold | None = None
    steps: str = "[]"

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes."""
        return sum([len(shape.path) for shape in (*self.lags, *self.roles, *self.holds)]) + len(self.steps) + 10_000

    @property
    def note(self) -> str:
        if not self.known:
            return "not known for this parser"
        return f"at most {count(self.peak, 'character')}" if self.peak else "nothing waits"

    @property
    def words(self) -> str:
        """The plot in one or two sentences; the longest hold is told beside its link."""
        if not self.known:
            return _UNTOLD
        waiting = [item for item in self.channels if item.largest]
        if not waiting:
            return "Every character left in the step in which it arrived."
        first, *rest = sorted(waiting, key=lambda item: -item.largest)
        others = "".join(f", {item.channel} at most {item.largest:,}" for item in rest)
        verb = "wait" if first.channel == "arguments" else "waits"
        return f"{first.channel.capitalize()} {verb} at most {count(first.largest, 'character')}{others}."


def lag_pane(run: Run, step: int) -> tuple[LagPlot, float]:
    """The lag of a replay, and the cursor on `step` in percent."""
    index = index_of(run)
    with collector_paused():
        plot = run.beside.get("lag", lambda: lag_plot(index), size=lambda plot: plot.nbytes)
    return plot, percent(index.step_ends[step - 1], plot.length)


def lag_plot(index: TraceIndex) -> LagPlot:
    """The plot and its tables."""
    trace, length = index.trace, len(index.trace.text)
    if not trace.partition:
        return LagPlot(not length, length)
    found = stays(trace)
    longest, waiting = waits(trace, found, _LONGEST)
    ends = index.step_ends
    kept = [
        (ends[step - 2] if step > 1 else 0, ends[step - 1], ("held", end - start))
        for step, start, end in trace.columns.held()
    ]
    peak, held_peak = max([stay.lag for stay in found], default=0), max([most for _, _, (_, most) in kept], default=0)
    lags = [(stay.start, stay.end, (DRAWN.get(stay.channel, stay.channel), stay.lag)) for stay in found if stay.lag]
    owners = [(start, end, (DRAWN.get(owner, owner), 1)) for start, end, owner, _ in claims_on(trace.partition)]
    wide = min(length, COLUMNS)
    return LagPlot(
        known=True,
        length=length,
        peak=peak,
        held_peak=held_peak,
        lags=shapes(peaks(lags, length), rising(peak, _HEIGHT, _LEAST)),
        roles=shapes(peaks(owners, length), _in_strip),
        holds=shapes(peaks(kept, length), rising(held_peak, _HEIGHT, _LEAST)),
        channels=channel_lags(found),
        longest=[_long(wait, trace.text) for wait in longest],
        waiting=waiting,
        hold=longest_hold(trace),
        steps=json.dumps([index.step_at(at * length // wide) for at in range(wide)], separators=(",", ":")),
    )


def _long(wait: Wait, text: str) -> tuple[Wait, str, str]:
    return wait, DRAWN.get(wait.channel, wait.channel), shorten(text[wait.start : wait.end], 40)


def _in_strip(what: Column) -> tuple[float, float]:
    """The place of a role in the row of roles: the same heights as in the overview band."""
    y, height = _BAR[what[0]]
    return y - _STRIP_TOP, y - _STRIP_TOP + height
