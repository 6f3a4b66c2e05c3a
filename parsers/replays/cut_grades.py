"""How far a server can make a cut: honest, assumed, or hostile.

A cut between two tokens is honest where the tokens were recorded or the model's own tokenizer made them. Tokens of a
stand-in are assumed, but for the places where every tokenizer cuts: the ends of the output, the edges of a marker that
is one token, after the last newline of a run and before the last blank of one where a letter or digit follows, and
inside markup of which the format says how its models cut it. A cut inside a token is hostile: no server sends that.
A chunking is as good as its worst cut; deltas without text, and text that comes late, are honest only where somebody
has told that the server sends them. Where a server sends every token in a delta of its own, tokens that stand
together are hostile.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate

from parsers.replays.chunking import TRACED, Chunking, by_tokens, empties, grid, resolved
from parsers.replays.replayer import Replayer
from parsers.vocabulary.events import Severity
from parsers.vocabulary.words import counted, quoted

_EVERYWHERE = re.compile(r"(?<=\n)(?=[^\W_])|(?= [^\W_])")
_MARKUP = re.compile(r"</?[^<>\s]{1,60}>?|\[/?[A-Z_]{3,60}\]|\w+")
INSIDE_TOKEN = "cut inside a token as no server does"
_NEVER = "held back as this server does for stop strings only"
_TOGETHER = "several tokens in a delta, which this server never sends"
_EMPTY = "the server sends a delta without text"
_FEW = 2  # so many places whose tokens are supposed are named
_SHOWN = 60  # characters of a text that are said to come as several tokens


class CutGrade(Enum):
    """How far a server can make a cut, or all cuts of a chunking; the best comes first."""

    HONEST = "honest"  # a server can make it
    ASSUMED = "assumed"  # if the model's tokens are as a stand-in for its tokenizer supposes
    HOSTILE = "hostile"  # inside a token: no server makes it

    @property
    def rank(self) -> int:
        """Return 0 for the best."""
        return [*CutGrade].index(self)

    def weigh(self, severity: Severity) -> Severity:
        """Return what a finding of this severity counts that only such cuts show: at most a warning, or a note."""
        return max(severity, _MOST[self], key=_SEVERITIES.index)


_SEVERITIES: Sequence[Severity] = ("error", "warning", "info")
_MOST: Mapping[CutGrade, Severity] = dict(zip(CutGrade, _SEVERITIES, strict=True))


def split_markup(text: str, markup: Sequence[tuple[str, ...]]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where markup stands of which the tokens are known: its place and its tokens. The longest one wins."""
    tokens = {"".join(parts): parts for parts in markup}
    longest = sorted(tokens, key=len, reverse=True)
    for match in re.finditer("|".join(map(re.escape, longest)) or "(?!)", text):
        yield match.start(), tokens[match.group()]


def worst(grades: Iterable[CutGrade]) -> CutGrade:
    """The grade of cuts made together: that of the worst; honest where there are none."""
    return max(grades, key=lambda grade: grade.rank, default=CutGrade.HONEST)


def _held(chunking: Chunking) -> str:
    """What a chunking supposes of a server that sends text late, as a clause."""
    held, late = chunking.holdback_chars, chunking.text_delay
    back = "character" if held == 1 else f"{held} characters"
    clauses = [f"holds the last {back} back"] if held else []
    clauses += [f"sends text {counted(late, 'token')} late"] if late else []
    return f"the server {' and '.join(clauses)}"


