"""The smallest output, cut as little as possible, that still shows a finding.

Delta debugging is the minimizing algorithm of Zeller and Hildebrandt (Simplifying and Isolating Failure-Inducing Input,
2002), with complements only. What is tried depends on nothing but the output and the answers.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from typing import Protocol, TypeVar

from parsers.checks.check import any_of
from parsers.replays.chunking import WHOLE, Chunking, by_tokens, resolved
from parsers.replays.edits import Edit, edited
from parsers.replays.replayer import Replayer
from parsers.search.sweep import MARKUP, cut_at, marker_spans
from parsers.vocabulary.types import Piece, joined

T = TypeVar("T")


AHEAD = 32  # candidates that are handed over at once to whoever makes the replays elsewhere


def reduce(
    items: Sequence[T],
    fails: Callable[[Sequence[T]], bool],
    foresee: Callable[[Sequence[Sequence[T]]], object] = len,
) -> list[T]:
    """A part of `items` of which `fails` is true, and of which nothing can be left out. `items` itself fails.

    `foresee` hears of the next candidates, should all until then be in vain.
    """
    left = list(items)
    size = max(len(left) // 2, 1)
    while left:
        found = _without(left, size, fails, foresee)
        if found is None and size == 1:
            return left
        size = max(size // 2, 1) if found is None else max(min(size, len(found) // 2), 1)
        left = left if found is None else found
    return left


def _without(
    items: list[T],
    size: int,
    fails: Callable[[Sequence[T]], bool],
    foresee: Callable[[Sequence[Sequence[T]]], object],
) -> list[T] | None:
    at, left, foreseen = 0, items, 0
    while at < len(left):
        if at >= foreseen:
            foreseen = at + AHEAD * size
            foresee([left[:place] + left[place + size :] for place in range(at, min(foreseen, len(left)), size)])
        rest = left[:at] + left[at + size :]
        if fails(rest):
            left, foreseen = rest, at
        else:
            at += size
    return None if len(left) == len(items) else left


# What may be left out of an output, or be written shorter. Nothing here knows a format: leaving out a whole item with
# its comma, a tag with its end, or all between two markers mostly gives an output that is well formed again.

Edits = tuple[Edit, ...]

LINES = re.compile(r"(?<=\n)")
CHARACTERS = re.compile(r"(?s:.)")
WORDS = re.compile(rf"{MARKUP.pattern}|\w+|\s+|[^\w\s]")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'", re.DOTALL)
NUMBER = re.compile(r"(?<!\w)-?\d[\d.eE+-]+")
NAME = re.compile(r"[^\W\d]\w+")
NEAR = 4  # markers further apart than this are not taken for a pair
MOST = 3_000  # candidates at once
BRACKET = re.compile(r"[][{}()]")
OPENING = re.compile(r"<([\w:.-]+)(?:[= ][^<>]*)?>")
CLOSING = re.compile(r"</([\w:.-]+)>")
NO_COMMA = re.compile(r'[)\]}][\w({\["]|"\s*"|"\s*:\s*"[^"\\]*"\s*:')
NAMELESS = re.compile(r"""(["'])\1\s*:|"name"\s*:\s*""|<[\w:.-]+=>|[(,]\s*=|[{,]\s*:|(?:key|name)></""")
LONE_COMMA = re.compile(r"[({\[]\s*,|,\s*[)}\]]")
HALVES = (("{", "}"), ("[", "]"), ("(", ")"), ("begin|>", "end|>"), ("begin｜>", "end｜>"))
PAIRS = {"}": "{", "]": "[", ")": "("}


def _structural_edits(text: str) -> list[Edits]:
    """Whole items, tags, calls and paragraphs to leave out, values to write shorter, brackets and tags to take off."""
    single = {*_brackets(text), *_between_markers(text), *_paragraphs(text), *_values(text)}
    found = [*((edit,) for edit in single), *_wrappings(text)]
    return sorted([edits for edits in found if _gain(edits) > 0], key=lambda edits: (-_gain(edits), edits))[:MOST]


def _bounds(unit: re.Pattern[str], text: str) -> list[int]:
    """Return where the units of a text begin, and where the last one ends."""
    return sorted({0, len(text), *[match.start() for match in unit.finditer(text)]})


def _gain(edits: Edits) -> int:
    return sum([end - start - len(new) for start, end, new in edits])


def _flaw_counts(text: str) -> tuple[int, ...]:
    """Return how far a text is from well formed: brackets, quotes and tags without their other half, commas in odd
    places, names of nothing."""
    tags = Counter(OPENING.findall(text))
    tags.subtract(CLOSING.findall(text))
    halves = [text.count(opener) - text.count(closer) for opener, closer in HALVES]
    odd = [len(pattern.findall(text)) for pattern in (NO_COMMA, LONE_COMMA, NAMELESS)]
    return *map(abs, halves), sum(map(abs, tags.values())), text.count('"') % 2, *odd


def _wrappings(text: str) -> Iterator[Edits]:
    """Both halves of a pair of brackets or of neighbouring markers, without what stands between."""
    stack: list[int] = []
    for match in BRACKET.finditer(text):
        if match.group() in "{[(":
            stack.append(match.start())
        elif stack and text[stack[-1]] == PAIRS[match.group()]:
            start = stack.pop()
            yield (start, start + 1, ""), (match.start(), match.end(), "")
    spans = [match.span() for match in MARKUP.finditer(text)]
    for index, span in enumerate(spans):
        for other in spans[index + 1 : index + 1 + NEAR]:
            yield (*span, ""), (*other, "")


def _brackets(text: str) -> Iterator[Edit]:
    strings = [match.span() for match in STRING.finditer(text)]
    for quoted in (False, True):
        yield from _in_brackets(text, [] if quoted else strings)


def _in_brackets(text: str, strings: list[tuple[int, int]]) -> Iterator[Edit]:
    """The same, with strings passed over, or not (a lone quote in prose would hide half of the output)."""
    stack: list[tuple[str, list[int]]] = []
    skipped = iter([*strings, (len(text), len(text))])
    start, end = next(skipped)
    for at, char in enumerate(text):
        while at >= end and end < len(text):
            start, end = next(skipped)
        if start <= at < end:
            continue
        if char in "{[(":
            stack.append((char, [at]))
        elif char == "," and stack:
            stack[-1][1].append(at)
        elif char in PAIRS and stack and stack[-1][0] == PAIRS[char]:
            yield from _items(text, [*stack.pop()[1], at])


def _items(text: str, marks: list[int]) -> Iterator[Edit]:
    """`marks`: the opening bracket, the commas, and the closing bracket."""
    first, last = marks[0], marks[-1]
    yield first, last + 1, ""
    yield first + 1, last, ""
    if len(marks) > 2:
        yield first + 1, marks[1] + 1 + (text[marks[1] + 1] == " "), ""
    yield from ((before, after, "") for before, after in pairwise(marks[1:]))


def _between_markers(text: str) -> Iterator[Edit]:
    spans = [match.span() for match in MARKUP.finditer(text)]
    for index, (start, end) in enumerate(spans):
        for other_start, other_end in spans[index + 1 : index + 1 + NEAR]:
            yield start, other_end, ""
            yield start, other_start, ""
            yield end, other_end, ""
            yield end, other_start, ""
    yield from ((start, end, "") for start, end in spans)
    if spans:
        yield 0, spans[0][0], ""
        yield spans[-1][1], len(text), ""


def _paragraphs(text: str) -> Iterator[Edit]:
    bounds = sorted({0, len(text), *[match.end() for match in re.finditer(r"\n\s*\n", text)]})
    yield from ((start, end, "") for start, end in pairwise(bounds))


def _values(text: str) -> Iterator[Edit]:
    for match in STRING.finditer(text):
        start, end = match.start() + 1, match.end() - 1
        yield start, end, ""
        if end - start > 1 and text[start] != "\\":
            yield start, end, text[start]
    yield from ((*match.span(), "1") for match in NUMBER.finditer(text))
    yield from ((*match.span(), match.group()[0]) for match in NAME.finditer(text))


# First the cuts go, by delta debugging, until only those are left that matter; then whole structures and longer values,
# then lines, words and characters by delta debugging. The cuts go with the characters they stand between. All of it
# again until nothing gives, or the replays allowed are spent. A marker of the format goes whole or not at all.

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
        return joined(self.pieces)

    @property
    def chunking(self) -> Chunking:
        """Return how it is cut."""
        return self.fixed or cut_at(self.cuts)


class Target(Protocol):
    """Holds what is asked of every smaller form."""

    @property
    def replays(self) -> int:
        """Return how many replays the answers took until now."""

    def holds(self, replayer: Replayer, chunking: Chunking) -> bool:
        """Return whether this output under this chunking still shows it."""


class Shrinker:
    """Makes a form smaller while `target` holds. Iterate `run`; `form` is the smallest so far. `beside`: another parser
    that the target asks as well."""

    def __init__(
        self,
        replayer: Replayer,
        form: Form,
        target: Target,
        max_replays: int = SHRINKS,
        *,
        beside: Replayer | None = None,
    ) -> None:
        self.form = form
        self.target = target
        self._replayer = replayer
        sides = [one for one in (replayer, beside) if one is not None]
        self._elsewhere = [(one, one.tapes) for one in sides if one.tapes is not None]
        self._left = max_replays
        self._flaws = _flaw_counts(form.text)
        self._whole = any_of([*replayer.terminals.values(), *specials(form.pieces)])
        self._known: dict[tuple[str, tuple[int, ...]], bool] = {}

    @property
    def replays(self) -> int:
        """Replays run so far."""
        return self.target.replays

    def run(self) -> Iterator[int]:
        """Shrink. Yields the number of replays run, now and then."""
        before: tuple[int, int] | None = None
        while before != (before := (len(self.form.text), len(self.form.cuts))) and not self._is_spent:
            self._cuts()
            for step in (self._structures, self._by(LINES), self._by(WORDS), self._by(CHARACTERS)):
                yield self.replays
                step()
        self._cuts()
        yield self.replays

    @property
    def _is_spent(self) -> bool:
        return self.replays >= self._left

    def _holds(self, form: Form) -> bool:
        """Return whether the target holds of a form; what was asked before is not replayed again."""
        key = form.text, form.cuts
        if key not in self._known:
            if self._is_spent:
                return False
            self._known[key] = self.target.holds(self._replayer.with_pieces(form.pieces), form.chunking)
        return self._known[key]

    def _take(self, form: Form) -> bool:
        taken = self._holds(form)
        if taken:
            self.form = form
        return taken

    def _cuts(self) -> None:
        if self.form.fixed is None and self.form.cuts:
            form = self.form

            def cut(rows: Sequence[Sequence[int]]) -> None:
                self._foresee([replace(form, cuts=tuple(row)) for row in rows])

            kept = reduce(form.cuts, lambda cuts: self._holds(replace(form, cuts=tuple(cuts))), cut)
            self.form = replace(self.form, cuts=tuple(kept))

    def _structures(self) -> None:
        while any(map(self._take, self._ahead(self._changed()))):
            pass

    def _changed(self) -> Iterator[Form]:
        """The forms with a structure left out or written shorter."""
        return (form for edits in _structural_edits(self.form.text) for form in self._forms(edits))

    def _ahead(self, forms: Iterator[Form]) -> Iterator[Form]:
        """The forms, replayed many at a time where somebody else makes the replays."""
        if not self._elsewhere:
            yield from forms
            return
        while batch := list(islice(forms, AHEAD)):
            self._foresee(batch)
            yield from batch

    def _foresee(self, forms: Sequence[Form]) -> None:
        new = [form for form in forms if not self._is_spent and (form.text, form.cuts) not in self._known]
        for one, tapes in self._elsewhere:
            tapes.foresee([one.with_pieces(form.pieces).asked(form.chunking) for form in new])

    def _by(self, unit: re.Pattern[str]) -> Callable[[], None]:

        def step() -> None:
            whole = self.form
            units = list(pairwise(_bounds(unit, whole.text)))

            def fails(kept: Sequence[tuple[int, int]]) -> bool:
                return any(self._take(form) for form in self._forms(_others(units, kept), whole))

            def left_out(rows: Sequence[Sequence[tuple[int, int]]]) -> None:
                if self._elsewhere:
                    self._foresee([form for row in rows for form in self._forms(_others(units, row), whole)])

            reduce(units, fails, left_out)

        return step

    def _forms(self, edits: Sequence[Edit], form: Form | None = None) -> Iterator[Form]:
        """The form after these edits, and the same with a single cut moved by one where the edit touches it."""
        form = form or self.form
        spans = self._markers(form)
        if any(a < place < b for start, end, _ in edits for place in (start, end) for a, b in spans):
            return
        pieces = _remains(edited(form.pieces, edits, self._replayer.markers), form.pieces, edits)
        text = joined(pieces)
        size = len(text)
        if not size or any(map(operator.gt, _flaw_counts(text), self._flaws)):
            return
        single = len(form.cuts) == len(edits) == 1 and edits[0][0] - 1 <= form.cuts[0] <= edits[0][1] + 1
        for near in (0, -1, 1) if single else (0,):
            cuts = _moved(form, edits, near, size)
            if cuts or not form.cuts:
                yield Form(pieces, cuts, form.fixed)

    def _markers(self, form: Form) -> list[tuple[int, int]]:
        """The places of the recorded markers, and of what the format or the tokenizer takes for one."""
        whole = () if self._replayer.mode == "ids" else self._whole.finditer(form.text)
        return [*marker_spans(form.pieces), *[match.span() for match in whole]]


def specials(pieces: Sequence[Piece]) -> set[str]:
    """The texts of the special tokens of an output."""
    return {piece.text for piece in pieces if piece.kind in ("special", "added")}


def _remains(pieces: Sequence[Piece], before: Sequence[Piece], edits: Sequence[Edit]) -> tuple[Piece, ...]:
    """With what is left of one token in one piece, so that no end of a piece is where no token ends."""
    bounds = {_place(bound, edits) for bound in accumulate([len(piece.text) for piece in before])}
    found: list[Piece] = []
    at = 0
    for piece in pieces:
        if found and at not in bounds and piece.token_id is None and found[-1].token_id is None:
            found[-1] = Piece(found[-1].text + piece.text)
        else:
            found.append(piece)
        at += len(piece.text)
    return tuple(found)


def _others(units: Sequence[tuple[int, int]], kept: Sequence[tuple[int, int]]) -> list[Edit]:
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


def _moved(form: Form, edits: Sequence[Edit], near: int, size: int) -> tuple[int, ...]:
    """Return where the cuts are after the edits, moved by `near`; one inside replaced text goes to where that begins.

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
