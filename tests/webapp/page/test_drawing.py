"""Pictures of long outputs: what is too narrow to be seen is merged, however it is asked for."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from webapp.page.drawing import Bar, bars, percent, tiles


def test_tiles_that_can_be_seen_are_a_bar_each() -> None:
    drawn = tiles([0, 4, 6, 10], "aba".__getitem__, lambda edge: percent(edge, 10))
    assert list(drawn) == [Bar("a", 0.0, 40.0), Bar("b", 40.0, 20.0), Bar("a", 60.0, 40.0)]
    assert list(tiles([7], "".__getitem__, float)) == []


@pytest.mark.parametrize("seed", range(40))
def test_tiles_are_the_bars_of_places_side_by_side(seed: int) -> None:
    random = Random(seed)
    edges = [0]
    for _ in range(random.choice((1, 5, 60, 3_000))):
        edges.append(edges[-1] + random.choice((1, 1, 2, random.choice((1, 20, 5_000)))))
    kinds = random.choices("ab", k=len(edges) - 1)
    asked: list[int] = []

    def x(edge: int) -> float:
        asked.append(edge)
        return percent(edge, edges[-1])

    places = [(kind, x(left), x(right)) for kind, (left, right) in zip(kinds, pairwise(edges), strict=True)]
    asked.clear()
    assert list(tiles(edges, kinds.__getitem__, x)) == list(bars(places))
    assert len(asked) < 40 * 1_000
