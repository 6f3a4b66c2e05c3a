"""The channels of a message: its texts, each with a name of its own and the steps that wrote it.

A message has the channels reasoning and content, and for each call its name, id and arguments. A `ChannelText` is a
channel's text as a list of stretches, so that a character of it leads to the step that sent it and, where the parser
says so, to the place in the output that it came from. `Trace.channels` has those of a replay's message,
`Trace.streamed` those that a client puts together from its deltas; both are built once, in O(n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, cast

from parsers.vocabulary.events import CallArguments, CallId, CallName, Event, Segment, SegmentKind, TextEvent
from parsers.vocabulary.stretches import NOWHERE, Place, RunSteps, Stretches
from parsers.vocabulary.types import Message, MessageDelta, ToolCall

Part = Literal["reasoning", "content", "name", "id", "arguments", "complete", "calls", "finish_reason"]
TEXT_PARTS: tuple[Part, ...] = ("reasoning", "content")
CALL_PARTS: tuple[Part, ...] = ("name", "id", "arguments")


class Channel(NamedTuple):
    """Holds what of a message something is about. `call` is the number of a call, None where it is not about one.

    Messages may also differ in what is no text: whether a call is `complete`, how many `calls` there are, and the
    `finish_reason`. As text a channel is written as in an OpenAI message: `content`, `tool_calls[0].arguments`.
    """

    call: int | None
    part: Part

    def __str__(self) -> str:
        return self.part if self.call is None else f"tool_calls[{self.call}].{self.part}"

    def words(self, calls: Sequence[ToolCall]) -> str:
        """The channel in a sentence: 'the content', 'the arguments of call 0 (`f`)'."""
        if self.call is None:
            return {"calls": "the number of calls", "finish_reason": "the finish reason"}.get(self.part, f"the {self}")
        name = calls[self.call].name if self.call < len(calls) else None
        return f"the {'end' if self.part == 'complete' else self.part} of {call_words(self.call, name)}"


REASONING, CONTENT = Channel(None, "reasoning"), Channel(None, "content")


def call_words(index: int, name: str | None) -> str:
    """A call in a sentence: 'call 0 (`f`)'."""
    return f"call {index} (`{name}`)" if name else f"call {index}"


@dataclass(slots=True)
class ChannelText:
    """The text of one channel and the stretches it was written in, in order and without gap."""

    text: str = ""
    stretches: Stretches = field(default_factory=Stretches, compare=False)

    def place(self, offset: int) -> Place:
        """Return where the character at `offset` comes from; at or beyond the end, where the channel ended."""
        return self.stretches.place(offset)


class _Steps(RunSteps, Protocol):
    """The columns of a replay that its channels are made of: see `parsers.vocabulary.trace.StepColumns`."""

    def event_runs(self) -> Iterator[tuple[int, int, Event]]: ...

    def delta_runs(self) -> Iterator[tuple[int, int, int, MessageDelta]]: ...


class Channels(dict[Channel, ChannelText]):
    """The channels of a message in reporting order. A channel that has no text is empty."""

    def __missing__(self, channel: Channel) -> ChannelText:
        return ChannelText()

    @property
    def calls(self) -> list[int]:
        """The numbers of the calls that have a channel, ascending."""
        return sorted({channel.call for channel in self if channel.call is not None})


def message_texts(message: Message) -> dict[Channel, str]:
    """The text of every channel of a message, in reporting order."""
    texts = {REASONING: message.reasoning or "", CONTENT: message.content or ""}
    for index, call in enumerate(message.tool_calls):
        texts[Channel(index, "name")] = call.name
        texts[Channel(index, "id")] = call.id or ""
        texts[Channel(index, "arguments")] = call.arguments
    return texts


def message_channels(message: Message, steps: _Steps, streamed: Callable[[], Channels]) -> Channels:
    """Every channel of a message, from its events by step; where these do not spell it, from what was streamed."""
    written, found = _Written(steps), Channels()
    for first, last, event in steps.event_runs():
        if isinstance(event, TextEvent):
            written.add_event(event, first, last)
    own = written.channels()
    for channel, text in message_texts(message).items():
        found[channel] = own[channel] if own[channel].text == text else ChannelText(text, streamed()[channel].stretches)
    return found


def streamed_channels(steps: _Steps) -> Channels:
    """Every channel as a client puts it together from the deltas of a replay."""
    written = _Written(steps)
    for first, last, start, delta in steps.delta_runs():
        for channel, text in delta_texts(delta):
            written.add(channel, text, first, last, (start, start + len(text)) if first < last else NOWHERE)
    return written.channels()


def delta_channels(numbered: Iterable[tuple[int, MessageDelta | None]]) -> Channels:
    """Every channel as a client puts it together from deltas, each with the number of the chunk it is of."""
    written = _Written()
    for number, delta in numbered:
        for channel, text in () if delta is None else delta_texts(delta):
            written.add(channel, text, number, number)
    return written.channels()


def channel_of(event: TextEvent) -> Channel:
    """The channel a text event writes to."""
    call = event.call if isinstance(event, (CallName, CallId, CallArguments)) else None
    return Channel(call, cast(Part, event.owner))


def known_parts(event: TextEvent) -> tuple[Segment, ...]:
    """The segments of an event where they spell its text; () where the parser does not say where it came from."""
    parts = event.parts()
    if event.segments is None and len(event.text) != event.end - event.start:
        return ()
    return parts if sum([len(part.text) for part in parts]) == len(event.text) else ()


class _Written:
    """The channels as far as they are written. `steps` tell the steps of runs apart."""

    def __init__(self, steps: RunSteps | None = None) -> None:
        self._steps = steps
        self._texts: dict[Channel, Stretches] = {}

    def add(
        self,
        channel: Channel,
        text: str,
        first: int,
        last: int,
        span: tuple[int, int] = NOWHERE,
        kind: SegmentKind | None = None,
    ) -> None:
        """Append what the steps `first` to `last` wrote; a channel without text is one too."""
        found = self._texts.get(channel)
        if found is None:
            found = self._texts[channel] = Stretches(self._steps)
        if text:
            found.add(text, first, last, span, kind)

    def add_event(self, event: TextEvent, first: int, last: int) -> None:
        """Append the text of an event, with its places where the parser says them."""
        channel, parts = channel_of(event), known_parts(event)
        for part in parts:
            self.add(channel, part.text, first, last, (part.start, part.end), part.kind)
        if not parts:
            self.add(channel, event.text, first, last)

    def channels(self) -> Channels:
        """Return what was written."""
        return Channels({channel: ChannelText(found.text, found) for channel, found in self._texts.items()})


def delta_texts(delta: MessageDelta) -> Iterator[tuple[Channel, str]]:
    """The texts of one delta with their channels; a text that is absent is left out."""
    texts = [(REASONING, delta.reasoning), (CONTENT, delta.content)]
    for call in delta.tool_calls:
        parts = (call.name, call.id, call.arguments)
        texts += [(Channel(call.index, part), text) for part, text in zip(CALL_PARTS, parts, strict=True)]
    return ((channel, text) for channel, text in texts if text is not None)
