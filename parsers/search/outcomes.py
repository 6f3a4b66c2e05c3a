"""The different messages that the chunkings of one output give, and which chunkings give each.

Two replays have one outcome when their messages are the same under the comparison rules. A parser that fails is an
outcome of its own, by the kind of failure and the place in the parser it came from.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from parsers.compare.allowed import allowed_by_both, allowed_however_cut, between_paths, content_around
from parsers.compare.beside import Compared, alike, compare_chunking
from parsers.compare.divergence import Rules, divergence, grade, message_key
from parsers.replays.chunking import WHOLE, Chunking, label
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replay import finish_reason
from parsers.replays.replayer import Outcome, Replayer
from parsers.search.found import Group, OutcomeClass
from parsers.search.sweep import HALVES, LABELS, Trial
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message

UNKNOWN = -1  # the outcome of a cut that was not tried


@dataclass(slots=True)
class Seen:
    """One outcome so far. `smallest` is the best chunking for it, `rank` what makes it so and `grade` that of the first
    one; `counts` is by grade. `parted`: it came of an output in more than one part. `one_shot`: a second code path for
    whole outputs gives it, which counts as no chunking; `streamed` is the best of those that stream.
    """

    number: int
    outcome: Outcome
    smallest: Chunking
    rank: tuple[int, int]
    grade: CutGrade
    counts: dict[CutGrade, int] = field(default_factory=lambda: dict.fromkeys(CutGrade, 0))
    parted: bool = False
    one_shot: bool = False
    streamed: tuple[tuple[int, int], Chunking] | None = None

    @property
    def count(self) -> int:
        """Return how many chunkings of a stream gave it."""
        return sum(self.counts.values())

    @property
    def best(self) -> CutGrade:
        """The grade of the surest chunking that gave it."""
        return next((grade for grade in CutGrade if self.counts[grade]), self.grade)

    def take(self, chunking: Chunking, rank: tuple[int, int], grade: CutGrade, *, apart: bool) -> None:
        """Count a chunking that gives it; `apart`: the code path for whole outputs does."""
        self.one_shot = self.one_shot or apart
        if rank < self.rank:
            self.smallest, self.rank = chunking, rank
        if not apart:
            self.counts[grade] += 1
            if self.streamed is None or rank < self.streamed[0]:
                self.streamed = rank, chunking


@dataclass(slots=True)
class Outcomes:
    """Groups replays by outcome, in the order in which outcomes turn up."""

    replayer: Replayer
    rules: Rules
    seen: list[Seen] = field(default_factory=list)
    groups: dict[tuple[str, CutGrade], Group] = field(default_factory=dict)
    cuts: dict[int, int] = field(default_factory=dict)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _last: tuple[Message | None, int] = (None, 0)

    def begin(self, chunking: Chunking, trace: Trace) -> None:
        """Number 0 is the traced replay's own outcome."""
        trial = Trial("case", chunking, Grader(self.replayer).chunking(chunking))
        outcome = Outcome(trace.message, len(trace.steps) - 1, trace.failure)
        self._seen(trial, outcome).parted = self._is_parted(chunking, outcome)

    def add(self, trial: Trial, outcome: Outcome) -> int:
        """Take one replay in; returns the number of its outcome."""
        seen = self._seen(trial, outcome)
        seen.take(trial.chunking, self._rank(trial, outcome), trial.grade, apart=self._is_apart(trial.chunking))
        seen.parted = seen.parted or self._is_parted(trial.chunking, outcome)
        row = Group(trial.group, LABELS[trial.group], trial.grade)
        group = self.groups.setdefault((trial.group, trial.grade), row)
        group.counts[seen.number] = group.counts.get(seen.number, 0) + 1
        group.examples.setdefault(seen.number, trial.chunking)
        if trial.group in HALVES.values() and trial.chunking.cuts:
            self.cuts[trial.chunking.cuts[0]] = seen.number
        return seen.number

    def number(self, outcome: Outcome) -> int | None:
        """The number of this outcome, None for a new one."""
        return self._numbers.get(outcome_key(outcome, self.rules))

    def _seen(self, trial: Trial, outcome: Outcome) -> Seen:
        if outcome.raised is None and outcome.message is self._last[0]:  # a replay that turned out to be another one
            return self.seen[self._last[1]]
        key = outcome_key(outcome, self.rules)
        number = self._numbers.setdefault(key, len(self.seen))
        if number == len(self.seen):
            self.seen.append(Seen(number, outcome, trial.chunking, self._rank(trial, outcome), trial.grade))
        if outcome.raised is None:
            self._last = outcome.message, number
        return self.seen[number]

    def reduced(self, seen: Seen, chunking: Chunking) -> None:
        """A chunking with fewer cuts gives the same outcome. It may be one that a server is surer to send."""
        seen.smallest, grade = chunking, Grader(self.replayer).chunking(chunking)
        seen.streamed = seen.rank, chunking
        if not any(count for one, count in seen.counts.items() if one.rank <= grade.rank):
            self.add(Trial("certain", chunking, grade), seen.outcome)

    def _is_parted(self, chunking: Chunking, outcome: Outcome) -> bool:
        if chunking.cuts is None:
            return outcome.deltas > 1
        return any(0 < cut < len(self.replayer.text) for cut in chunking.cuts)

    def _rank(self, trial: Trial, outcome: Outcome) -> tuple[int, int]:
        """A second code path for whole outputs stands for what no streamed replay gives but by cuts inside tokens."""
        apart = self._is_apart(trial.chunking)
        return 2 if apart else (0, 1, 3)[trial.grade.rank], outcome.deltas

    def _is_apart(self, chunking: Chunking) -> bool:
        return self.replayer.one_shot is not None and chunking == WHOLE

    def heat(self, solid: frozenset[int]) -> list[int]:
        """The outcome of every cut in two. A cut inside a marker that is never split is the cut at its end."""
        size = len(self.replayer.text)
        heat = [self.cuts.get(cut, UNKNOWN) for cut in range(1, size)]
        for cut in range(size - 1, 0, -1):
            if cut in solid:
                heat[cut - 1] = heat[cut] if cut < size - 1 else UNKNOWN
        return heat

    def compared(self, base: Trace) -> list[Compared]:
        """One replay for each outcome, at its smallest chunking, under labels that all differ."""
        rows = []
        for seen in self.seen:
            chunking = seen.smallest if seen.streamed is None else seen.streamed[1]
            if seen.number:
                row = compare_chunking(self.replayer, chunking, base, self.rules)
            else:
                row = alike(self.replayer, chunking, base, seen.outcome)
            row.chunkings, row.cuts = seen.count, seen.best
            rows.append(row)
        known: set[str] = set()
        for row in rows:
            row.label += f" (outcome {len(known)})" * (row.label in known)
            known.add(row.label)
        return [row for row in rows if row.chunkings]

    def classes(self, base: Trace) -> list[OutcomeClass]:
        """The outcomes as they are shown. Those that differ from number 0 are traced, to say where."""
        own = self.replayer.by_format() if self.replayer.black_box else None
        right = None if own is None else own.trace(WHOLE)
        return [self._class(seen, base, right) for seen in self.seen]

    def _class(self, seen: Seen, base: Trace, right: Trace | None) -> OutcomeClass:
        message = seen.outcome.message
        reason = finish_reason(message, self.replayer.context.finish_reason)
        many = seen.counts
        honest = many[CutGrade.HONEST]
        shown = OutcomeClass(seen.number, message, reason, seen.count, honest, seen.smallest, label(seen.smallest))
        shown.assumed, shown.hostile = many[CutGrade.ASSUMED], many[CutGrade.HOSTILE]
        shown.raised, shown.parted, shown.one_shot = seen.outcome.raised, seen.parted, seen.one_shot
        if seen.number:
            shown.grade = grade(base.message, message, self.rules)
            shown.allowed = None if right is None else self._allowed(seen, base, right)
            shown.divergence = divergence(base, self.replayer.trace(seen.smallest), self.rules)
        return shown

    def _allowed(self, seen: Seen, base: Trace, right: Trace) -> str | None:
        """The keys of the contract that allow the message beside that of the traced replay. What a second code path
        gives and no sure stream does may differ by more than what cuts bring about."""
        contract, pair = self.replayer.contract, (base.message, seen.outcome.message)
        known = allowed_however_cut(contract, right.message, *pair)
        if known is not None or not seen.one_shot or seen.counts[CutGrade.HONEST]:
            return known
        around, text = content_around([event for _, event in right.events()]), self.replayer.text
        context, strict = self.replayer.context, between_paths(contract)
        return allowed_by_both(strict, right.message, pair, text=text, context=context, around=around)


def outcome_key(outcome: Outcome, rules: Rules) -> Hashable:
    """Equal for replays with one outcome."""
    return message_key(outcome.message, rules) if outcome.raised is None else outcome.raised.cause
