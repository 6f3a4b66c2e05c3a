"""What a token costs in our engine, in microseconds of processor time: fed, replayed, traced, whole; by text, by ids.

"fed" is one delta after the other, as a server has them; "replayed" is all of them at hand, as the inspector has them;
"traced" is that with every step recorded; "whole" is one delta.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from parsers.replays.replay import parse, replay
from parsers.vocabulary.events import Event
from parsers.vocabulary.trace import StreamParser
from parsers.vocabulary.types import Delta, Message, Mode
from parsers.wire.assemble import Assembler
from tests.bench.clock import best_of, quickest, seconds
from tests.bench.outputs import Output

STEPS = 10_000  # a trace of more, or of ids, says nothing new about the bytes of a step


@dataclass(frozen=True)
class Figures:
    """What one output costs: microseconds a token, and bytes a step of its trace."""

    output: Output
    mode: Mode
    fed: float
    replayed: float
    traced: float
    whole: float
    bytes_a_step: float


def begun(output: Output, mode: Mode) -> StreamParser:
    """A parser at the beginning of an output."""
    parser = output.parser
    parser.transitions = None
    parser.begin(output.context, mode=mode, markers=output.markers if mode == "ids" else None)
    return parser


def fed(parser: StreamParser, deltas: Iterable[Delta]) -> Iterator[list[Event]]:
    """What a parser answers to deltas that come one after the other, and to the end."""
    yield from map(parser.feed, deltas)
    yield parser.finish(None)


def feeding(output: Output, mode: Mode, deltas: Sequence[Delta], *, assembled: bool = False) -> float:
    """Processor time of a parser for an output that is fed, from where it has begun; with the message or without."""

    def answered(parser: StreamParser) -> None:
        """No answer is kept, as a server keeps none."""
        answers = map(parser.feed, deltas)
        if not assembled:
            deque(answers, maxlen=0)
            parser.finish(None)
            return
        assembler = Assembler()
        deque(map(assembler.absorb, answers), maxlen=0)
        assembler.absorb(parser.finish(None))
        assembler.message()

    return quickest(lambda: partial(answered, begun(output, mode)))


def message_of(answers: Iterable[list[Event]]) -> Message:
    """The message that answers make together."""
    assembler = Assembler()
    for events in answers:
        assembler.absorb(events)
    return assembler.message()


def figures(output: Output, mode: Mode) -> Figures:
    """The figures of one output."""
    deltas, whole, parser, context = output.deltas(mode), output.deltas(mode, whole=True), output.parser, output.context
    markers = output.markers if mode == "ids" else None
    made, tokens = list(deltas), len(output.pieces)
    traced = partial(replay, parser, deltas, context, mode=mode, markers=markers)
    runs: list[Callable[[], float]] = [
        partial(feeding, output, mode, made),
        partial(seconds, partial(parse, parser, deltas, context, mode=mode, markers=markers)),
        partial(seconds, traced),
        partial(seconds, partial(parse, parser, whole, context, mode=mode, markers=markers)),
    ]
    best = [1e6 * one / tokens for one in best_of(*runs)]
    size = _bytes_of(traced) / (tokens + 1) if tokens <= 2 * STEPS and mode == "text" else float("nan")
    return Figures(output, mode, fed=best[0], replayed=best[1], traced=best[2], whole=best[3], bytes_a_step=size)


def _bytes_of(make: Callable[[], object]) -> int:
    """Memory of what is made."""
    make()  # what is kept for all is not of this one
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = make()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        del made
    finally:
        tracemalloc.stop()
    return after - before
