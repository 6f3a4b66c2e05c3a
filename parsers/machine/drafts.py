"""Calls inside reasoning whose strings hold what ends reasoning.

    <think>I will say it: <tool_call>{"name": "say", "arguments": {"text": "</think>"}}</tool_call>

Reasoning may have opened the call or only drafted it, and then `</think>` ends reasoning. Only what follows tells. So
the machine reads on as if the call were one, and keeps its state and what it reads. Where the call is whole by the
format's grammar it stands. Where it is not (a line breaks inside its string, its markup is none, the output ends) the
machine goes back, and what was kept is read again. That happens once in an output, which keeps the work linear.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from parsers.machine.call_life import CallState
from parsers.machine.layer_reader import LayerReader
from parsers.machine.lexer import IdTerminal, Scanner, slices
from parsers.vocabulary.drops import Cause
from parsers.vocabulary.states import State, go_back, state_of
from parsers.vocabulary.types import Delta

_Item = str | IdTerminal


class UndoneError(Exception):
    """What the machine read since it took a mark of the end of reasoning for text shows that it was none."""


@dataclass(slots=True)
class _Draft:
    """The state at the mark, which came by its id or in text (None), and what was read since."""

    state: State
    marker: IdTerminal | None
    items: list[_Item] = field(default_factory=list)


class DraftReader(LayerReader):
    """What reads deltas part by part, and may have to read some again."""

    __slots__ = ("_doubts", "_draft", "_item", "_scanner")
    APART: ClassVar[frozenset[str]] = frozenset({"_draft", "_item", "_scanner"})
    _scanner: Scanner

    def _begin_drafts(self) -> None:
        """A new output is read."""
        self._doubts = True  # nothing had to be read again so far
        self._draft: _Draft | None = None
        self._item: IdTerminal | None = None  # the marker by its id that is being read

    @abstractmethod
    def _marker(self, item: IdTerminal) -> None:
        """A marker by its id stands at the buffer's position."""

    @abstractmethod
    def _opaque(self, end: int) -> None:
        """Text in which no terminal may be found."""

    # parts of deltas

    def _read(self, delta: Delta) -> None:
        """Read a delta, the text of a long one in slices that end at multiples of STRIDE of the output."""
        text = delta.text
        if not text:
            return
        for item in (text,) if self._by_text else self._scanner.scan(delta):
            if isinstance(item, IdTerminal) or len(text) <= self.stride:
                self._read_part(item)
            else:
                for part in slices(item, self.reached, self.stride):
                    self._read_part(part)

    def _read_part(self, item: _Item) -> None:
        """Read a marker by its id, or text."""
        if self._draft is not None:
            self._draft.items.append(item)
        try:
            if isinstance(item, IdTerminal):
                self._item = item
                self._id_terminal(item)
                self._item = None
            else:
                if self._ends:
                    self._give_ends_to_value()
                self._append(item)
                self._run(final=False)
        except UndoneError:
            self._undo()
        if self._draft is not None and self._calls.is_malformed:
            self._undo()

    # what may be only drafted

    def _reasoning_ends_first(self, end: int) -> None:
        """Reasoning ends at the buffer's position, inside a call that it opened, or a string has text like that, up to
        `end`. One that seems to have ended in a value before has done so."""
        if self._parser is not None and self._parser.doubts:
            self._read_again()
        elif not (self._is_in_string if self._draft is not None else self._may_be_text(end)):
            self._back_to_reasoning(Cause.REASONING_ENDS_FIRST)
        else:
            if self._draft is None:
                self._draft = _Draft(state_of(self), self._item)
            self._opaque(end)

    def _back_to_reasoning(self, cause: Cause) -> None:
        if self._draft is not None:
            raise UndoneError
        super()._back_to_reasoning(cause)

    @property
    def _is_in_string(self) -> bool:
        return self._parser is not None and self._parser.scope in self._parser.strings

    def _may_be_text(self, end: int) -> bool:
        """Return whether the mark stands in a string of a call that is named, and may be read again."""
        alone = self._item is None or (end == len(self._buffer) and self._item.text == self._buffer[self._pos :])
        return self._doubts and alone and self._is_in_string and self._calls.state is CallState.NAMED

    def _judge_draft(self, *, whole: bool) -> None:
        """A call ends that was drafted. Raises UndoneError if that is all it was."""
        if self._calls.is_malformed or not whole:
            raise UndoneError
        self._draft = None

    def _undo(self) -> None:
        """Go back to the mark: it ends reasoning. What followed it is read again."""
        draft, events = self._draft, self._calls.take()
        assert draft is not None
        go_back(draft.state)
        self._calls.put_before(events)
        self._draft, self._item, self._found, self._doubts = None, None, {}, False
        if draft.marker is None:
            self._run(final=False)
        else:
            self._marker(draft.marker)
        for item in draft.items:
            self._read_part(item)
