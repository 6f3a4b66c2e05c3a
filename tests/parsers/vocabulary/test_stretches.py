"""The stretches of a text: which step wrote which characters. Those of whole replays are in `test_columns.py`."""

from __future__ import annotations

import pytest

from parsers.vocabulary.stretches import Place, Stretch, Stretches


def test_a_text_without_characters_has_no_stretch() -> None:
    empty = Stretches()
    assert (empty.text, list(empty), empty.length_at(3), empty.place(0)) == ("", [], 0, Place(None, None))
    with pytest.raises(IndexError):
        empty.at(0)


def test_every_character_leads_to_the_step_that_wrote_it() -> None:
    text = Stretches()
    text.add("ab", 2, 2, (5, 7), "copied")
    text.add('"', 4, 4, (7, 8), "converted")
    rows = [Stretch(0, "ab", 2, 2, 5, 7, "copied"), Stretch(2, '"', 4, 4, 7, 8, "converted")]
    assert (text.text, list(text), list(text.rows())) == ('ab"', rows, rows)
    assert [text.at(at).step for at in (0, 1, 2, 3)] == [2, 2, 4, 4]
    assert [text.place(at) for at in (1, 2, 3)] == [
        Place(6, 2, "copied"),
        Place(7, 4, "converted"),
        Place(8, 4, "converted"),
    ]
    assert [text.length_at(step) for step in (1, 2, 3, 4)] == [0, 2, 2, 3]


def test_more_may_be_added_after_somebody_looked() -> None:
    text = Stretches()
    text.add("ab", 1, 1)
    assert text.text == "ab"
    text.add("c", 2, 2)
    assert (text.text, list(text.between(2, 3))) == ("abc", [Stretch(2, "c", 2, 2, -1, -1, None)])
