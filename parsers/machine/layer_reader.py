"""What the machine does by the rows of layers (`parsers.formats.layers`).

A call that a marker inside reasoning opened has to show that it is one: until it is whole, whatever ends reasoning
leads back to it, wherever it stands, and so does text that is no part of such a call. Guided JSON is looked for at the
first character after reasoning; what the format's own grammar claimed there and rejected is read again, once.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import ClassVar

from parsers.arguments.contract import OPEN, STRAY
from parsers.formats.layers import TOPMOST
from parsers.formats.model import GIVEN_BACK, GUIDED_LIST, GUIDED_OBJECT, REPEATED
from parsers.machine.call_life import CallState
from parsers.machine.id_reader import IdReader
from parsers.machine.lexer import Match, Scope
from parsers.machine.program import CompiledRow, CompiledState
from parsers.vocabulary.drops import Cause, DropReason
from parsers.vocabulary.states import NOWHERE

NO_ROW = CompiledRow("", "", (), "drop", None, "", None)
REFUSALS = ("REJECT", "MALFORMED")
_WORD = re.compile(r"\S+")
_NO_CALL = (*TOPMOST, "noise")  # texts of states that a call which may be mentioned only does not lead to
_GUIDED = {"[": GUIDED_LIST, "{": GUIDED_OBJECT}


class LayerReader(IdReader):
    """What knows the rows of layers."""

    __slots__ = ("_breaks", "_claimed", "_found", "_fresh", "_origin", "_reopened", "_turned", "_whole", "_wrapped")
    PLACES: ClassVar[frozenset[str]] = frozenset({"_claimed"})

    def _begin_layers(self, *, opened: bool) -> None:
        """A new output is read; `opened` says whether the prompt opened reasoning."""
        self._found: dict[Scope, Match] = {}
        self._turned = False
        self._breaks = 0  # lines that ended in text between markers since its last word
        self._wrapped = False  # what opens a wrapper was read, and nothing outside it since
        self._whole: bool | None = None  # whether the arguments of the open call are whole, once they were read
        self._origin: CompiledState | None = None  # the state of reasoning in which a call was opened that is not whole
        self._reopened = opened  # the prompt opened reasoning, and nothing but white space was read
        self._fresh = self._program.guides  # nothing was read that could not stand before guided JSON
        self._claimed = NOWHERE  # where the format's own grammar took the first character for the beginning of a call

    @abstractmethod
    def _text(self, limit: int, *, final: bool) -> bool:
        """Give text up to `limit` to the state."""

    @abstractmethod
    def _target(self, row: CompiledRow) -> CompiledState:
        """The state a row leads to."""

    @abstractmethod
    def _trigger(self, trigger: str) -> None:
        """Fire the row for a trigger that is not text, or find that there is none."""

    @abstractmethod
    def _fire(self, row: CompiledRow, trigger: str, start: int, end: int) -> None:
        """Fire the row for a trigger that is not text."""

    @abstractmethod
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
        """Go where a row leads, or to `target`."""

    # the opening marker again

    def _repeat(self, name: str, stop: int) -> None:
        """The marker by which the prompt opened reasoning stands at the buffer's position."""
        start, end = self._at, self._base + stop
        self._turned = True
        self._consume(stop)
        self._calls.marker(start, end, name)
        self._move(self._state.rows[REPEATED], REPEATED, start, end)

    # markers that reasoning only mentions

    def _mentioned_in(self) -> CompiledState | None:
        """Return the state of reasoning in which a call was opened, as long as it is not whole."""
        if self._origin is not None and not self._calls.is_mentioned:
            self._origin = None
        return self._origin

    def _leads_nowhere(self, trigger: str, row: CompiledRow | None) -> bool:
        """Return whether a row leads away from a call that was opened inside reasoning and is not whole."""
        origin = self._mentioned_in()
        if origin is None or row is None or trigger in REFUSALS:
            return origin is not None
        ends = trigger in origin.end_texts.values()
        if self._calls.state is CallState.NAMED and "CallEnd" in row.emit:
            return not self._completes_call(trigger, row, may_go_on=ends)
        return (ends and "CallStart" not in row.emit) or "CallEnd" in row.emit or self._target(row).text in _NO_CALL

    def _completes_call(self, trigger: str, row: CompiledRow, *, may_go_on: bool) -> bool:
        """Return whether a call with a name is whole where a row ends it: what closes it has come; all of its arguments
        before the next call, or before what ends reasoning as well (`may_go_on`: a call's end says no more than that);
        or text where nothing closes a call."""
        if may_go_on or "CallStart" in row.emit:
            whole = self._whole if self._parser is None else self._parser.complete
            return whole is not False and self._calls.written
        return trigger not in STRAY or not self._state.closes_call

    def _beside_ends_of_origin(self) -> Scope | None:
        """The literals in sight, and what ends the reasoning in which a call was opened that is not whole."""
        origin = self._mentioned_in()
        if origin is None or origin is self._state:
            return self._state.scope(self._parser)
        return self._state.beside_ends_of(origin, OPEN if self._parser is None else self._parser.scope)

    def _is_end_of_origin(self, text: str) -> bool:
        """Return whether a text ends the reasoning in which a call was opened that is not whole."""
        origin = self._mentioned_in()
        return origin is not None and text in origin.end_texts

    def _back_to_reasoning(self, cause: Cause) -> None:
        """What was opened inside reasoning is no call. The text from here on is looked at in reasoning."""
        origin, self._parser, self._origin = self._mentioned_in() or self._state, None, None
        self._turned = True
        row = self._state.rows.get(GIVEN_BACK, NO_ROW)
        if cause is Cause.NO_NAME and self._calls.state is CallState.NAMED:
            cause = Cause.NO_PART
        self._calls.give_back(DropReason(cause))
        self._whole = None
        self._move(row, GIVEN_BACK, self._at, self._at, target=origin)

    # text between the markers of a call

    def _noise(self, limit: int) -> None:
        """Text that reaches nobody if a marker follows in its paragraph; else it is content, or that of no call."""
        if self._state.declared.wrapper is not None and not self._wrapped:
            self._trigger("OTHER")
            return
        if self._calls.state is CallState.NONE:
            self._origin = None
            self._calls.mention(self._at, is_noise=True)
        stop, self._breaks = _end_of_paragraph(self._buffer, self._pos, limit, self._breaks)
        at = self._at
        self._calls.drop(at, at + len(self._consume(stop)), DropReason(Cause.BETWEEN_MARKERS))
        if stop < limit:
            self._trigger("OTHER")

    # guided output

    def _guided_at(self, limit: int) -> int | None:
        """Return where guided JSON begins in plain text up to `limit`. The first character that is no white space
        decides, and there is none before it."""
        text = self._buffer[self._pos : limit]
        if self._parser is not None or self._state.text != "content" or not text.strip():
            return None
        begins = self._pos + len(text) - len(text.lstrip())
        self._fresh = False
        return begins if _GUIDED.get(self._buffer[begins], "") in self._state.rows else None

    def _read_as_guided(self, begins: int) -> None:
        """Guided JSON begins at a place of the buffer."""
        if begins > self._pos:
            self._text(begins, final=True)
        trigger = _GUIDED[self._buffer[begins]]
        self._fire(self._state.rows[trigger], trigger, self._at, self._at)

    def _unread_for_guided(self, row: CompiledRow, trigger: str) -> bool:
        """The format's own grammar gives up a call. Where that began as guided JSON may, its text is read again;
        returns whether it is."""
        text, at = self._calls.kept_from(self._claimed), self._at
        self._claimed = NOWHERE
        guided = _GUIDED.get(text[:1], "")
        if guided not in self._target(row).rows:
            return False
        self._calls.unread()
        self._parser = None
        self._buffer, self._base, self._pos = text + self._buffer[self._pos :], at - len(text), 0
        self._found = {}
        self._move(row, trigger, self._at, self._at)
        self._fire(self._state.rows[guided], guided, self._at, self._at)
        return True


def _end_of_paragraph(text: str, pos: int, end: int, breaks: int) -> tuple[int, int]:
    """Return where a paragraph ends in text[pos:end], at the first word behind a blank line, and how many lines ended
    behind its last word. `breaks`: as many had ended before the text."""
    for word in _WORD.finditer(text, pos, end):
        breaks += text.count("\n", pos, word.start())
        if breaks > 1:
            return word.start(), breaks
        pos, breaks = word.end(), 0
    return end, breaks + text.count("\n", pos, end)
