"""What must stay true of an output while it is made smaller: what is looked for in it, and what is kept besides.

A target holds while the finding is the same: the same kind of difference, gained or lost in the same channel. Whatever
the target, a smaller form keeps what makes an owner accept it (`Kept`): cuts that a server could make stay such cuts,
and special tokens stay whole; the format's own grammar finds no flaw in it that it did not find before, and goes no
other way through its states; and what the parser reads rightly under some chunking, it still does. Otherwise one flaw
would turn into another on the way.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from parsers.checks import CHECKS, run_checks
from parsers.checks.subject import subject_of
from parsers.compare.allowed import allowed_by, content_around
from parsers.compare.divergence import ANY_ID, Rules, message_key, same_message
from parsers.replays.chunking import WHOLE, Chunking, Unit
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replayer import Replayer
from parsers.search.cut_places import CutPlaces, are_kept, cut_places, inside
from parsers.search.harms import LOOSE, kind_of, of_calls
from parsers.search.outcomes import outcome_key
from parsers.search.own_reading import OwnReading, is_called, is_sound, own_reading
from parsers.search.shrink import Target
from parsers.search.sweep import cut_at, one_delta
from parsers.search.variants import needed
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Message

_SIZES = (1, 2, 3)
_MORE_SIZES = (4, 5, 8, 12)
_MOST_CUTS = 200  # so many cuts in two are tried for one that is read rightly
_CHEAPER = 8  # so many changed outputs, of which only the message is asked, count as one replay


# What is kept whatever is looked for.


def plain_chunkings(replayer: Replayer) -> list[Chunking]:
    """The chunkings that say the same of every smaller output: those that stream, then the one for whole outputs."""
    apart = replayer.one_shot is not None
    units: tuple[Unit, ...] = ("token", "char") if replayer.mode == "ids" or replayer.black_box else ("char", "token")
    streamed = [Chunking(by=unit, size=size) for unit in units for size in _SIZES]
    return [one_delta(apart), *streamed, *([WHOLE] if apart else [])]


def rightly_read(
    replayer: Replayer, own: OwnReading | None, among: Iterable[Chunking], *, lenient: bool = False
) -> Chunking | None:
    """The first of these chunkings under which the parser gives what the format itself reads, or, where that is asked
    leniently, what the contract allows in its place."""
    if own is None:
        return None
    known: dict[Hashable, bool] = {}
    chunkings = list(among)
    for number, chunking in enumerate(chunkings):
        if number == 1:
            replayer.foresee(chunkings[1:])
        outcome = replayer.outcome(chunking)
        if outcome.raised is not None:
            continue
        key = message_key(outcome.message, LOOSE)
        if key not in known:
            same = same_message(outcome.message, own.message, LOOSE)
            known[key] = same or (lenient and is_allowed(replayer, own, outcome.message))
        if known[key]:
            return chunking
    return None


def is_allowed(replayer: Replayer, own: OwnReading, message: Message) -> bool:
    """Return whether the contract allows a foreign parser to give this where the format reads something else."""
    if not replayer.black_box:
        return False
    around, text, context = content_around(own.events), replayer.text, replayer.context
    return allowed_by(replayer.contract, own.message, message, text=text, context=context, around=around) is not None


def every_chunking(replayer: Replayer) -> list[Chunking]:
    """Many chunkings of a small output: the plain ones, larger deltas, and cuts in two."""
    units: tuple[Unit, ...] = ("token", "char")
    larger = [Chunking(by=unit, size=size) for size in _MORE_SIZES for unit in units]
    cuts = [cut_at((cut,)) for cut in range(1, min(len(replayer.text), _MOST_CUTS))]
    return [*plain_chunkings(replayer), *larger, *cuts]


class Read(IntEnum):
    """Says how rightly an output is read under some chunking: as the format reads it, as the contract allows, or not at
    all."""

    NEVER = 0
    ALLOWED = 1
    RIGHTLY = 2


@dataclass(slots=True)
class Kept:
    """A target with what every smaller form keeps besides.

    `cuts`: how far a server can make them, the best highest, and whether they leave special tokens whole. `own`: what
    the format reads in the first form. `read`: how rightly the parser reads that under some chunking: every smaller
    form is read as rightly, and from one that is more so on, as rightly as that. `reads`: the chunking that showed it
    last. `wide`: only one of many did, so that many are tried. `first`: the first form, with no more cuts than make a
    difference as far as that is known, and `places`: what these stand at.
    """

    target: Target
    cuts: tuple[int, bool]
    own: OwnReading | None
    reads: Chunking | None = None
    wide: bool = False
    read: Read = Read.NEVER
    first: tuple[Replayer, Chunking] | None = None
    places: CutPlaces | None = None
    _asked: int = 0

    @classmethod
    def of(cls, target: Target, replayer: Replayer, chunking: Chunking, known: Sequence[Chunking] = ()) -> Kept:
        """What is kept of this output under this chunking. `known`: chunkings besides that may read it rightly."""
        kept = cls(target, _cut_quality(replayer, chunking), own_reading(replayer), first=(replayer, chunking))
        for read in (Read.RIGHTLY, Read.ALLOWED):
            for wide, among in ((False, plain_chunkings(replayer)), (True, known)):
                reads = rightly_read(replayer, kept.own, among, lenient=read is Read.ALLOWED)
                if reads is not None:
                    return replace(kept, reads=None if wide else reads, wide=wide, read=read)
        return kept

    @property
    def replays(self) -> int:
        """Replays run to answer."""
        return self.target.replays + self._asked

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        if not all(map(operator.ge, _cut_quality(replayer, chunking), self.cuts)):
            return False
        begins = self.first is not None and replayer.pieces == self.first[0].pieces
        if not begins and not self._are_cuts_kept(replayer, chunking):
            return False
        if not self.target.holds(replayer, chunking):
            return False
        if begins:
            self.first = replayer, chunking
        own = own_reading(replayer)
        if self.own is None or own is None:
            return True
        return self.own.covers(own) and self._is_read(replayer, own)

    def _are_cuts_kept(self, replayer: Replayer, chunking: Chunking) -> bool:
        """Return whether the cuts stand where those of the first form do."""
        if self.places is None and self.first is not None:
            self.places = cut_places(*self.first)
        return self.places is None or are_kept(cut_places(replayer, chunking), self.places)

    def _is_read(self, replayer: Replayer, own: OwnReading) -> bool:
        """Return whether the parser reads a form as rightly as it must."""
        chunkings = every_chunking(replayer) if self.wide else plain_chunkings(replayer)
        tried = [*([self.reads] if self.reads is not None else []), *[one for one in chunkings if one != self.reads]]
        for read in (Read.RIGHTLY, Read.ALLOWED):
            found = rightly_read(replayer, own, tried, lenient=read is Read.ALLOWED) if read >= self.read else None
            if found is not None:
                self._asked += tried.index(found) + 1
                self.reads, self.read = found, read
                return True
        self._asked += len(tried)
        return self.read is Read.NEVER


def _cut_quality(replayer: Replayer, chunking: Chunking) -> tuple[int, bool]:
    grade = Grader(replayer).chunking(chunking)
    return -grade.rank, grade is not CutGrade.HOSTILE or not inside(cut_places(replayer, chunking))


# What is looked for.


@dataclass(slots=True)
class Differs:
    """A chunking gives another message than `other` does, in the same way.

    `sound`: whether the calls of both are whole, whether the other one's message is what the format itself reads, and,
    where calls differ, whether that reads calls without a flaw. `harm`: what becomes of the calls that the format
    reads; it may be another in a form that the other chunking reads rightly (`met`), where it did not before. `calls`
    are those of the other message.
    """

    rules: Rules
    kind: frozenset[Hashable]
    sound: tuple[bool, bool, bool, bool]
    other: Chunking = WHOLE
    harm: frozenset[Hashable] = frozenset()
    met: bool = False
    calls: int = 0
    replays: int = 0

    @classmethod
    def at(cls, replayer: Replayer, chunking: Chunking, rules: Rules, other: Chunking = WHOLE) -> Differs | None:
        """The difference at this chunking, or None where there is none."""
        one, beside = replayer.outcome(chunking), replayer.outcome(other)
        if one.raised or beside.raised or same_message(one.message, beside.message, rules):
            return None
        sound = is_sound(one.message, replayer.context), is_sound(beside.message, replayer.context)
        kind, own = kind_of(one.message, beside.message, rules), own_reading(replayer)
        read = own is not None and own.clean and same_message(own.message, beside.message, ANY_ID)
        called = bool(of_calls(kind)) and is_called(replayer)
        harm = frozenset() if own is None else of_calls(kind_of(one.message, own.message, LOOSE))
        met = own is not None and same_message(own.message, beside.message, LOOSE)
        return cls(rules, kind, (*sound, read, called), other, harm, met, len(beside.message.tool_calls))

    @property
    def worth(self) -> tuple[bool, bool, int]:
        """Return whether the other message is the right one, whether calls differ, and how many whole calls it has."""
        return self.sound[2], bool(of_calls(self.kind)), self.calls if self.sound[1] else 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 2
        found = Differs.at(replayer, chunking, self.rules, self.other)
        if found is None or found.kind != self.kind:
            return False
        alike = found.harm == self.harm or found.met > self.met
        return alike and all(map(operator.ge, found.sound, self.sound))


@dataclass(slots=True)
class Raises:
    """The parser fails for the same cause."""

    key: Hashable
    rules: Rules
    replays: int = 0

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target."""
        self.replays += 1
        outcome = replayer.outcome(chunking)
        return outcome.raised is not None and outcome_key(outcome, self.rules) == self.key


