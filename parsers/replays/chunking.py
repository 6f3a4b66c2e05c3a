"""How an output is cut into deltas.

Strategy: a chunking first says where its deltas end. An end is a pair (tokens begun, code points of text), so that a
token without text has a place of its own. Everything that makes text late then moves the text part of each end back,
never the token part: what a decode policy has not let out yet (`due`), a text delay, a hold-back, in this order. Ids
come on time, text comes late. One walk over the pieces cuts them at the ends. `due` counts after each token, so it
shapes deltas that end between tokens; all others are cut from the same text, without its lateness.

Invariants, for every chunking: no piece is lost or reordered; the texts of the deltas joined are the output; every
token id is delivered once and in order (`Delta.token_ids`); the last delta releases everything; an output without
pieces has no deltas; in ids mode a recorded marker is never split (but by text that is late, where that is asked for).
O(n) in pieces plus code points.

The effects modelled (several tokens per delta under speculative decoding or a stream interval, text kept back for
stop strings, text that trails its ids) are those of vLLM's parser replay harness, 0.33
(its file tests/parser/engine/replay_harness.py).
"""

from __future__ import annotations

import hashlib
import random
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from parsers.formats.model import Model
from parsers.replays.delta_columns import Deltas, texts_of
from parsers.replays.lazy import Numbers
from parsers.vocabulary.types import Delta, Mode, Piece, UsageError

By = Literal["token", "char", "whole", "random", "cuts", "recorded"]
Unit = Literal["token", "char"]
_Count = Annotated[int, Field(strict=True, ge=0)]
_Size = Annotated[int, Field(strict=True, ge=1)]

DEFAULT_MAX = 8
OWN = " #"  # in the name of a chunking, before what tells it from others of its label
_MOST_PLACES = 6  # that a label has one by one
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "token": ("size",),
    "char": ("size",),
    "whole": (),
    "random": ("seed", "max", "unit"),
    "cuts": ("cuts",),
    "recorded": (),
}


class Chunking(Model):
    """One way to cut an output into deltas; recorded: as a server sent it, which a case holds in `input.deltas`.

    `size` counts tokens or code points per delta. random draws sizes uniformly from 1 to `max` (8 when absent)
    tokens, or code points with `unit` char. `cuts` are offsets in code points of the output; one given again, or at
    either end of the output, makes an empty delta there. `holdback_chars` keeps that many last code points back until
    the output ends; `text_delay` lets the text of a token come that many tokens after its id.
    """

    by: By
    size: _Size = 1
    seed: Annotated[int, Field(strict=True)] = 0
    max: _Size | None = None
    unit: Unit | None = None
    cuts: tuple[Annotated[int, Field(strict=True)], ...] | None = None
    holdback_chars: _Count = 0
    text_delay: _Count = 0

    @model_validator(mode="after")
    def _only_its_own_options(self) -> Chunking:
        for name in sorted({option for options in _OPTIONS.values() for option in options} - {*_OPTIONS[self.by]}):
            if getattr(self, name) != type(self).model_fields[name].default:
                told = {"name": name, "by": self.by}
                raise PydanticCustomError("foreign_option", "'{name}' means nothing in a chunking by {by}", told)
        if self.by == "cuts" and self.cuts is None:
            raise PydanticCustomError("missing_cuts", "a chunking by cuts needs 'cuts': a list of offsets")
        return self


WHOLE = Chunking(by="whole")
RECORDED = Chunking(by="recorded")
TRACED = Chunking(by="token")  # what is traced where a case does not say

DEFAULT_COMPARED: tuple[Chunking, ...] = (
    *[Chunking(by="token", size=size) for size in (1, 2, 3, 5)],
    Chunking(by="char"),
    Chunking(by="whole"),
    *[Chunking(by="random", seed=seed) for seed in range(5)],
)


def compared_with(asked: Sequence[Chunking], first: Chunking) -> list[Chunking]:
    """The chunkings that are compared with the `first` one: those that are asked for after it, else the usual ones."""
    return [*asked[1:]] or [chunking for chunking in DEFAULT_COMPARED if chunking != first]


