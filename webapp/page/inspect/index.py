"""What the page needs to know about a trace to draw any window of it without reading the whole, and the output cut
into runs of one role: what became of every character, the same cue in every pane.

Built once per trace, in O(n), and cached with it; every look-up afterwards is a bisection. All positions are code
points of the output text, all steps count from 1 as `Step.index` does.
"""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TypeVar, cast

from markupsafe import Markup

from parsers.formats.diagram import END
from parsers.replays.partition import claims_on
from parsers.vocabulary import channels
from parsers.vocabulary.drops import UNSAID
from parsers.vocabulary.events import (
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Marker,
    ReasoningText,
    TextEvent,
)
from parsers.vocabulary.stretches import RunSteps, Stretches
from parsers.vocabulary.trace import Fired, Hold, Step, Trace, Transition
from parsers.vocabulary.types import Piece
from parsers.wire.arrivals import Arrivals, arrivals
from webapp.glyphs import count, shorten, show, show_lines
from webapp.page.search.laid_texts import LaidText
from webapp.page.search.lost import Beside, Part, edges_between, in_marker, marker_edges, reading_beside
from webapp.runs.runner import Run, collector_paused

_STEPS_OF_EDGE = 200
_STEPS_KEPT = 256
_REJECTED_SHOWN, _REJECTED_NAME = 12, 100
_Counted = TypeVar("_Counted")
UNPLACED = "unplaced"  # text of which the parser does not say where it comes from


class Channel(Stretches):
    """One growing text of the message, with the role it is drawn in. `laid` says where it lies in the output, where the
    parser does not and the right reading tells."""

    __slots__ = ("laid", "role")

    def __init__(self, role: str, steps: RunSteps | None = None) -> None:
        super().__init__(steps)
        self.role = role
        self.laid: LaidText | None = None


@dataclass(slots=True)
class CallIndex:
    """Says where one tool call begins and ends, and its texts."""

    number: int
    begins: int
    name: Channel
    id: Channel
    arguments: Channel
    ends: int | None = None
    complete: bool = False

    @property
    def texts(self) -> tuple[Channel, Channel, Channel]:
        """Its three texts."""
        return self.name, self.id, self.arguments