@dataclass(slots=True)
class Finds:
    """A check of one replay finds the same. `called`: the format itself reads whole calls, and no flaw."""

    finding: Finding
    rules: Rules
    sound: bool
    called: bool = False
    replays: int = 0
    harms: frozenset[Hashable] | None = field(default=None, init=False)

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """See Target. What is gained or lost beside the format's own reading in the first form may be, nothing else."""
        self.replays += 2
        trace, check = replayer.trace(chunking), CHECKS.get(self.finding.check)
        unsound = self.sound > is_sound(trace.message, replayer.context)
        if check is None or unsound or (self.called and not is_called(replayer)):
            return False
        made = needed(check, replayer, trace)
        self.replays += len(made) // _CHEAPER
        subject = subject_of(replayer, trace, replayer.trace(WHOLE), [], rules=self.rules, variants=made)
        if all(_sort(one) != _sort(self.finding) for one in run_checks(subject, [check.name]).findings):
            return False
        own = own_reading(replayer)
        harms = frozenset() if own is None else kind_of(trace.message, own.message, LOOSE)
        if self.harms is None:
            self.harms = harms
        return harms <= self.harms


def _sort(one: Finding) -> tuple[object, ...]:
    return one.topic, one.severity, one.about, one.grade, one.policy, one.sort
