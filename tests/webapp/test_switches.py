"""Switches: which words turn one on, which leave it off, and what is said of any other."""

from __future__ import annotations

import pytest

from parsers.vocabulary.types import UsageError
from webapp.switches import is_on, is_posted_on, is_ticked

OTHERS = ("no", "off", "yes", "2", "-1", "01", " ", "True", "flase")


@pytest.mark.parametrize("read", [is_on, is_posted_on])
@pytest.mark.parametrize(("word", "on"), [("1", True), ("true", True), ("0", False), ("false", False), ("", False)])
def test_words_turn_a_switch_on_or_off(read: type, word: str, on: bool) -> None:
    assert read({"listed": word}, "listed") is on
    assert is_ticked(word) is on


@pytest.mark.parametrize("read", [is_on, is_posted_on])
def test_a_switch_that_is_not_given_is_off(read: type) -> None:
    assert not read({}, "listed")
    assert not is_ticked(None)


@pytest.mark.parametrize("word", OTHERS)
@pytest.mark.parametrize("read", [is_on, is_posted_on])
def test_any_other_word_is_refused_by_the_name_of_the_switch(read: type, word: str) -> None:
    with pytest.raises(UsageError, match=f"^listed={word} is neither on nor off: give 1 or true, or 0, false"):
        read({"listed": word}, "listed")
    assert not is_ticked(word)


def test_a_long_word_is_cut() -> None:
    with pytest.raises(UsageError, match=f"^run={'x' * 40}… is neither"):
        is_on({"run": "x" * 41}, "run")


def test_a_box_without_a_value_is_on_in_a_form_only() -> None:
    assert is_posted_on({"listed": "on"}, "listed")
    assert is_ticked("on")
    with pytest.raises(UsageError):
        is_on({"listed": "on"}, "listed")