@dataclass
class TraceIndex:
    """The tables of one trace. `arrivals`: when each step came, if known: a chunk of a recorded stream, or what a
    parser was fed of one. `beside`: the right reading, where the parser does not say what became of the text.
    `marker_edges`: where true markers begin and end, in turn; where one follows another without a gap, both."""

    trace: Trace
    step_ends: Sequence[int]
    piece_ends: Sequence[int]
    changes: Sequence[int]
    emissions: Sequence[int]
    releases: Sequence[int]
    firing: Sequence[int]
    owner_starts: Sequence[int]
    fired: Counter[tuple[str, str]]
    times: Counter[str]
    fired_at: Mapping[tuple[str, str], Sequence[int]]
    reasoning: Channel
    content: Channel
    calls: dict[int, CallIndex] = field(default_factory=dict)
    call_numbers: Sequence[int] = ()
    call_starts: Sequence[int] = ()
    call_begins: Sequence[int] = ()
    call_ends: Sequence[int] = ()
    events: int = 0
    arrivals: Arrivals | None = None
    beside: Beside | None = None
    marker_edges: Sequence[int] = ()

    @property
    def is_timed(self) -> bool:
        """Return whether it is known how long after the one before any step came."""
        return self.arrivals is not None and any(gap is not None for gap in self.arrivals.gaps)

    def came(self, step: int) -> str:
        """When a step came, in words; empty where that is not known."""
        known = self.arrivals
        return known.came(step, "step") if known is not None and step <= len(known.times) else ""

    @cached_property
    def role_sizes(self) -> Counter[str]:
        """How many characters have which role."""
        sizes = Counter[str]()
        for part in self.beside.parts if self.beside is not None else ():
            sizes[part.shown] += part.end - part.start
        for start, end, owner, _ in claims_on(self.trace.partition):
            sizes[DRAWN.get(owner, owner)] += end - start
        return sizes

    def owned(self, at: int) -> tuple[int, int, str]:
        """The run of characters [start, end) counted `at`, of those that `owner_starts` begins, and its role: as the
        parser says, else as what it sent lies in the right reading."""
        if self.beside is not None:
            part = self.beside.parts[at]
            return part.start, part.end, part.shown
        run = self.trace.partition[at]
        return run.start, run.end, DRAWN.get(run.owner, run.owner)

    def lay_beside(self, beside: Beside) -> None:
        """Take what became of the characters from the right reading, for the parser does not say it."""
        self.beside, self.marker_edges = beside, beside.marker_edges
        self.owner_starts = array("i", [part.start for part in beside.parts])
        texts = [(channels.REASONING, self.reasoning), (channels.CONTENT, self.content)]
        for number, call in self.calls.items():
            parts = zip(("name", "id", "arguments"), call.texts, strict=True)
            texts += [(channels.Channel(number, cast(channels.Part, part)), text) for part, text in parts]
        for channel, text in texts:
            text.laid = beside.laid.get(channel)

    @cached_property
    def drops(self) -> list[_Drop]:
        """Everything that was dropped, the reasons with the most characters first."""
        return _drops(self)

    @cached_property
    def rejected(self) -> list[str]:
        """What was no call, in a line for each that reads otherwise; those that many calls share come first."""
        refused = self.trace.rejected_calls
        times = Counter([f"{shorten(call.name or 'a call', _REJECTED_NAME)}: {call.reason.words}" for call in refused])
        shown = times.most_common(_REJECTED_SHOWN)
        lines = [words if many == 1 else f"{words} ({many:,} times)" for words, many in shown]
        return [*lines, f"{len(times) - len(shown):,} more"] if len(times) > len(shown) else lines

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes, besides the trace."""
        calls = [text.nbytes for call in self.calls.values() for text in call.texts]
        numbers = [self.piece_ends, self.emissions, self.releases, self.owner_starts]
        numbers += [self.call_starts, self.call_begins, self.call_ends, self.call_numbers]
        numbers += [self.changes, self.firing]
        texts = sum(calls) + self.reasoning.nbytes + self.content.nbytes
        return 4 * sum(map(len, numbers)) + texts + 1_500 * min(self.total, _STEPS_KEPT)

    @property
    def total(self) -> int:
        """Number of steps."""
        return len(self.trace.steps)

    def step(self, number: int) -> Step:
        """The step counted `number`."""
        return self._steps(number - 1)

    @cached_property
    def _steps(self) -> Callable[[int], Step]:
        """Makes a step; the latest are kept, for a window looks at each of its own many times."""
        return lru_cache(_STEPS_KEPT)(self.trace.steps.__getitem__)

    def span(self, number: int) -> tuple[int, int]:
        """The characters fed in the step counted `number`."""
        return self.step_ends[number - 2] if number > 1 else 0, self.step_ends[number - 1]

    def clamp(self, number: int) -> int:
        """The nearest step there is."""
        return max(1, min(number, self.total))

    def step_at(self, offset: int) -> int:
        """The step that fed the character at `offset`."""
        return self.clamp(bisect_right(self.step_ends, offset) + 1)

    def step_of_piece(self, piece: int) -> int:
        """The step that fed the last character of piece `piece` (counted from 0)."""
        if len(self.piece_ends) in {self.total, self.total - 1} and self._is_token_by_token():
            return piece + 1
        begin = self.piece_ends[piece - 1] if piece else 0
        end = self.piece_ends[piece]
        return self.clamp(
            bisect_left(self.step_ends, end) + 1 if end > begin else bisect_right(self.step_ends, end) + 1
        )

    def last_firing(self, step: int) -> int:
        """The latest step, up to `step`, in which a row fired; 0 where none has."""
        at = bisect_right(self.firing, step)
        return self.firing[at - 1] if at else 0

    def call_at(self, offset: int) -> CallIndex | None:
        """The call that the character at `offset` belongs to, if any had begun by then."""
        at = bisect_right(self.call_starts, offset)
        return self.calls[self.call_numbers[at - 1]] if at else None

    def _is_token_by_token(self) -> bool:
        chunking = self.trace.chunking
        late = chunking.get("holdback_chars") or chunking.get("text_delay")
        return chunking.get("by") == "token" and chunking.get("size", 1) == 1 and not late


def index_of(run: Run) -> TraceIndex:
    """The index of a run, built once and kept beside it."""

    def built() -> TraceIndex:
        with collector_paused():
            index = build(run.trace, run.pieces)
            run.trace.columns.work_out()
        index.arrivals = arrivals(run.case.input.times if run.choice.plays else _step_times(run))
        if not run.trace.partition and (beside := reading_beside(run)) is not None:
            index.lay_beside(beside)
        return index

    return run.beside.get("index", built, size=lambda index: index.nbytes)


def _step_times(run: Run) -> list[float | None] | None:
    """When the last character of each step of a parser came; None where that is not known. What ends the output came
    last."""
    server, times = run.replayer.server, run.case.input.times
    if server is None or server.fed is None or times is None:
        return None
    ends = list(accumulate([sum([len(piece.text) for piece in fed]) for fed in server.fed]))
    if not ends or ends[-1] != len(run.trace.text):
        return None
    last = len(ends) - 1
    came = [times[min(bisect_left(ends, end), last)] for end in run.trace.ends]
    return [*came[:-1], times[-1]] if run.trace.ends[-1:] == run.trace.ends[-2:-1] else came


def build(trace: Trace, pieces: Sequence[Piece]) -> TraceIndex:
    """The index of `trace`, whose tokens are `pieces`."""
    columns, fired = trace.columns, list(trace.columns.fired())
    kinds = Counter([kind for _, kind in fired])
    index = TraceIndex(
        trace=trace,
        step_ends=trace.ends,
        piece_ends=array("i", accumulate([len(piece.text) for piece in pieces])),
        changes=array("i", dict.fromkeys([step for step, (old, _, new, *_) in fired if old != new])),
        emissions=columns.senders(),
        releases=_releases(trace),
        firing=array("i", dict.fromkeys([step for step, _ in fired])),
        owner_starts=array("i", [start for start, *_ in claims_on(trace.partition)]),
        fired=_sums(kinds, lambda kind: (kind[0], END if kind[1] == END else kind[2])),
        times=_sums(kinds, lambda kind: kind[3]),
        fired_at=_first_steps(fired),
        reasoning=Channel("reasoning", columns),
        content=Channel("content", columns),
    )
    index.events = columns.event_rows
    index.marker_edges = array("i", marker_edges([event for _, _, event in columns.event_runs(Marker)], trace.text))
    for step, _, event in columns.event_runs(CallStart, CallEnd):
        if isinstance(event, CallStart):
            _call(index, event.call, step)
        elif isinstance(event, CallEnd):
            call = _call(index, event.call, step)
            call.ends, call.complete = step, event.complete
    texts = {(ReasoningText, 0): index.reasoning, (ContentText, 0): index.content}
    for first, last, kind, number, text, start, end, how in columns.text_parts():
        written = texts.get((kind, number))
        if written is None:
            written = texts[kind, number] = _text_of(_call(index, number, first), kind)
        written.add(text, first, last, (start, end), how)
        if last > first:
            index.events += bisect_right(index.emissions, last) - bisect_left(index.emissions, first) - 1
    index.calls = dict(sorted(index.calls.items(), key=lambda call: call[1].begins))
    calls = index.calls.values()
    for channel in (index.reasoning, index.content, *[text for call in calls for text in call.texts]):
        channel.close()
    index.call_numbers = array("i", index.calls)
    index.call_starts = array("i", [_first_offset(call) for call in calls])
    index.call_begins = array("i", [call.begins for call in calls])
    index.call_ends = array("i", [call.ends or index.total for call in calls])
    return index


def _sums(kinds: Mapping[Fired, int], of: Callable[[Fired], _Counted]) -> Counter[_Counted]:
    """How often rows say something of which it is known how often each kind of them fired."""
    sums = Counter[_Counted]()
    for kind, times in kinds.items():
        sums[of(kind)] += times
    return sums


def _first_steps(fired: Iterable[tuple[int, Fired]]) -> dict[tuple[str, str], list[int]]:
    """The first steps at which rows led from one state to another."""
    found: dict[tuple[str, str], list[int]] = {}
    for step, (old, trigger, new, *_) in fired:
        steps = found.setdefault((old, END if trigger == END else new), [])
        if len(steps) < _STEPS_OF_EDGE and (not steps or steps[-1] != step):
            steps.append(step)
    return found


def target(item: Transition) -> str:
    """Return where a row leads in the diagram: the end of the output is a node of its own."""
    return END if item.trigger == END else item.to_state


def _first_offset(call: CallIndex) -> int:
    rows = itertools.chain(call.name.rows(), call.arguments.rows())
    return next((stretch.start for stretch in rows if stretch.end > stretch.start), 0)


def _releases(trace: Trace) -> Sequence[int]:
    """For each step the later one at which what it holds is let go (itself when nothing is held)."""
    many = len(trace.steps)
    releases, held = array("i", range(1, many + 1)), array("i", itertools.chain.from_iterable(trace.columns.held()))
    after = 0, 0
    for at in range(len(held) - 3, -1, -3):
        step, start = held[at : at + 2]
        if step < many:
            releases[step - 1] = releases[step] if (step + 1, start) == after else step + 1
        after = step, start
    return releases


def _text_of(call: CallIndex, kind: type[TextEvent]) -> Channel:
    """The text of a call that events of a type write."""
    return call.name if kind is CallName else call.id if kind is CallId else call.arguments


def _call(index: TraceIndex, number: int, step: int) -> CallIndex:
    """The index of a call, which begins at this step or before."""
    call = index.calls.get(number)
    if call is None:
        name, id, arguments = (Channel(role, index.trace.columns) for role in ("name", "id", "arguments"))
        call = index.calls[number] = CallIndex(number, step, name, id, arguments)
    call.begins = min(call.begins, step)
    return call


def neighbours(places: Sequence[int], at: int) -> tuple[int | None, int | None]:
    """The nearest entries of sorted `places` before and after `at`."""
    low, high = bisect_left(places, at), bisect_right(places, at)
    return places[low - 1] if low else None, places[high] if high < len(places) else None


def within_reach(places: Sequence[int], first: int, last: int) -> list[int]:
    """The entries of sorted `places` from `first` to `last`, and the nearest one on either side of them."""
    return list(places[max(0, bisect_left(places, first) - 1) : bisect_right(places, last) + 1])


# The roles in the order of the legend. The id of a call is drawn as its name is: both say which call this is.
LEGEND = ("content", "reasoning", "name", "arguments", "marker", "held", "dropped", "lost")
DRAWN = {"id": "name"}
UNKNOWN = "unknown"  # the parser does not say


def read_only(text: str) -> str:
    """The roles of a filter, each once and in the order of the legend; whatever is no role is left out."""
    named = set(text.split(","))
    return ",".join([role for role in LEGEND if role in named])


@dataclass(slots=True)
class RoleRun:
    """Characters [start, end) of one role. `first` and `last`: its owner's run begins or ends here. `reason`: why
    it was dropped. `structure`: it is markup, but no marker."""

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
    structure: bool = False

    @property
    def classes(self) -> str:
        """The CSS classes of this run."""
        flags = {"run-start": self.first, "run-end": self.last, "role-held": self.held, "structure": self.structure}
        flags |= {"held-start": self.held_first, "held-end": self.held_last}
        return " ".join(["run", f"role-{self.role}", *[name for name, on in flags.items() if on]])

    @property
    def title(self) -> str:
        """Return what hovering says: why the characters were dropped."""
        return f"{self.role}: {self.reason}" if self.reason else ""

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

    Of a parser that does not say what becomes of them, they have the role that the right reading gives them, and
    none where that is not known.
    """
    held = list(holds)
    edges = {*cuts, *(hold.start for hold in held), *(hold.end for hold in held)}
    edges.update(edges_between(index.marker_edges, start, end))
    found: list[RoleRun] = []
    at = bisect_right(index.owner_starts, start) - 1
    partition = index.trace.partition
    if index.beside is not None:
        return [*beside_runs(index.beside, index.trace.text, start, end, edges)]
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


