"""The wrapper keeps this while it is not decided: a buffer, text with markup in it, and the parser of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from msgspec import structs

from parsers.formats.layers import FORCED, TOPMOST
from parsers.formats.model import Format
from parsers.machine.lexer import IdTerminal, Scanner, Scope
from parsers.machine.program import literals
from parsers.selection.registry import build
from parsers.vocabulary.drops import DropReason
from parsers.vocabulary.events import ContentText, Event, Marker, ReasoningText, TextEvent
from parsers.vocabulary.trace import Hold, RejectedCall, StreamParser, Transition
from parsers.vocabulary.types import Context, Delta, Mode, Piece, PieceKind
from parsers.wrappers.table import plain_format


@dataclass(slots=True)
class _Plain:
    """The parser of text between buffers; it began at raw offset `at` and sees no calls, but where it is `forced`
    those of guided output."""

    parser: StreamParser
    at: int
    forced: bool

    def moves(self) -> list[Transition]:
        """The rows it fired since the last call."""
        moved, self.parser.transitions = self.parser.transitions or [], []
        return moved

    def holds(self) -> list[Hold]:
        """Return what it keeps back."""
        return [structs.replace(h, start=h.start + self.at, end=h.end + self.at) for h in self.parser.view().holds]


def leaves_line_blank(event: Event, blank: bool) -> bool:
    """Return whether only spaces stand on the line of content after an event; before it, that was `blank`."""
    if isinstance(event, ContentText):
        _, newline, line = event.text.rpartition("\n")
        return not line.strip() and (blank or bool(newline))
    return blank or isinstance(event, ReasoningText | Marker)


@dataclass(slots=True)
class Held:
    """A buffer from raw offset `at` on, the parser that reads it, and the events streamed from it.

    `opener` is the start marker's text and `name` its name; `candidates` are raw ends of end markers inside an open
    call; `again`: an end marker came before and was not final; `over`: the output ended. `said` is said when it is
    decided.
    """

    parser: StreamParser
    at: int
    opener: str
    name: str
    parts: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    said: list[Event] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)
    size: int = 0
    again: bool = False
    over: bool = False

    @property
    def text(self) -> str:
        """Everything that was held; joined once."""
        self.parts = ["".join(self.parts)]
        return self.parts[0]

    @property
    def end(self) -> int:
        """Raw offset after the last character."""
        return self.at + len(self.text)

    def open(self, fmt: Format) -> bool:
        """Return whether the parser is inside a call."""
        view = self.parser.view()
        state = fmt.states.get(view.state)
        return view.call is not None or (state is not None and state.text not in TOPMOST)

    def refused(self, reason: DropReason) -> list[RejectedCall]:
        """The calls that were begun in it and not kept; where the parser knows of none, all of it is one."""
        known = [structs.replace(one, start=one.start + self.at, end=one.end + self.at) for one in self.parser.rejected]
        return known or ([RejectedCall(self.at, self.at + self.size, None, reason)] if self.opener else [])


@dataclass(slots=True)
class Markup:
    """Text held because a start marker stands in it, at raw offset `at`, where no call may begin."""

    at: int
    opener: str
    name: str
    reasoning: bool
    parts: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    size: int = 0

    @property
    def start(self) -> int:
        """Raw offset of the first character held."""
        return min([self.at, *[event.start for event in self.events[:1]]])

    def before(self) -> list[Event]:
        """The events of what stands before the marker."""
        return [
            # Text of a reading without calls is copied, so it can be cut there.
            structs.replace(event, end=self.at, text=event.text[: self.at - event.start])
            if isinstance(event, TextEvent) and event.end > self.at
            else event
            for event in self.events
            if event.start < self.at
        ]


class Readers:
    """Makes the parsers of one run. `whole`: the format has no start markers, one parser reads all of the output."""

    def __init__(
        self,
        fmt: Format,
        policy: Mapping[str, str],
        whole: bool,
        context: Context,
        mode: Mode,
        ids: Mapping[str, int] | None,
    ) -> None:
        self._format, self._plain, self._policy = fmt, plain_format(fmt), policy
        self._off = whole or context.tool_choice == "none"
        self._context = context
        self._later = replace(context, reasoning_open=False, prompt_tail=None)
        self._forced = context.tool_choice in FORCED and not self._off
        self._mode: Mode = mode
        self._ids = ids
        self.calling = context if whole else self._later

    def build(self) -> StreamParser:
        """A parser that has not begun."""
        return build(self._format, self._policy)

    def plain(self, at: int, *, first: bool = False) -> _Plain:
        """A parser of plain text from raw offset `at` on; only the first one may begin in reasoning, or find guided
        output."""
        parser = self.build() if self._off else build(self._plain, self._policy)
        parser.transitions = []
        context = self._context if first else self._later
        if not (first and self._forced):
            context = replace(context, tool_choice="none" if self._off else "auto", named_tool=None)
        parser.begin(context, mode=self._mode, markers=self._ids)
        return _Plain(parser, at, first and self._forced)

    def held(self, at: int, opener: str, name: str) -> Held:
        """A buffer from raw offset `at` on."""
        parser = self.build()
        parser.begin(self.calling, mode=self._mode, markers=self._ids)
        return Held(parser, at, opener, name)


# Deltas cut at the wrapper's markers: runs of text, and start markers, end markers and code fences.
#
# A marker that is one token of the vocabulary is known by its id where ids are recorded, all others by their text. Text
# that may begin a marker waits.


@dataclass(slots=True)
class Item:
    """A run of text, or a marker by its name."""

    piece: Piece
    name: str | None = None
    by_id: bool = False

    @property
    def text(self) -> str:
        """Its characters."""
        return self.piece.text

    def cut(self, size: int) -> tuple[Item | None, Item]:
        """The first `size` characters and the rest. A marker is never cut: it is all rest."""
        if self.name is not None or self.by_id or size <= 0:
            return None, self
        return Item(replace(self.piece, text=self.text[:size])), Item(replace(self.piece, text=self.text[size:]))


class MarkerScan:
    """Cuts the deltas of one run. `names` are the markers looked for."""

    def __init__(self, fmt: Format, names: Mapping[str, str], mode: Mode, markers: Mapping[str, int] | None) -> None:
        self._ids = markers or {}
        self._scanner = Scanner(mode, literals(fmt), markers, drops=bool(fmt.terminals))
        self._recorded = mode == "ids"
        self._names = {text: name for name, text in names.items()}
        self.typed = {name: text for name, text in names.items() if text not in self._scanner.by_id}
        self._scope = Scope(self.typed)
        self.held = ""

    def feed(self, delta: Delta) -> Iterator[Item]:
        """The items that a delta completes."""
        for item in self._scanner.scan(delta):
            if isinstance(item, IdTerminal):
                yield from self._cut(final=True)
                kind: PieceKind = "special" if item.special else "added"
                piece = Piece(item.text, self._ids.get(item.text), None, kind, True)
                yield Item(piece, self._names.get(item.text) if item.known else None, True)
            else:
                self.held += item
                yield from self._cut(final=False)

    def finish(self) -> Iterator[Item]:
        """What was held is text."""
        yield from self._cut(final=True)

    def candidates(self) -> tuple[str, ...]:
        """The markers that held text may become."""
        return self._scope.candidates(self.held)

    def _cut(self, *, final: bool) -> Iterator[Item]:
        buffer, pos = self.held, 0
        while pos < len(buffer):
            start, name, stop = self._scope.find(buffer, pos, final=final)
            if start > pos:
                yield self._item(buffer[pos:start], None)
            pos = start
            if name is None:
                break
            yield self._item(buffer[start:stop], name)
            pos = stop
        self.held = buffer[pos:]

    def _item(self, text: str, name: str | None) -> Item:
        return Item(Piece(text, recorded=self._recorded), name)