def all_asked(asked: Sequence[Chunking]) -> list[Chunking]:
    """All chunkings that an output is tried in, the first one first; it is always tried whole, too."""
    first = asked[0] if asked else TRACED
    return list(dict.fromkeys([first, *compared_with(asked, first), WHOLE]))


class Sent(NamedTuple):
    """The deltas that a server sent: the length of each text, and the number of ids where each delta has them."""

    lengths: tuple[int, ...]
    counts: tuple[int, ...] | None = None


class _End(NamedTuple):
    """Says where a delta ends: how many pieces are begun by then, and how many code points of text are out."""

    pieces: int
    text: int


def apply(
    chunking: Chunking,
    pieces: Sequence[Piece],
    mode: Mode,
    *,
    due: Sequence[int] | None = None,
    sent: Sent | None = None,
    halves: bool = False,
) -> Sequence[Delta]:
    """The deltas, indexed from 1, that `chunking` makes of the output `pieces`.

    `due`: how many code points are out after each token, where text comes late. `sent`: what a chunking as recorded
    follows. `halves`: text that comes later than its ids may end inside a recorded marker, as servers send it where
    they wait for stop strings; else such a marker waits until it is whole. Raises UsageError for cuts that do not fit
    the output, and where nothing was recorded.
    """
    if chunking.by != "recorded":
        sent = None
    elif sent is None:
        raise UsageError("no deltas were recorded: give them in 'deltas' of the input, or choose another chunking")
    if not pieces:
        _checked_cuts(chunking.cuts or (), 0)
        return []
    counted = by_tokens(chunking) or (sent is not None and _counts(sent, pieces) is not None)
    in_time = not (chunking.holdback_chars or chunking.text_delay or (counted and (due or sent)))
    if in_time and by_tokens(chunking):
        one = chunking.by == "token" and chunking.size == 1
        return Deltas(pieces, None if one else (*grid(chunking, len(pieces)), len(pieces)))
    if in_time and len(pieces) == 1 and mode == "text" and chunking.by != "cuts" and sent is None:
        return _deltas([(part,) for part in _parts(pieces[0], grid(chunking, len(pieces[0].text)))])
    ends = _ends(chunking, pieces, mode, sent)
    if in_time:
        return _deltas(_cut(pieces, ends))
    late = _late(chunking, pieces, ends, "text" if halves else mode, due if counted else None)
    rows = [(parts, ids) for parts, ids in zip(_cut(pieces, late), _ids(pieces, ends), strict=True)]
    kept = rows if chunking.by == "recorded" else [row for row in rows if any(row)]
    return _deltas([parts for parts, _ in kept], [ids for _, ids in kept])


def _deltas(parts: Iterable[tuple[Piece, ...]], ids: Sequence[tuple[int, ...]] | None = None) -> Deltas:
    pieces: list[Piece] = []
    stops = array("i")
    for part in parts:
        pieces += part
        stops.append(len(pieces))
    return Deltas(pieces, stops, ids)


def by_characters(pieces: Sequence[Piece]) -> bool:
    """Return whether the pieces are the characters of a text, as where no tokenizer made tokens of it."""
    return len(pieces) > 1 and all(len(piece.text) == 1 and piece.token_id is None for piece in pieces)


def by_tokens(chunking: Chunking) -> bool:
    """Return whether deltas end between tokens whatever the text is."""
    return chunking.by == "token" or (chunking.by == "random" and chunking.unit != "char")


def to_json(chunking: Chunking, deltas: Sequence[Delta]) -> dict[str, Any]:
    """The chunking as JSON with its resolved `cuts`: the offsets where deltas meet, repeated where it asks for that."""
    cuts = resolved(deltas)
    if chunking.by != "cuts" and cuts:
        end = cuts[-1] + len(deltas[-1].text)
        cuts = list(dict.fromkeys([cut for cut in cuts if 0 < cut < end]))
    return chunking.model_dump(mode="json", exclude_defaults=True) | {"cuts": cuts}


def with_numbers(chunking: dict[str, Any]) -> dict[str, Any]:
    """The same with cuts that take less memory, for whoever keeps it."""
    return chunking | {"cuts": Numbers(chunking["cuts"])}


