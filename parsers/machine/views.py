"""The answers of a machine if it is asked now. Those that differ in where the text ends alone are one object."""

from __future__ import annotations

from parsers.arguments.contract import ArgumentParser
from parsers.machine.calls import Calls
from parsers.machine.program import CompiledState
from parsers.vocabulary.seen import FED, Seen
from parsers.vocabulary.trace import CodecState, Shape

_ENDS = "It ends the turn, unless more text follows."
_Of = tuple[CompiledState, tuple[str, ...], CodecState | None, str | None]  # what a shape is made of
MOST = 1_000  # shapes are kept; an output that nests without end has one for each depth


class Views:
    """The views of one machine."""

    def __init__(self) -> None:
        self._shapes: dict[_Of, Shape] = {}
        self._end: tuple[CompiledState, CodecState | None] | None = None
        self._of: _Of | None = None  # what the shape of the last view was made of
        self._last = Seen(("", (), (), None, None))

    def end(self, state: CompiledState, parser: ArgumentParser | None) -> None:
        """The output ends in that state: its argument parser is done with after this, and a new one stands nowhere."""
        self._end = state, None if parser is None else parser.look(FED)[0]

    def seen(
        self, state: CompiledState, calls: Calls, parser: ArgumentParser | None, at: int, held: str, ends: int
    ) -> Seen:
        """What is seen in a state, of a call and an argument parser. Text `held` from `at` may become a literal, and
        behind it stand `ends` characters of tokens that end a turn, unless more text follows."""
        candidates: tuple[str, ...] = ()
        codec, waits, fed = None, calls.waiting(at), at + len(held) + ends
        if self._end is not None:
            codec = self._end[1] if state is self._end[0] else None
        elif parser is not None:
            codec, kept = parser.look(fed)
            if kept is not None:
                waits = (*waits, kept)
        if held:
            candidates, why = state.may_become(held, state.scope(parser))
            waits = (*waits, ("lexer", why, at, fed - ends))
        if ends:
            waits = (*waits, ("codec", _ENDS, fed - ends, FED))
        elif waits and waits[-1][3] == fed:
            kind, why, start, _ = waits[-1]
            waits = (*waits[:-1], (kind, why, start, FED))
        of, last = (state, candidates, codec, calls.state_name), self._last
        if of != self._of:
            self._of, shape = of, self._shape(of)
        elif waits == last.waits and calls.call == last.call:
            return last
        else:
            shape = last.shape
        self._last = last = Seen(shape, calls.call, waits)
        return last

    def _shape(self, of: _Of) -> Shape:
        """The shape of a view, the same object every time."""
        shape = self._shapes.get(of)
        if shape is None:
            state, candidates, codec, call_state = of
            shape = state.name, candidates, state.accepts, codec, call_state
            if len(self._shapes) < MOST:
                self._shapes[of] = shape
        return shape