def beside_runs(beside: Beside, text: str, start: int, end: int, edges: set[int]) -> Iterator[RoleRun]:
    """The characters [start, end) of `text` from the right reading, split at `edges`; what is lost of it says so."""
    for part in beside.between(start, end):
        low, high = max(part.start, start), min(part.end, end)
        places = [low, *sorted(edge for edge in edges if low < edge < high), high]
        for left, right in itertools.pairwise(places):
            run = RoleRun(left, right, part.shown, text[left:right], left == part.start, right == part.end)
            run.reason = "" if part.shown == part.role else _fate(part)
            yield _marked(beside.marker_edges, run)


def _fate(part: Part) -> str:
    """What became of characters that did not become what they should."""
    return f"{part.role} that never arrives" if part.lost else f"should be {part.role}"


def _run(index: TraceIndex, left: int, right: int, at: int, held: list[Hold]) -> RoleRun:
    owner = index.trace.partition[at]
    run = RoleRun(left, right, DRAWN.get(owner.owner, owner.owner), index.trace.text[left:right])
    run.first, run.last = left == owner.start, right == owner.end
    over = [hold for hold in held if hold.start <= left and right <= hold.end]
    run.held = bool(over)
    run.held_first = any(hold.start == left for hold in over)
    run.held_last = any(hold.end == right for hold in over)
    run.reason = owner.why
    return _marked(index.marker_edges, run)


