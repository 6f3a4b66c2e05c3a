"""What checks look at: the replays of one output, and what is known of its request, its format and its tokens.

The parts explain themselves. What nobody knows is empty or None; a check that cannot do without it is not run (`Need`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

from parsers.checks.known import Fact, Known, Origin, declared_of, known_of
from parsers.checks.plain_end import Beginning, beginnings
from parsers.checks.prose import consumed_tags
from parsers.compare.allowed import (
    allowed_by,
    allowed_by_both,
    allowed_however_cut,
    between_paths,
    content_around,
)
from parsers.compare.beside import Compared
from parsers.compare.divergence import EXACT, Rules, same_message
from parsers.formats.contracts import Contract, contract_named
from parsers.machine.reasoning import reasoning_headers, reasoning_markers
from parsers.replays.chunking import TRACED, WHOLE, Chunking
from parsers.replays.cut_grades import INSIDE_TOKEN, CutGrade, Grader
from parsers.replays.replayer import Outcome, Replayer
from parsers.vocabulary.channels import Channel, Channels, ChannelText, message_texts
from parsers.vocabulary.events import Diagnostic, Failure, Raised
from parsers.vocabulary.trace import Proof, RejectedCall, Trace
from parsers.vocabulary.types import Context, Message, Piece, ToolCall
from parsers.wire.endings import End
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
    cuts: Mapping[str, CutGrade] = field(default_factory=dict)
    """By label, how far a server can make the cuts of a replay; "" is the one under study. Honest where not given."""
    supposed: Mapping[str, str] = field(default_factory=dict)
    """By label, what assumed cuts suppose of the tokens."""
    alike: Sequence[str] = ()  # the labels of replays with the same outcome as the one under study

    def surest(self) -> CutGrade:
        """Return the grade of the surest cuts that lead to the outcome of the replay under study."""
        return min(map(self.grade, ("", *self.alike)), key=lambda grade: grade.rank)

    def grade(self, label: str) -> CutGrade:
        """Return how far a server can make the cuts of a replay."""
        return self.cuts.get(label, CutGrade.HONEST)

    def supposing(self, label: str) -> str:
        """What it takes for a replay to have its cuts, as the end of a sentence; "" where a server makes them."""
        words = self.supposed.get(label)
        if self.grade(label) is CutGrade.HOSTILE:
            return f", {words or INSIDE_TOKEN}"
        return f", if {words}" if words else ""


@dataclass(slots=True, frozen=True)
class Grammar:
    """Holds what is known of the format that the parser is for."""

    terminals: Mapping[str, str] = field(default_factory=dict)  # name to literal of its markers
    declared: Sequence[str] = ()  # the markers that somebody declared, where no more is known
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
    error: str | None = None  # what the server says went wrong, where its stream ends with that
    end: End | None = None  # why it ended its answer, in the words of another API than OpenAI's chat
    tokens: int | None = None  # how many generated tokens it counts, without reasoning that it counts apart
    told: Sequence[str] | None = None  # the arguments of each call that its serving layer was told of beside the parser
    sent: Sequence[str] = ()  # the arguments of each call that its serving layer has down as sent


@dataclass(slots=True, frozen=True)
class Builtin:
    """Holds what the built-in parser of the same format makes of the output."""

    trace: Trace | None = None  # beside a black box: it settles what a marker is, never what is right
    message: Message | None = None  # where replays differ: it says which of them to call right
    otherwise: Message | None = None
    """What it reads where the prompt left reasoning open, or did not: given where nobody knows what the prompt did and
    a black box reads the output otherwise."""


@dataclass(slots=True, frozen=True)
class Costs:
    """Holds what reading the output, and reading an output of twice its length, takes."""

    examined: tuple[int, int] | None = None  # characters that the parser looked at
    lines: Sequence[tuple[int, int]] = ()  # lines executed for outputs of several lengths: (length, lines)
    times: Sequence[tuple[int, int]] = ()  # microseconds for them


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
    beginnings: Sequence[Beginning] = ()  # of a plain answer whose end is missing, where nobody knows the grammar
    black_box: bool = False  # the parser says nothing but its deltas, and makes up ids as it likes
    known: Known = field(default_factory=Known)
    promised: Contract = field(default_factory=partial(contract_named, None))  # what the server promises

    @property
    def trace(self) -> Trace:
        """The replay under study."""
        return self.replays.trace

    @property
    def raw(self) -> bool:
        """Return whether the output text is known; else only what became of it is."""
        return self.known.raw

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of its message."""
        return self.replays.trace.message.tool_calls

    @cached_property
    def has_old_call(self) -> bool:
        """Return whether a server sent a call as the old `function_call`, which has no id and its own finish reason."""
        return self.server.plays and self.has_note("function_call")

    def has_note(self, code: str) -> bool:
        """Return whether a diagnostic of this code is in the replay."""
        return any(isinstance(event, Diagnostic) and event.code == code for _, event in self.trace.events())

    @property
    def rules(self) -> Rules:
        """Return what counts as a difference: a black box makes up its ids, so they never do."""
        rules = self.replays.rules
        return replace(rules, ids=False) if self.black_box and self.promised.ids == "any" else rules

    @cached_property
    def renamed(self) -> Mapping[int, str]:
        """By number, the calls of a black box that have another name than the output gives them, with that name."""
        own = self.builtin.trace if self.black_box else None
        right = [] if own is None else [call.name for call in own.message.tool_calls]
        if len(right) != len(self.calls):
            return {}
        pairs = [(call.name, name) for call, name in zip(self.calls, right, strict=True)]
        return {number: name for number, (given, name) in enumerate(pairs) if given and given not in right}

    @cached_property
    def allowed(self) -> str | None:
        """The keys of the contract that allow the message of a parser that shows only its deltas where the built-in one
        reads another; None where none does."""
        return self._allowing(self.trace.message)

    def allowed_beside(self, other: Message, *, strictly: bool) -> str | None:
        """The keys of the contract by which the message and that of a second code path may both stand where the
        built-in parser reads what it does; None where they do not allow both. `strictly`: as it is asked of two code
        paths."""
        own = self.builtin.trace if self.black_box else None
        if own is None:
            return None
        contract = between_paths(self.promised) if strictly else self.promised
        around, pair = content_around([event for _, event in own.events()]), (self.trace.message, other)
        return allowed_by_both(contract, own.message, pair, text=self.trace.text, context=self.request, around=around)

    def _allowing(self, message: Message) -> str | None:
        """The keys of the contract that allow a message where the built-in parser reads another one."""
        own = self.builtin.trace if self.black_box else None
        if own is None:
            return None
        text, context = self.trace.text, self.request
        around = content_around([event for _, event in own.events()])
        return allowed_by(self.promised, own.message, message, text=text, context=context, around=around)

    def allowed_between(self, one: Message, other: Message) -> str | None:
        """The keys of the contract that allow both messages, of replays that are cut in other ways."""
        own = self.builtin.trace if self.black_box else None
        return None if own is None else allowed_however_cut(self.promised, own.message, one, other)

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
        """The policy of this key with its value, which makes a loss a contract; None where the parser has none, as a
        stream that is played back."""
        value = None if key is None or self.server.plays else self.grammar.policy.get(key, default)
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
    known: Known | None = None,
    grown: Mapping[str, Sequence[tuple[int, int]]] = MappingProxyType({}),
    counted: bool = True,
) -> Subject:
    """Return what the checks look at: two replays and the others, whose labels are all different.

    `known`: what may be said of it, worked out from the replayer where nobody says. `grown`: what of `Costs`
    the parser takes for the output made longer, by its length. `counted`: what it examines is counted, which takes two
    replays.
    """
    seen_whole = whole if whole.is_made else None
    differ = seen_whole is not None and not same_message(trace.message, seen_whole.message, rules)
    differ = differ or not all(other.same for other in others)
    known = known or known_of(replayer)
    cuts, supposed = _graded(replayer, trace, others)
    server, special = None if replayer.plays else replayer.server, _specials(replayer)
    return Subject(
        Replays(
            trace,
            whole=None if replayer.plays else seen_whole,
            compared=[(other.label, other.trace) for other in others],
            shares={other.label: other.chunkings for other in others},
            one_shot=replayer.one_shot is not None,
            rules=rules,
            cuts=cuts,
            supposed=supposed,
            alike=[other.label for other in others if other.same],
        ),
        replayer.context,
        _grammar(replayer, trace),
        Tokens(
            replayer.pieces,
            special=special,
            behind=replayer.behind,
            spelled=replayer.spelled,
        ),
        Server(
            None if server is None else server.chunks,
            None if server is None else server.ends,
            plays=replayer.plays,
            error=None if replayer.server is None else replayer.server.error,
            end=None if replayer.server is None else replayer.server.end,
            tokens=None if replayer.server is None else replayer.server.tokens,
        ),
        _builtin(replayer, trace, known, differ=differ),
        Costs(_examined_twice(replayer) if counted else None, **grown),
        variants,
        _beginnings(replayer, trace, known, special),
        black_box=replayer.black_box,
        known=known,
        promised=replayer.contract,
    )


