"""What checks look at: the replays of one output, and what is known of its request, its format and its tokens.

The parts explain themselves. What nobody knows is empty or None; a check that cannot do without it is not run (`Need`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from parsers.compare.beside import Compared
from parsers.compare.divergence import EXACT, Rules, same_message
from parsers.machine.reasoning import reasoning_markers
from parsers.replays.chunking import TRACED, WHOLE
from parsers.replays.replayer import Outcome, Replayer
from parsers.vocabulary.channels import Channel, Channels, ChannelText
from parsers.vocabulary.events import Failure, Raised
from parsers.vocabulary.trace import Proof, RejectedCall, Trace
from parsers.vocabulary.types import Context, Message, Piece, ToolCall
from parsers.wire.read import ServerChunk

GROWTH = 2.6  # twice the output takes at most so many times the work
COUNTED_CHARACTERS = 20_000  # beyond this, counting the work would cost two more replays of a long output

# What a metamorphic test changes: of the output, of the request or of the parser.
VariantKind = Literal[
    "truncated",  # F2: the output cut at one character, finish reason length
    "mutated",  # E1: one marker deleted or doubled
    "followed",  # E2: a valid call appended
    "neighbour",  # M1: prose before or after, another call appended
    "escaped",  # M2: markers, braces and quotes planted into a string argument
    "padded",  # P3: a long string argument
    "start_state",  # R1: the other start state
    "reused",  # C4: the same parser instance again, and after a malformed output
    "no_tools",  # Y3, M3: without the declared tools
    "no_calls",  # M3: tool_choice none
    "rerendered",  # M4: calls rendered by the chat template and parsed again
]


@dataclass(slots=True)
class Variant:
    """The replay of a changed output, request or parser, for a metamorphic test: what must it have in common?

    `label` says in words what was changed, `proof` in data; `facts` is what its check compares with, by kind (the
    planted value, the number of the call, the offset of the cut ...). `base` is the message of the unchanged output
    under the same chunking. `parsers.search.variants` makes them, checks only read them.
    """

    kind: VariantKind
    label: str
    proof: Proof
    text: str
    message: Message
    raised: Failure | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    base: Message = field(default_factory=Message)


@dataclass(slots=True, frozen=True)
class Replays:
    """The replays of one output, all in one mode."""

    trace: Trace  # the replay under study
    whole: Trace | None = None  # the same output in one delta
    compared: Sequence[tuple[str, Trace]] = ()  # other chunkings, each under a label of its own
    shares: Mapping[str, int] = field(default_factory=dict)
    """By label, how many chunkings gave the message of a compared replay."""
    one_shot: bool = False
    """`whole` was read by a second code path for whole outputs, so that it is no chunking among others."""
    rules: Rules = EXACT  # what counts as a difference between two messages


@dataclass(slots=True, frozen=True)
class Grammar:
    """Holds what is known of the format that the parser is for."""

    terminals: Mapping[str, str] = field(default_factory=dict)  # name to literal of its markers
    longest_terminal: int = 0  # in characters; 0 means that the parser has no literal to wait for
    end_tokens: Sequence[str] = ()  # the texts that end a turn
    openers: Sequence[str] = ()  # the markers that open reasoning
    closers: Sequence[str] = ()  # the markers that close it
    policy: Mapping[str, str] = field(default_factory=dict)  # the policies in force, by key


@dataclass(slots=True, frozen=True)
class Tokens:
    """The output as tokens."""

    pieces: Sequence[Piece] = ()  # what each token contributed to the text
    special: frozenset[str] = frozenset()  # the texts of the vocabulary's special tokens
    behind: int = 0  # how many characters the decode policy has not let out yet at most, when their ids have come
    spelled: bool = True
    """The text is the bytes of the tokens joined. A decode policy, or byte fallback, makes another text of them."""


@dataclass(slots=True, frozen=True)
class Server:
    """Holds what a server made of the output."""

    chunks: Sequence[ServerChunk] | None = None  # the chunks it sent
    ends: Sequence[int] | None = None  # how many characters of the output were there after each of them
    plays: bool = False  # the replay under study is itself what the server sent
    told: Sequence[str] | None = None  # the arguments of each call that its serving layer was told of beside the parser
    sent: Sequence[str] = ()  # the arguments of each call that its serving layer has down as sent


@dataclass(slots=True, frozen=True)
class Builtin:
    """Holds what the built-in parser of the same format makes of the output."""

    trace: Trace | None = None  # beside a black box: it settles what a marker is, never what is right
    message: Message | None = None  # where replays differ: it says which of them to call right


@dataclass(slots=True, frozen=True)
class Costs:
    """Holds what reading the output, and reading an output of twice its length, takes."""

    examined: tuple[int, int] | None = None  # characters that the parser looked at
    seconds: tuple[float, float] | None = None  # time by a clock of the caller's


@dataclass(frozen=True)
class Subject:
    """Everything that checks look at."""

    replays: Replays
    request: Context = field(default_factory=Context)
    grammar: Grammar = field(default_factory=Grammar)
    tokens: Tokens = field(default_factory=Tokens)
    server: Server = field(default_factory=Server)
    builtin: Builtin = field(default_factory=Builtin)
    costs: Costs = field(default_factory=Costs)
    variants: Sequence[Variant] = ()  # replays of changed outputs
    black_box: bool = False  # the parser says nothing but its deltas, and makes up ids as it likes
    raw: bool = True  # the output text is known; else only what became of it is

    @property
    def trace(self) -> Trace:
        """The replay under study."""
        return self.replays.trace

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of its message."""
        return self.replays.trace.message.tool_calls

    @property
    def rules(self) -> Rules:
        """Return what counts as a difference: a black box makes up its ids, so they never do."""
        rules = self.replays.rules
        return replace(rules, ids=False) if self.black_box else rules

    @cached_property
    def streamed(self) -> Channels:
        """The channels as a client builds them from the deltas. A server may skip numbers: calls count by place."""
        places = {number: place for place, number in enumerate(self.trace.streamed.calls)}
        if not self.server.plays:
            return self.trace.streamed
        streamed = self.trace.streamed.items()
        return Channels(
            {one if one.call is None else one._replace(call=places[one.call]): text for one, text in streamed}
        )

    @cached_property
    def failed_at(self) -> int | None:
        """Return where the delta begins at which the parser failed, or None. What comes after has that one cause."""
        return next((event.start for _, event in self.trace.events() if isinstance(event, Raised)), None)

    def contract(self, key: str | None, default: str | None = None) -> str | None:
        """The policy of this key with its value, which makes a loss a contract; None where the parser has none."""
        value = None if key is None else self.grammar.policy.get(key, default)
        return None if value is None else f"{key}={value}"

    @property
    def others(self) -> list[tuple[str, Trace]]:
        """Every other replay of the same output, the whole one first."""
        whole = {} if self.replays.whole is None else {"whole": self.replays.whole}
        return list((whole | dict(self.replays.compared)).items())

    def of_kind(self, kind: VariantKind | None) -> list[Variant]:
        """The replays of changed outputs of one kind, without those in which the parser failed."""
        return [one for one in self.variants if one.kind == kind and one.raised is None]

    def arguments(self, call: int) -> ChannelText:
        """The arguments of a call of the message."""
        return self.trace.channels[Channel(call, "arguments")]

    def rejected_at(self, raw: int | None) -> RejectedCall | None:
        """The rejected call that holds the character at `raw` of the output."""
        calls = self.trace.rejected_calls
        if raw is None:
            return None
        index = bisect_right(calls, raw, key=lambda call: call.start) - 1
        return calls[index] if index >= 0 and raw < calls[index].end else None


