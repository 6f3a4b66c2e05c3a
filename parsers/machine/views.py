"""The answers of a machine if it is asked now. Those that differ in where the text ends alone are one object."""

from __future__ import annotations

from typing import Any

from parsers.arguments.contract import ArgumentParser
from parsers.machine.calls import Calls
from parsers.machine.program import CompiledState
from parsers.vocabulary.seen import FED, Seen
from parsers.vocabulary.trace import CodecState, Shape

MOST = 1_000  # shapes are kept; an output that nests without end has one for each depth


class Views:
    """The views of one machine."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[Any, ...], Shape] = {}
        self._end: tuple[CompiledState, CodecState | None] | None = None
        self._of: tuple[Any, ...] = ()  # what the last view was made of, but for what waits
        self._last = Seen(("", (), (), None, None))

    def end(self, state: CompiledState, parser: ArgumentParser | None) -> None:
        """The output ends in that state: its argument parser is done with after this, and a new one stands nowhere."""
        self._end = state, None if parser is None else parser.describe()

    def seen(
        self, state: CompiledState, calls: Calls, parser: ArgumentParser | None, at: int, held: str, ends: int
    ) -> Seen:
        """What is seen in a state, of a call and an argument parser. Text `held` from `at` may become a literal, and
        behind it stand `ends` characters of tokens that end a turn, unless more text follows."""
        waits, codec, fed = calls.waiting(at), None, at + len(held)
        candidates: tuple[str, ...] = ()
        if self._end is not None:
            codec = self._end[1] if state is self._end[0] else None
        elif parser is not None:
            codec = parser.describe()
            if (hold := parser.hold()) is not None:
                waits.append(hold)
        if held:
            candidates, why = state.may_become(held, state.scope(parser))
            waits.append(("lexer", why, at, fed))
        if ends:
            waits.append(("codec", "It ends the turn, unless more text follows.", fed, fed + ends))
        if waits and waits[-1][3] == fed + ends:
            kind, why, start, _ = waits[-1]
            waits[-1] = kind, why, start, FED
        of, last = (state, candidates, codec, calls.state_name, calls.call), self._last
        if of != self._of or waits != last.waits:
            self._of, self._last = of, Seen(self._shape(state, candidates, codec, calls), calls.call, waits)
        return self._last

    def _shape(
        self, state: CompiledState, candidates: tuple[str, ...], codec: CodecState | None, calls: Calls
    ) -> Shape:
        """The shape of a view, the same object every time."""
        key = state, candidates, codec, calls.state_name
        shape = self._shapes.get(key)
        if shape is None:
            shape = state.name, candidates, state.accepts, codec, calls.state_name
            if len(self._shapes) < MOST:
                self._shapes[key] = shape
        return shape
