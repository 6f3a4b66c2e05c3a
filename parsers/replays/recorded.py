"""A parser of which only the deltas are seen, behind the interface of the others.

`BlackBox` turns the deltas that a foreign parser sends into events without places: nobody knows which characters a
delta came from. Its state is unknown, it holds nothing it tells of, and it examines characters nobody counts. A call
counts as complete where its arguments are one JSON object at the end, since the deltas do not say.

Checks judge such a parser by what it sends (`Subject.black_box`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

from parsers.replays.chunking import cut_pieces
from parsers.vocabulary.events import (
    CallArguments,
    CallEnd,
    CallId,
    CallName,
    CallStart,
    ContentText,
    Diagnostic,
    Event,
    ReasoningText,
)
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.trace import RejectedCall, StateView, Trace, Transition
from parsers.vocabulary.types import Context, Delta, MessageDelta, Mode, Piece, ToolCallDelta, joined
from parsers.wire.endings import End
from parsers.wire.read import MOST_CALLS, NOTES, ServerChunk, read_stream

UNKNOWN = StateView("UNKNOWN")


class _ForeignParser(Protocol):
    """Holds what a foreign parser must be able to do. It may raise; what it raises becomes a finding."""

    def begin(self, context: Context) -> None:
        """Start a new output."""

    def feed(self, delta: Delta) -> MessageDelta | None:
        """Return what is sent for one delta, or None."""

    def finish(self, reason: str | None) -> MessageDelta | None:
        """The output is over; what is still sent, or None."""


class BlackBox:
    """A foreign parser as a StreamParser."""

    def __init__(self, name: str, foreign: _ForeignParser) -> None:
        self.name = name
        self.transitions: list[Transition] | None = None
        self.rejected: list[RejectedCall] = []
        self.examined = 0
        self._foreign = foreign
        self._at = 0
        self._arguments: dict[int, list[str]] = {}

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        self._at, self._arguments = 0, {}
        self._foreign.begin(context)

    def feed(self, delta: Delta) -> list[Event]:
        sent = self._foreign.feed(delta)
        self._at += len(delta.text)
        return self._events(sent)

    def finish(self, reason: str | None = None) -> list[Event]:
        at, events = self._at, self._events(self._foreign.finish(reason))
        return [*events, *[CallEnd(at, at, call, is_object("".join(p))) for call, p in self._arguments.items()]]

    def view(self) -> StateView:
        return UNKNOWN

    def _events(self, sent: MessageDelta | None) -> list[Event]:
        if sent is None:
            return []
        at, events = self._at, list[Event]()
        if sent.reasoning is not None:
            events.append(ReasoningText(at, at, sent.reasoning, ()))
        if sent.content is not None:
            events.append(ContentText(at, at, sent.content, ()))
        for part in sent.tool_calls:
            events += self._call(part)
        return events

    def _call(self, part: ToolCallDelta) -> list[Event]:
        at, call, events = self._at, min(part.index, MOST_CALLS), list[Event]()
        if call not in self._arguments:
            self._arguments[call] = []
            events.append(CallStart(at, at, call))
        if part.id is not None:
            events.append(CallId(at, at, part.id, (), call))
        if part.name is not None:
            events.append(CallName(at, at, part.name, (), call))
        if part.arguments is not None:
            self._arguments[call].append(part.arguments)
            events.append(CallArguments(at, at, part.arguments, (), call))
        return events


# A recorded stream as a parser: step i sends what the server sent in chunk i, whatever text came with it.
#
# Nothing is parsed again. `ServerStream` is the stream with the raw output beside it, as far as it is known: `fed` are
# the tokens that came with each chunk. They are known where the chunks carry token ids, where there is a delta for
# every chunk, or where the content is the output itself; otherwise the steps have no text, and the output counts as
# unknown.
#
# The trace of such a replay is put right afterwards (`as_sent`): its deltas are the chunks' own, to the letter, with
# parts that a parser would never send; its finish reason is the server's, "" where none came; and names add up as
# OpenAI's client libraries do it.

NAME = "recorded"


class _RawDelta(Protocol):
    """A delta of the raw output: its text and, where known, its token ids."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def ids(self) -> tuple[int, ...] | None:
        """The ids of its tokens."""


