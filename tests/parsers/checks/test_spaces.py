"""White space that two texts with the same characters do not share."""

from __future__ import annotations

import pytest

from parsers.checks.spaces import Spaced, change_words, differing_gaps, joined_words, squeezed


@pytest.mark.parametrize(
    ("right", "wrong", "gaps", "words"),
    [
        ("It is so.", "Itis so.", [2], "`It is` becomes `Itis`"),
        ("It is so.", "It  is so.", [2], "`It is` becomes `It  is`"),
        ("a.\r\nb", "a.\nb", [2], "`a.\\r\\nb` becomes `a.\\nb`"),
        ("ab", "a b", [1], "`ab` becomes `a b`"),
        (" a ", "a", [0, 1], "` a` becomes `a`"),
        ("one two three", "onetwothree", [3, 6], "`one two` becomes `onetwo`"),
        ("a\tb\n", "a b\n", [1], "`a\tb` becomes `a b`"),
        ("\n", "", [0], "`\\n` becomes ``"),
        ("a b", "a b", [], None),
    ],
)
def test_gaps_that_differ_are_found_and_the_first_is_said(
    right: str, wrong: str, gaps: list[int], words: str | None
) -> None:
    assert Spaced(right).differing(Spaced(wrong)) == gaps
    assert change_words(right, wrong) == words


def test_other_characters_are_no_matter_of_white_space() -> None:
    assert change_words("a b", "a c") is None
    assert (squeezed(None), squeezed(" a\n b ")) == ("", "ab")


def test_a_gap_that_one_of_many_has_right_is_right_somewhere() -> None:
    right, one, other = Spaced("a b c"), Spaced("ab c"), Spaced("ab  c")
    assert differing_gaps(right, [one, other]) == [1]
    assert differing_gaps(right, [one, Spaced("a bc")]) == []
    assert differing_gaps(right, []) == []


def test_words_that_became_one_are_told_from_other_changes() -> None:
    right, wrong = Spaced("It is so.\nAll of  it"), Spaced("Itis so.All of it")
    assert list(joined_words(right, wrong, right.differing(wrong))) == ["It is"]
    assert list(joined_words(wrong, right, wrong.differing(right))) == []
