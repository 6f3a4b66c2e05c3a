"""One output, one parser, one request: replays of them under any chunking.

A `Replayer` is a value. `outcome` answers with the message only and is what a search runs thousands of times; `trace`
records every step; the `with_*` methods give the same replayer for a changed output, request or parser.

Character chunkings of a parser that reads text (not ids) are cut from the joined text: the tokens make no difference
there, and cutting two pieces is much cheaper than cutting five hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, Literal, TypeVar

from parsers.decoding import Decoded, Schedule
from parsers.formats.contracts import Contract, contract_named
from parsers.formats.model import Format
from parsers.replays.budget import Budget, Look, OverBudgetError
from parsers.replays.chunking import RECORDED, TRACED, WHOLE, Chunking, Sent, apply, by_tokens, to_json, with_numbers
from parsers.replays.edits import Edit, edited
from parsers.replays.recorded import ServerStream, as_sent
from parsers.replays.replay import REFUSALS, failure_of, parse, parse_in_parts
from parsers.replays.replay import replay as traced
from parsers.replays.tapes import Asked, Played, Tape, Tapes
from parsers.selection.registry import build
from parsers.vocabulary.events import Failure
from parsers.vocabulary.trace import StreamParser, Trace
from parsers.vocabulary.types import Context, Delta, Message, Mode, Piece, ToolCall, UsageError

MOST_OBSERVED = 5_000  # deltas of a replay at which a parser in another process is looked at step by step
_Known = TypeVar("_Known")


@dataclass(slots=True)
class Outcome:
    """The message of a replay, how many deltas were fed, and what the parser failed with, if it did.

    `examined`: characters the parser looked at, 0 where it does not count them.
    """

    message: Message
    deltas: int
    raised: Failure | None = None
    examined: int = 0

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes."""
        texts = [self.message.reasoning, self.message.content, *[call.arguments for call in self.message.tool_calls]]
        return sum([text.__sizeof__() for text in texts]) + 200 * (1 + len(self.message.tool_calls))


