"""Replays that somebody else makes, many at a time: what is asked, what comes back, and how that is played.

A parser in another process is not fed from here: a message for each delta costs more than the parsing. It is asked for
whole replays, as many as are known to be wanted, and each comes back as a tape: what was sent at each step, and what
the parser failed with. The tape is then played like any parser of which only the deltas are seen (`BlackBox`).

What was asked for ahead is kept until it is used, and used once: a parser that answers differently every time is asked
every time. Memory: at most MOST_KEPT tapes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from parsers.replays.covered import CoveredFunction
from parsers.replays.recorded import BlackBox
from parsers.vocabulary.events import Diagnostic, Event, Failure
from parsers.vocabulary.observed import Observed
from parsers.vocabulary.trace import StateView, Transition
from parsers.vocabulary.types import Context, Delta, MessageDelta, Piece

MOST_KEPT = 512
PRINTED = "parser_printed"
UNASKED = "engine_unasked"


@dataclass(slots=True, frozen=True)
class Asked:
    """One replay that is wanted: what is fed, the request, the whole tokens of the output, whether by the code path
    for whole outputs, and whether what the parser shows of itself is wanted as well, or that the lines are counted that
    it executes, or told which of all (`covered`)."""

    deltas: Sequence[Delta]
    context: Context
    tokens: Sequence[Piece]
    whole: bool = False
    observed: bool = False
    counted: bool = False
    covered: bool = False

    @property
    def key(self) -> Hashable:
        """Equal for replays of one request that are alike."""
        fed = tuple([(delta.text, delta.token_ids) for delta in self.deltas])
        return id(self.context), self.whole, self.observed, self.counted, self.covered, fed


@dataclass(slots=True, frozen=True)
class Tape:
    """What a parser sent at each step, the end of the output being the last one.

    `failure`: what it failed with at step `failed_at`, 0 where that was before the first. `printed`: what it
    printed at a step. `observed`: what it showed of itself, where that was asked for. `micros`: how long it took, 0
    where nobody says. `executed`: lines of Python, where they were counted. `covered`: the functions of its files with
    the lines that ran, where they are told. `noticed`: what whoever ran it did besides, that nobody asked for.
    """

    sent: tuple[MessageDelta | None, ...] = ()
    failure: Failure | None = None
    failed_at: int = 0
    printed: Mapping[int, str] = field(default_factory=dict)
    observed: Observed | None = None
    micros: int = 0
    executed: int | None = None
    covered: tuple[CoveredFunction, ...] | None = None
    noticed: tuple[str, ...] = ()


Play = Callable[[Sequence[Asked]], Sequence[Tape]]


class PlayedError(Exception):
    """What a parser in another process failed with."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class Tapes:
    """The replays of a parser that `play` makes."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._kept: dict[Hashable, tuple[Context, Tape]] = {}  # a context that is kept keeps its id
        self._last: tuple[Hashable, Context, Tape] | None = None

    def foresee(self, wanted: Iterable[Asked]) -> None:
        """Make replays that will be asked for, in one go."""
        missing = {one.key: one for one in wanted}
        missing = {key: one for key, one in missing.items() if key not in self._kept}
        if len(missing) < 2:
            return
        if len(self._kept) + len(missing) > MOST_KEPT:
            self._kept.clear()
        asked = [*missing.items()][:MOST_KEPT]
        for (key, one), tape in zip(asked, self._play([one for _, one in asked]), strict=True):
            self._kept[key] = one.context, tape

    def tape(self, asked: Asked) -> Tape:
        """One replay."""
        known = self._kept.pop(asked.key, None)
        tape = self._play([asked])[0] if known is None else known[1]
        if not asked.observed:
            self._last = asked.key, asked.context, tape
        return tape

    def put_back(self, asked: Asked, tape: Tape) -> None:
        """Keep a replay that was taken: it is used once more."""
        self._kept[asked.key] = asked.context, tape

    def last(self, asked: Asked) -> Tape | None:
        """The replay that was taken last of which no steps were wanted, if it is this one."""
        return self._last[2] if self._last is not None and self._last[0] == asked.key else None


class Played(BlackBox):
    """A tape as a parser. What was printed at a step is a diagnostic of it; states and transitions are those that
    were observed."""

    def __init__(self, name: str, tape: Tape) -> None:
        self.tape = tape
        self._foreign_tape = _Taped(tape)
        self.observed = tape.observed
        self._states = [] if tape.observed is None else tape.observed.states()
        table = None if tape.observed is None else tape.observed.table
        self._rows = {} if table is None else {row: f"r{number}" for number, row in enumerate(table.rows)}
        super().__init__(name, self._foreign_tape)

    def again(self) -> Played:
        """The same tape from its beginning."""
        return Played(self.name, self.tape)

    def feed(self, delta: Delta) -> list[Event]:
        at = self._at
        events = super().feed(delta)
        self._move(at)
        return [*self._told(at, self._at), *events]

    def finish(self, reason: str | None = None) -> list[Event]:
        events = super().finish(reason)
        self._move(self._at)
        noticed = [
            Diagnostic(self._at, self._at, UNASKED, "warning", f"Of the engine: {one}.") for one in self.tape.noticed
        ]
        return [*self._told(self._at, self._at), *events, *noticed]

    def view(self) -> StateView:
        at = self._foreign_tape.step
        return StateView(self._states[at - 1]) if 0 < at <= len(self._states) else super().view()

    def _move(self, start: int) -> None:
        """Tell of the transitions of this step. Rows have the ids that they would have in a format."""
        observed, at = self.observed, self._foreign_tape.step
        if observed is None or self.transitions is None or at > len(observed.steps):
            return
        self.transitions += [
            Transition(one.state, one.on, one.to, self._rows[one], start, self._at, number)
            for number, one in enumerate(observed.steps[at - 1].moves, start=1)
            if one in self._rows
        ]

    def _told(self, start: int, end: int) -> list[Event]:
        text = self.tape.printed.get(self._foreign_tape.step)
        return [] if text is None else [Diagnostic(start, end, PRINTED, "info", f"The parser printed: {text}")]


class _Taped:
    """A tape as a foreign parser."""

    def __init__(self, tape: Tape) -> None:
        self.step = 0
        self._tape = tape

    def begin(self, context: Context) -> None:
        """Nothing has to be known."""
        self.step = 0
        self._fail()

    def feed(self, delta: Delta) -> MessageDelta | None:
        return self._sent()

    def finish(self, reason: str | None) -> MessageDelta | None:
        return self._sent()

    def _sent(self) -> MessageDelta | None:
        self.step += 1
        self._fail()
        return self._tape.sent[self.step - 1] if self.step <= len(self._tape.sent) else None

    def _fail(self) -> None:
        failure = self._tape.failure
        if failure is not None and self._tape.failed_at == self.step:
            raise PlayedError(failure)
