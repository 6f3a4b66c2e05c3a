"""What a search for the difference of two parsers found, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.compare.delta_parting import DeltaParting, StepSent, delta_parting, step_sent
from parsers.compare.divergence import Divergence, Rules, divergence
from parsers.replays.chunking import Chunking
from parsers.replays.cut_grades import CutGrade
from parsers.search.found import Sample
from parsers.vocabulary.events import Failure
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Context, Message, Piece, joined


@dataclass(slots=True, frozen=True)
class ParserSide:
    """What one parser made of an output. `there`: the step at which its message parts from the other one, where that
    is known, and what it sent then."""

    message: Message
    finish_reason: str
    failure: Failure | None
    there: tuple[int, StepSent] | None = None


@dataclass(slots=True, frozen=True)
class Parted:
    """One output under one chunking, and what two parsers make of it.

    `same`: their messages are, under the rules. `grade`: how far a server can send it cut so. `change`: what was
    changed of the output that was given, in words; "" for the output itself. `step`: the first step at which they do
    not send the same; `message`: where the messages part, None where one of them failed.
    """

    pieces: tuple[Piece, ...]
    context: Context
    chunking: Chunking
    grade: CutGrade
    sides: tuple[ParserSide, ParserSide]
    same: bool = False
    change: str = ""
    step: DeltaParting | None = None
    message: Divergence | None = None

    @property
    def text(self) -> str:
        """The output text."""
        return joined(self.pieces)


@dataclass(slots=True, frozen=True)
class PartingFound:
    """Everything such a search found: nothing, or where the two parsers part first and the smallest form of that.

    `changed`: how many changed outputs were tried. `allowed`: differences from our parser that the contract of the
    other one allows; they are passed over. `complete`: false where the caller stopped it or the budget ran out
    before all was tried; `samples` are the kinds of which not all were tried then. `given_up`: what a parser in a
    process of its own did until it was asked no more; "" where all were.
    """

    first: Parted | None
    smallest: Parted | None
    replays: int
    changed: int
    complete: bool
    samples: tuple[Sample, ...] = ()
    allowed: int = 0
    given_up: str = ""


def side_of(trace: Trace, step: int | None) -> ParserSide:
    """One side of a difference, the message of which parts at a step."""
    there = None if step is None else (step, step_sent(trace, step))
    return ParserSide(trace.message, trace.finish_reason, trace.failure, there)


def places_of(
    a: Trace, b: Trace, rules: Rules
) -> tuple[tuple[ParserSide, ParserSide], DeltaParting | None, Divergence | None]:
    """Both sides of a difference, the first step at which they part, and where the messages do."""
    message = None if a.failure or b.failure else divergence(a, b, rules)
    steps = (None, None) if message is None else (message.step_a, message.step_b)
    return (side_of(a, steps[0]), side_of(b, steps[1])), delta_parting(a, b, rules), message