@dataclass(slots=True, frozen=True)
class ServerStream:
    """Holds what a server sent. `fed`: the tokens that came with each chunk, None where nobody knows.

    `done`: the stream's own end came behind them. `gaps`: some chunks were not recorded.
    """

    chunks: tuple[ServerChunk, ...]
    fed: tuple[tuple[Piece, ...], ...] | None = None
    done: bool = False
    gaps: bool = False

    @property
    def finish_reason(self) -> str | None:
        """The last finish reason that was sent."""
        return next((chunk.finish_reason for chunk in reversed(self.chunks) if chunk.finish_reason is not None), None)

    @property
    def end(self) -> End | None:
        """The same in the words of another API that sent it."""
        return next((chunk.end for chunk in reversed(self.chunks) if chunk.finish_reason is not None), None)

    @property
    def may_finish(self) -> bool:
        """Return whether what was recorded has a place for a finish reason."""
        return any(chunk.may_finish for chunk in self.chunks)

    @property
    def whole(self) -> bool:
        """Return whether it is an answer that was not streamed: nothing can come after it."""
        return any(chunk.whole for chunk in self.chunks)

    @property
    def tokens(self) -> int | None:
        """The last count of generated tokens that was sent."""
        return next((chunk.tokens for chunk in reversed(self.chunks) if chunk.tokens is not None), None)

    @property
    def error(self) -> str | None:
        """What the server says went wrong, where it sent nothing after that."""
        last = next(
            (chunk for chunk in reversed(self.chunks) if chunk.delta is not None or chunk.error is not None), None
        )
        return None if last is None else last.error

    @property
    def cut_short(self) -> str | None:
        """A finish reason that says of the output what its calls do not say, such as length."""
        return None if self.finish_reason in ("stop", "tool_calls") else self.finish_reason

    @property
    def ends(self) -> list[int] | None:
        """Return how many characters of the output were there after each chunk."""
        if self.fed is None:
            return None
        return list(accumulate([sum([len(piece.text) for piece in part]) for part in self.fed]))

    @property
    def text(self) -> str:
        """All text that clients show: what is looked at for signs of a format where there is no raw output."""
        sent = [chunk.delta for chunk in self.chunks if chunk.delta is not None]
        return "".join([(delta.reasoning or "") + (delta.content or "") for delta in sent])

    @property
    def repeats(self) -> bool:
        """Return whether all that is known of the output is the content itself: beside itself it says nothing."""
        pieces = [piece for part in self.fed or () for piece in part]
        if not pieces or any(piece.recorded for piece in pieces):
            return False
        sent = [chunk.delta for chunk in self.chunks if chunk.delta is not None]
        content = "".join([delta.content or "" for delta in sent])
        return content == joined(pieces) and not any(delta.reasoning or delta.tool_calls for delta in sent)

    def deltas(self) -> tuple[Delta, ...]:
        """Return what the parser is fed: a delta for each chunk."""
        fed = self.fed or ((),) * len(self.chunks)
        return tuple([Delta(number, part) for number, part in enumerate(fed, start=1)])


def server_stream(
    stream: Iterable[Mapping[str, Any]],
    pieces: Sequence[Piece] = (),
    deltas: Sequence[_RawDelta] | None = None,
    *,
    done: bool = False,
    gaps: bool = False,
) -> ServerStream:
    """The stream, with the output's tokens `pieces` shared out over its chunks; `deltas`: how the output arrived."""
    chunks = tuple(read_stream(stream))
    return ServerStream(chunks, _shared(chunks, pieces, deltas), done, gaps)


def _shared(
    chunks: Sequence[ServerChunk], pieces: Sequence[Piece], deltas: Sequence[_RawDelta] | None
) -> tuple[tuple[Piece, ...], ...] | None:
    sent = [one for chunk in chunks for one in chunk.ids or ()]
    if not pieces or not chunks:
        return None
    if len(sent) == len(pieces) and all(p.token_id in (one, None) for p, one in zip(pieces, sent, strict=True)):
        ends = list(accumulate([len(chunk.ids or ()) for chunk in chunks], initial=0))
        return tuple([tuple(pieces[start:end]) for start, end in pairwise(ends)])
    if len(chunks) == 1:
        return (tuple(pieces),)
    lengths = _lengths(chunks, deltas, "".join([piece.text for piece in pieces]))
    return None if lengths is None else cut_pieces(pieces, accumulate(lengths))


def _lengths(chunks: Sequence[ServerChunk], deltas: Sequence[_RawDelta] | None, text: str) -> list[int] | None:
    """Return how many characters came with each chunk; None where nobody knows."""
    sizes = [len(delta.text) for delta in deltas or ()]
    with_ids, with_delta = [chunk.ids is not None for chunk in chunks], [chunk.delta is not None for chunk in chunks]
    for places in ([True] * len(chunks), with_ids, with_delta):
        if sizes and sum(places) == len(sizes):
            left = iter(sizes)
            return [next(left) if place else 0 for place in places]
    sent = [chunk.delta or MessageDelta() for chunk in chunks]
    if "".join([delta.content or "" for delta in sent]) == text and not any(d.reasoning or d.tool_calls for d in sent):
        return [len(delta.content or "") for delta in sent]
    return None


class Recorded(BlackBox):
    """Plays the chunks of a stream back, one for each delta it is fed. What is odd about a chunk is a diagnostic."""

    def __init__(self, chunks: Sequence[ServerChunk]) -> None:
        self._tape = _Tape(chunks)
        super().__init__(NAME, self._tape)

    def feed(self, delta: Delta) -> list[Event]:
        at, end = self._at, self._at + len(delta.text)
        notes = self._tape.chunk(delta).notes
        told = [Diagnostic(at, end, note.code, NOTES[note.code], note.words) for note in notes]
        return [*told, *super().feed(delta)]


class _Tape:
    """The chunks as a foreign parser: the number of a delta is that of the chunk."""

    def __init__(self, chunks: Sequence[ServerChunk]) -> None:
        self._chunks = chunks

    def begin(self, context: Context) -> None:
        """Nothing has to be known."""

    def chunk(self, delta: Delta) -> ServerChunk:
        return self._chunks[delta.index - 1]

    def feed(self, delta: Delta) -> MessageDelta | None:
        return self.chunk(delta).delta

    def finish(self, reason: str | None) -> MessageDelta | None:
        return None


def as_sent(trace: Trace, stream: ServerStream) -> None:
    """Give a replay of `stream` the message and the finish reason that follow from the chunks' own deltas."""
    names: dict[int, list[str]] = {}
    ids: dict[int, str] = {}
    for chunk in stream.chunks:
        for part in () if chunk.delta is None else chunk.delta.tool_calls:
            names.setdefault(part.index, []).append(part.name or "")
            ids[part.index] = ids.get(part.index) or part.id or ""
    for call, index in zip(trace.message.tool_calls, sorted(names), strict=True):
        call.name, call.id = "".join(names[index]), ids[index] or None
    trace.finish_reason = stream.finish_reason or ""
