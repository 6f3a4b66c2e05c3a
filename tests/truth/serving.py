"""One of our parsers as a server under a contract would run it: what of its events is served, delta by delta.

A contract's policies are the parser's own. What a contract says of text that no policy is about is done here, to the
events: white space at the beginning of a channel, text at one place beside calls that is dropped, lists of calls after
the first one, and markup of an output in which no call stands. Text waits where only what follows says what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from parsers.compare.call_rules import closes_list
from parsers.formats.contracts import Contract
from parsers.formats.model import Format
from parsers.selection.registry import build
from parsers.vocabulary.events import (
    END_TOKEN,
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Dropped,
    Event,
    Marker,
    ReasoningEnd,
    ReasoningText,
)
from parsers.vocabulary.types import Context, Delta, Piece
from tests.truth.tokens import Tokens

_OF_CALL = CallStart | CallId | CallName | CallArguments | CallEnd
_DROP = ("drop",)


class Serving:
    """One of our parsers at work. `policies` are what the request says besides."""

    def __init__(
        self,
        fmt: Format,
        context: Context,
        contract: Contract,
        tokens: Tokens | None = None,
        policies: Mapping[str, str] | None = None,
    ) -> None:
        self._machine = build(fmt, contract.policies() | dict(policies or {}))
        self._machine.begin(context, mode="ids" if tokens else "text", markers=tokens.ids if tokens else None)
        self._contract = contract
        starts = ((ReasoningText, "reasoning_start"), (ContentText, "content_start"))
        self._blank = [kind for kind, key in starts if self._own(key) == ("strip",)]
        self._number = self._calls = 0
        self._open = self._closed = False  # whether a call is open, or a list of calls was closed
        self._waiting: list[ContentText] = []
        self._text = ""
        self._markup: int | None = None  # where markup began that is content if no call follows

    def feed(self, pieces: tuple[Piece, ...]) -> tuple[list[Event], list[Event]]:
        """The events of a delta: all, and those that are served."""
        self._number += 1
        self._text += "".join([piece.text for piece in pieces])
        events = list(self._machine.feed(Delta(self._number, pieces)))
        return events, list(self._served(events))

    def finish(self, reason: str | None) -> tuple[list[Event], list[Event]]:
        """The events of the end: all, and those that are served."""
        events = list(self._machine.finish(reason))
        return events, [*self._served(events), *self._rest()]

    @property
    def state(self) -> str:
        """The state that the machine is in."""
        return self._machine.view().state

    def _own(self, key: str) -> tuple[str, ...]:
        return self._contract.values(key)[:1]

    def _served(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, CallStart):
                yield from self._before_call()
            if isinstance(event, _OF_CALL):
                self._open = not isinstance(event, CallEnd)
                if not (self._closed and self._own("second_block") == _DROP):
                    yield event
            elif isinstance(event, ReasoningText | ContentText):
                yield from self._say(event)
            else:
                self._mark(event)
                yield event

    def _say(self, event: ReasoningText | ContentText) -> Iterator[Event]:
        """Text goes out, or waits: without the white space at the beginning of its channel, where that is stripped."""
        kind = next((one for one in self._blank if isinstance(event, one)), None)
        if kind is not None:
            event = structs.replace(event, text=event.text.lstrip(), segments=None)
            if not event.text:
                return
            self._blank.remove(kind)
        if isinstance(event, ReasoningText):
            yield from self._give_up_markup()
        elif self._markup is not None or self._waits():
            self._waiting.append(event)
            return
        yield event

    def _waits(self) -> bool:
        """Return whether what follows says if content here is dropped."""
        places = ("content_between_calls", "content_after_calls") if self._calls else ("content_before_calls",)
        return any(self._own(key) == _DROP for key in places)

    def _before_call(self) -> Iterator[Event]:
        key = "content_between_calls" if self._calls else "content_before_calls"
        self._calls, self._markup = self._calls + 1, None
        waiting, self._waiting = self._waiting, []
        yield from [] if self._own(key) == _DROP else waiting

    def _mark(self, event: Event) -> None:
        """Markers tell where a list of calls ends, and where markup begins."""
        if isinstance(event, ReasoningEnd):
            self._markup = None
        if not isinstance(event, Marker | Dropped) or (isinstance(event, Marker) and event.terminal == END_TOKEN):
            return
        text = self._text[event.start : event.end]
        self._closed = self._closed or (self._calls > 0 and not self._open and closes_list(text))
        if self._own("without_calls") == ("text",) and not self._calls and self._markup is None and text.strip():
            self._markup = event.start

    def _give_up_markup(self) -> Iterator[Event]:
        """What was taken for markup of calls began reasoning."""
        waiting, self._waiting, self._markup = self._waiting, [], None
        yield from waiting

    def _rest(self) -> Iterator[Event]:
        """What waits at the end."""
        if self._markup is not None:
            text = self._text[self._markup :]
            yield ContentText(self._markup, len(self._text), text)
        elif not (self._calls and self._own("content_after_calls") == _DROP):
            yield from self._waiting