def _marked(edges: Sequence[int], run: RoleRun) -> RoleRun:
    """A run of markup says whether it is a marker, and where that begins and ends."""
    if run.role == "marker":
        run.structure = not in_marker(edges, run.start)
        run.first |= run.start in edges_between(edges, run.start - 1, run.start + 1)
        run.last |= run.end in edges_between(edges, run.end - 1, run.end + 1)
    return run


@dataclass(slots=True)
class Destination:
    """Says where a stretch of the output went, in words, and the role it has there."""

    role: str
    text: str
    detail: str = ""


def destinations(index: TraceIndex, start: int, end: int) -> list[Destination]:
    """Return what became of the characters [start, end), each destination once, in order."""
    found: dict[tuple[str, str], Destination] = {}
    if index.beside is not None:
        parts, name = index.beside.between(start, end), index.beside.name
        read = {part.shown: f"as {name} reads it" if part.shown == part.role else _fate(part) for part in parts}
        return [Destination(role, role, words) for role, words in read.items()]
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
        return str(channels.Channel(number, cast(channels.Part, owner)))
    return {"marker": "a marker, not shown to the client", "dropped": "nobody: dropped"}.get(owner, owner)


# Who got which character of the output: the legend, which is a filter too, and the list of what was dropped.

PLACES_SHOWN = 6
REASONS_SHOWN = 4