def resolved(deltas: Sequence[Delta]) -> list[int]:
    """The offsets at which deltas meet: cuts that make the same deltas, empty ones too. None where there is no text."""
    ends = list(accumulate([len(text) for text in texts_of(deltas)]))
    return ends[:-1] if any(ends) else []


def empties(cuts: Sequence[int]) -> list[int]:
    """Return where cuts make an empty delta for certain: at the beginning, and where one is given again."""
    return list(dict.fromkeys([cut for before, cut in pairwise([0, *cuts]) if before == cut]))


def label(chunking: Chunking, piece: str = "token") -> str:
    """The chunking in words: "token by token", "5 tokens", "random, seed 3", "cut at 118"; of an output whose pieces
    are called otherwise, "delta by delta"."""
    words = [_base_label(chunking, piece)]
    if chunking.holdback_chars:
        words.append(f"last {_count(chunking.holdback_chars, 'character')} held back")
    if chunking.text_delay:
        words.append(f"text {_count(chunking.text_delay, 'token')} late")
    return ", ".join(words)


def name_of(chunking: Chunking) -> str:
    """The label, with digits of its own behind OWN where others have that label: `7 cuts from 1 to 40 #0123abcd`."""
    cuts = chunking.cuts or ()
    told = label(chunking)
    if len(cuts) <= _MOST_PLACES and not empties(cuts):
        return told
    return f"{told}{OWN}{hashlib.sha256(spec(chunking).encode()).hexdigest()[:8]}"


def _base_label(chunking: Chunking, piece: str) -> str:
    if chunking.by in ("whole", "recorded"):
        return "whole" if chunking.by == "whole" else "as recorded"
    if chunking.by == "cuts":
        return _cuts_label(chunking.cuts or ())
    if chunking.by == "random":
        what = "random characters" if chunking.unit == "char" else "random"
        size = "" if chunking.max in (None, DEFAULT_MAX) else f", up to {chunking.max}"
        return f"{what}{size}, seed {chunking.seed}"
    noun = piece if chunking.by == "token" else "character"
    return f"{noun} by {noun}" if chunking.size == 1 else _count(chunking.size, noun)


def _cuts_label(cuts: tuple[int, ...]) -> str:
    if not cuts:
        return "in one delta"
    empty = empties(cuts)
    places = [cut for cut in dict.fromkeys(cuts) if cut not in {*empty}]
    words = [_places("cut", places), _places("empty delta", empty)]
    return ", ".join([part for part in words if part])


def _places(what: str, places: Sequence[int]) -> str:
    if len(places) > _MOST_PLACES:
        return f"{len(places)} {what}s from {places[0]} to {places[-1]}"
    *first, last = [str(place) for place in places] or [""]
    if first:
        return f"{what}{'s' * (what != 'cut')} at {', '.join(first)} and {last}"
    return f"{what} at {last}" if last else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _ends(chunking: Chunking, pieces: Sequence[Piece], mode: Mode, sent: Sent | None) -> list[_End]:
    """Return where the deltas end before any lateness; the last one is the end of the output."""
    starts = [0, *accumulate([len(piece.text) for piece in pieces])]
    if by_tokens(chunking):
        return [_End(count, starts[count]) for count in (*grid(chunking, len(pieces)), len(pieces))]
    length = starts[-1]
    if sent is not None:
        return _as_sent(sent, pieces, starts, mode)
    cuts = _checked_cuts(chunking.cuts or (), length) if chunking.by == "cuts" else grid(chunking, length)
    return [*_with_pieces(_beside_markers(cuts, pieces, mode, length), starts), _End(len(pieces), length)]


def _as_sent(sent: Sent, pieces: Sequence[Piece], starts: Sequence[int], mode: Mode) -> list[_End]:
    """Return where the recorded deltas end: after their ids if these are the output's, with their text if that is;
    else after their text, as far as the output goes."""
    length, last = starts[-1], _End(len(pieces), starts[-1])
    texts = [min(end, length) for end in accumulate(sent.lengths)]
    counts = _counts(sent, pieces)
    if counts is not None:
        same = sum(sent.lengths) == length
        begun = list(accumulate(counts))
        ends = [min(text, starts[at]) if same else starts[at] for text, at in zip(texts, begun, strict=True)]
        return [*[_End(at, text) for at, text in zip(begun[:-1], ends[:-1], strict=True)], last]
    moved = _past_markers(texts[:-1], pieces, mode)
    return [*_with_pieces([cut for cut in moved if cut < length], starts), last]


