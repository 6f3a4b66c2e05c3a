"""Two parsers of one case beside each other: an output and a chunking of which they give different messages, small.

The output under the chunkings of the sweep; where they agree on all of these, changed outputs under a few. What the
contract of an engine allows beside our own parser is no difference. The search goes on after a difference only with
chunkings that a server is surer to send. Then the smallest output and chunking that show a difference of the same kind,
with what `Kept` keeps of the side that is read rightly, if one is: the cuts stay as honest, the output as well formed,
and the side that was right stays so.

Both sides read the same tokens and are asked for many replays at a time. Nothing here has a clock.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from parsers.compare.beside import rules_for
from parsers.compare.divergence import EXACT, Rules, same_message
from parsers.replays.budget import Budget, SpentBudgetError
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.cut_grades import CutGrade, Grader, worst
from parsers.replays.edits import Edit
from parsers.replays.replayer import Outcome, Replayer
from parsers.search.found import Progress, Stage
from parsers.search.harms import LOOSE, kind_of
from parsers.search.own_reading import OwnReading, own_reading
from parsers.search.parted import Parted, PartingFound, places_of
from parsers.search.shrink import AHEAD, SHRINKS, Shrinker, form_of, plain
from parsers.search.small_request import small_request
from parsers.search.sweep import MAX_REPLAYS, Sweep, Trial
from parsers.search.targets import Kept, is_allowed, plain_chunkings
from parsers.search.variants import Bounds, variants
from parsers.vocabulary.json_values import is_object
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import Message

KINDS = ("mutated", "truncated", "neighbour", "followed", "escaped")  # those that change the output
CHANGES = Bounds(cut=40_000, streamed=0, mutants=40, every=False)
MOST_CHANGED = 600
_OF_TRIAL = 2  # replays
Made = TypeVar("Made", Outcome, Trace)


@dataclass(frozen=True)
class Pair:
    """Two parsers of one output and request. `stated`: the second one is right, so that no contract allows anything
    else."""

    first: Replayer
    second: Replayer
    stated: bool = False

    @property
    def sides(self) -> tuple[Replayer, Replayer]:
        """Both."""
        return self.first, self.second

    def changed(self, edits: Sequence[Edit], context: Mapping[str, Any]) -> Pair:
        """The same for a changed output and request."""
        first = self.first.changed(edits, context)
        return Pair(first, _with(self.second, first), self.stated)

    def foresee(self, chunkings: Iterable[Chunking]) -> None:
        """Say which replays will be asked of both."""
        for side in self.sides:
            side.foresee(chunkings)

    def outcomes(self, chunking: Chunking) -> tuple[Outcome, Outcome]:
        """What both make of the output under a chunking."""
        first, second = [side.outcome(chunking) for side in self.sides]
        return self._seen(first), self._seen(second)

    def traces(self, chunking: Chunking) -> tuple[Trace, Trace]:
        """Both replays, step by step."""
        first, second = [side.trace(chunking) for side in self.sides]
        return self._seen(first), self._seen(second)

    def _seen(self, made: Made) -> Made:
        """Whether a call is complete nobody sends: beside a parser of which only the deltas are seen, it is so where
        its arguments are an object."""
        if not any(side.black_box for side in self.sides):
            return made
        return replace(made, message=_as_sent(made.message))

    def allows(self, outcomes: tuple[Outcome, Outcome]) -> bool:
        """Return whether the contract of an engine allows what it gives beside our own parser, which reads rightly."""
        boxes = [side.black_box for side in self.sides]
        if self.stated or boxes[0] == boxes[1] or outcomes[0].raised is not None or outcomes[1].raised is not None:
            return False
        place = boxes.index(True)
        own, ours, theirs = self._own[place], outcomes[1 - place].message, outcomes[place].message
        if own is None or not same_message(ours, _as_sent(own.message), LOOSE):
            return False
        return is_allowed(self.sides[place], own, theirs)

    @cached_property
    def _own(self) -> tuple[OwnReading | None, ...]:
        return tuple(map(own_reading, self.sides))

    def grade(self, chunking: Chunking) -> CutGrade:
        """How far a server can send a chunking: the worse of what both say."""
        return worst([grader.chunking(chunking) for grader in self._graders])

    @cached_property
    def _graders(self) -> tuple[Grader, ...]:
        return tuple(map(Grader, self.sides))

    def swapped(self) -> Pair:
        """The other one first."""
        return Pair(self.second, self.first, self.stated)


def _as_sent(message: Message) -> Message:
    return replace(
        message, tool_calls=[replace(call, complete=is_object(call.arguments)) for call in message.tool_calls]
    )


def _with(side: Replayer, like: Replayer) -> Replayer:
    """One side with the output and request of the other."""
    found = side if side.pieces == like.pieces else side.with_pieces(like.pieces)
    return found if found.context is like.context else found.with_context(like.context)


def shared_rules(first: Replayer, second: Replayer, rules: Rules) -> Rules:
    """The rules for messages of two parsers. Ids count where both make them of one format, and their contracts say."""
    one = first.format is not None and second.format is not None and first.format.name == second.format.name
    return replace(rules, ids=one and all(rules_for(side, rules).ids for side in (first, second)))


def difference(outcomes: tuple[Outcome, Outcome], rules: Rules) -> Hashable | None:
    """Return in what the second outcome differs from the first, None where they are the same. Two that failed alike
    are."""
    first, second = outcomes
    if first.raised is None and second.raised is None:
        same = same_message(first.message, second.message, rules)
        return None if same else kind_of(second.message, first.message, rules)
    causes = [one.raised and one.raised.cause for one in outcomes]
    kinds = {one.raised and one.raised.kind for one in outcomes}
    return tuple(causes) if len(kinds) > 1 else None


@dataclass(slots=True)
class Parts:
    """The other parser gives another message, in the same way; see `Target`.

    `right`: whether either gives what the format itself reads; it goes on doing so.
    """

    other: Replayer
    rules: Rules
    kind: Hashable
    right: tuple[bool, bool]
    stated: bool = False
    replays: int = 0

    @classmethod
    def at(cls, pair: Pair, chunking: Chunking, rules: Rules) -> Parts | None:
        """The difference under a chunking, or None where there is none."""
        outcomes = pair.outcomes(chunking)
        kind = difference(outcomes, rules)
        if kind is None or pair.allows(outcomes):
            return None
        own = own_reading(pair.first) or own_reading(pair.second)
        first, second = [
            own is not None and one.raised is None and same_message(one.message, own.message, LOOSE) for one in outcomes
        ]
        return cls(pair.second, rules, kind, (first, second), pair.stated)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Parts.at(Pair(replayer, _with(self.other, replayer), self.stated), chunking, self.rules)
        return found is not None and found.kind == self.kind and all(map(operator.ge, found.right, self.right))


@dataclass(slots=True)
class _Known:
    """Where a difference was seen."""

    pair: Pair
    chunking: Chunking
    grade: CutGrade
    change: str


class Parting:
    """A search for a difference of two replayers of one case. It takes what `Search` takes, and whether it is `stated`
    that the second one is right."""

    def __init__(
        self,
        first: Replayer,
        second: Replayer,
        *,
        rules: Rules = EXACT,
        asked: tuple[Chunking, ...] = (),
        recorded: tuple[int, ...] = (),
        seed: int = 0,
        max_replays: int = MAX_REPLAYS,
        honest_only: bool = False,
        shrinks: int = SHRINKS,
        budget: Budget | None = None,
        stated: bool = False,
    ) -> None:
        self.replays = 0
        first = replace(first, budget=budget)
        self._pair = Pair(first, _with(replace(second, budget=budget), first), stated)
        self._rules = shared_rules(first, second, rules)
        self._seed = seed
        self._shrinks = shrinks
        self._honest_only = honest_only
        self._budget = budget
        self._sweep = Sweep(
            max(self._pair.sides, key=lambda side: (side.one_shot is not None, side.black_box)),
            asked=asked, recorded=recorded, seed=seed, max_replays=max_replays, honest_only=honest_only,
        )  # fmt: skip
        self._known: _Known | None = None
        self._small: tuple[Pair, bool, Shrinker] | None = None
        self._tried = dict[int, int]()
        self._changed = 0
        self._allowed = 0
        self._over = False

    def run(self) -> Iterator[Progress]:
        """Search. Stop iterating at any time; a spent budget ends it early."""
        try:
            yield from self._swept()
            if self._known is None:
                yield from self._varied()
            yield from self._shrunk()
        except SpentBudgetError:
            return
        self._over = True
        yield self._progress("done", 1, 1)

    def found(self) -> PartingFound:
        """Return what is known by now."""
        if self._budget is not None:
            self._budget.lift()
        known = self._known
        first = None if known is None else self._parted(known.pair, known.chunking, known.change)
        samples = () if known is not None else tuple(self._sweep.untried(self._tried))
        complete = self._over and not samples
        tried = self.replays, self._changed, complete, samples, self._allowed
        return PartingFound(first, self._smallest(), *tried, "" if self._budget is None else self._budget.given_up)

    def at(self, chunking: Chunking) -> Parted:
        """The output under one chunking, whether they part or not."""
        return self._parted(self._pair, chunking, "")

    def _progress(self, stage: Stage, done: int, total: int) -> Progress:
        return Progress(stage, done, max(total, done), self.replays, 1 + (self._known is not None))

    def _swept(self) -> Iterator[Progress]:
        total = self._sweep.total()
        for done, trial in enumerate(self._ahead(self._pair, self._sweep.trials(lambda: False))):
            if done % AHEAD == 0 or self.replays == _OF_TRIAL:
                yield self._progress("sweep", done, total)  # once soon: from the first replays on there is a deadline
            self._try(self._pair, trial)
            if trial.chunking.cuts and len(trial.chunking.cuts) == 1:
                self._tried[trial.chunking.cuts[0]] = 0

    def _varied(self) -> Iterator[Progress]:
        """Changed outputs, until one shows a difference."""
        for edits, context, words in self._changes():
            yield self._progress("variants", self._changed, MOST_CHANGED)
            self._changed += 1
            pair = self._pair.changed(edits, dict(context))
            chunkings = dict.fromkeys([one for side in pair.sides for one in plain_chunkings(side)])
            trials = [Trial("case", chunking, pair.grade(chunking)) for chunking in chunkings]
            for trial in self._ahead(pair, iter(sorted(trials, key=lambda one: one.grade.rank))):
                self._try(pair, trial, words)
            if self._known is not None:
                return

    def _changes(self) -> Iterator[tuple[tuple[Edit, ...], tuple[tuple[str, Any], ...], str]]:
        """The changes that the variants of the output make, each once."""
        first, second = self._pair.sides
        reader = first.by_format() or second.by_format() or first
        seen = set[Hashable]()
        made = variants(reader, reader.trace(WHOLE), seed=self._seed, bounds=CHANGES, kinds=KINDS)
        for variant in made:
            edits, context = variant.proof.edits, tuple(variant.proof.context.items())
            if (edits, context) not in seen and len(seen) < MOST_CHANGED:
                seen.add((edits, context))
                yield edits, context, variant.label

    def _ahead(self, pair: Pair, trials: Iterator[Trial]) -> Iterator[Trial]:
        """The trials that tell more than what is known, replayed many at a time where somebody else makes the
        replays."""
        graded = (Trial(one.group, one.chunking, pair.grade(one.chunking)) for one in trials)
        wanted = (trial for trial in graded if self._tells(trial.grade))
        while batch := list(islice(wanted, AHEAD)):
            pair.foresee([trial.chunking for trial in batch])
            yield from (trial for trial in batch if self._tells(trial.grade))

    def _tells(self, grade: CutGrade) -> bool:
        if self._honest_only and grade is not CutGrade.HONEST:
            return False
        return self._known is None or grade.rank < self._known.grade.rank

    def _try(self, pair: Pair, trial: Trial, change: str = "") -> None:
        self.replays += _OF_TRIAL
        outcomes = pair.outcomes(trial.chunking)
        if difference(outcomes, self._rules) is None:
            return
        if pair.allows(outcomes):
            self._allowed += 1
        else:
            self._known = _Known(pair, trial.chunking, trial.grade, change)

    def _shrunk(self) -> Iterator[Progress]:
        """The smallest form. What took too long would take as long in every form."""
        known = self._known
        outcomes = () if known is None else known.pair.outcomes(known.chunking)
        if known is None or any(one.raised is not None and one.raised.slow for one in outcomes):
            return
        target = Parts.at(known.pair, known.chunking, self._rules)
        if target is None:
            return  # a parser that answers by chance
        swapped = target.right == (False, True)
        pair = known.pair.swapped() if swapped else known.pair
        target = Parts.at(pair, known.chunking, self._rules) or target
        kept = Kept.of(target, pair.first, known.chunking)
        before, form = self.replays, form_of(pair.first, known.chunking)
        shrinker = Shrinker(pair.first, form, kept, self._shrinks, beside=pair.second)
        self._small = pair, swapped, shrinker
        for replays in shrinker.run():
            self.replays = before + replays
            yield self._progress("shrink", replays, self._shrinks)

    def _smallest(self) -> Parted | None:
        if self._small is None or self._known is None:
            return None
        pair, swapped, shrinker = self._small
        form = shrinker.form
        small = pair.first.with_pieces(form.pieces)
        small = small_request(small, form.chunking, shrinker.target, pair.first)
        found = Pair(small, _with(pair.second, small), pair.stated)
        return self._parted(found.swapped() if swapped else found, form.chunking, self._known.change)

    def _parted(self, pair: Pair, chunking: Chunking, change: str) -> Parted:
        traces = pair.traces(chunking)
        outcomes = [Outcome(trace.message, len(trace.steps), trace.failure) for trace in traces]
        same = difference((outcomes[0], outcomes[1]), self._rules) is None
        sides, step, message = places_of(*traces, self._rules)
        grade, pieces = pair.grade(chunking), pair.first.pieces
        shown = plain(pair.second, plain(pair.first, chunking)) if not self._has_one_shot else chunking
        return Parted(pieces, pair.first.context, shown, grade, sides, same, change, step, message)

    @property
    def _has_one_shot(self) -> bool:
        return any(side.one_shot is not None for side in self._pair.sides)
