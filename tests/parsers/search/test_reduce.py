"""Delta debugging of lists."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from parsers.search.shrink import reduce


@given(st.sets(st.integers(0, 40)), st.integers(0, 41))
def test_what_is_needed_is_left_and_nothing_else(needed: set[int], size: int) -> None:
    items = sorted({*needed, *range(size)})
    assert reduce(items, lambda part: needed <= set(part)) == sorted(needed)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=60).filter(lambda items: sum(items) >= 20))
def test_nothing_can_be_left_out_of_the_result(items: list[int]) -> None:
    left = reduce(items, lambda part: sum(part) >= 20)
    assert sum(left) >= 20
    assert not any(sum(left) - one >= 20 for one in left)


def test_it_asks_few_questions() -> None:
    asked: list[int] = []

    def fails(part: Sequence[int]) -> bool:
        asked.append(len(part))
        return 511 in part and 3 in part

    assert reduce(range(1_000), fails) == [3, 511]
    assert len(asked) < 80
