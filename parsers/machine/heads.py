"""The head of a call: the text of states that say its name, its id or both, which are read whole.

Text that no name has shows that there is no call. Inside reasoning, where a marker may only be mentioned, it shows that
at once; elsewhere once the head is whole.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from parsers.arguments.contract import is_quoted
from parsers.arguments.entities import unescape_attribute
from parsers.formats.model import State, TextKind
from parsers.machine.call_life import CallState
from parsers.machine.names import NamePart, name_patterns, split_header
from parsers.machine.output import NO_CALL_WAITS, Writer
from parsers.machine.stages import Blank
from parsers.vocabulary.drops import CUT, Cause, DropReason
from parsers.vocabulary.events import Segment
from parsers.vocabulary.types import Tool

HEADS: frozenset[TextKind | None] = frozenset({"name", "header", "id"})  # states whose text names the call

_SPACE = re.compile(r"\s")
_SELF_CLOSED = re.compile(r"""(["'])[^"']*\1\s*/\Z""")  # what is left of <f name="x"/>


class HeadReader(Writer):
    """Writes what heads say. `state` is that of the open call."""

    __slots__ = ("_head", "_mention", "_name_text", "_named", "_refusal", "_tools", "state")
    APART: ClassVar[frozenset[str]] = frozenset({"_name_text", "_tools"})
    PLACES: ClassVar[frozenset[str]] = frozenset({"_mention"})

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        super().__init__()
        self.state = CallState.NONE
        self._tools = tools
        self._head = Blank()
        self._mention: tuple[int, str] | None = None  # where a marker inside reasoning stands, and text before the call
        self._name_text: Mapping[NamePart, re.Pattern[str]] = {}  # made once somebody asks
        self._forget_head()

    def _forget_head(self) -> None:
        """Another call may begin."""
        self._refusal: DropReason | None = None
        self._named = False  # whether any of its name was read

    @abstractmethod
    def name(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The call's name, whole."""

    @abstractmethod
    def call_id(self, text: str, start: int, end: int, segments: tuple[Segment, ...] | None = None) -> None:
        """The id that the model gave the call."""

    @property
    def is_mentioned(self) -> bool:
        """Return whether what is open was opened inside reasoning and has no name yet: it may only be mentioned."""
        return self._mention is not None

    def knows(self, name: str) -> bool:
        return not self._tools or name in self._tools

    def name_fits(self, text: str) -> int:
        """Return how many characters of a text a name may go on with; all where no one asks."""
        if self._mention is None:
            return len(text)
        pieces = self._head.pieces
        if not self._named:
            return self._fitting(NamePart.BEGINS, text)
        return self._fitting(NamePart.IS_OVER if pieces and pieces[-1][0][-1].isspace() else NamePart.GOES_ON, text)

    def quoted_name_fits(self, text: str) -> int:
        return len(text) if self._mention is None else self._fitting(NamePart.QUOTED, text)

    def _fitting(self, part: NamePart, text: str) -> int:
        if not self._name_text:
            self._name_text = name_patterns(self._tools)
        found = self._name_text[part].match(text)
        return 0 if found is None else found.end()

    def _read_head(self, text: str, at: int) -> None:
        self._named = self._named or bool(text.strip())
        self._head.add(text, at)

    def end_head(self, state: State, *, over: bool) -> None:
        """The machine leaves a state whose text is the call's name, header or id, which is whole now."""
        pieces = self._head.take()
        if self.quiet or not pieces:
            return
        raw, start = "".join([piece for piece, _ in pieces]), pieces[0][1]
        text, end = raw.strip(), start + len(raw)
        if any(at + len(piece) != follows for (piece, at), (_, follows) in pairwise(pieces)):
            self._refusal = DropReason(Cause.TURN_ENDS_IN_NAME)
            for piece, at in pieces:
                self.leave_out(at, at + len(piece), self._refusal)
        elif text and (over or self.state is not CallState.TENTATIVE):
            self.leave_out(start, end, CUT if over else NO_CALL_WAITS)
        else:
            lead = end - len(raw.lstrip())
            if state.unquote and is_quoted(text):
                text, lead = text[1:-1], lead + 1
            elif state.unquote and _SELF_CLOSED.match(text):
                self._refusal = DropReason(Cause.NO_NAME)
                return
            self.marker(start, lead)
            if state.doubled:
                text = self._once(text)
            self._give_head(state.text, text, lead, unescape_attribute(text) if state.unescape else text)
            self.marker(lead + len(text), end)

    def _once(self, name: str) -> str:
        """A name that stands there twice with a dot between, if only that is a declared tool's, else as it is."""
        first, second = name[: len(name) // 2], name[len(name) // 2 :]
        return first if second == f".{first}" and self.knows(first) and not self.knows(name) else name

    def _give_head(self, kind: TextKind | None, text: str, at: int, said: str) -> None:
        if kind == "name" and _SPACE.search(text):
            self._refusal = DropReason(Cause.SPACE_IN_NAME)
        elif kind == "name" and text:
            end = at + len(text)
            self.name(said, at, end, None if said == text else (Segment(said, at, end, "converted"),))
        elif text:
            self.call_id(text, at, at + len(text))
            if kind == "header":
                start, end = split_header(text, self._tools)
                if end == len(text) and text[start:end].rpartition(".")[2].isdecimal():
                    self._refusal = DropReason(Cause.NUMBER_FOR_NAME)
                else:
                    self.name(text[start:end], at + start, at + end)