@dataclass(slots=True)
class _Toggle:
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
class _Drop:
    """Holds what was dropped for one reason. `places`: (span in words, the step that fed it); `more` are not listed."""

    reason: str
    characters: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)
    more: int = 0

    @property
    def words(self) -> str:
        """Return how often and how much."""
        return f"{count(len(self.places) + self.more, 'place')}, {count(self.characters, 'character')}"


@dataclass(slots=True)
class Ownership:
    """Holds what the legend and the list of drops show. `hidden` reasons are not listed."""

    toggles: list[_Toggle]
    drops: list[_Drop]
    hidden: int
    dropped: str


def ownership(index: TraceIndex, step: int, only: str) -> Ownership:
    """The legend under the filter `only`, and all drops, the largest reasons first."""
    sizes, drops = index.role_sizes + Counter({"held": len(index.trace.held_text(index.step(step)))}), index.drops
    places = sum(len(drop.places) + drop.more for drop in drops)
    return Ownership(
        toggles=[_toggle(role, sizes[role], only.split(",")) for role in LEGEND],
        drops=drops[:REASONS_SHOWN],
        hidden=len(drops[REASONS_SHOWN:]),
        dropped=f"{count(places, 'place')}, {count(sizes['dropped'], 'character')}" if drops else "",
    )


def _toggle(role: str, characters: int, shown: list[str]) -> _Toggle:
    pressed = role in shown
    after = [other for other in shown if other != role] if pressed else [*shown, role]
    return _Toggle(role, characters, pressed, read_only(",".join(after)))


def _drops(index: TraceIndex) -> list[_Drop]:
    found: dict[str, _Drop] = {}
    for start, end, owner, reason in claims_on(index.trace.partition):
        if owner != "dropped":
            continue
        why = ("" if reason is None else reason.words) or UNSAID.words
        drop = found.setdefault(why, _Drop(why))
        drop.characters += end - start
        if len(drop.places) < PLACES_SHOWN:
            drop.places.append((f"{start:,}–{end:,}", index.step_at(start)))
        else:
            drop.more += 1
    return sorted(found.values(), key=lambda drop: -drop.characters)
