"""The channels of a message: its texts, each with a name of its own and the steps that wrote it.

A message has the channels reasoning and content, and for each call its name, id and arguments. A `ChannelText` is a
channel's text as a list of stretches, so that a character of it leads to the step that sent it and, where the parser
says so, to the place in the output that it came from. `Trace.channels` has those of a replay's message,
`Trace.streamed` those that a client puts together from its deltas; both are built once, in O(n).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast

from parsers.vocabulary.events import CallArguments, CallId, CallName, Event, Segment, SegmentKind, TextEvent
from parsers.vocabulary.types import Message, MessageDelta, Span, ToolCall

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
class Place:
    """Says where a character of a channel comes from: offset in the output text, step, and how it was made."""

    raw: int | None
    step: int | None
    kind: SegmentKind | None = None

    def span(self, length: int = 1) -> Span | None:
        """So many characters of the output from here on, where that is known."""
        return None if self.raw is None else Span(self.raw, self.raw + length)


@dataclass(slots=True)
class Stretch:
    """Characters of a channel, from `at` on, that one step wrote; [start, end) of the output where that is known."""

    at: int
    text: str
    step: int
    start: int | None = None
    end: int | None = None
    kind: SegmentKind | None = None


@dataclass(slots=True)
class ChannelText:
    """The text of one channel and the stretches it was written in, in order and without gap."""

    text: str = ""
    stretches: list[Stretch] = field(default_factory=list)

    def place(self, offset: int) -> Place:
        """Return where the character at `offset` comes from; at or beyond the end, where the channel ended."""
        index = bisect_right(self.stretches, offset, key=lambda stretch: stretch.at) - 1
        if index < 0:
            return Place(None, None)
        stretch = self.stretches[index]
        inside = offset - stretch.at
        if inside >= len(stretch.text):
            return Place(stretch.end, stretch.step, stretch.kind)
        if stretch.kind == "copied" and stretch.start is not None:
            return Place(stretch.start + inside, stretch.step, stretch.kind)
        return Place(stretch.start, stretch.step, stretch.kind)


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


def message_channels(
    message: Message, events: Iterable[tuple[int, Event]], streamed: Callable[[], Channels]
) -> Channels:
    """Every channel of a message, from its events by step; where these do not spell it, from what was streamed."""
    written, found = _collected(_event_stretches(events)), Channels()
    for channel, text in message_texts(message).items():
        own = written[channel]
        found[channel] = own if own.text == text else ChannelText(text, streamed()[channel].stretches)
    return found


def delta_channels(numbered: Iterable[tuple[int, MessageDelta | None]]) -> Channels:
    """Every channel as a client puts it together from deltas, each with the number of the step or chunk it is of."""
    texts = ((number, one) for number, delta in numbered if delta is not None for one in delta_texts(delta))
    return _collected((channel, Stretch(0, text, number)) for number, (channel, text) in texts)


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


def _collected(stretches: Iterator[tuple[Channel, Stretch]]) -> Channels:
    texts: dict[Channel, list[str]] = {}
    lengths: dict[Channel, int] = {}
    found = Channels()
    for channel, stretch in stretches:
        stretch.at = lengths.get(channel, 0)
        lengths[channel] = stretch.at + len(stretch.text)
        texts.setdefault(channel, []).append(stretch.text)
        kept = found.setdefault(channel, ChannelText())
        if stretch.text:
            kept.stretches.append(stretch)
    for channel, text in found.items():
        text.text = "".join(texts[channel])
    return found


def _event_stretches(events: Iterable[tuple[int, Event]]) -> Iterator[tuple[Channel, Stretch]]:
    for step, event in events:
        if isinstance(event, TextEvent):
            channel, parts = channel_of(event), known_parts(event)
            for part in parts:
                yield channel, Stretch(0, part.text, step, part.start, part.end, part.kind)
            if not parts:
                yield channel, Stretch(0, event.text, step)


def delta_texts(delta: MessageDelta) -> Iterator[tuple[Channel, str]]:
    """The texts of one delta with their channels; a text that is absent is left out."""
    texts = [(REASONING, delta.reasoning), (CONTENT, delta.content)]
    for call in delta.tool_calls:
        parts = (call.name, call.id, call.arguments)
        texts += [(Channel(call.index, part), text) for part, text in zip(CALL_PARTS, parts, strict=True)]
    return ((channel, text) for channel, text in texts if text is not None)
