"""What comes out when the output ends earlier: replays of its beginning with the finish reason `length`.

A cut inside a recorded marker moves to its end: no server ever sends half a token. All cuts together are quadratic, so
`budget` bounds the characters read: over it the cuts are an even sample, refined by halving between those that
differ.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from parsers.checks.metamorphic_output import made_up_call
from parsers.replays.chunking import WHOLE
from parsers.replays.replayer import Outcome, Replayer
from parsers.vocabulary.types import Message, Piece

BUDGET = 150_000


@dataclass(slots=True, frozen=True)
class CutRecord:
    """The result of the output's first `offset` characters: lengths, calls, and how many of these are complete.

    `problem`: what no right parser does there (check F2), in a sentence.
    """

    offset: int
    reasoning: int
    content: int
    calls: int
    complete: int
    problem: str | None = None

    @property
    def shape(self) -> tuple[object, ...]:
        """Return what a reader calls another result: not every further character is one."""
        return self.reasoning > 0, self.content > 0, self.calls, self.complete, self.problem


@dataclass(slots=True)
class CutRecords:
    """Records in the order of their cuts. `every`: no cut was left out."""

    records: list[CutRecord] = field(default_factory=list)
    every: bool = True

    @property
    def changes(self) -> list[CutRecord]:
        """The first record, and each whose shape is not that of the one before."""
        return [*self.records[:1], *[after for before, after in pairwise(self.records) if before.shape != after.shape]]


class Cutter:
    """Cuts one output anywhere. What a contract says of cut outputs is no problem of theirs, nor is what a parser that
    shows only its deltas cannot say."""

    def __init__(self, replayer: Replayer, *, contract: str | None = None) -> None:
        self._replayer = replayer
        self._judged = contract is None and not replayer.black_box
        self._ends = list(accumulate([len(piece.text) for piece in replayer.pieces]))
        self.length = self._ends[-1] if self._ends else 0

    def at(self, offset: int) -> Replayer:
        """The same request and parser for the first `offset` characters, ended by the length limit."""
        pieces, begun = self._replayer.pieces, bisect_right(self._ends, offset)
        beginning = pieces[:begun]
        start = self._ends[begun - 1] if begun else 0
        if start < offset:
            beginning = (*beginning, Piece(pieces[begun].text[: offset - start]))
        context = replace(self._replayer.context, finish_reason="length")
        return self._replayer.with_pieces(beginning).with_context(context)

    def result(self, offset: int, whole: Message) -> tuple[Outcome, str | None]:
        """Return what comes out when the output is cut at `offset`, and what is wrong with it."""
        outcome = self.at(offset).outcome(WHOLE)
        return outcome, _cut_problem(outcome, whole, judged=self._judged)

    def settled(self, offset: int) -> int:
        """The nearest offset that the output can be cut at: inside it, and not within a recorded marker."""
        wanted = min(max(1, offset), self.length)
        begun = bisect_left(self._ends, wanted)
        if self._replayer.mode == "text" or begun == len(self._ends):
            return wanted
        piece, end = self._replayer.pieces[begun], self._ends[begun]
        inside = end - len(piece.text) < wanted
        return end if inside and piece.recorded and piece.kind in ("special", "added") else wanted


def cut_records(cutter: Cutter, whole: Message, budget: int = BUDGET) -> CutRecords:
    """A record for every cut, or for as many as `budget` characters allow. `whole` is the message of all of it."""
    return _Sweep(cutter, whole, budget).run() if cutter.length else CutRecords()


def _cut_problem(outcome: Outcome, whole: Message, *, judged: bool = True) -> str | None:
    """Why the result of a cut output is wrong whatever would have followed, or None.

    `judged` false: calls are not looked at, because the parser cannot say which are complete, or a policy decides.
    """
    if outcome.raised is not None:
        return f"The parser failed: {outcome.raised}"
    index = made_up_call(outcome.message, whole) if judged else None
    if index is None:
        return None
    name = outcome.message.tool_calls[index].name
    return f"Call {index} (`{name}`) is reported as complete, but the whole output has no such call."


@dataclass(slots=True)
class _Sweep:
    """Runs an even sample of cuts within the budget, and as much again between those that differ."""

    cutter: Cutter
    whole: Message
    budget: int

    def run(self) -> CutRecords:
        length, settled = self.cutter.length, self.cutter.settled
        stride = max(1, -(-length * (length + 1) // (2 * self.budget)))
        offsets = [*range(1, length, stride), length]
        sampled = [self._record(offset) for offset in dict.fromkeys(map(settled, offsets))]
        if stride == 1:
            return CutRecords(sampled)
        refined = sampled[:1]
        for before, after in pairwise(sampled):
            refined += [*self._between(before, after), after]
        return CutRecords(refined, every=False)

    def _record(self, offset: int) -> CutRecord:
        outcome, problem = self.cutter.result(offset, self.whole)
        message = outcome.message
        return CutRecord(
            offset,
            len(message.reasoning or ""),
            len(message.content or ""),
            len(message.tool_calls),
            sum(call.complete for call in message.tool_calls),
            problem,
        )

    def _between(self, before: CutRecord, after: CutRecord) -> Iterator[CutRecord]:
        """Records between two that differ, until each change lies between neighbours."""
        if after.offset - before.offset < 2 or before.shape == after.shape:
            return
        offset = self.cutter.settled((before.offset + after.offset) // 2)
        if offset >= after.offset or self.budget < offset:
            return
        self.budget -= offset
        middle = self._record(offset)
        yield from self._between(before, middle)
        yield middle
        yield from self._between(middle, after)
