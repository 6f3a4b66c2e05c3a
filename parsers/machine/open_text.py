"""Open text: deltas in which nothing can matter are one event each, and many of them one event together.

After a delta that was read in full the machine remembers where it stands in such text, and by what search a delta is
known to hold nothing but text that goes on as it is. An argument parser may want to read that text along.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from parsers.arguments.contract import OPEN, READ_ALONG, ArgumentParser
from parsers.machine.calls import Calls
from parsers.machine.lexer import MARKED, Scope, is_plain
from parsers.machine.program import CompiledState
from parsers.vocabulary.events import CallArguments, ContentText, Event, ReasoningText, TextEvent
from parsers.vocabulary.seen import Seen
from parsers.vocabulary.states import NOWHERE, Part
from parsers.vocabulary.trace import OpenText, Retelling, Tail, Transition
from parsers.vocabulary.types import Delta

_OpenKind = type[ContentText] | type[ReasoningText] | type[CallArguments]


class OpenTextReader(Part):
    """What reads open text, and knows where the text stands that was not consumed.

    A delta of more than `stride` characters is read in slices, so that its beginning is read as if it came alone.
    `passes_open_text` False reads every delta in full, which gives the same and takes longer.
    """

    __slots__ = (
        "_base",
        "_buffer",
        "_by_text",
        "_calls",
        "_disturbs",
        "_kept",
        "_leads",
        "_most",
        "_open_at",
        "_open_call",
        "_open_kind",
        "_open_view",
        "_own",
        "_parser",
        "_pos",
        "_state",
        "_tail",
        "examined",
        "passes_open_text",
        "transitions",
    )
    PLACES: ClassVar[frozenset[str]] = frozenset({"_base", "_open_at"})
    NUMBERS: ClassVar[frozenset[str]] = frozenset({"_open_call"})
    stride: ClassVar[int] = 96

    def __init__(self) -> None:
        self.transitions: list[Transition] | None = None
        self.examined = 0
        self.passes_open_text = True
        self._by_text = False  # in text mode
        self._disturbs: Callable[[str], object] | None = None  # the search for what may matter, while in open text

    def _begin_text(self, state: CompiledState, calls: Calls, *, by_text: bool) -> None:
        """A new output is read, from this state on."""
        self.examined = 0
        # what was not consumed stands in `_buffer` from `_pos` on; `_base` is the raw offset of its beginning
        self._buffer, self._pos, self._base = "", 0, 0
        self._state, self._calls = state, calls
        self._parser: ArgumentParser | None = None
        # open text: what matters to the argument parser, its events, the end of it that a stage keeps, and the view
        self._by_text, self._most = by_text, self.stride
        self._disturbs = None
        self._own = ""
        self._tail: Tail | None = None
        self._kept = ""
        self._leads = False  # whether a stage, or the argument parser, keeps all of it
        self._open_kind: _OpenKind = ContentText
        self._open_call = self._open_at = NOWHERE
        self._open_view: Seen | None = None

    @property
    def _at(self) -> int:
        """Where in the output stands what was not consumed."""
        return self._base + self._pos

    @property
    def reached(self) -> int:
        """How many characters of the output were read."""
        return self._base + len(self._buffer)

    @property
    def reads_text(self) -> bool:
        """Return whether the text of a delta is all that matters of it."""
        return self._by_text

    @property
    def is_settled(self) -> bool:
        """Return whether all of the state is that of a call that may stand, or of text without a tail that waits."""
        stands = not (self._calls.quiet or self._calls.defers)
        return stands and (self._parser is not None or self._leads or not (self._kept or self._tail))

    @property
    def disturbs(self) -> Callable[[str], object] | None:
        """The search for what may matter, in open text that nobody reads along and that has no tail."""
        return None if self._own == READ_ALONG or self._tail is not None else self._disturbs

    @property
    def calls(self) -> int:
        """The number of calls that were committed."""
        return self._calls.count

    def made_id(self, number: int, name: str) -> str:
        """The id that is made up for a call."""
        return self._calls.made_id(number, name)

    @abstractmethod
    def _read_delta(self, delta: Delta, text: str) -> list[Event]:
        """Read a delta, of this text, in which something may matter."""

    def feed(self, delta: Delta) -> list[Event]:
        disturbs = self._disturbs
        if disturbs is None:
            return self._read_delta(delta, delta.text)
        pieces = delta.pieces
        if len(pieces) == 1:  # nearly always: what follows calls nothing of ours, for this is done for every token
            piece = pieces[0]
            text, plain = piece.text, self._by_text or piece.kind not in MARKED
        else:
            text, plain = delta.text, self._by_text or is_plain(delta)
        if not (plain and len(text) <= self._most and (disturbs(text) is None or self._reads_along(text))):
            self._end_open_text()
            return self._read_delta(delta, text)
        tail = self._tail
        if self._leads or not text:
            return self._feed_silent(text)
        start, kind = self._base, self._open_kind
        fed = end = start + len(text)
        if tail is not None:
            if not (solid := text.rstrip(tail.chars)):
                self._end_open_text()
                return self._read_delta(delta, text)
            kept = self._kept
            if kept or solid != text:  # as `_passed` says
                self._kept, self._open_view, end = text[len(solid) :], None, start + len(solid)
                start, text = start - len(kept), kept + solid
        self.examined += fed - self._base
        self._base = fed
        if kind is not CallArguments:
            return [kind(start, end, text)]
        self._calls.argued = self._calls.written = True
        return [CallArguments(start, end, text, None, self._open_call)]

    def _feed_silent(self, text: str) -> list[Event]:
        """Read open text that is kept as a whole, or is empty."""
        if text:
            self._lead((text,))
        return []

    def read_open_text(self, keys: Sequence[Hashable], texts: Sequence[str], start: int) -> OpenText | None:
        """See ReadsOpenText."""
        disturbs, tail, stop, retold = self._disturbs, self._tail, start, None
        if disturbs is None:
            return None
        stride, by_text = self.stride, self._by_text
        while stop < len(texts) and len(texts[stop]) <= stride and (by_text or isinstance(keys[stop], str)):
            text = texts[stop]
            if disturbs(text) is None:
                if tail is not None and not (text if self._leads else text.strip(tail.chars)):
                    break
            else:
                before = retold or self._retelling()
                if not self._reads_along(text):
                    if stop == start:
                        self._end_open_text()
                    break
                disturbs, retold = self._disturbs or disturbs, before
            stop += 1
        if stop == start:
            return None
        text = "".join(texts[start:stop])
        if not text:
            return OpenText(stop)
        if self._leads:
            self._lead(texts[start:stop])
            return OpenText(stop, len(text), None, tail)
        event = self._passed(text, text if tail is None else text.rstrip(tail.chars))
        return OpenText(stop, len(text), event, tail, retold)

    def _reads_along(self, text: str) -> bool:
        """Let the argument parser read text in which no terminal can begin. Returns whether all of it is passed on."""
        parser, state = self._parser, self._state
        if parser is None or state.plain.find_beginning(text) is not None:
            return False
        own = parser.pass_on(text)
        if own is None:
            return False
        if own != self._own:
            self._own, self._disturbs = own, _search(state, None, own)
        self._open_view = None
        return True

    def _retelling(self) -> Retelling | None:
        """How to tell later where the argument parser stood after each delta from here on; None where nobody asks."""
        return None if self._parser is None or self.transitions is None else self._parser.retelling()

    def _passed(self, text: str, solid: str) -> TextEvent:
        """The event of open text of which what is `solid` goes on at once; the rest of it waits for what comes next."""
        start, kept = self._base, self._kept
        self._base = end = start + len(text)
        self.examined += end - start
        if kept or solid != text:
            self._kept, self._open_view = text[len(solid) :], None
            start, end, text = start - len(kept), start + len(solid), kept + solid
        if (kind := self._open_kind) is not CallArguments:
            return kind(start, end, text)
        self._calls.argued = self._calls.written = True
        return CallArguments(start, end, text, None, self._open_call)

    def _lead(self, texts: Sequence[str]) -> None:
        """The argument parser keeps all of these, or the stage does."""
        kind, start = self._state.text or "content", self._base
        if self._parser is not None:
            self._parser.collect("".join(texts), start)
            self._base += sum(map(len, texts))
        else:
            for text in texts:
                self._calls.read(kind, text, self._base)
                self._base += len(text)
        self.examined += 2 * (self._base - start)  # it was searched, and is looked at where it is kept
        self._open_at, self._open_view = self._base, None

    def _find_open_text(self) -> None:
        """Remember that this stands in open text, where all of the text was consumed and it does."""
        if not self.passes_open_text:
            return
        calls, parser, state = self._calls, self._parser, self._state
        kind: _OpenKind = CallArguments
        tail, own, leads = None, "", False
        if parser is None:
            kind = ReasoningText if state.text == "reasoning" else ContentText
            tail = calls.tail(state.text or "content")
            if tail is None:
                tail, leads = calls.lead(state.text or "content"), True
            if tail is None:
                return
            if leads:
                own = r"\S" if tail.chars is None else f"[^{re.escape(tail.chars)}]"
        else:
            passes = None if calls.keeps else parser.passes()
            if passes is None or (parser.scope == OPEN and passes != READ_ALONG):
                return
            own, tail = passes, parser.collects()
            leads = tail is not None
            tail = tail or parser.tail()
        if not calls.may_pass(kind):
            return
        call = NOWHERE if calls.call is None else calls.call
        self._open_kind, self._open_call, self._open_view = kind, call, None
        self._base, self._buffer, self._pos = self._base + self._pos, "", 0
        self._open_at = self._base
        scope = state.plain if parser is None else state.scopes.get(parser.scope or "")
        self._own, self._disturbs = own, _search(state, None if own == READ_ALONG else scope, own)
        self._tail = tail if tail is not None and tail.chars != "" else None
        self._kept = ""
        self._leads = leads

    def _end_open_text(self) -> None:
        """Something may matter."""
        if self._disturbs is not None:
            self._disturbs = None
            self._tell_of_open_text()

    def _tell_of_open_text(self) -> None:
        """Who did not see the text so far is told of it."""
        if self._base > self._open_at:
            self._calls.passed(self._open_kind)
        kept, self._kept = self._kept, ""
        if self._parser is not None:
            self._parser.passed(self._base)
            if kept:
                self._parser.keep(kept, self._base - len(kept))
        elif kept:
            self._calls.read(self._state.text or "content", kept, self._base - len(kept))


def _search(state: CompiledState, scope: Scope | None, own: str) -> Callable[[str], object]:
    """A search for what may matter in open text of a state: the beginning of a literal of the scope, or what `own`
    describes."""
    found = state.searches.get((scope, own))
    if found is None:
        parts = filter(None, ("" if scope is None else scope.begins, own))
        found = state.searches[scope, own] = re.compile("|".join(parts) or r"(?!)").search
    return found
