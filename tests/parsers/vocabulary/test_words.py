"""How numbers, lists and pieces of text stand in a sentence."""

from __future__ import annotations

import pytest

from parsers.vocabulary.words import counted, in_parts, listed, quoted, shortened


@pytest.mark.parametrize(
    ("number", "noun", "plural", "words"),
    [
        (0, "call", "", "0 calls"),
        (1, "call", "", "1 call"),
        (1_234, "call", "", "1,234 calls"),
        (1, "check holds", "checks hold", "1 check holds"),
        (2, "check holds", "checks hold", "2 checks hold"),
    ],
)
def test_a_number_and_its_noun_agree(number: int, noun: str, plural: str, words: str) -> None:
    assert counted(number, noun, plural) == words


def test_a_long_list_is_cut_and_the_rest_counted() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], "or") == "a, b or c"
    assert listed(list("abcdef")) == "a, b, c and 3 more"


def test_quoted_text_is_on_one_line_and_not_too_long() -> None:
    assert quoted("a\nb") == "`a\\nb`"
    assert quoted("```") == "“```”"
    assert quoted("x" * 50) == f"`{'x' * 39}…`"
    assert (shortened("abc", 3), shortened("abcd", 3)) == ("abc", "ab…")


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("a `b` c", [("a ", False), ("b", True), (" c", False)]),
        ("“a`” b", [("", False), ("a`", True), (" b", False)]),
        ("`` is no `b`", [("", False), ("(empty)", False), (" is no ", False), ("b", True), ("", False)]),
        ("a ```fence", [("a ```fence", False)]),
    ],
)
def test_a_sentence_has_words_and_code_and_says_where_nothing_is_quoted(
    said: str, parts: list[tuple[str, bool]]
) -> None:
    assert list(in_parts(said)) == parts
