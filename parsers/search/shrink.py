"""The smallest output, cut as little as possible, that still shows a finding.

Strategy: first the cuts, by delta debugging, until only those are left that matter. Then the text: whole items, tags,
calls and paragraphs and shorter values (`shrink_text`), then lines, words and characters by delta debugging; the cuts
go with the characters they stand between. All of it again until nothing gives, or the replays allowed are spent.

What is tried depends on the output and the answers alone, so the same search shrinks to the same case. In ids mode
a recorded marker is left out whole or not at all; and what was well formed stays so (`flaws`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from parsers.chunking import WHOLE, Chunking, by_tokens, resolved
from parsers.edit import Edit, edited
from parsers.replayer import Replayer
from parsers.search.reduce import reduce
from parsers.search.shrink_text import characters, flaws, lines, structures, words
from parsers.search.sweep import cut_at
from parsers.search.targets import Target
from parsers.types import Piece

SHRINKS = 3_000


@dataclass(slots=True, frozen=True)
class Form:
    """An output and how it is cut: at `cuts`, or by `fixed` where that cannot be told by cuts."""

    pieces: tuple[Piece, ...]
    cuts: tuple[int, ...]
    fixed: Chunking | None = None

    @property
    def text(self) -> str:
        """The output text."""
        return "".join([piece.text for piece in self.pieces])

    @property
    def chunking(self) -> Chunking:
        """How it is cut."""
        return self.fixed or cut_at(self.cuts)


class Shrinker:
    """Makes a form smaller while `target` holds. Iterate `run`; `form` is the smallest so far."""

    def __init__(self, replayer: Replayer, form: Form, target: Target, max_replays: int = SHRINKS) -> None:
        self.form = form
        self._replayer = replayer
        self._target = target
        self._left = max_replays
        self._flaws = flaws(form.text)
        self._known: dict[tuple[str, tuple[int, ...]], bool] = {}

    @property
    def replays(self) -> int:
        """Replays run so far."""
        return self._target.replays

    def run(self) -> Iterator[int]:
        """Shrink. Yields the number of replays run, now and then."""
        before: tuple[int, int] | None = None
        while before != (before := (len(self.form.text), len(self.form.cuts))) and not self._is_spent:
            self._cuts()
            for step in (self._structures, self._by(lines), self._by(words), self._by(characters)):
                yield self.replays
                step()
        self._cuts()
        yield self.replays

    @property
    def _is_spent(self) -> bool:
        return self.replays >= self._left

    def _holds(self, form: Form) -> bool:
        """Whether the target holds of a form; what was asked before is not replayed again."""
        key = form.text, form.cuts
        if key not in self._known:
            if self._is_spent:
                return False
            self._known[key] = self._target.holds(self._replayer.with_pieces(form.pieces), form.chunking)
        return self._known[key]

    def _take(self, form: Form) -> bool:
        taken = self._holds(form)
        if taken:
            self.form = form
        return taken

    def _cuts(self) -> None:
        """Leave out the cuts that make no difference."""
        if self.form.fixed is None and self.form.cuts:
            kept = reduce(self.form.cuts, lambda cuts: self._holds(replace(self.form, cuts=tuple(cuts))))
            self.form = replace(self.form, cuts=tuple(kept))

    def _structures(self) -> None:
        """The first candidate that holds is taken, and the candidates are found anew."""
        while any(self._take(form) for edits in structures(self.form.text) for form in self._forms(edits)):
            pass

    def _by(self, bounds_of: Callable[[str], list[int]]) -> Callable[[], None]:
        """Leave out units of text by delta debugging."""

        def step() -> None:
            whole = self.form
            units = list(pairwise(bounds_of(whole.text)))

            def fails(kept: Sequence[tuple[int, int]]) -> bool:
                return any(self._take(form) for form in self._forms(_others(units, kept), whole))

            reduce(units, fails)

        return step

    def _forms(self, edits: Sequence[Edit], form: Form | None = None) -> Iterator[Form]:
        """The form after these edits, and the same with a single cut moved by one where the edit touches it."""
        form = form or self.form
        if self._splits_marker(edits, form):
            return
        pieces = edited(form.pieces, edits, self._replayer.markers)
        text = "".join([piece.text for piece in pieces])
        size = len(text)
        if not size or any(map(operator.gt, flaws(text), self._flaws)):
            return
        single = len(form.cuts) == len(edits) == 1 and _touches(form.cuts[0], edits[0])
        for near in (0, -1, 1) if single else (0,):
            cuts = _moved(form, edits, near, size)
            if cuts or not form.cuts:
                yield Form(pieces, cuts, form.fixed)

    def _splits_marker(self, edits: Sequence[Edit], form: Form) -> bool:
        if self._replayer.mode != "ids":
            return False
        starts = accumulate([len(piece.text) for piece in form.pieces], initial=0)
        marked = [
            (start, start + len(piece.text))
            for piece, start in zip(form.pieces, starts, strict=False)
            if piece.recorded and piece.kind in ("special", "added")
        ]
        return any(a < place < b for start, end, _ in edits for place in (start, end) for a, b in marked)


def _others(units: Sequence[tuple[int, int]], kept: Sequence[tuple[int, int]]) -> list[Edit]:
    """The edits that leave out all units but those kept; neighbours are one edit."""
    left = set(kept)
    edits: list[Edit] = []
    for start, end in units:
        if (start, end) in left:
            continue
        if edits and edits[-1][1] == start:
            edits[-1] = (edits[-1][0], end, "")
        else:
            edits.append((start, end, ""))
    return edits


def _touches(cut: int, edit: Edit) -> bool:
    return edit[0] - 1 <= cut <= edit[1] + 1


def _moved(form: Form, edits: Sequence[Edit], near: int, size: int) -> tuple[int, ...]:
    """Where the cuts are after the edits, moved by `near`; one inside replaced text goes to where that begins.

    What made an empty delta still does; else no cut goes to where another is, or to an end of the output.
    """
    kept: list[int] = []
    end = len(form.text)
    for before, cut in pairwise([0, *form.cuts]):
        place = _place(cut, edits) + near
        empty = cut in (before, end) and 0 <= place <= size
        if empty or (0 < place < size and place not in kept[-1:]):
            kept.append(place)
    return tuple(kept)


def _place(cut: int, edits: Sequence[Edit]) -> int:
    shift = 0
    for start, end, new in edits:
        if end <= cut:
            shift += len(new) - (end - start)
        elif start < cut:
            shift += start - cut
    return cut + shift


def form_of(replayer: Replayer, chunking: Chunking) -> Form:
    """A replayer's output under a chunking, as cuts where these say it all."""
    apart = replayer.one_shot is not None and chunking == WHOLE
    late = (chunking.holdback_chars or chunking.text_delay) and chunking.by != "recorded"
    if apart or late or (replayer.due and replayer.mode == "ids" and by_tokens(chunking)):
        return Form(replayer.pieces, (), chunking)
    return Form(replayer.pieces, tuple(resolved(replayer.deltas(chunking))))


def plain(replayer: Replayer, chunking: Chunking) -> Chunking:
    """`whole` for a chunking without a cut, where that means the same."""
    return WHOLE if chunking == cut_at(()) and replayer.one_shot is None else chunking
