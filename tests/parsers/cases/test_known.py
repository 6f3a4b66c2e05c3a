"""What a case knows of its engine, in words."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.cases.io import load_case
from parsers.cases.known import known_words


@pytest.mark.parametrize(
    ("parser", "known", "words"),
    [
        ({}, {}, ""),
        ({}, {"verdict": "required"}, ""),
        ({}, {"verdict": "known_bug"}, "a known bug"),
        ({"engine": "x"}, {"verdict": "known_bug", "link": "l", "notes": ["n"]}, "a known bug of x: l; n"),
        ({"engine": "x"}, {"verdict": "implementation_defined", "notes": ["n"]}, "left to the implementation of x: n"),
        ({"engine": "x"}, {"link": "l"}, "required of x: l"),
    ],
)
def test_what_is_known_of_an_engine_is_a_line(parser: dict[str, Any], known: dict[str, Any], words: str) -> None:
    body = {"schema": 1, "parser": {"name": "p", **parser}, "input": {"text": "t"}}
    assert known_words(load_case({**body, "engines": {parser.get("engine", "builtin"): known}})) == words
