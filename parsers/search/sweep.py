"""The chunkings an output is tried under, cheap and telling ones first.

A right parser stands every chunking, but how much a finding weighs is a matter of the grade of the chunking
(`parsers.replays.cut_grades`): whether a server can send it for certain, if the tokens are as assumed, or never. Deltas
without text come in between, as tokens without text make them; text kept back, or trailing its ids, is tried where ids
tell it apart. An output so long that every cut in two would cost too much is cut at an even sample of places, and at
every place in and beside markers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

from parsers.checks.check import any_of
from parsers.replays.chunking import WHOLE, Chunking
from parsers.replays.cut_grades import CutGrade, Grader
from parsers.replays.replayer import Replayer
from parsers.search.found import Sample
from parsers.vocabulary.types import Piece

SIZES = (*range(1, 14), 20, 64, 100)
INTERVALS = (2, 3, 4, 5, 8, 12, 13, 20, 64, 100)
LATE = (
    *(Chunking(by="token", holdback_chars=held) for held in (1, 6, 12, 24)),
    *(Chunking(by="token", text_delay=delay) for delay in (1, 2, 3)),
)
MARKUP = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]{3,60}\]")  # what looks like a marker, whatever the format says
RANDOM = 200
CERTAIN = 30  # chunkings at random by places where every tokenizer cuts
MAX_REPLAYS = 6_000
MAX_CHARACTERS = 8_000_000
FLOOR = 200  # so many cuts in two are tried however long the output is

LABELS = {
    "case": "asked for by the case",
    "whole": "in one piece",
    "one_shot": "by the code path for whole outputs",
    "tokens": "a fixed number of tokens",
    "characters": "a fixed number of characters",
    "markers": "markers cut apart",
    "recorded": "as the server sent it",
    "intervals": "stream intervals",
    "groups": "groups of 2 to 8 tokens",
    "certain": "where every tokenizer cuts",
    "empty": "empty deltas between others",
    "late": "text later than its ids",
    "cuts_honest": "cut in two between tokens",
    "cuts_assumed": "cut in two between assumed tokens",
    "cuts_hostile": "cut in two inside a token",
    "random_tokens": "random numbers of tokens",
    "random_characters": "random numbers of characters",
    "random_parts": "two to four random parts",
}
HALVES = {grade: f"cuts_{grade.value}" for grade in CutGrade}  # the groups of cuts in two


_Asked = tuple[str, Chunking]  # a group, and a chunking of it


@dataclass(slots=True, frozen=True)
class Trial:
    """One chunking to try, the group it belongs to (a key of LABELS), and how far a server can send it."""

    group: str
    chunking: Chunking
    grade: CutGrade


class Sweep:
    """The chunkings to try on a replayer's output.

    `asked`: chunkings to try in any case. `recorded`: the cuts of the deltas that a server sent. `max_replays` bounds
    the whole. `honest_only`: only what a server can send for certain. `solid`: the places inside recorded markers,
    which are never split.
    """

    def __init__(
        self,
        replayer: Replayer,
        *,
        asked: tuple[Chunking, ...] = (),
        recorded: tuple[int, ...] = (),
        seed: int = 0,
        max_replays: int = MAX_REPLAYS,
        honest_only: bool = False,
    ) -> None:
        pieces, text = replayer.pieces, replayer.text
        fixed = marker_spans(pieces) if replayer.mode == "ids" else []
        self.solid = frozenset(cut for start, end in fixed for cut in range(start + 1, end))
        spans = {match.span() for match in any_of(replayer.terminals.values()).finditer(text)}
        self.markers = tuple(sorted(spans | {match.span() for match in MARKUP.finditer(text)}))
        self._text = text
        self.grader = Grader(replayer)
        self._honest_only = honest_only
        self._bounds = self.grader.bounds
        self._tokens = len(pieces)
        # Where the parser cannot see ids, late text is not worth trying.
        black_box_ids = replayer.black_box and any(piece.token_id is not None for piece in pieces)
        self.ids = replayer.mode == "ids" or black_box_ids
        self._one_shot = replayer.one_shot is not None
        self._asked = asked
        self._recorded = recorded
        self._seed = seed
        self._max_replays = max_replays

    def trials(self, affords: Callable[[], bool] = lambda: False) -> Iterator[Trial]:
        """All of them, lazily. `affords` is asked before each cut in two that is not in the sample."""
        graded = (Trial(group, chunking, self.grader.chunking(chunking)) for group, chunking in self._tried(affords))
        yield from (trial for trial in graded if trial.grade is CutGrade.HONEST or not self._honest_only)

    def _tried(self, affords: Callable[[], bool]) -> Iterator[_Asked]:
        yield from (("case", chunking) for chunking in self._asked)
        yield "whole", one_delta(self._one_shot)
        if self._one_shot:
            yield "one_shot", WHOLE
        yield from self._telling()
        halves, near = self.halves(), frozenset(self._near_markers())
        yield from self._halves([cut for cut in halves if cut in near])
        yield from self._random()
        yield from self._halves([cut for cut in halves if cut not in near])
        known = frozenset(halves)
        yield from takewhile(lambda _: affords(), self._halves([cut for cut in self.places if cut not in known]))

    def total(self, *, every: bool = False) -> int:
        """About how many there are, with `every` cut in two or a sample of them."""
        halves = self.places if every else self.halves()
        return len(halves) + (RANDOM if len(self._text) > 1 else 0) + 60

    @cached_property
    def places(self) -> Sequence[int]:
        """The places at which the output can be cut in two."""
        size = len(self._text)
        every = self.grader.honest if self._honest_only else range(1, size)
        return [cut for cut in every if cut not in self.solid]

    def untried(self, tried: Mapping[int, int]) -> Iterator[Sample]:
        """The kinds of cuts in two of which not all were tried. `tried` has the places of those that were."""
        grades = {cut: self.grader.place(cut) for cut in self.places}
        for grade, name in HALVES.items():
            places = [cut for cut in self.places if grades[cut] is grade]
            done = sum([cut in tried for cut in places])
            if done < len(places):
                yield Sample(name, LABELS[name], done, len(places))

    def halves(self) -> Sequence[int]:
        """An even sample of the places at which the output is cut in two, and those in and beside markers; all places
        where the output is short."""
        size, places = len(self._text), self.places
        room = max(FLOOR, min(self._max_replays, MAX_CHARACTERS // max(size, 1)) - RANDOM - 60)
        if len(places) <= room:
            return places
        near = self._near_markers()[: room // 2]
        left = room - len(near)
        even = [places[n * len(places) // left] for n in range(left)]
        return sorted({*near, *even})

    def _telling(self) -> Iterator[_Asked]:
        for size in (1, *SIZES[1:]):
            if size < max(self._tokens, 2):
                yield "tokens", Chunking(by="token", size=size)
        for group, rows in (
            ("recorded", (self._recorded,)),
            ("markers", self._around_markers()),
            # A stream interval sends the first token at once, and then so many at a time.
            ("intervals", [self._inside(self._bounds[1::interval]) for interval in INTERVALS]),
            ("groups", self._groups()),
            ("certain", self._certain() if self.grader.assumes else ()),
        ):
            yield from ((group, cut_at(row)) for row in dict.fromkeys(map(tuple, rows)) if row)
        for size in SIZES:
            if size < len(self._text):
                yield "characters", Chunking(by="char", size=size)
        yield from (("empty", cut_at(row)) for row in dict.fromkeys(self._empty()))
        if self.ids:
            yield from (("late", chunking) for chunking in LATE)

    def _around_markers(self) -> Iterator[Sequence[int]]:
        """Each marker cut after its first character, before its last, before it, after it, and on its own."""
        starts, ends = [start for start, _ in self.markers], [end for _, end in self.markers]
        long = [(start, end) for start, end in self.markers if end - start > 1]
        yield self._inside([start + 1 for start, _ in long])
        yield self._inside([end - 1 for _, end in long])
        yield self._inside(starts)
        yield self._inside(ends)
        yield self._inside([*starts, *ends])

    def _near_markers(self) -> list[int]:
        return self._inside([cut for start, end in self.markers for cut in range(start - 1, end + 2)])

    def _inside(self, cuts: Iterable[int]) -> list[int]:
        return sorted({cut for cut in cuts if 0 < cut < len(self._text)} - self.solid)

    def _empty(self) -> Iterator[tuple[int, ...]]:
        """Empty deltas, as tokens without text make them: at the ends, beside markers, everywhere."""
        size = len(self._text)
        yield (0,)
        yield (size, size)
        beside = self._inside([place for span in self.markers for place in span])
        for places in (beside, self._inside(self._bounds)):
            yield (0, *sorted([*places, *places]), size, size)

    def _groups(self) -> Iterator[Sequence[int]]:
        for number in range(RANDOM // 5):
            source = random.Random(self._seed * RANDOM + number)
            at, cuts = 0, []
            while (at := at + source.randint(2, 8)) < self._tokens:
                cuts.append(self._bounds[at])
            yield self._inside(cuts)

    def _certain(self) -> Iterator[Sequence[int]]:
        """All places where every tokenizer cuts, those around markers, every so many of them, and some at random."""
        places = self._inside(self.grader.honest)
        yield places
        edges = {edge for span in self.markers for edge in span}
        yield [place for place in places if place in edges]
        yield from (places[::size] for size in SIZES[1:4])
        for number in range(CERTAIN):
            source = random.Random(self._seed * CERTAIN + number)
            yield [place for place in places if source.random() < 0.5]

    def _halves(self, cuts: Iterable[int]) -> Iterator[_Asked]:
        yield from ((HALVES[self.grader.place(cut)], cut_at((cut,))) for cut in cuts)

    def _random(self) -> Iterator[_Asked]:
        if len(self._text) < 2:
            return
        each = RANDOM * 4 // 15
        for number in range(each):
            seed = self._seed * RANDOM + number
            yield "random_tokens", Chunking(by="random", seed=seed)
            yield "random_characters", Chunking(by="random", seed=seed, unit="char")
            source = random.Random(seed)
            yield "random_parts", cut_at(self._inside([source.randrange(len(self._text)) for _ in range(3)]))


def marker_spans(pieces: Iterable[Piece]) -> list[tuple[int, int]]:
    """Return where the recorded markers stand that are never cut: each is one token."""
    spans, at = list[tuple[int, int]](), 0
    for piece in pieces:
        if piece.recorded and piece.kind in ("special", "added"):
            spans.append((at, at + len(piece.text)))
        at += len(piece.text)
    return spans


def one_delta(one_shot: bool) -> Chunking:
    """All in one delta, streamed: `whole` is that only where it is not the name of a second code path."""
    return cut_at(()) if one_shot else WHOLE


def cut_at(cuts: Sequence[int]) -> Chunking:
    """The chunking by these offsets, which are known to fit."""
    return Chunking.model_construct(by="cuts", cuts=tuple(cuts))


def json_of(chunking: Chunking) -> dict[str, Any]:
    """A chunking as a proof has it."""
    return chunking.model_dump(mode="json", exclude_defaults=True)
