"""The answers of a machine if it is asked now. Those that differ in where the text ends alone are one object."""

from __future__ import annotations

from typing import ClassVar

from parsers.arguments.contract import ArgumentParser
from parsers.machine.drafts import DraftReader
from parsers.machine.program import CompiledState
from parsers.vocabulary.seen import FED, Seen
from parsers.vocabulary.states import NOWHERE
from parsers.vocabulary.trace import CodecState, Shape, StateView

_ENDS = "It ends the turn, unless more text follows."
_Of = tuple[CompiledState | None, CodecState | None, str | None]  # what a shape is made of
MOST = 1_000  # shapes are kept; an output that nests without end has one for each depth


class Viewer(DraftReader):
    """What says how a machine stands.

    In the last view, text from `_grows_at` on may become a literal, while the machine is in a state with an argument
    parser (`_grows_in`): while only that text grows, so it stays.
    """

    __slots__ = ("_ended_in", "_grows_at", "_grows_in", "_last", "_over", "_shape_of", "_shapes")
    APART: ClassVar[frozenset[str]] = frozenset(
        {"_ended_in", "_grows_at", "_grows_in", "_last", "_shape_of", "_shapes", "_open_view"}
    )

    def _begin_views(self) -> None:
        """A new output is read."""
        self._over = False
        self._shapes: dict[tuple[int, int, str | None], Shape] = {}  # by the identity of what they are made of
        self._ended_in: tuple[CompiledState, CodecState | None] | None = None
        self._last = Seen(("", (), (), None, None))
        self._shape_of: _Of = None, None, None  # what its shape was made of
        self._forget_growth()

    def _forget_growth(self) -> None:
        """What was last seen says nothing of what will be."""
        self._grows_at = NOWHERE
        self._grows_in: tuple[CompiledState | None, ArgumentParser | None] = None, None

    def _end_views(self) -> None:
        """The output ends in this state: its argument parser is done with after this, and a new one stands nowhere."""
        parser = self._parser
        self._ended_in = self._state, None if parser is None else parser.look(FED)[0]

    def view(self) -> StateView:
        """See StreamParser."""
        seen = self.seen()
        text = self._buffer[self._pos :] + "".join([item.text for item in self._ends])
        return seen.view(self._at + len(text), text)

    def seen(self) -> Seen:
        """What `view` says. What waits while open text goes by is none of that, unless it is all of it.

        This is asked after every delta of a replay that is traced, so it calls as little as it can.
        """
        state, parser, pos, in_open_text = self._state, self._parser, self._pos, self._disturbs is not None
        if in_open_text:
            if self._kept:
                self._end_open_text()
                in_open_text, pos = False, self._pos
            elif self._open_view is not None:
                return self._open_view
            elif parser is not None:
                parser.passed(self._base)
        at = self._base + pos
        if at == self._grows_at and self._only_grew():
            return self._last
        held, calls = 0 if self._over else len(self._buffer) - pos, self._calls
        ends = self._length_of_ends if self._ends else 0
        codec, waits, fed = None, calls.waiting(at), at + held + ends
        if self._ended_in is not None:
            codec = self._ended_in[1] if state is self._ended_in[0] else None
        elif parser is not None:
            codec, kept = parser.look(fed)
            if kept is not None:
                waits = (*waits, kept)
        if held:
            waits = (*waits, ("lexer", state.beginning(parser), at, fed - ends if ends else FED))
            self._grows_at, self._grows_in = NOWHERE if ends else at, (state, parser)
        if ends:
            waits = (*waits, ("codec", _ENDS, fed - ends, FED))
        elif not held and waits and waits[-1][3] == fed:
            kind, why, start, _ = waits[-1]
            waits = (*waits[:-1], (kind, why, start, FED))
        call, call_state, last = calls.call, calls.state_name, self._last
        shape, (known, stood, stated) = last.shape, self._shape_of
        if state is not known or codec is not stood or call_state is not stated:
            shape = self._shapes.get((id(state), id(codec), call_state)) or self._shape(state, codec, call_state)
            self._shape_of = state, codec, call_state
        if shape is not last.shape or waits != last.waits or call != last.call:
            self._last = last = Seen(shape, call, waits)
        if in_open_text:
            self._open_view = last = last if self._leads else last.ended(at)
        return last

    def _only_grew(self) -> bool:
        """Return whether nothing happened since the last view but that text grew which may become a literal: one scope
        was asked for what comes next, and that is all there is."""
        if self._pos or len(self._found) != 1 or self._ends or self._over or self._draft is not None:
            return False
        state, parser = self._grows_in
        ((start, name, _),) = self._found.values()
        return state is self._state and parser is self._parser and start == 0 and name is None

    def _shape(self, state: CompiledState, codec: CodecState | None, call_state: str | None) -> Shape:
        """The shape of a view, which keeps what it is made of: while it is known, nothing else is that."""
        shape = state.name, (), state.accepts, codec, call_state
        if shape == self._last.shape:
            return self._last.shape
        if len(self._shapes) < MOST:
            self._shapes[id(state), id(codec), call_state] = shape
        return shape