def subject_of(
    replayer: Replayer,
    trace: Trace,
    whole: Trace,
    others: Sequence[Compared],
    *,
    rules: Rules = EXACT,
    variants: Sequence[Variant] = (),
) -> Subject:
    """Return what the checks look at: two replays and the others, whose labels are all different."""
    differ = not all(other.same for other in others) or not same_message(trace.message, whole.message, rules)
    fmt = replayer.format
    own = replayer.by_format() if fmt is not None and fmt.terminals else None
    server = None if replayer.plays else replayer.server
    return Subject(
        Replays(
            trace,
            whole=None if replayer.plays else whole,
            compared=[(other.label, other.trace) for other in others],
            shares={other.label: other.chunkings for other in others},
            one_shot=replayer.one_shot is not None,
            rules=rules,
        ),
        replayer.context,
        _grammar(replayer),
        Tokens(
            replayer.pieces,
            special=frozenset(piece.text for piece in replayer.pieces if piece.kind == "special"),
            behind=replayer.behind,
            spelled=replayer.spelled,
        ),
        Server(server.chunks, server.ends) if server is not None else Server(plays=replayer.plays),
        Builtin(
            own.trace(TRACED) if own is not None and replayer.black_box else None,
            own.outcome(WHOLE).message if own is not None and differ else None,
        ),
        Costs(_examined_twice(replayer)),
        variants,
        black_box=replayer.black_box,
        raw=replayer.has_raw,
    )


def _grammar(replayer: Replayer) -> Grammar:
    fmt = replayer.format
    known = Grammar(replayer.terminals, replayer.longest_terminal, policy=replayer.policy)
    if fmt is None:
        return known
    markers = reasoning_markers(fmt)
    return replace(known, end_tokens=fmt.end_tokens, openers=markers.openers, closers=markers.closers)


def _examined_twice(replayer: Replayer) -> tuple[int, int] | None:
    """Characters examined for the output, and for the output twice over. Not counted for long outputs, and by nobody
    for a black box."""
    if replayer.black_box or sum(len(piece.text) for piece in replayer.pieces) > COUNTED_CHARACTERS:
        return None
    known = replayer.outcome(TRACED)
    once, twice = 0 if known.raised else known.examined, _examined(replayer, 2)
    # An output that ends in the middle is another one when it is doubled.
    return (once, twice) if twice <= GROWTH * once else (twice, _examined(replayer, 4))


def _examined(replayer: Replayer, times: int) -> int:
    """Characters examined for the output, that many times over. 0 where the parser fails: parser_raised tells of it."""

    def outcome() -> Outcome:
        return replayer.with_pieces(replayer.pieces * times).outcome(TRACED)

    found = outcome() if replayer.known is None else replayer.known.outcome(times, outcome)
    return 0 if found.raised else found.examined
