"""What the page needs to know about a trace to draw any window of it without reading the whole.

Built once per trace, in O(n), and cached with it; every look-up afterwards is a bisection. All positions are code
points of the output text, all steps count from 1 as `Step.index` does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from parsers.formats.diagram import END
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Event,
    ReasoningText,
    TextEvent,
)
from parsers.vocabulary.trace import Step, Trace, Transition
from parsers.vocabulary.types import Piece
from webapp.runs.runner import Run, collector_paused

UNPLACED = "unplaced"


@dataclass(slots=True)
class Stretch:
    """Text that reached the client in one step, with the raw span [start, end) it came from."""

    text: str
    start: int
    end: int
    kind: str
    step: int


@dataclass(slots=True)
class Channel:
    """One growing text of the message. `offsets[i]` is where stretch i begins in it; one more entry ends it."""

    role: str
    stretches: list[Stretch] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=lambda: [0])

    def add(self, event: TextEvent, step: int) -> None:
        """Append an event's text; from a parser that says no places it is one stretch that came from nowhere known."""
        parts = event.parts()
        placed = [Stretch(part.text, part.start, part.end, part.kind, step) for part in parts]
        if event.text and not parts:
            placed = [Stretch(event.text, event.start, event.start, UNPLACED, step)]
        for stretch in placed:
            self.stretches.append(stretch)
            self.steps.append(step)
            self.offsets.append(self.offsets[-1] + len(stretch.text))

    def length_at(self, step: int) -> int:
        """Characters emitted up to and including `step`."""
        return self.offsets[bisect_right(self.steps, step)]

    @property
    def length(self) -> int:
        """Characters in all."""
        return self.offsets[-1]

    def text(self) -> str:
        """The whole text."""
        return "".join([stretch.text for stretch in self.stretches])


@dataclass(slots=True)
class CallIndex:
    """Where one tool call begins and ends, and its texts."""

    number: int
    begins: int
    name: Channel = field(default_factory=lambda: Channel("name"))
    id: Channel = field(default_factory=lambda: Channel("id"))
    arguments: Channel = field(default_factory=lambda: Channel("arguments"))
    ends: int | None = None
    complete: bool = False


