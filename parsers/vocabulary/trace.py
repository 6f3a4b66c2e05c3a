"""A replay records one Step per delta, and the Trace holds them.

Nothing here grows with the square of the output: a step stores spans and lengths, never the message so far.
What is held at a step, and what it wrote of the message, are derived (`Trace.held_text`, `Trace.channels`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

from msgspec import Struct

from parsers.vocabulary.channels import Channels, message_channels, streamed_channels
from parsers.vocabulary.drops import DropReason
from parsers.vocabulary.events import Diagnostic, Event, Failure, Raised, SegmentKind, Severity, TextEvent
from parsers.vocabulary.observed import Observed
from parsers.vocabulary.types import Context, Delta, Message, MessageDelta, Mode, Owner, Span

HoldKind = Literal["lexer", "policy", "codec", "tentative"]
About = Literal["parser", "output", "request"]


class Hold(Struct, gc=False):
    """Text a parser has seen and not let go yet: where it is, who holds it, and why in words.

    lexer: it may be the beginning of a terminal; policy: a whitespace or content rule waits;
    codec: the argument parser waits for a value to end; tentative: a call whose name is not known yet.
    """

    start: int
    end: int
    kind: HoldKind
    reason: str


class Transition(Struct, gc=False):
    """One row that fired: `sub` counts the transitions of one step from 1. `row` is the row's id in its format."""

    from_state: str
    trigger: str
    to_state: str
    row: str
    start: int
    end: int
    sub: int
    note: str = ""


# What a transition is besides its place: (from_state, trigger, to_state, row, note)
Fired = tuple[str, str, str, str, str]
row_of: Callable[[Transition], Fired] = attrgetter("from_state", "trigger", "to_state", "row", "note")


class Stand(Enum):
    """Says where in the arguments of a call an argument parser stands, as far as it matters what it waits for."""

    BEFORE = "before something"
    INSIDE = "inside a value of the notation"
    KEY = "in a key between tags"
    VALUE = "in a value between tags"
    BETWEEN = "between pairs of key and value"
    NAME = "in the name of a call"
    OTHER = "elsewhere"

    __hash__ = object.__hash__  # quicker, and each is equal to itself only


class CodecState(NamedTuple):
    """The state of an argument parser in words, and where it stands. `of`: what it stands before or in, in words."""

    words: str
    stand: Stand = Stand.OTHER
    of: str = ""

    def __str__(self) -> str:
        return self.words

    @classmethod
    def before(cls, words: str) -> CodecState:
        """The state before something."""
        return cls(f"before {words}", Stand.BEFORE, words)


# What a view is besides its holds and its call: (state, candidates, accepts, codec, call_state)
Shape = tuple[str, tuple[str, ...], tuple[str, ...], CodecState | None, str | None]


class StateView(Struct, gc=False):
    """The answers a parser would give if asked now.

    `candidates`: terminals the held text may still become; `accepts`: terminals with a row in this state;
    `call`: index of the open call; `codec`: the argument parser's state; `call_state`: the state of the call
    that was begun last, by its name in `parsers.machine.calls` (None: there is none, or the parser does not say).
    """

    state: str
    holds: tuple[Hold, ...] = ()
    candidates: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    call: int | None = None
    codec: CodecState | None = None
    call_state: str | None = None


class Step(Struct, gc=False):
    """One delta's worth of parsing. Step `index` counts from 1; the last one may be the end of the output.

    `span` is the text fed in this step; `end` marks the step made by finish(). The `*_length` fields are the
    lengths, after the step, of content and reasoning; `calls` the number of calls begun.
    """

    index: int
    span: Span
    ids: tuple[int, ...]
    state: str
    holds: tuple[Hold, ...]
    transitions: tuple[Transition, ...]
    events: tuple[Event, ...]
    delta: MessageDelta | None
    view: StateView
    end: bool = False
    reasoning_length: int = 0
    content_length: int = 0
    calls: int = 0

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics among this step's events."""
        return tuple([event for event in self.events if isinstance(event, Diagnostic)])


