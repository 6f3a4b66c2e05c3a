"""Quoted parts are found whatever marks them, and each as what it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.search.pasted_quotes import Marked, blocks_in, quotes_in, without_quotes

PIECES = (
    "a", " ", "\n", "\n\n", "    ", "\t", "> ", "```", "~~~\n", "`", "``", "'", '"', "\\", "b'", "«", "»", "„", "“",
    "”", "「", "」", "<x>", "don't ", "\\n", "\\x41", "\\ud83d",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("no quotes, don't you see", []),
        ("say «a b» and „c“ or “d”", ["a b", "c", "d"]),
        (
            "»a« \u2018b\u2019 \u201ac\u2018 \u2039d\u203a 「e」『f』《g》〝h〟",
            ["a", "b", "c", "d", "e", "f", "g", "h"],
        ),
        ("say `a` and ``b`c`` but not `d", ["a", "b`c"]),
        ('an "a \\"b\\" \\n" and \'it\'s \\x41 "c"\'', ['a "b" \n', 'it\'s A "c"']),
        ("bytes b'a' and no end 'b\n\nc'", ["a"]),
        ("wrong escapes \"\\q\" '\\u12'", ["\\q", "\\u12"]),
        ('half a pair "\\ud83d" of two', ["\ufffd"]),
        ("«» and ``", []),
        ("```py\na\n```\nx\n~~~~\nb\n```\n~~~~\n", ["a", "b\n```"]),
        ("   ```\n   a\n   ```", ["a"]),
        ("x\n```\na\nb", ["a\nb"]),
        ("x\n```\na\n", ["a\n"]),
        ("said:\n\n    a\n\n      b\n\nthen", ["a\n\n  b"]),
        ("said:\n\n\ta\n", ["a"]),
        ("said:\n    a list goes on", []),
        ("    set in from the start", []),
        ("said:\n\n    a\n    ```\n    b\n    ```\n", ["a", "b"]),
        ("x\n> a\n> b\ny", ["a\nb"]),
        (">>> a", []),
        ("'a\nb' in a paragraph", ["a\nb"]),
    ],
)
def test_what_is_quoted_is_found(text: str, quotes: list[str]) -> None:
    assert [quote.text for quote in quotes_in(text)] == quotes


def test_how_a_part_is_marked_is_told() -> None:
    text = "x\n```\na\n```\n\n    b\n\n> c\n`d` «e»"
    assert [quote.marked for quote in quotes_in(text)] == list(Marked)
    assert [quote.marked.is_block for quote in quotes_in(text)] == [True, True, True, False, False]
    assert [quote.text for quote in blocks_in(text)] == ["a", "b", "c"]


def test_without_quotes_only_the_writers_own_words_stay() -> None:
    assert without_quotes('Say `a`, «b»:\n```\nc\n```\nand "d".') == "Say  ,  :\n\nand  ."


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_parts_stand_in_order_where_they_say(pieces: list[str]) -> None:
    text, at = "".join(pieces), 0
    for quote in quotes_in(text):
        begin, stop = quote.inside
        assert at <= quote.start <= begin <= stop <= quote.end <= len(text)
        at = quote.end