def _specials(replayer: Replayer) -> frozenset[str]:
    return frozenset(piece.text for piece in replayer.pieces if piece.kind == "special")


def _beginnings(replayer: Replayer, trace: Trace, known: Known, special: frozenset[str]) -> tuple[Beginning, ...]:
    asked = replayer.black_box and known.has(Fact.RAW, Fact.PARSER) and known.grammar is Origin.UNKNOWN
    return beginnings(replayer, trace.message, [*special]) if asked and trace.failure is None else ()


def _builtin(replayer: Replayer, trace: Trace, known: Known, *, differ: bool) -> Builtin:
    """What the built-in parser of the format reads, as far as it is asked: beside a black box, or where replays
    differ."""
    fmt = replayer.format
    own = replayer.by_format() if fmt is not None and fmt.terminals and known.raw else None
    if own is None:
        return Builtin()
    message = own.outcome(WHOLE).message if differ else None
    if not replayer.black_box:
        return Builtin(message=message)
    reference = own.trace(TRACED)
    return Builtin(reference, message, None if known.start else _otherwise(own, trace, reference))


def _otherwise(own: Replayer, trace: Trace, reference: Trace) -> Message | None:
    """What the built-in parser reads where the output begins in the other state, where a replay may differ by it."""
    said, read = trace.message, reference.message
    if (said.reasoning, said.content) == (read.reasoning, read.content):
        return None
    context = replace(own.context, reasoning_open=not own.context.reasoning_open)
    return own.with_context(context).outcome(WHOLE).message