@dataclass(frozen=True)
class Grader:
    """Grades cuts of one output, as a replayer has its tokens."""

    replayer: Replayer

    @cached_property
    def assumes(self) -> bool:
        """Return whether a stand-in for the model's tokenizer made the tokens."""
        pieces = self.replayer.pieces
        return not self.replayer.own_tokenizer and not any(piece.recorded for piece in pieces)

    @cached_property
    def bounds(self) -> tuple[int, ...]:
        """The places between tokens, the ends of the output included."""
        return (0, *accumulate([len(piece.text) for piece in self.replayer.pieces]))

    @cached_property
    def honest(self) -> Sequence[int]:
        """The places inside the output where a server can cut it, ascending."""
        size = len(self.replayer.text)
        places = self._certain if self.assumes else self.bounds
        sent = () if self.replayer.sent is None else accumulate(self.replayer.sent.lengths)
        return sorted({place for place in (*places, *sent) if 0 < place < size})

    @cached_property
    def finest(self) -> Chunking:
        """The chunking by all honest cuts."""
        if not self.assumes:
            return Chunking(by="token")
        return Chunking.model_construct(by="cuts", cuts=tuple(self.honest))

    def place(self, cut: int) -> CutGrade:
        """The grade of a cut after so many characters."""
        if cut in self._honest:
            return CutGrade.HONEST
        assumed = self.assumes and cut in self._bounds and cut not in self._split[1]
        return CutGrade.ASSUMED if assumed else CutGrade.HOSTILE

    def chunking(self, chunking: Chunking) -> CutGrade:
        """The grade of a chunking of the output: that of its worst cut, or of what comes late, empty or together."""
        if chunking.by == "recorded":
            return CutGrade.HONEST
        return worst((self._late(chunking), self._empty(chunking), self._cuts(chunking), self._together(chunking)))

    def supposed(self, chunking: Chunking) -> str:
        """Return what an assumed chunking supposes, of the tokens or of what the server sends, as a clause; of a
        hostile one, why no server sends it; "" where it supposes nothing. Text that comes late splits what no token
        does: where it is held back, that is what is said, and no cut."""
        late, grade = self._late(chunking), self.chunking(chunking)
        if grade is CutGrade.HOSTILE:
            inside = self._cuts(chunking) is CutGrade.HOSTILE
            return INSIDE_TOKEN if inside else _NEVER if late is CutGrade.HOSTILE else _TOGETHER
        if late is CutGrade.ASSUMED:
            return _held(chunking)
        empty = _EMPTY if self._empty(chunking) is CutGrade.ASSUMED else ""
        return " and ".join(filter(None, [self._supposed_tokens(chunking), empty]))

    def _supposed_tokens(self, chunking: Chunking) -> str:
        """Return what a chunking supposes of the tokens, as a clause: "`</parameter>` comes as `</ par ameter >`".

        Of many places none is known to be the one that counts: then it is said how many there are.
        """
        size, spans = len(self.replayer.text), dict[tuple[int, int], None]()
        in_time = chunking.model_copy(update={"holdback_chars": 0, "text_delay": 0})
        for cut in resolved(self.replayer.deltas(in_time)):
            if 0 < cut < size and self.place(cut) is CutGrade.ASSUMED:
                spans[self._around(cut)] = None
        if len(spans) > _FEW:
            return f"the model's own tokenizer splits the text the same way in {len(spans)} places"
        return " and ".join([self._parts(*span) for span in spans])

    def _parts(self, start: int, end: int) -> str:
        """A stretch of the output and its tokens, as a clause."""
        tokens = [place for place in self.bounds if start < place < end]
        ends = list(zip((start, *tokens), (*tokens, end), strict=True))
        text, parts = self.replayer.text[start:end], [self.replayer.text[a:b] for a, b in ends]
        return f"{quoted(text)} comes as {quoted(' '.join(parts))}"

    def _cuts(self, chunking: Chunking) -> CutGrade:
        if chunking.by == "whole" or (by_tokens(chunking) and not self.assumes):
            return CutGrade.HONEST
        size = len(self.replayer.text)
        cuts = chunking.cuts or () if chunking.by == "cuts" else grid(chunking, size)
        if by_tokens(chunking):
            cuts = [self.bounds[at] for at in grid(chunking, len(self.bounds) - 1)]
        left = {cut for cut in cuts if 0 < cut < size} - self._honest
        if not left:
            return CutGrade.HONEST
        assumed = self.assumes and left <= self._bounds and left.isdisjoint(self._split[1])
        return CutGrade.ASSUMED if assumed else CutGrade.HOSTILE

    def _late(self, chunking: Chunking) -> CutGrade:
        """How far it is known that the server sends text as late as the chunking does."""
        late, promised = chunking.holdback_chars or chunking.text_delay, self.replayer.contract.late_text
        if not late or self.replayer.late_text or promised == "sent":
            return CutGrade.HONEST
        return CutGrade.ASSUMED if promised == "unknown" else CutGrade.HOSTILE

    def _empty(self, chunking: Chunking) -> CutGrade:
        """How far it is known that the server sends deltas without text, where the chunking has any."""
        cuts = chunking.cuts or ()
        known = self.replayer.empty_deltas or self.replayer.contract.empty_deltas == "sent"
        return CutGrade.HONEST if known or not (empties(cuts) or len(self.replayer.text) in cuts) else CutGrade.ASSUMED

    def _together(self, chunking: Chunking) -> CutGrade:
        """How far a server sends the deltas of a chunking that sends no two tokens in one, where that is known."""
        if not self.replayer.single_tokens:
            return CutGrade.HONEST
        ends = {*resolved(self.replayer.deltas(chunking))}
        return CutGrade.HONEST if ends.issuperset(self.honest) else CutGrade.HOSTILE

    def _around(self, cut: int) -> tuple[int, int]:
        """The markup or word around a cut, else the two tokens beside it."""
        text = self.replayer.text
        for match in _MARKUP.finditer(text, max(0, cut - _SHOWN), cut + _SHOWN):
            if match.start() < cut < match.end():
                return match.span()
        return self.bounds[bisect_left(self.bounds, cut) - 1], self.bounds[bisect_right(self.bounds, cut)]

    @cached_property
    def _honest(self) -> frozenset[int]:
        return frozenset(self.honest)

    @cached_property
    def _bounds(self) -> frozenset[int]:
        return frozenset(self.bounds)

    @cached_property
    def _certain(self) -> set[int]:
        """The places where any tokenizer cuts, as far as that is known."""
        text = self.replayer.text
        found = {match.start() for match in _EVERYWHERE.finditer(text)} | self._split[0]
        single = sorted(self._single_tokens(), key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, single)) or "(?!)", text):
            found |= {*match.span()}
        return found

    @cached_property
    def _split(self) -> tuple[set[int], set[int]]:
        """The places where markup is cut by the format's data, and those inside the tokens it is cut into."""
        fmt, text = self.replayer.format, self.replayer.text
        cuts, inside = set[int](), set[int]()
        for start, tokens in split_markup(text, () if fmt is None or fmt.splits is None else fmt.splits.markup):
            ends = [start, *[start + end for end in accumulate(map(len, tokens))]]
            cuts |= {*ends[1:-1]}
            inside |= {*range(start + 1, ends[-1])} - {*ends}
            if tokens[-1].endswith("\n") and not text[ends[-1] : ends[-1] + 1].isspace():
                cuts.add(ends[-1])
        return cuts, inside

    def _single_tokens(self) -> set[str]:
        """The markers that are one token, by the format's data or the case's vocabulary."""
        fmt = self.replayer.format
        own = {*(fmt.tokens if fmt is not None else ()), *(fmt.end_tokens if fmt is not None else ())}
        return {text for text in {*own, *(self.replayer.markers or ())} if text}


def studied(replayer: Replayer, asked: Sequence[Chunking], *, honest_only: bool = False) -> Chunking:
    """The chunking that is traced: the first that was asked for, else token by token; with `honest_only` the finest
    that a server can send for certain, where that one is not."""
    chunking = asked[0] if asked else TRACED
    if not honest_only or replayer.plays:
        return chunking
    grader = Grader(replayer)
    return chunking if grader.chunking(chunking) is CutGrade.HONEST else grader.finest
