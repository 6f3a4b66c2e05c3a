"""Rows: everything that moves the machine.

A row of (state, trigger) ends what the state was reading, emits what it says and leads to the next state, where an
argument parser may begin. Where a call has to show first that it is one, a row may reject it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from parsers.arguments.contract import READ_ON, STRAY, ArgumentParser
from parsers.formats.layers import TOPMOST
from parsers.machine.call_life import CallState
from parsers.machine.heads import HEADS
from parsers.machine.layer_reader import NO_ROW, REFUSALS, LayerReader
from parsers.machine.program import CompiledRow, CompiledState
from parsers.vocabulary.drops import Cause
from parsers.vocabulary.states import NOWHERE
from parsers.vocabulary.trace import Transition

MAX_FIRES = 8  # rows fired at one place without consuming text; a format that loops there is stopped


class RowReader(LayerReader):
    """What fires rows."""

    __slots__ = ("_cut", "_fired_at", "_over", "_skip", "_stopped", "_strayed", "_stuck", "_sub", "_wrapped")
    PLACES: ClassVar[frozenset[str]] = frozenset({"_fired_at"})

    def _begin_rows(self) -> None:
        """A new output is read."""
        self._skip: CompiledState | None = None  # the state in which a call was rejected that is being skipped
        self._strayed = self._cut = self._stopped = self._over = False
        self._wrapped = False  # what opens a wrapper was read, and nothing outside it since
        self._sub, self._stuck, self._fired_at = 0, 0, NOWHERE

    @abstractmethod
    def _stray(self, limit: int) -> None:
        """Text up to `limit` has no place in the format."""

    @abstractmethod
    def _go_astray(self) -> None:
        """From here on text has no place in the format."""

    @abstractmethod
    def _opaque(self, end: int) -> None:
        """Text in which no terminal may be found."""

    def _new_parser(self, state: CompiledState) -> ArgumentParser | None:
        return None if state.make_parser is None else state.make_parser(self._calls)

    def _trigger(self, trigger: str) -> None:
        """Fire the row for a trigger that is not text. Without one the parser reads on after what is whole, and text is
        stray after all else."""
        row = self._state.rows.get(trigger)
        if trigger in STRAY and self._origin is not None and self._leads_nowhere(trigger, row):
            self._back_to_reasoning(Cause.NO_NAME)
        elif row is not None:
            self._fire(row, trigger, self._at, self._at)
        elif trigger not in READ_ON:
            if trigger in REFUSALS and self._calls.may_reject:
                self._reject(NO_ROW)
            self._go_astray()

    def _terminal(self, name: str, start: int, end: int) -> None:
        """Fire (state, terminal) for the terminal that begins at the buffer's position."""
        row = self._state.rows[name]
        self._turned = True
        stop = self._pos + end - start
        if row.keep == "again" and self._circles(start):
            self._stray(stop)
            return
        if row.opens:
            self._calls.mention(start)
            self._origin = self._state
        elif self._fresh and "CallStart" in row.emit and row.keep == "text":
            self._claimed = start
        continues = self._leave(row, name)
        if self._origin is not None and not row.opens and self._leads_nowhere(name, row):
            self._back_to_reasoning(Cause.NO_NAME)
            return
        early = "CallStart" in row.emit
        if early:
            self._emit(row, start, end)
        if row.keep == "drop":
            self._consume(stop)
            self._calls.marker(start, end, name)
        if not early:
            self._emit(row, start, end)
        self._move(row, name, start, end, continues=continues)
        if row.keep == "text":
            self._opaque(stop)

    def _fire(self, row: CompiledRow, trigger: str, start: int, end: int) -> None:
        self._turned = True
        if self._circles(start) and self._pos < len(self._buffer):
            self._stray(self._pos + 1)
            return
        if trigger in REFUSALS and self._calls.may_reject:
            if self._claimed != NOWHERE and self._unread_for_guided(row, trigger):
                return
            self._reject(row)
            continues = False
        else:
            continues = self._leave(row, trigger)
        self._emit(row, start, end)
        self._move(row, trigger, start, end, continues=continues)

    def _reject(self, row: CompiledRow) -> None:
        """The call that is open is none."""
        self._parser = None
        self._calls.reject(row.refusal, ended=False)
        self._follow_call()

    def _circles(self, at: int) -> bool:
        """Return whether so many rows fired here that the format must be turning in a circle."""
        self._stuck = self._stuck + 1 if self._fired_at == at else 0
        self._fired_at = at
        return self._stuck > MAX_FIRES

    def _leave(self, row: CompiledRow, trigger: str) -> bool:
        """Finish what the old state was reading. Returns whether its argument parser goes on in the new state."""
        parser = self._parser
        if parser is not None:
            if parser.spans_states and trigger != "END" and self._target(row).codec == self._state.codec:
                if "CallEnd" in row.emit:
                    parser.finish(self._at)
                return True
            parser.over, parser.cut = trigger == "END", self._cut
            parser.finish(self._at)
            self._whole = parser.complete
            self._parser = None
        if self._state.text in HEADS:
            none = row.keep == "again" and "CallEnd" in row.emit  # what follows it shows that it was no name
            self._calls.end_head(self._state.declared, over=none or trigger == "END")
        if self._calls.quiet:
            self._calls.flush()
        return False

    def _target(self, row: CompiledRow) -> CompiledState:
        """The state a row leads to. Raises FormatError where the format has none of that name."""
        return row.target or self._program.state(row.to)

    def _emit(self, row: CompiledRow, start: int, end: int) -> None:
        if row.diagnostic is not None:
            self._calls.diagnostic(row.diagnostic, row.note, start, end, "info")
        for emit in row.emit:
            if emit == "CallStart":
                if self._calls.state not in (CallState.NONE, CallState.MENTIONED):
                    self._end_call(start, start)
                self._whole = None
                self._calls.start(start, end)
            elif emit == "CallEnd":
                self._end_call(start, end)
            elif emit == "NoCall":
                self._calls.no_call()
            elif emit == "Break":
                self._calls.line_break()
            else:
                self._calls.reasoning_end(start, end)

    def _end_call(self, start: int, end: int) -> None:
        whole = self._whole if self._parser is None else self._parser.complete
        complete = not self._over if whole is None else whole
        inside = self._wrapped or self._state.declared.wrapper is None
        closed = not (self._over and self._state.closes_call and inside) or (self._stopped and self._state.stops)
        self._calls.end(start, end, complete=complete, over=self._over, closed=closed)
        self._follow_call()

    def _follow_call(self) -> None:
        """A call that was rejected may have to be skipped."""
        if self._calls.state is CallState.SKIPPED and self._skip is None:
            self._skip = self._state

    def _move(
        self,
        row: CompiledRow,
        trigger: str,
        start: int,
        end: int,
        *,
        continues: bool = False,
        target: CompiledState | None = None,
    ) -> None:
        self._sub += 1
        old, new = self._state, target or self._target(row)
        if self.transitions is not None:
            moved = Transition(old.name, trigger, new.name, row.id, start, end, self._sub, row.note)
            self.transitions.append(moved)
        self._state, self._strayed = new, False
        self._wrapped = new.text not in TOPMOST and (self._wrapped or trigger in self._program.wrappers)
        self._reopened = self._reopened and trigger == "OTHER"
        if "ReasoningEnd" in row.emit or "CallStart" in row.emit:
            self._fresh = self._program.guides and "CallStart" not in row.emit
        if continues and self._parser is not None:
            self._parser.terminal(trigger, end)
            self._calls.flush()
        else:
            self._parser = self._new_parser(new)
