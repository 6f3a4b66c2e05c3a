"""Variants of one string argument: markers, braces and quotes planted into it, and a long text.

What is planted is escaped as the argument's syntax asks for. A syntax without escapes (text between tags or
delimiters) cannot say its own markers; the check tells that apart by the `syntax` and `marker` of the facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parsers.checks.variants import Variant
from parsers.chunking import WHOLE, Chunking
from parsers.replay import parse
from parsers.search.variants.ground import Ground
from parsers.search.variants.places import Place, find_place

SIGNS = ("{", "}", "[", "]", '"', "'", "\\", "</", "\\n", '"}', "')", "}}]", '{"name": "f", "arguments": {}}')
AROUND = ("a", "b")  # a plant stands between these
PAD = "abcdefghi "
SIZES = (2_000, 16_000, 64_000)
SLOPE_SIZES = (2_000, 4_000, 8_000)
SLOPE_STEP = Chunking(by="char", size=16)
STREAMED_PAD = Chunking(by="char", size=997)
Slope = tuple[tuple[int, int], ...]


def plants(ground: Ground) -> list[tuple[str, bool]]:
    """What is planted, and whether it is a marker. Recorded markers are tokens: typed out they are left out here."""
    fmt = ground.replayer.format
    own = () if fmt is None or ground.replayer.mode == "ids" else (*fmt.terminals.values(), *fmt.end_tokens)
    found = dict.fromkeys(SIGNS, False) | {marker: True for marker in own if marker.strip()}
    return list(found.items())


def escaped(ground: Ground) -> Iterator[Variant]:
    """Each plant in the place of a string argument's text."""
    place = find_place(ground)
    if place is None:
        return
    for plant, marker in plants(ground):
        label = f"with `{plant}` in the argument {place.key}"
        yield from _with_value(ground, place, "escaped", label, plant.join(AROUND), {"plant": plant, "marker": marker})


def _with_value(
    ground: Ground, place: Place, kind: Any, label: str, value: str, facts: dict[str, Any], *ways: Chunking
) -> Iterator[Variant]:
    said = {"call": place.call, "key": place.key, "was": place.value, "value": value, "syntax": place.syntax, **facts}
    edit = (place.start, place.end, place.written(value))
    yield from ground.run(kind, label, edits=(edit,), facts=said, chunkings=ways or None)


def padded(ground: Ground) -> Iterator[Variant]:
    """The argument lengthened to three sizes, and what reading it takes at twice and four times a length."""
    place = find_place(ground)
    if place is None:
        return
    work, times = _work(ground, place)
    streamed = ground.streamed if ground.replayer.mode == "ids" or ground.replayer.black_box else STREAMED_PAD
    for size in SIZES:
        label = f"with {size:,} characters in the argument {place.key}"
        last = size == SIZES[-1]
        facts = {"size": size, "work": work if last else (), "times": times if last else ()}
        yield from _with_value(ground, place, "padded", label, _pad(size), facts, WHOLE, streamed)


def _pad(size: int) -> str:
    return PAD * (size // len(PAD) - 1) + "abcdefghij"


def _work(ground: Ground, place: Place) -> tuple[Slope, Slope]:
    """(length, characters examined) and (length, microseconds) for each slope size; nothing where it is not known."""
    work, times, clock = [], [], ground.clock or (lambda: 0.0)
    for size in SLOPE_SIZES:
        changed = ground.replayer.changed(((place.start, place.end, place.written(_pad(size))),))
        parser, began = changed.make(), clock()
        try:
            parse(parser, changed.deltas(SLOPE_STEP), changed.context, mode=changed.mode, markers=changed.markers)
        except Exception:
            return (), ()
        work.append((len(changed.text), parser.examined))
        times.append((len(changed.text), round((clock() - began) * 1e6)))
    return _known(work), _known(times)


def _known(slope: list[tuple[int, int]]) -> Slope:
    return tuple(slope) if all(spent for _, spent in slope) else ()