# A part of a text event with the first and the last step that told it: (first, last, kind of event, call, text, start,
# end, how it was made). A call is 0 where there is none; how is None where the parser does not say where text is from.
TextPart = tuple[int, int, type[TextEvent], int, str, int, int, SegmentKind | None]


def parts_of(event: TextEvent) -> list[tuple[type[TextEvent], int, str, int, int, SegmentKind | None]]:
    """The parts of a text event; see TextPart."""
    kind, call = type(event), getattr(event, "call", 0)
    if event.segments is None:
        return [(kind, call, event.text, event.start, event.end, "copied")]
    if not event.segments and event.text:
        return [(kind, call, event.text, event.start, event.start, None)]
    return [(kind, call, part.text, part.start, part.end, part.kind) for part in event.segments]


class StepColumns(ABC):
    """What the steps of a replay hold, by itself. To look at that takes far less than to make the steps."""

    @property
    @abstractmethod
    def ends(self) -> Sequence[int]:
        """The end of the text fed by each step."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """About how many bytes of memory they take, besides the output and its tokens."""

    def work_out(self) -> None:
        """Find now what is else found when a step is first looked at, so that all looks take as long."""
        return

    @abstractmethod
    def ids(self) -> Iterator[tuple[int, ...]]:
        """The token ids that each step was fed."""

    @abstractmethod
    def event_runs(self, *kinds: type[Event]) -> Iterator[tuple[int, int, Event]]:
        """Every event, or those of these types, with the numbers of the first and the last step that told it, in order.

        Those differ for open text only: a copy of the output, of which each step told the part up to where it reaches.
        """

    def text_parts(self) -> Iterator[TextPart]:
        """The parts of every text event, in order: those of its segments, or all of it as a copy."""
        for first, last, event in self.event_runs(TextEvent):
            yield from ((first, last, *part) for part in parts_of(cast(TextEvent, event)))

    @property
    @abstractmethod
    def event_rows(self) -> int:
        """How many events `event_runs` gives."""

    @abstractmethod
    def events(self) -> Iterator[tuple[int, Event]]:
        """Every event with the number of its step, in order: of open text each step has its part."""

    @abstractmethod
    def delta_runs(self) -> Iterator[tuple[int, int, int, MessageDelta]]:
        """Every delta with the numbers of the first and the last step that sent it, and where its text stands.

        Those steps differ for open text only, and only then the place, which is of the first character, means
        anything.
        """

    @abstractmethod
    def sent(self) -> Iterator[tuple[int, MessageDelta]]:
        """Every delta with the number of the step that sent it: of open text each step has its part."""

    @abstractmethod
    def senders(self) -> Sequence[int]:
        """The numbers of the steps that sent something."""

    @abstractmethod
    def diagnostics(self) -> Iterator[tuple[int, Diagnostic]]:
        """Every diagnostic with the number of its step, in order."""

    def reaches(self, first: int, last: int) -> Sequence[int]:
        """For each of these steps that told open text together, where in the output the text that it told ends: where
        what it was fed ends, unless some of that waits."""
        return self.ends[first - 1 : last]

    def step_of(self, raw: int) -> int:
        """The number of the step that told a character of open text: the one that was fed it, unless it waits."""
        return bisect_right(self.ends, raw) + 1

    @abstractmethod
    def holding(self) -> Iterator[tuple[int, tuple[Hold, ...]]]:
        """The number and the holds of every step after which text is held."""

    @abstractmethod
    def holds(self, number: int) -> tuple[Hold, ...]:
        """The holds of one step."""

    @abstractmethod
    def held(self) -> Iterator[tuple[int, int, int]]:
        """The number of every step after which text is held, and where that begins and ends."""

    @abstractmethod
    def state(self, number: int) -> str:
        """The state after one step."""

    @abstractmethod
    def moves(self) -> Iterator[tuple[int, Transition]]:
        """Every row that fired with the number of its step, in order."""

    def fired(self) -> Iterator[tuple[int, Fired]]:
        """The same without their places, which takes less time."""
        return ((number, row_of(move)) for number, move in self.moves())


class _StepList(StepColumns):
    """Steps that were made one by one."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps

    @property
    def ends(self) -> Sequence[int]:
        return [step.span.end for step in self._steps]

    @property
    def nbytes(self) -> int:
        return 1_500 * len(self._steps)

    def ids(self) -> Iterator[tuple[int, ...]]:
        return (step.ids for step in self._steps)

    def event_runs(self, *kinds: type[Event]) -> Iterator[tuple[int, int, Event]]:
        return ((number, number, event) for number, event in self.events() if isinstance(event, kinds or Event))

    @property
    def event_rows(self) -> int:
        return sum([len(step.events) for step in self._steps])

    def events(self) -> Iterator[tuple[int, Event]]:
        return ((step.index, event) for step in self._steps for event in step.events)

    def delta_runs(self) -> Iterator[tuple[int, int, int, MessageDelta]]:
        return ((number, number, 0, delta) for number, delta in self.sent())

    def sent(self) -> Iterator[tuple[int, MessageDelta]]:
        return ((step.index, step.delta) for step in self._steps if step.delta is not None)

    def senders(self) -> Sequence[int]:
        return [number for number, _ in self.sent()]

    def diagnostics(self) -> Iterator[tuple[int, Diagnostic]]:
        return ((number, event) for number, event in self.events() if isinstance(event, Diagnostic))

    def holding(self) -> Iterator[tuple[int, tuple[Hold, ...]]]:
        return ((step.index, step.holds) for step in self._steps if step.holds)

    def holds(self, number: int) -> tuple[Hold, ...]:
        return self._steps[number - 1].holds

    def held(self) -> Iterator[tuple[int, int, int]]:
        for number, holds in self.holding():
            yield number, min([hold.start for hold in holds]), max([hold.end for hold in holds])

    def state(self, number: int) -> str:
        return self._steps[number - 1].state

    def moves(self) -> Iterator[tuple[int, Transition]]:
        return ((step.index, move) for step in self._steps for move in step.transitions)