def _counts(sent: Sent, pieces: Sequence[Piece]) -> tuple[int, ...] | None:
    """Return how many tokens came with each recorded delta, where these are the output's tokens."""
    return sent.counts if sent.counts is not None and sum(sent.counts) == len(pieces) else None


def grid(chunking: Chunking, length: int) -> list[int]:
    """Cuts strictly between 0 and `length`, in the chunking's own unit."""
    if chunking.by != "random":
        return [] if chunking.by == "whole" else list(range(chunking.size, length, chunking.size))
    largest = chunking.max or DEFAULT_MAX
    if length > _KEPT_LENGTH:
        return _random_cuts(chunking.seed, largest, length)
    cuts = _known_cuts(chunking.seed, largest, 1 << length.bit_length())
    return cuts[: bisect_left(cuts, length)]


def _random_cuts(seed: int, largest: int, length: int) -> list[int]:
    source, cuts = random.Random(seed), list[int]()
    while (cut := source.randint(1, largest) + (cuts[-1] if cuts else 0)) < length:
        cuts.append(cut)
    return cuts


_KEPT_LENGTH = 1 << 14
_known_cuts = lru_cache(maxsize=64)(_random_cuts)  # of a seed those for a shorter output are the first of them


def _checked_cuts(cuts: Sequence[int], length: int) -> list[int]:
    """The cuts, if they are offsets of the output and never decrease."""
    for before, cut in pairwise([0, *cuts]):
        if not 0 <= cut <= length:
            size = _count(length, "code point")
            raise UsageError(f"cut {cut} is not inside the output of {size}: give offsets from 0 to {length}")
        if cut < before:
            raise UsageError(f"cut {cut} is after the larger cut {before}: give the cuts in increasing order")
    return list(cuts)


def _beside_markers(cuts: Sequence[int], pieces: Sequence[Piece], mode: Mode, length: int) -> Iterator[int]:
    """The cuts; in ids mode those inside a recorded marker at its end, if no other is there and more text follows."""
    last, owed = -1, False  # owed: a cut was moved to `last`, and none was given there so far
    for cut, to in zip(cuts, _past_markers(cuts, pieces, mode), strict=True):
        if to != cut:
            if to not in (last, length):
                yield to
                last, owed = to, True
        elif to == last and owed:
            owed = False
        else:
            yield to
            last, owed = to, False


def _past_markers(cuts: Iterable[int], pieces: Sequence[Piece], mode: Mode) -> Iterator[int]:
    """The cuts (never decreasing) with those inside a recorded marker moved to its end, in ids mode."""
    if mode == "text":
        yield from cuts
        return
    stops = accumulate([len(piece.text) for piece in pieces])
    spans = ((stop - len(piece.text), stop, piece) for piece, stop in zip(pieces, stops, strict=True) if piece.text)
    markers = ((start, stop) for start, stop, piece in spans if piece.recorded and piece.kind in ("special", "added"))
    start, end = next(markers, (0, 0))
    for cut in cuts:
        while end and cut >= end:
            start, end = next(markers, (0, 0))
        yield end if end and start < cut else cut


def _with_pieces(cuts: Iterable[int], starts: Sequence[int]) -> Iterator[_End]:
    """Each cut with the number of pieces that begin before it: a token without text goes with the text after it."""
    begun = 0
    for cut in cuts:
        while starts[begun] < cut:
            begun += 1
        yield _End(begun, cut)


