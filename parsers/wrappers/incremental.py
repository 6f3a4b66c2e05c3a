"""candle-vllm's `IncrementalToolParser`: parse_incremental(buffer), stateless over the whole output so far.

    NotToolCall | InProgress(partial) | Complete(call)

The contract is the original's (commit abd99ef), the reading is this package's: each call of parse_incremental runs the
format's own machine over the buffer from its beginning, so it costs O(len(buffer)), and reading a whole stream this
way costs the square of its length. That is the price of having no state; a parser of the registry is linear.

What the outcomes say besides: every call that is whole, in order, and the text around the calls. A name is never
taken from inside the arguments, arguments are JSON and not the wrapper around them, a half marker is no text yet, and
what cannot be a call any more is text again. With `final` the output is over: nothing is held back.

`auto` reads the buffer with every format; the one that sees a call first, by its place in the output, is right. Until a
call has a name, what they all say of the text is all that auto says, because another one may yet be right.

`StreamBridge` turns outcomes, whose arguments are cumulative, into the deltas a client may add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.formats.layers import TOPMOST
from parsers.formats.model import Format, builtin_formats
from parsers.machine.machine import Machine
from parsers.vocabulary.events import CallEnd, CallStart, Event
from parsers.vocabulary.types import Context, Delta, Message, Piece
from parsers.wire.assemble import Assembler
from parsers.wire.stream_state import CallDelta, ToolCallStreamState

_FORMATS = {
    "mistral": ("mistral",),
    "llama": ("llama_function_tag", "llama"),
    "qwen": ("qwen", "qwen_agent"),
    "json": ("json",),
}
_MODELS = {"ministral": "mistral", "mistral": "mistral", "llama": "llama", "qwen": "qwen"}


@dataclass(slots=True, frozen=True)
class ParsedToolCall:
    """A call that has ended. `complete` is false when the output cut it off."""

    id: str
    name: str
    arguments: str
    complete: bool = True


@dataclass(slots=True, frozen=True)
class PartialToolCall:
    """A call that is open: its name once it is known, its arguments so far, and whose grammar it is."""

    name: str | None
    arguments: str
    format: str


@dataclass(slots=True, frozen=True, kw_only=True)
class ToolParseState:
    """The part of every outcome: the text that is no call, and the calls that have ended, in order."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[ParsedToolCall, ...] = ()


@dataclass(slots=True, frozen=True, kw_only=True)
class NotToolCall(ToolParseState):
    """No call so far."""


@dataclass(slots=True, frozen=True, kw_only=True)
class InProgress(ToolParseState):
    """A call is open or announced."""

    partial: PartialToolCall


@dataclass(slots=True, frozen=True, kw_only=True)
class Complete(ToolParseState):
    """All calls so far have ended."""

    @property
    def call(self) -> ParsedToolCall:
        """The call that ended last."""
        return self.calls[-1]


@dataclass(slots=True, frozen=True)
class ParsedOutput:
    """A whole output: text alone, calls alone, or both."""

    text: str | None
    reasoning: str | None
    calls: tuple[ParsedToolCall, ...]


@dataclass(slots=True)
class _Reading:
    """The reading of the buffer by one format.

    `at`: where it sees a call, or one coming; None where it does not. `waits`: a call is open or announced, and it is
    the message's last one if `named`.
    """

    family: str
    message: Message
    at: int | None
    named: bool
    waits: bool

    def outcome(self, content: str, reasoning: str) -> ToolParseState:
        """The outcome, with this text."""
        found = self.message.tool_calls
        ended = found[:-1] if self.named else found
        calls = tuple([ParsedToolCall(call.id or "", call.name, call.arguments, call.complete) for call in ended])
        if not self.waits:
            kind = Complete if calls else NotToolCall
            return kind(content=content, reasoning=reasoning, calls=calls)
        name, arguments = (found[-1].name, found[-1].arguments) if self.named else (None, "")
        partial = PartialToolCall(name, arguments, self.family)
        return InProgress(content=content, reasoning=reasoning, calls=calls, partial=partial)