_FEW_CUTS = 4  # a chunking with so many stands for the traced one where both give the same message


def _graded(replayer: Replayer, trace: Trace, others: Sequence[Compared]) -> tuple[dict[str, CutGrade], dict[str, str]]:
    """By label, how far a server can make the cuts of these replays, and what assumed ones suppose of the tokens."""
    if replayer.plays or not trace.chunking.get("by"):
        return {}, {}
    grader, own = Grader(replayer), Chunking.model_validate(chunking_of(trace))
    grades = {"": grader.chunking(own)}
    grades |= {other.label: other.cuts or grader.chunking(other.chunking) for other in others}
    alike = (one.chunking for one in others if one.same and one.chunking.by == "cuts")
    few = [one for one in alike if len(one.cuts or ()) <= _FEW_CUTS and grader.chunking(one) is grades[""]]
    fewest = min(few, key=lambda one: len(one.cuts or ()), default=own)
    made = {"": fewest, **{other.label: other.chunking for other in others if not other.same}}
    return grades, {label: grader.supposed(made[label]) for label in made if grades[label] is not CutGrade.HONEST}


def chunking_of(trace: Trace) -> dict[str, Any]:
    """The chunking of a trace as a case holds it: without the cuts that follow from it."""
    given = trace.chunking_json
    return {key: value for key, value in given.items() if key != "cuts" or given.get("by") == "cuts"}


def _grammar(replayer: Replayer, trace: Trace) -> Grammar:
    """The grammar, as far as it is known; markers that nobody told are those that the parser consumes."""
    fmt = replayer.format
    known = Grammar(
        replayer.terminals,
        declared=declared_of(replayer),
        longest_terminal=replayer.longest_terminal,
        policy=replayer.policy,
    )
    if fmt is None:
        shown = (
            {}
            if known.terminals
            else {tag: tag for tag in consumed_tags(trace.text, message_texts(trace.message).values())}
        )
        return replace(known, terminals=shown) if shown else known
    markers = reasoning_markers(fmt)
    openers = tuple(dict.fromkeys((*markers.openers, *reasoning_headers(fmt))))
    return replace(known, end_tokens=fmt.end_tokens, openers=openers, closers=markers.closers)


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