def _late(
    chunking: Chunking, pieces: Sequence[Piece], ends: Sequence[_End], mode: Mode, due: Sequence[int] | None
) -> list[_End]:
    """The ends with their text moved back: by what is not due, by the delay, by the hold-back. The last one stays."""
    timed = due or list(accumulate([len(piece.text) for piece in pieces]))
    out, delay = [], chunking.text_delay
    for begun, text in ends[:-1]:
        known = timed[begun - delay - 1] if begun > delay else 0
        out.append(max(0, (min(text, known) if due or delay else text) - chunking.holdback_chars))
    moved = _past_markers(out, pieces, mode)
    return [*[_End(end.pieces, text) for end, text in zip(ends[:-1], moved, strict=True)], ends[-1]]


def _cut(pieces: Sequence[Piece], ends: Iterable[_End]) -> Iterator[tuple[Piece, ...]]:
    """The pieces between each two ends. The first part of a split piece keeps its id and bytes, the rest has none."""
    index = start = taken = 0
    for limit, offset in ends:
        parts = []
        while index < limit and start + len(pieces[index].text) <= offset:
            parts.append(_part(pieces[index], taken, len(pieces[index].text)))
            start, index, taken = start + len(pieces[index].text), index + 1, 0
        if index < limit and start + taken < offset:
            parts.append(_part(pieces[index], taken, offset - start))
            taken = offset - start
        yield tuple(parts)


def cut_pieces(pieces: Sequence[Piece], ends: Iterable[int]) -> tuple[tuple[Piece, ...], ...]:
    """The pieces in parts that end at these offsets. A token without text goes with the text before it."""
    return tuple(_cut(pieces, [_End(len(pieces), end) for end in ends]))


def _parts(piece: Piece, cuts: Sequence[int]) -> list[Piece]:
    """One piece in parts that end at these offsets inside it."""
    return [_part(piece, begin, end) for begin, end in pairwise([0, *cuts, len(piece.text)])]


def _part(piece: Piece, begin: int, end: int) -> Piece:
    if begin:
        return Piece(piece.text[begin:end], kind=piece.kind, recorded=piece.recorded)
    if end == len(piece.text):
        return piece
    return Piece(piece.text[:end], piece.token_id, piece.raw, piece.kind, piece.recorded)


def _ids(pieces: Sequence[Piece], ends: Sequence[_End]) -> Iterator[tuple[int, ...]]:
    """The ids of the tokens begun between each two ends."""
    before = 0
    for begun, _ in ends:
        yield tuple([piece.token_id for piece in pieces[before:begun] if piece.token_id is not None])
        before = begun


# A chunking in one word, for addresses and menus: token, token:3, char:5, whole, random:7:8:char, cuts:4,118: how it is
# cut, its options in their order, and at the end of any +holdback=n (text kept back) or +delay=n (text later than its
# ids). `parse_spec` undoes `spec`.

_LATE = {"holdback": "holdback_chars", "delay": "text_delay"}


def spec(chunking: Chunking) -> str:
    """The word for a chunking."""
    values = [_word(getattr(chunking, part)) for part in _OPTIONS[chunking.by]]
    if values == ["1"] and chunking.by in ("token", "char"):
        values = []
    late = [f"+{word}={getattr(chunking, key)}" for word, key in _LATE.items() if getattr(chunking, key)]
    return ":".join([chunking.by, *values]).rstrip(":") + "".join(late)


def parse_spec(text: str) -> Chunking:
    """The chunking of a word. Raises UsageError for a word that is none."""
    base, *late = text.split("+")
    by, *values = base.split(":")
    try:
        if len(values) > len(_OPTIONS[by]):
            raise ValueError
        data: dict[str, Any] = {"by": by} | ({"cuts": ()} if by == "cuts" else {})
        data |= {part: _value(part, value) for part, value in zip(_OPTIONS[by], values, strict=False) if value}
        for word in late:
            key, _, number = word.partition("=")
            data[_LATE[key]] = int(number)
        return Chunking.model_validate(data)
    except (KeyError, ValueError, ValidationError) as error:
        known = "token, char, char:5, whole, recorded, random:SEED, cuts:A,B"
        raise UsageError(f"{text[:80]!r} is no chunking; write one like {known}") from error


def _word(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str("" if value is None else value)


def _value(part: str, text: str) -> Any:
    if part == "unit":
        return text
    return [int(cut) for cut in text.split(",")] if part == "cuts" else int(text)
