"""A parser reads the deltas of a replay in the quickest way that it has: by itself, many of open text together, or a
machine's steps that it made before, which are followed (`parsers.machine.learnt`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from parsers.machine.learnt import Followed, Known, Learner
from parsers.machine.machine import Machine
from parsers.replays.delta_columns import keys_of
from parsers.vocabulary.events import CallArguments, CallEnd, CallId, CallName, ContentText, Event, ReasoningText
from parsers.vocabulary.trace import OpenText, ReadsOpenText, StreamParser
from parsers.vocabulary.types import Delta
from parsers.wire.assemble import Assembler

WORTH = 128  # deltas of an output whose steps are learnt

_Reads = Callable[[Sequence[Hashable], Sequence[str], int], OpenText | None]


class Reading:
    """One parser that has begun, and reads `deltas` with their `texts` in order.

    They come behind `start` characters. Each time, `follow` comes first; then `read_open`, if there was nothing to
    follow; and then the parser is fed, if it was no open text. What it was fed is to be told to `learn`. At the end
    `settle` is called.
    """

    def __init__(self, parser: StreamParser, deltas: Sequence[Delta], texts: Sequence[str], start: int = 0) -> None:
        self._texts = texts
        self._reads_open = _open_reader(parser)
        by_text = not isinstance(parser, Machine) or parser.reads_text
        self._keys: Sequence[Hashable] = texts if by_text else keys_of(deltas)
        self.learner: Learner | None = None
        if isinstance(parser, Machine) and parser.can_be_learnt and len(deltas) >= WORTH:
            self.learner = Learner(parser, start)

    def follow(self, at: int) -> list[Followed]:
        """The steps from a delta on that are known."""
        learner = self.learner
        if learner is None or learner.place is None:
            return []
        found = learner.follow(self._texts, self._keys, at, len(self._texts))
        if not found:
            learner.settle()
        return found

    def read_open(self, at: int) -> OpenText | None:
        """See ReadsOpenText; None where the delta has to be fed, as it is where steps are learnt one by one."""
        learner = self.learner
        if self._reads_open is None or (learner is not None and learner.place is not None):
            return None
        found = self._reads_open(self._keys, self._texts, at)
        if learner is not None and found is not None:
            learner.pass_over(found.length)
        return found

    def learn(self, at: int, events: Sequence[Event]) -> Known | None:
        """The parser was fed a delta. Returns the step if it is known from now on."""
        return None if self.learner is None else self.learner.learn(self._texts[at], self._keys[at], events)

    def made_id(self, known: Known, calls: int) -> str:
        """The id that is made up in a step with so many calls before it."""
        return "" if self.learner is None else self.learner.made_id(known, calls)

    def settle(self) -> None:
        """Nothing more is followed."""
        if self.learner is not None:
            self.learner.settle()

    def absorb(self, assembler: Assembler, steps: Iterable[Followed]) -> None:
        """Let an assembler take in what steps that are known told."""
        for known, _, calls, _, text in steps:
            for event in known.events:
                if isinstance(event, ContentText | ReasoningText):
                    assembler.absorb_text(event, text if known.is_open else event.text)
                elif isinstance(event, CallArguments):
                    assembler.absorb_of_call(event, event.call + calls, text if known.is_open else event.text)
                elif isinstance(event, CallId | CallName):
                    made = known.made is not None and isinstance(event, CallId)
                    said = self.made_id(known, calls) if made else event.text
                    assembler.absorb_of_call(event, event.call + calls, said)
                elif isinstance(event, CallEnd):
                    assembler.absorb_of_call(event, event.call + calls, "")


def _open_reader(parser: StreamParser) -> _Reads | None:
    """The parser's way to read many deltas at once; not for a class that has a `feed` of its own beside it."""
    first = next((kind for kind in type(parser).__mro__ if vars(kind).keys() & {"feed", "read_open_text"}), None)
    own = first is not None and "read_open_text" in vars(first)
    return parser.read_open_text if own and isinstance(parser, ReadsOpenText) else None
