"""The answers of a machine if it is asked now. Those with nothing held are the same object again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.arguments.contract import ArgumentParser
from parsers.machine.calls import Calls
from parsers.machine.program import CompiledState
from parsers.vocabulary.trace import CodecState, Hold, Shape, StateView

MOST = 1_000  # shapes are kept; an output that nests without end has one for each depth


@dataclass(slots=True)
class _Known:
    """A shape, and the last view of it in which nothing is held."""

    shape: Shape
    view: StateView | None = None


class Views:
    """The views of one machine."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], _Known] = {}
        self._end: tuple[CompiledState, CodecState | None] | None = None

    def end(self, state: CompiledState, parser: ArgumentParser | None) -> None:
        """The output ends in that state: its argument parser is done with after this, and a new one stands nowhere."""
        self._end = state, None if parser is None else parser.describe()

    def view(self, state: CompiledState, calls: Calls, parser: ArgumentParser | None, at: int, held: str) -> StateView:
        """The view in a state, of a call and an argument parser; text `held` from `at` may become a literal."""
        holds, codec = calls.holds(at), None
        candidates: tuple[str, ...] = ()
        if self._end is not None:
            codec = self._end[1] if state is self._end[0] else None
        elif parser is not None:
            codec = parser.describe()
            if (hold := parser.hold()) is not None:
                holds.append(hold)
        if held:
            candidates, why = state.may_become(held, state.scope(parser))
            holds.append(Hold(at, at + len(held), "lexer", why))
        key = (state, candidates, codec, calls.state_name)
        known = self._known.get(key)
        if known is None:
            known = _Known((state.name, candidates, state.accepts, codec, calls.state_name))
            if len(self._known) < MOST:
                self._known[key] = known
        view = known.view
        if holds or view is None or view.call != calls.call:
            view = StateView(
                state.name, tuple(holds), candidates, state.accepts, calls.call, codec, calls.state_name, known.shape
            )
            if not holds:
                known.view = view
        return view