class IncrementalToolParser:
    """Both interfaces over one set of formats; it keeps nothing between calls."""

    def __init__(self, formats: Sequence[tuple[str, Format]], context: Context) -> None:
        self._context = context
        policy = {"id_dialect": "call_hex24"}
        self._machines = [(family, Machine(fmt, {**fmt.policy.model_dump(), **policy})) for family, fmt in formats]

    def parse_incremental(self, buffer: str, *, final: bool = False) -> ToolParseState:
        """Return what the output so far is; `final`: there is no more of it."""
        readings = [self._read(family, machine, buffer, final) for family, machine in self._machines]
        first = min([one for one in readings if one.at is not None], key=lambda one: one.at or 0, default=None)
        called = first is not None and bool(first.message.tool_calls)
        if final and not called:
            # Without a call, the reading that knows more of the markers is right: more reasoning, less content.
            texts = [(len(one.message.reasoning or ""), -len(one.message.content or "")) for one in readings]
            first = readings[texts.index(max(texts))]
        if first is not None and (final or called):
            return first.outcome(first.message.content or "", first.message.reasoning or "")
        content = _common([one.message.content or "" for one in readings])
        reasoning = _common([one.message.reasoning or "" for one in readings])
        return (first or readings[0]).outcome(content, reasoning)

    def parse(self, output: str) -> ParsedOutput:
        """A whole output at once."""
        found = self.parse_incremental(output, final=True)
        return ParsedOutput(found.content or None, found.reasoning or None, found.calls)

    def _read(self, family: str, machine: Machine, buffer: str, final: bool) -> _Reading:
        machine.transitions = []
        machine.begin(self._context)
        events = machine.feed(Delta(1, (Piece(buffer),)))
        if final:
            events += machine.finish(self._context.finish_reason)
        assembler = Assembler()
        assembler.add(events)
        message, view = assembler.message(), machine.view()
        # A call has ended, and nothing has moved since.
        last = next((event.end for event in reversed(events) if isinstance(event, CallEnd)), None)
        ended = last is not None and machine.transitions[-1].end <= last
        waits = not final and (view.call is not None or not (_is_text(machine, view.state) or ended))
        named = waits and view.call == len(message.tool_calls) - 1
        return _Reading(family, message, _entered(machine, events, waits), named, waits)


def _is_text(machine: Machine, name: str) -> bool:
    state = machine.format.states.get(name)  # None: a state of guided output
    return state is not None and state.text in TOPMOST


def _entered(machine: Machine, events: Sequence[Event], waits: bool) -> int | None:
    """Return where the machine left the text for its first call, or for the one that may be coming."""
    first = next((event.start for event in events if isinstance(event, CallStart)), None)
    if first is None and not waits:
        return None
    moves = [
        move.start
        for move in machine.transitions or ()
        if _is_text(machine, move.from_state) and not _is_text(machine, move.to_state)
    ]
    return max([start for start in moves if first is None or start <= first], default=None)


def _common(texts: Sequence[str]) -> str:
    """Return what all texts begin with."""
    low, high = min(texts), max(texts)
    return next((low[:at] for at, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), low)


def get_tool_parser(name: str, context: Context | None = None) -> IncrementalToolParser:
    """The parser of that name (mistral, llama, qwen, json, auto), else the one for a model of that name, else auto."""
    wanted = name.strip().lower()
    if wanted not in _FORMATS:
        wanted = next((family for part, family in _MODELS.items() if part in wanted), "auto")
    families = list(_FORMATS) if wanted == "auto" else [wanted]
    formats = [(family, builtin_formats()[fmt]) for family in families for fmt in _FORMATS[family]]
    return IncrementalToolParser(formats, context or Context())


@dataclass(slots=True)
class _Growth:
    """The part of one outcome that is new. `non_prefix` names what changed other than by growing; it is not sent."""

    content: str = ""
    reasoning: str = ""
    calls: list[CallDelta] = field(default_factory=list)
    non_prefix: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Sent:
    index: int
    name: str
    arguments: str = ""
    completed: bool = False


class StreamBridge:
    """From outcomes to deltas: a call starts once, under its own index, and only what is new is sent."""

    def __init__(self, state: ToolCallStreamState | None = None) -> None:
        self.state = state or ToolCallStreamState()
        self._content = self._reasoning = ""
        self._sent: list[_Sent] = []

    def update(self, outcome: ToolParseState) -> _Growth:
        """Return what this outcome adds."""
        growth = _Growth()
        growth.content = self._grown("content", self._content, outcome.content, growth)
        growth.reasoning = self._grown("reasoning", self._reasoning, outcome.reasoning, growth)
        self._content += growth.content
        self._reasoning += growth.reasoning
        known = [(call.name, call.arguments, call.complete) for call in outcome.calls]
        if isinstance(outcome, InProgress) and outcome.partial.name is not None:
            known.append((outcome.partial.name, outcome.partial.arguments, False))
        if len(known) < len(self._sent):
            growth.non_prefix.append("tool_calls")
        for number, (name, arguments, complete) in enumerate(known):
            self._call(number, name, arguments, growth)
            if complete and not self._sent[number].completed:
                self._sent[number].completed = True
                growth.calls += filter(None, [self.state.complete_tool_call(self._sent[number].index)])
        return growth

    def _call(self, number: int, name: str, arguments: str, growth: _Growth) -> None:
        if number == len(self._sent):
            index, delta = self.state.start_tool_call(name)
            self._sent.append(_Sent(index, name))
            growth.calls.append(delta)
        sent = self._sent[number]
        if sent.name != name:
            growth.non_prefix.append(f"tool_calls[{number}].name")
        new = self._grown(f"tool_calls[{number}].arguments", sent.arguments, arguments, growth)
        if new:
            sent.arguments += new
            growth.calls += filter(None, [self.state.add_arguments(sent.index, new)])

    def _grown(self, channel: str, old: str, new: str, growth: _Growth) -> str:
        if new.startswith(old):
            return new[len(old) :]
        growth.non_prefix.append(channel)
        return ""
