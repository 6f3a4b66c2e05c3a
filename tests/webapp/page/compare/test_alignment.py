"""Several texts on one axis."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.page.compare.alignment import Hunk, axis_of, text_hunks

TEXTS = st.text("ab c{", max_size=14)


def applied(a: str, b: str) -> str:
    """The first text with every hunk replaced by what the other has there."""
    out, done = "", 0
    for hunk in text_hunks(a, b):
        out += a[done : hunk.a0] + b[hunk.b0 : hunk.b1]
        done = hunk.a1
    return out + a[done:]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("one two", "one two", []),
        ("one two", "one 2", [Hunk(4, 7, 4, 5)]),
        ("one two", "one two three", [Hunk(7, 7, 7, 13)]),
        ("one two", "one tw", [Hunk(6, 7, 6, 6)]),  # cut off inside a word
        ("one {two", "one {twofold} x", [Hunk(8, 8, 8, 15)]),
        ("", "x", [Hunk(0, 0, 0, 1)]),
        ("a {x} b", "a b", [Hunk(2, 6, 2, 2)]),
        ("let me see", "I will see", [Hunk(0, 6, 0, 6)]),  # only a blank between: one
        ("a one b two", "a 1 b 2", [Hunk(2, 5, 2, 3), Hunk(8, 11, 6, 7)]),
        ("mid<b>in</b>end", "midend", [Hunk(3, 12, 3, 3)]),  # all of the other, and more inside
        ("plananswer<t>", "answer", [Hunk(0, 4, 0, 0), Hunk(10, 13, 6, 6)]),  # around it
        ("an", "banana", [Hunk(0, 2, 0, 6)]),  # too little to be found again
    ],
)
def test_texts_differ_in_whole_words(a: str, b: str, expected: list[Hunk]) -> None:
    assert text_hunks(a, b) == expected


@pytest.mark.replays
@given(TEXTS, TEXTS)
def test_the_hunks_turn_one_text_into_the_other(a: str, b: str) -> None:
    assert applied(a, b) == b
    found = text_hunks(a, b)
    assert all(x.a1 <= y.a0 and x.b1 <= y.b0 for x, y in itertools.pairwise(found))


@pytest.mark.replays
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_every_character_has_a_column_of_its_own_and_none_goes_back(texts: list[str]) -> None:
    axis = axis_of(texts)
    for text, lane in zip(texts, axis.lanes, strict=True):
        columns = [lane.column(offset) for offset in range(len(text))]
        assert columns == sorted(set(columns))
        assert [lane.offset(column) for column in columns] == list(range(len(text)))
        assert [lane.offset(lane.edge(offset)) for offset in range(len(text) + 1)] == list(range(len(text) + 1))
        assert lane.offset(axis.size) == len(text)
        assert all(column < axis.size for column in columns)


@pytest.mark.replays
@given(TEXTS, TEXTS)
def test_what_both_have_stands_in_one_column(a: str, b: str) -> None:
    axis = axis_of([a, b])
    one, other = axis.lanes
    done_a = done_b = 0
    for hunk in [*axis.hunks[1], Hunk(len(a), len(a), len(b), len(b))]:
        shared = range(hunk.a0 - done_a)
        assert [one.column(done_a + at) for at in shared] == [other.column(done_b + at) for at in shared]
        done_a, done_b = hunk.a1, hunk.b1


def test_one_text_has_a_column_for_each_character() -> None:
    axis = axis_of(["abc", "abc"])
    assert (axis.single, axis.size, axis.lanes[1].column(2)) == (True, 3, 2)
    assert not axis_of(["abc", "abd"]).single


def test_a_word_in_the_middle_of_a_long_text_is_found_by_its_neighbours() -> None:
    words = [f"w{number}" for number in range(3_000)]
    other = [*words[:1_000], "new", *words[1_000:2_000], *words[2_001:]]
    found = text_hunks(" ".join(words), " ".join(other))
    assert [(hunk.a1 - hunk.a0, hunk.b1 - hunk.b0) for hunk in found] == [(0, 4), (6, 0)]


def test_long_texts_without_a_word_in_common_are_one_difference() -> None:
    assert len(text_hunks("a b " * 2_000, "c d " * 2_000)) == 1