@dataclass(slots=True)
class TraceIndex:
    """The tables of one trace."""

    trace: Trace
    step_ends: list[int]
    piece_ends: list[int]
    changes: list[int]
    emissions: list[int]
    releases: list[int]
    last_fired: list[int]
    events_before: list[int]
    owner_starts: list[int]
    fired: Counter[tuple[str, str]]
    times: Counter[str]
    reasoning: Channel = field(default_factory=lambda: Channel("reasoning"))
    content: Channel = field(default_factory=lambda: Channel("content"))
    calls: dict[int, CallIndex] = field(default_factory=dict)
    call_starts: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of steps."""
        return len(self.trace.steps)

    def step(self, number: int) -> Step:
        """The step counted `number`."""
        return self.trace.steps[number - 1]

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

    def call_at(self, offset: int) -> CallIndex | None:
        """The call that the character at `offset` belongs to, if any had begun by then."""
        at = bisect_right(self.call_starts, offset)
        return list(self.calls.values())[at - 1] if at else None

    def _is_token_by_token(self) -> bool:
        chunking = self.trace.chunking
        late = chunking.get("holdback_chars") or chunking.get("text_delay")
        return chunking.get("by") == "token" and chunking.get("size", 1) == 1 and not late


def index_of(run: Run) -> TraceIndex:
    """The index of a run, built once and kept beside it."""

    def built() -> TraceIndex:
        with collector_paused():
            return build(run.trace, run.pieces)

    return run.beside.get("index", built, size=lambda index: 400 * index.total)


def build(trace: Trace, pieces: Sequence[Piece]) -> TraceIndex:
    """The index of `trace`, whose tokens are `pieces`."""
    steps = trace.steps
    index = TraceIndex(
        trace=trace,
        step_ends=[step.span.end for step in steps],
        piece_ends=list(accumulate(len(piece.text) for piece in pieces)),
        changes=[step.index for step in steps if any(t.from_state != t.to_state for t in step.transitions)],
        emissions=[step.index for step in steps if step.delta is not None],
        releases=_releases(steps),
        last_fired=_last_fired(steps),
        events_before=[0, *accumulate(len(step.events) for step in steps)],
        owner_starts=[run.start for run in trace.partition],
        fired=Counter((item.from_state, target(item)) for step in steps for item in step.transitions),
        times=Counter(item.row for step in steps for item in step.transitions),
    )
    for step in steps:
        for event in step.events:
            _place(index, event, step.index)
    index.call_starts = [_first_offset(call) for call in index.calls.values()]
    return index


def target(item: Transition) -> str:
    """Where a row leads in the diagram: the end of the output is a node of its own."""
    return END if item.trigger == END else item.to_state


def _first_offset(call: CallIndex) -> int:
    return next((s.start for s in (*call.name.stretches, *call.arguments.stretches) if s.end > s.start), 0)


def _releases(steps: Sequence[Step]) -> list[int]:
    """For each step the later one at which what it holds is let go (itself when nothing is held)."""
    releases = [step.index for step in steps]
    for at in range(len(steps) - 2, -1, -1):
        if steps[at].holds:
            same = _hold_start(steps[at]) == _hold_start(steps[at + 1])
            releases[at] = releases[at + 1] if same else at + 2
    return releases


def _hold_start(step: Step) -> int | None:
    return min((hold.start for hold in step.holds), default=None)


def _last_fired(steps: Sequence[Step]) -> list[int]:
    """For each step the latest one, up to it, in which a row fired; 0 where none has."""
    return list(accumulate((step.index if step.transitions else 0 for step in steps), max))


def _place(index: TraceIndex, event: Event, step: int) -> None:
    if isinstance(event, ReasoningText):
        index.reasoning.add(event, step)
    elif isinstance(event, ContentText):
        index.content.add(event, step)
    elif isinstance(event, CallStart | CallName | CallId | CallArguments | CallEnd):
        _place_call(index.calls.setdefault(event.call, CallIndex(event.call, step)), event, step)


def _place_call(call: CallIndex, event: CallStart | CallName | CallId | CallArguments | CallEnd, step: int) -> None:
    if isinstance(event, CallName):
        call.name.add(event, step)
    elif isinstance(event, CallId):
        call.id.add(event, step)
    elif isinstance(event, CallArguments):
        call.arguments.add(event, step)
    elif isinstance(event, CallEnd):
        call.ends, call.complete = step, event.complete


def before(places: Sequence[int], step: int) -> int | None:
    """The nearest entry of sorted `places` before `step`."""
    at = bisect_left(places, step)
    return places[at - 1] if at else None


def after(places: Sequence[int], step: int) -> int | None:
    """The nearest entry of sorted `places` after `step`."""
    at = bisect_right(places, step)
    return places[at] if at < len(places) else None


# The part of a trace that is on the page: steps around the cursor, and the tokens they are made of.

STEPS_EACH_SIDE = 80
TOKENS_AT_MOST = 400


@dataclass(slots=True, frozen=True)
class Window:
    """Steps `first` to `last`, both included; tokens [token_first, token_last); characters [start, end)."""

    first: int
    last: int
    token_first: int
    token_last: int
    start: int
    end: int

    def holds(self, step: int) -> bool:
        """Whether `step` is on the page."""
        return self.first <= step <= self.last


def window_around(index: TraceIndex, step: int) -> Window:
    """The window in which `step` is the middle, as far as there is text on both sides."""
    first = max(1, min(step - STEPS_EACH_SIDE, index.total - 2 * STEPS_EACH_SIDE))
    last = min(index.total, first + 2 * STEPS_EACH_SIDE)
    start = index.step(first).span.start
    end = index.step_ends[last - 1]
    low, high = _tokens(index, start, end, step)
    return Window(first, last, low, high, start, end)


def _tokens(index: TraceIndex, start: int, end: int, step: int) -> tuple[int, int]:
    """Tokens of the characters [start, end), not more than the limit, those of `step` among them."""
    low = bisect_right(index.piece_ends, start) if start else 0
    high = min(bisect_left(index.piece_ends, end) + 1, len(index.piece_ends))
    if end == index.step_ends[-1]:
        high = len(index.piece_ends)
    if high - low > TOKENS_AT_MOST:
        middle = bisect_left(index.piece_ends, index.step_ends[step - 1])
        low = max(low, min(middle - TOKENS_AT_MOST // 2, high - TOKENS_AT_MOST))
        high = min(high, low + TOKENS_AT_MOST)
    return low, high
