"""The chunks of a recording as they were pasted."""

from __future__ import annotations

import pytest

from webapp.page.inspect.pasted import matched

ONE, TWO = {"a": 1}, {"b": "\u00fc"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('data: {"a":1}\n\ndata: {"b": "\\u00fc"}\n', ['{"a":1}', '{"b": "\\u00fc"}']),
        ('{\n  "a": 1\n}', ['{\n  "a": 1\n}', None]),
        ('{"other": 1} {"b": "\u00fc"}', [None, '{"b": "\u00fc"}']),
        ('{broken\n{"a" : 1}', ['{"a" : 1}', None]),
        ("{broken", [None, None]),
        ("no objects", [None, None]),
        ("{\n" * 300 + '{"a": 1}', [None, None]),
    ],
)
def test_a_chunk_has_the_text_that_says_the_same(text: str, found: list[str | None]) -> None:
    assert matched(text, [ONE, TWO]) == found
