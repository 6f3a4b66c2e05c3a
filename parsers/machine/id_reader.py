"""Markers by their ids: where such a token is a marker, where it is text, and where it is a part of a marker.

Outside a value a marker by its id is that marker, whatever stands before it. In a string that only its own end closes
it is text, and so it is in a value between tags, but for what ends the value: its own closers, those of the call, and a
special token that begins the next call. A token that ends a turn is text of a value only if more text follows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from parsers.arguments.contract import OPEN
from parsers.machine.calls import Calls
from parsers.machine.lexer import IdTerminal
from parsers.machine.open_text import OpenTextReader
from parsers.machine.program import CompiledState, Program


class IdReader(OpenTextReader):
    """What reads markers by their ids."""

    __slots__ = ("_ends", "_marked", "_parts", "_program")
    PLACES: ClassVar[frozenset[str]] = frozenset({"_marked", "_parts"})
    _program: Program

    def _begin_text(self, state: CompiledState, calls: Calls, *, by_text: bool) -> None:
        super()._begin_text(state, calls, by_text=by_text)
        self._marked: tuple[int, IdTerminal] | None = None  # a marker that was text of a value, and where
        self._ends: list[IdTerminal] = []  # tokens that end a turn, inside a value
        self._parts: set[int] = set()  # where markers begin that may be parts of longer literals

    @abstractmethod
    def _append(self, text: str) -> None:
        """More text stands in the buffer."""

    @abstractmethod
    def _consume(self, stop: int) -> str:
        """Take characters from the buffer."""

    @abstractmethod
    def _run(self, *, final: bool) -> None:
        """Consume the buffer as far as it can be decided."""

    @abstractmethod
    def _read_again(self) -> None:
        """Text that waited for what would say where a value ends, and stands behind its end, is looked at anew."""

    @abstractmethod
    def _read_marker(self, item: IdTerminal) -> None:
        """A marker by its id is all that stands in the buffer."""

    @abstractmethod
    def _end_token(self, stop: int, item: IdTerminal | None = None) -> None:
        """A token that ends a turn is a marker; a special token that means nothing here is left out."""

    @abstractmethod
    def _is_end_of_origin(self, text: str) -> bool:
        """Return whether a text ends the reasoning in which a call was opened that is not whole."""

    @property
    @abstractmethod
    def _is_busy(self) -> bool:
        """Return whether an argument parser reads, or a call is skipped."""

    def _id_terminal(self, item: IdTerminal) -> None:
        """A marker by its id: what was held is text of the old state. In a string, and in a value that it does not end,
        it is text, and so it is where it can only be a part of a literal."""
        completes = self._completes(item)
        closed = completes or self._closed_to(item)
        if closed and item.text in self._program.end_tokens and not completes:
            self._ends.append(item)
            return
        self._give_ends_to_value()
        if closed or (item.is_part and not (item.known and self._is_busy)):
            self._text_by_id(item, closed=closed)
        else:
            if item.special or (self._parser is not None and self._parser.doubts):
                self._read_again()
            self._run(final=True)
            self._append(item.text)
            self._read_marker(item)

    def _text_by_id(self, item: IdTerminal, *, closed: bool) -> None:
        """A marker by its id is text. Where it stands in a value it is looked at again if that was over before it."""
        self._append(item.text)
        end = self._base + len(self._buffer)
        if closed and item.special and not item.is_part:
            words = "A special token stands inside a value: its text is kept."
            self._calls.diagnostic("special_in_value", words, end - len(item.text), end)
        if item.is_part:
            self._forget_parts()
            self._parts.add(end - len(item.text))
        if closed or item.known:
            self._marked = (end - len(item.text), item)
        self._run(final=False)

    def _completes(self, item: IdTerminal) -> bool:
        """Return whether a marker by its id is the last part of a literal that its text would complete."""
        scope = None if self._parser is None else self._state.scope(self._parser)
        if scope is None or not item.is_part:
            return False
        text, last = self._buffer + item.text, len(self._buffer)
        return scope.find(text, self._pos, given=lambda at: at == last or self._is_part(at))[1] is not None

    def _mark(self) -> tuple[int, IdTerminal] | None:
        """A marker by its id that was text so far, and where in the buffer, if it may be one by now: the value that it
        was text of is over, or it was only looked at as a part of a literal."""
        self._forget_mark()
        marked = self._marked
        if marked is None or marked[0] < self._at or self._closed_to(marked[1]):
            return None
        return marked[0] - self._base, marked[1]

    def _forget_mark(self) -> None:
        """The marker that was text is behind us, unless what is read may have to be read again from before it."""
        doubts = self._parser is not None and self._parser.doubts
        if self._marked is not None and self._marked[0] < self._at and not doubts:
            self._marked = None

    def _give_ends_to_value(self) -> None:
        """More text follows tokens that end a turn: in a value they are text."""
        ends, self._ends = self._ends, []
        for item in ends:
            self._text_by_id(item, closed=True)

    def _take_ends(self) -> None:
        """The output ends with tokens that end a turn: they are markers, whatever was open."""
        for item in self._ends:
            self._append(item.text)
            self._end_token(len(self._buffer), item)
        self._ends = []

    def _closed_to(self, item: IdTerminal) -> bool:
        """Return whether an argument parser reads something in which this marker is text: a string, or a value that
        only its own closers and those of the call end. A special token that begins the next call ends a value too."""
        parser = self._parser
        if parser is None or parser.scope == OPEN or item.text in self._state.own(parser.scope):
            return False
        if self._is_end_of_origin(item.text):
            return False
        if parser.scope in parser.strings or item.text not in self._state.by_text:
            return True
        emit = self._state.rows[self._state.by_text[item.text]].emit
        return not item.special and ("CallEnd" not in emit or "CallStart" in emit)

    def _is_part(self, at: int) -> bool:
        """Return whether a marker by its id begins at a place of the buffer."""
        return self._base + at in self._parts

    def _forget_parts(self) -> None:
        """What stands before the buffer is read."""
        self._parts = {at for at in self._parts if at >= self._base}

    @property
    def _length_of_ends(self) -> int:
        """How many characters are tokens that end a turn, which are text of the value if more text follows."""
        return sum([len(item.text) for item in self._ends])