class RejectedCall(Struct, gc=False):
    """A call that was begun and not kept, with the text it was made of."""

    start: int
    end: int
    name: str | None
    reason: DropReason

    def to_json(self) -> dict[str, Any]:
        """As `replay --json` prints it."""
        return {"span": [self.start, self.end], "name": self.name, "reason": self.reason.words}


class Ownership(Struct, gc=False):
    """A run of the output and where it went. The runs of a trace tile the output without gap or overlap."""

    start: int
    end: int
    owner: Owner
    reason: DropReason | None = None

    @property
    def why(self) -> str:
        """The reason in words; '' for what is not dropped."""
        return "" if self.reason is None else self.reason.words


@dataclass(slots=True)
class Proof:
    """A way to see a finding for oneself: the changes to the case before it is replayed.

    `chunking` is a chunking as JSON. `edits` are (start, end, text): characters [start, end) of the output become
    text; they do not overlap and ascend. `context` holds the keys of the request that change, as in a case. `parser` is
    the name of another parser. `wrong` is the chunking of the message that is wrong, where `chunking` gives the other
    one.
    """

    chunking: Mapping[str, Any] | None = None
    edits: tuple[tuple[int, int, str], ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    parser: str | None = None
    wrong: Mapping[str, Any] | None = field(default=None, compare=False)

    @property
    def changes_case(self) -> bool:
        """Return whether it takes more than another chunking."""
        return bool(self.edits or self.context or self.parser)

    def to_json(self) -> dict[str, Any]:
        """As `find --json` prints it."""
        chunking, wrong = [None if one is None else dict(one) for one in (self.chunking, self.wrong)]
        edits = [list(edit) for edit in self.edits]
        context = dict(self.context)
        return {"chunking": chunking, "edits": edits, "context": context, "parser": self.parser, "wrong": wrong}


class Topic(Enum):
    """Holds what a finding says, whatever its words: the closed list by which verdicts tell findings apart."""

    FAILURE = "the parser raised"
    SLOW = "the parser was stopped, for it took too long"
    CHUNKS = "the message depends on how the output is cut"
    CHANCE = "the same replay gives another message when it is made again"
    STREAM = "the deltas do not build the message"
    ARGUMENTS = "the arguments are not JSON"
    LOSS = "text is lost"
    ADDITION = "text is made up, or is sent twice"
    LEAK = "a marker is sent as text"
    HALF_MARKER = "the output ends inside a marker"
    CHANNEL = "text is sent in another channel"
    CHANGE = "white space or a name is changed"
    PROMISE = "a call is sent that is none by the contract"
    VALUE = "a value is changed"
    SCHEMA = "the arguments do not fit the schema"
    BAD_SCHEMA = "the request declares a schema that is none"
    UNKNOWN_TOOL = "the tool is not declared"
    START = "where reasoning begins is in doubt"
    OUTPUT_UNPARSED = "the server sent the whole output as content"
    CALLS_UNPARSED = "the server sent the calls as content"
    SERVER = "the server sent something else"
    SERVER_ERROR = "the server ended with an error"
    LEFT = "the server left markup where the parser reads markers"
    TEMPLATE = "the chat template writes other calls"
    CUT = "what was recorded ends early"
    UNENDED = "nothing tells that what was recorded is all of the output"
    GRAMMAR = "the output leaves its grammar, which parsers mend in their own ways"
    UNANSWERED = "there is no answer, or not the call that the request asks for"
    RULE = "another rule is broken"


@dataclass(slots=True)
class Finding:
    """A finding of a check. `about` says whose fault it looks like; `step` is where it begins.

    `topic` is what it says for a program, `message` for a person. `id` is the check's number. `grade`, of checks that
    compare messages: calls, text or whitespace. `policy` names the policy (key=value) that makes this a contract and
    not a fault. `proof` is what shows it, where the traced replay alone does not. `follows` are findings that have this
    one as their cause. `sort` tells what findings of one topic differ in, as a word: the keyword of a schema, what JSON
    waits for, what the request demands.
    """

    check: str
    severity: Severity
    about: About
    message: str
    step: int | None = None
    span: Span | None = None
    expected: str | None = None
    actual: str | None = None
    id: str = ""
    grade: str | None = None
    policy: str | None = None
    proof: Proof | None = None
    topic: Topic = Topic.RULE
    follows: tuple[Finding, ...] = ()
    sort: str = ""

    def blamed(self, *, played: bool) -> str:
        """Return whose fault it looks like, as a noun: of a stream that is played back no parser ran, the server's
        did."""
        return "server" if played and self.about == "parser" else self.about

    def to_json(self) -> dict[str, Any]:
        """As `replay --json` prints it."""
        return {
            "check": self.check,
            "id": self.id,
            "severity": self.severity,
            "about": self.about,
            "step": self.step,
            "span": None if self.span is None else list(self.span),
            "message": self.message,
            "expected": self.expected,
            "actual": self.actual,
            "grade": self.grade,
            "policy": self.policy,
            "proof": None if self.proof is None else self.proof.to_json(),
            "follows": [{key: said for key, said in one.to_json().items() if key != "follows"} for one in self.follows],
        }


@dataclass(slots=True)
class Trace:
    """A whole replay. `text` is the output text; `chunking` the chunking as JSON, but for its resolved `cuts`, which
    may be any sequence (`chunking_json` has a list).

    `examined`: characters the parser looked at, 0 where it does not count them. `observed`: what somebody else's parser
    showed of itself.
    """

    parser: str
    reasons: tuple[str, ...]
    chunking: dict[str, Any]
    mode: Mode
    text: str
    steps: Sequence[Step] = field(default_factory=list)
    message: Message = field(default_factory=Message)
    finish_reason: str = "stop"
    partition: Sequence[Ownership] = field(default_factory=list)
    rejected_calls: list[RejectedCall] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    examined: int = 0
    observed: Observed | None = None
    _channels: Channels | None = field(default=None, init=False, repr=False, compare=False)
    _streamed: Channels | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def chunking_json(self) -> dict[str, Any]:
        """The chunking as JSON with its resolved cuts."""
        return self.chunking | {key: list(cuts) for key, cuts in self.chunking.items() if key == "cuts"}

    @property
    def channels(self) -> Channels:
        """The channels of the message, built once: for a replay that is over."""
        if self._channels is None:
            self._channels = message_channels(self.message, self.columns, lambda: self.streamed)
        return self._channels

    @property
    def streamed(self) -> Channels:
        """The channels as a client puts them together from the deltas, call by call index; built once."""
        if self._streamed is None:
            self._streamed = streamed_channels(self.columns)
        return self._streamed

    def step_at(self, raw: int) -> int | None:
        """Index of the step that was fed the character at `raw` of the output; the last step beyond the end."""
        return min(bisect_right(self.ends, raw) + 1, len(self.steps)) or None

    @property
    def failure(self) -> Failure | None:
        """Return what the parser failed with, if it did."""
        return next((event.failure for *_, event in self.columns.event_runs(Raised) if isinstance(event, Raised)), None)

    @property
    def is_made(self) -> bool:
        """Return whether the parser was tried at all: one that hung several times is asked no more."""
        return self.failure is None or not self.failure.unasked

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes with its message, besides the tokens of the output."""
        cuts, calls = self.chunking.get("cuts", ()), self.message.tool_calls
        texts = 2 * self.text.__sizeof__() + 400 * (len(calls) + len(self.rejected_calls))
        return self.columns.nbytes + 12 * len(self.partition) + 4 * len(cuts) + texts

    @property
    def columns(self) -> StepColumns:
        """The steps, and what they hold by itself."""
        return self.steps if isinstance(self.steps, StepColumns) else _StepList(self.steps)

    @property
    def ends(self) -> Sequence[int]:
        """The end of the text fed by each step."""
        return self.columns.ends

    def events(self) -> Iterator[tuple[int, Event]]:
        """Every event with the number of its step, in order."""
        return self.columns.events()

    @property
    def deltas(self) -> list[MessageDelta | None]:
        """One delta per step; None where the step sent nothing."""
        return [step.delta for step in self.steps]

    def held_text(self, step: Step) -> str:
        """The text held after a step, first held character to last."""
        if not step.holds:
            return ""
        return self.text[min(h.start for h in step.holds) : max(h.end for h in step.holds)]


# What a parser is: the interface of every parser that can be replayed, whatever stands behind it.


class StreamParser(Protocol):
    """The interface of every parser of this package.

    `transitions` is None while tracing is off; `examined` counts the characters looked at since begin().
    """

    name: str
    transitions: list[Transition] | None
    rejected: list[RejectedCall]
    examined: int

    def begin(self, context: Context, *, mode: Mode = "text", markers: Mapping[str, int] | None = None) -> None:
        """Start a new output. `markers` are the marker texts that are single tokens, with their ids."""

    def feed(self, delta: Delta) -> list[Event]:
        """Read one delta and return the events it gave rise to."""

    def finish(self, reason: str | None = None) -> list[Event]:
        """The output is over, for this finish_reason."""

    def view(self) -> StateView:
        """The parser's state as it would answer now."""


class Tail(NamedTuple):
    """The end of a text that waits for what follows: of `chars`, of white space where these are None, or none of it
    where they are ''. `why` says so in words, `kind` is that of the hold."""

    chars: str | None
    why: str
    kind: HoldKind = "policy"


# Tells the state of an argument parser after each of these texts of deltas, which it passed on as they are.
Retelling = Callable[[Sequence[str]], Sequence[CodecState]]


class OpenText(NamedTuple):
    """Many deltas in which nothing matters, up to the one at `stop`: how many characters they have, their text as one
    event, what of it waits, and how the state of the argument parser changed if it did."""

    stop: int
    length: int = 0
    event: TextEvent | None = None
    tail: Tail | None = None
    retold: Retelling | None = None


@runtime_checkable
class ReadsOpenText(Protocol):
    """A parser that can read many deltas at once where nothing in them matters to it."""

    def read_open_text(self, keys: Sequence[Hashable], texts: Sequence[str], start: int) -> OpenText | None:
        """Read deltas from `start` on, as `feed` would, while each is text that goes on as it is. None: not even the
        first is.

        `texts` are those of the deltas, and each of `keys` is the same text where that is all of its delta: no piece of
        it may be a marker by its id. After each of them `view` is the same, but for what of its tail waits then
        and for what is retold. Where there is a tail, each has text before it; without an event all of it waits.
        """