class Replays:
    """The replays made so far of one output, request and parser: each chunking is run once, whoever asks.

    A traced replay answers for its message too. At most `most` chunkings are kept, those that came first. Threads may
    share it: at worst one replay is made twice. It fits parsers that answer alike every time; a search that asks
    whether one does leaves it out.
    """

    __slots__ = ("__weakref__", "most", "outcomes", "traces")

    def __init__(self, most: int = 32) -> None:
        self.most = most
        self.traces: dict[Chunking, Trace] = {}
        self.outcomes: dict[Hashable, Outcome] = {}

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory they take, besides the tokens of the output."""
        traces, outcomes = [*self.traces.values()], [*self.outcomes.values()]
        return sum([one.nbytes for one in traces]) + sum([one.nbytes for one in outcomes])

    def learn(self, other: Replays, only: Chunking | None = None) -> None:
        """Know what another one knows of the same output, or its trace of one chunking `only`."""
        for chunking, trace in [*other.traces.items()]:
            if only in (None, chunking):
                self.trace(chunking, partial(_as_it_is, trace))
        for key, outcome in [*other.outcomes.items()] if only is None else []:
            self.outcome(key, partial(_as_it_is, outcome))

    def trace(self, chunking: Chunking, make: Callable[[], Trace]) -> Trace:
        """The traced replay of `chunking`, made unless it is here."""
        found = self.traces.get(chunking)
        if found is None:
            found = make()
            if len(self.traces) < self.most:
                self.traces[chunking] = found
        return found

    def has(self, chunking: Chunking) -> bool:
        """Return whether the outcome of a chunking is here."""
        return chunking in self.outcomes or chunking in self.traces

    def outcome(self, key: Hashable, make: Callable[[], Outcome]) -> Outcome:
        """The outcome of `key` (a chunking, or what else was replayed), made unless it or a trace of it is here."""
        found = self.outcomes.get(key)
        if found is None:
            traced = self.traces.get(key) if isinstance(key, Chunking) else None
            if traced is None:
                found = make()
            else:
                found = Outcome(traced.message, len(traced.steps) - 1, traced.failure, traced.examined)
            if len(self.outcomes) < self.most:
                self.outcomes[key] = found
        return found


def _as_it_is(known: _Known) -> _Known:
    return known


@dataclass(slots=True, frozen=True)
class Rendering:
    """Calls as a chat template writes them into the next request, or the problem it has with them, as one sentence.

    `spelling`: whether the template got the arguments as a JSON object or as text.
    """

    spelling: Literal["object", "string"]
    text: str = ""
    problem: str = ""


Rerender = Callable[[Sequence[ToolCall], Context, Sequence[str]], Sequence[Rendering]]


@dataclass(slots=True, frozen=True)
class Replayer:
    """Everything a replay needs but the chunking.

    `terminals`: name to literal of the format's markers; `longest_terminal` in characters. `black_box`: the parser
    shows nothing but its deltas. `one_shot` makes the parser of a second code path for whole outputs, where the
    engine has one: `trace(WHOLE)` then uses it. `format` is the grammar that the outputs are in, where it is known, and
    `policy` the value of each of its policies. `server`: what a server sent for the output, where that was recorded;
    `plays` says that the parser plays just this back, so that there is no other chunking than `RECORDED`.
    `rerender` writes calls as the model's chat template does, given the calls, the request and the texts that end a
    turn.
    `decoded` is what a decode policy made of the output, and `late` says when the text of a changed one is out;
    `due` is how many characters are out after each token, None where all are. `sent`: the deltas that a chunking as
    recorded follows. `spelled`: the text is the bytes of the tokens joined. `start_given`: the request says whether
    reasoning is open when the output begins. `own_tokenizer`: it was the model's own tokenizer that made the tokens, if
    one did. `empty_deltas` and `late_text`: somebody has told that the server sends deltas without text, and text later
    than its tokens; `single_tokens`: that it sends every token in a delta of its own. `contract`: what the server
    promises. `known`: what was replayed already; a replayer of anything changed begins without. `tapes`: somebody else
    makes the replays, and `make` none.
    """

    make: Callable[[], StreamParser]
    pieces: tuple[Piece, ...]
    context: Context = field(default_factory=Context)
    mode: Mode = "text"
    markers: Mapping[str, int] | None = None
    reasons: tuple[str, ...] = ()
    terminals: Mapping[str, str] = field(default_factory=dict)
    longest_terminal: int = 0
    black_box: bool = False
    one_shot: Callable[[], StreamParser] | None = None
    format: Format | None = None
    policy: Mapping[str, str] = field(default_factory=dict)
    server: ServerStream | None = None
    plays: bool = False
    rerender: Rerender | None = None
    decoded: Decoded | None = None
    late: Schedule | None = None
    sent: Sent | None = None
    spelled: bool = True
    start_given: bool = False
    own_tokenizer: bool = False
    empty_deltas: bool = False
    late_text: bool = False
    single_tokens: bool = False
    contract: Contract = field(default_factory=partial(contract_named, None))
    known: Replays | None = field(default=None, compare=False)
    tapes: Tapes | None = field(default=None, compare=False)
    budget: Budget | None = field(default=None, compare=False)
    text: str = field(init=False)
    due: Sequence[int] | None = field(init=False)

    def __post_init__(self) -> None:
        """`text` is the output text, joined once: a search cuts it thousands of times."""
        object.__setattr__(self, "text", "".join([piece.text for piece in self.pieces]))
        object.__setattr__(self, "due", self._due())

    def _due(self) -> Sequence[int] | None:
        if self.decoded is not None and self.pieces is self.decoded.pieces:
            return self.decoded.due
        return None if self.late is None else self.late(self.pieces)

    def with_pieces(self, pieces: tuple[Piece, ...]) -> Replayer:
        """The same for another output, of which no server has sent anything."""
        return replace(self, pieces=pieces, server=self.own, known=None)

    def with_context(self, context: Context) -> Replayer:
        """The same for another request."""
        return replace(self, context=context, known=None)

    def changed(self, edits: Sequence[Edit] = (), context: Mapping[str, Any] | None = None) -> Replayer:
        """The same for a changed output and request. `context` holds the keys of the request that change."""
        found = self.with_pieces(edited(self.pieces, edits, self.markers))
        return found.with_context(replace(found.context, **context)) if context else found

    def with_parser(self, make: Callable[[], StreamParser]) -> Replayer:
        """The same with other parser instances."""
        return replace(self, make=make, one_shot=None, known=None, tapes=None)

    def by_format(self) -> Replayer | None:
        """The same output read by the built-in parser of its format, or None where no format is known."""
        fmt, policy = self.format, self.policy
        if fmt is None or not self.has_raw:
            return None
        make = partial(build, fmt, policy)
        return replace(self, make=make, black_box=False, one_shot=None, plays=False, known=None, tapes=None)

    @property
    def behind(self) -> int:
        """Return how many characters at most are not out when their tokens have come."""
        ends = accumulate([len(piece.text) for piece in self.pieces])
        return max([end - out for end, out in zip(ends, self.due or (), strict=False)], default=0)

    @property
    def own(self) -> ServerStream | None:
        """The stream that the parser plays back, if it does."""
        return self.server if self.plays else None

    @property
    def traced(self) -> Chunking:
        """The chunking that is traced where nobody says."""
        return RECORDED if self.plays else TRACED

    @property
    def has_raw(self) -> bool:
        """Return whether it is known what the parser was fed: of a recorded stream only the chunks may be."""
        return self.own is None or self.own.fed is not None

    def deltas(self, chunking: Chunking) -> Sequence[Delta]:
        """Return what the parser is fed under `chunking`. Raises UsageError where the parser has another one only."""
        if self.own is not None:
            if chunking == RECORDED:
                return list(self.own.deltas())
            raise UsageError("a recorded stream can be replayed as it was recorded only: use the chunking 'recorded'")
        counted = by_tokens(chunking) or chunking.by == "recorded"
        late = chunking.holdback_chars or chunking.text_delay
        if counted or late or self.mode == "ids" or self.black_box or len(self.pieces) < 2:
            return self._applied(chunking)
        return apply(chunking, (Piece(self.text),), self.mode)

    def outcome(self, chunking: Chunking) -> Outcome:
        """Only the message. A parser that fails is run again with tracing, which says where."""
        if self.known is None:
            return self._outcome(chunking)
        return self.known.outcome(chunking, partial(self._outcome, chunking))

    def foresee(self, chunkings: Iterable[Chunking], *, traced: bool = False) -> None:
        """Say which replays will be asked for, with every step where `traced`: whoever makes them elsewhere makes them
        all at once."""
        if self.tapes is not None:
            known = self.known or Replays()
            wanted = [one for one in chunkings if not (one in known.traces if traced else known.has(one))]
            self.tapes.foresee([self.asked(one, observed=traced) for one in wanted])

    def asked(self, chunking: Chunking, deltas: Sequence[Delta] | None = None, *, observed: bool = False) -> Asked:
        """What somebody else is asked who makes the replay of a chunking, the `deltas` of which may be known."""
        fed = self.deltas(chunking) if deltas is None else deltas
        return Asked(fed, self.context, self.pieces, self.is_apart(chunking), observed and len(fed) <= MOST_OBSERVED)

    def is_apart(self, chunking: Chunking) -> bool:
        """Return whether a chunking is none, but the name of the second code path for whole outputs."""
        return self.one_shot is not None and chunking == WHOLE

    def covered(self, chunkings: Sequence[Chunking]) -> list[Tape]:
        """The replays of some chunkings as somebody else makes them who says which lines run; none where nobody else
        makes them."""
        if self.tapes is None:
            return []
        self.begin()
        wanted = [replace(self.asked(chunking), covered=True) for chunking in chunkings]
        self.tapes.foresee(wanted)
        return [*map(self.tapes.tape, wanted)]

    def tape(self, chunking: Chunking, *, counted: bool = False) -> Tape | None:
        """A replay as somebody else makes it who says what it took; None where nobody else makes them."""
        if self.tapes is None:
            return None
        self.begin()
        return self.tapes.tape(replace(self.asked(chunking), counted=counted))

    def in_parts(self, chunking: Chunking) -> Iterator[float]:
        """Work out the outcome of a chunking for `known`; yields how much is done, from 0 to 1. Where the parser fails
        nothing is kept, and `outcome` tells of it."""
        if self.known is None or self.own is not None or self.known.has(chunking):
            return
        deltas = self.deltas(chunking)
        parser = self._parser(chunking, deltas)
        try:
            message = yield from parse_in_parts(
                parser, deltas, self.context, mode=self.mode, markers=self.markers, look=self.begin()
            )
        except REFUSALS:
            raise
        except Exception:
            if self.tapes is not None and isinstance(parser, Played):
                self.tapes.put_back(self.asked(chunking, deltas), parser.tape)
            return
        self.known.outcome(chunking, partial(Outcome, message, len(deltas), examined=parser.examined))

    def trace(self, chunking: Chunking) -> Trace:
        """A replay with every step. A parser that fails gives a step with a `Raised` diagnostic."""
        if self.known is None:
            return self._trace(chunking)
        found = self.known.trace(chunking, partial(self._trace, chunking))
        return replace(found, reasons=self.reasons, findings=[])

    def trace_of_outcome(self, chunking: Chunking) -> Trace | None:
        """The very replay that `outcome` told of last, with every step, where somebody else made it: who does not read
        alike every time gives another one when asked once more."""
        tape = None if self.tapes is None else self.tapes.last(self.asked(chunking))
        return None if tape is None else self._trace(chunking, Played(self.make().name, tape))

    def _outcome(self, chunking: Chunking) -> Outcome:
        deltas = self.deltas(chunking)
        if self.own is not None:
            return Outcome(self.trace(chunking).message, len(deltas))
        parser = self._parser(chunking, deltas)
        try:
            message = parse(parser, deltas, self.context, mode=self.mode, markers=self.markers, look=self.begin())
        except REFUSALS:
            raise
        except OverBudgetError as error:
            return Outcome(Message(), len(deltas), failure_of(error))
        except Exception as error:
            # a parser that fails by chance may survive that; its process is not to be ended once more
            again = parser.again() if isinstance(parser, Played) and failure_of(error).ended else None
            trace = self.trace(chunking) if again is None else self._trace(chunking, again)
            return Outcome(trace.message, len(deltas), trace.failure or failure_of(error))
        return Outcome(message, len(deltas), examined=parser.examined)

    def _trace(self, chunking: Chunking, parser: StreamParser | None = None) -> Trace:
        deltas = self._applied(chunking) if self.own is None else self.deltas(chunking)
        if parser is None:
            parser = self._parser(chunking, deltas, observed=True)
        trace = traced(
            parser,
            deltas,
            self.context,
            mode=self.mode,
            markers=self.markers,
            chunking=with_numbers(to_json(chunking, deltas)),
            reasons=self.reasons,
            sent=() if self.own is None else [chunk.delta for chunk in self.own.chunks],
            look=self.begin(),
        )
        if self.black_box:
            trace.partition = []
        if isinstance(parser, Played):
            trace.observed = parser.observed
        if self.own is not None:
            as_sent(trace, self.own)
        if self.budget is not None:
            self.budget.note(trace.failure)
        return trace

    def begin(self) -> Look | None:
        """A replay begins; what is to be called between its deltas. Raises SpentBudgetError."""
        return None if self.budget is None else self.budget.begin()

    def _applied(self, chunking: Chunking) -> Sequence[Delta]:
        return apply(chunking, self.pieces, self.mode, due=self.due, sent=self.sent, halves=self.black_box)

    def _parser(self, chunking: Chunking, deltas: Sequence[Delta], *, observed: bool = False) -> StreamParser:
        if self.tapes is not None:
            return Played(self.make().name, self.tapes.tape(self.asked(chunking, deltas, observed=observed)))
        return self.one_shot() if self.one_shot is not None and chunking == WHOLE else self.make()
