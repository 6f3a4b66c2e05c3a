"""One output, one parser, one request: replays of them under any chunking.

A `Replayer` is a value. `outcome` answers with the message only and is what a search runs thousands of times; `trace`
records every step; the `with_*` methods give the same replayer for a changed output, request or parser.

Character chunkings of a parser that reads text (not ids) are cut from the joined text: the tokens make no difference
there, and cutting two pieces is much cheaper than cutting five hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from parsers.chunking import WHOLE, Chunking, apply, to_json
from parsers.formats.model import Format
from parsers.protocol import StreamParser
from parsers.registry import build
from parsers.replay import parse, raised_in
from parsers.replay import replay as traced
from parsers.trace import Trace
from parsers.types import Context, Delta, Message, Mode, Piece


@dataclass(slots=True)
class Outcome:
    """What came of a replay: the message, how many deltas were fed, and what the parser failed with, if it did."""

    message: Message
    deltas: int
    raised: str | None = None


@dataclass(slots=True, frozen=True)
class Replayer:
    """Everything a replay needs but the chunking.

    `terminals`: name to literal of the format's markers; `longest_terminal` in characters. `black_box`: the parser
    shows nothing but its deltas. `one_shot` makes the parser of a second code path for whole outputs, where the
    engine has one: `trace(WHOLE)` then uses it. `format` is the grammar that the outputs are in, where it is known, and
    `policy` the value of each of its policies.
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
    text: str = field(init=False)

    def __post_init__(self) -> None:
        """`text` is the output text, joined once: a search cuts it thousands of times."""
        object.__setattr__(self, "text", "".join([piece.text for piece in self.pieces]))

    def with_pieces(self, pieces: tuple[Piece, ...]) -> Replayer:
        """The same for another output."""
        return replace(self, pieces=pieces)

    def with_context(self, context: Context) -> Replayer:
        """The same for another request."""
        return replace(self, context=context)

    def with_parser(self, make: Callable[[], StreamParser]) -> Replayer:
        """The same with other parser instances."""
        return replace(self, make=make, one_shot=None)

    def by_format(self) -> Replayer | None:
        """The same output read by the built-in parser of its format, or None where no format is known."""
        fmt, policy = self.format, self.policy
        if fmt is None:
            return None
        return replace(self, make=lambda: build(fmt, policy), black_box=False, one_shot=None)

    def deltas(self, chunking: Chunking) -> list[Delta]:
        """What the parser is fed under `chunking`."""
        by_token = chunking.by == "token" or (chunking.by == "random" and chunking.unit != "char")
        late = chunking.holdback_chars or chunking.text_delay
        if by_token or late or self.mode == "ids" or self.black_box or len(self.pieces) < 2:
            return apply(chunking, self.pieces, self.mode)
        return apply(chunking, (Piece(self.text),), self.mode)

    def outcome(self, chunking: Chunking) -> Outcome:
        """Only the message. A parser that fails is run again with tracing, which says where."""
        deltas = self.deltas(chunking)
        parser = self._parser(chunking)
        try:
            message = parse(parser, deltas, self.context, mode=self.mode, markers=self.markers)
        except Exception:
            trace = self.trace(chunking)
            return Outcome(trace.message, len(deltas), raised_in(trace) or "the parser failed, but not when traced")
        return Outcome(message, len(deltas))

    def trace(self, chunking: Chunking) -> Trace:
        """A replay with every step. A parser that fails gives a step with a `parser_raised` diagnostic."""
        deltas = apply(chunking, self.pieces, self.mode)
        trace = traced(
            self._parser(chunking),
            deltas,
            self.context,
            mode=self.mode,
            markers=self.markers,
            chunking=to_json(chunking, deltas),
            reasons=self.reasons,
        )
        if self.black_box:
            trace.partition = []
        return trace

    def _parser(self, chunking: Chunking) -> StreamParser:
        return self.one_shot() if self.one_shot is not None and chunking == WHOLE else self.make()
