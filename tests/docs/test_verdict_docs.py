"""docs/verdicts.md: every kind is explained, and every example is what the program says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from parsers.search.found import VerdictKind
from tests.parsers.search.test_verdict import judged, replayer

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "verdicts.md").read_text("utf-8")
EXAMPLES = re.findall(r"^\| `(\w+)` \| `(.+?)` \| `(\w+)` \| (.+) \|$", PAGE, flags=re.MULTILINE)


def test_every_kind_has_its_row() -> None:
    assert set(re.findall(r"^\| `(\w+)` \| (?:parser|request|output|) ?\|", PAGE, flags=re.MULTILINE)) == set(
        get_args(VerdictKind)
    )
    assert len(EXAMPLES) == 8


@pytest.mark.parametrize(("parser", "text", "kind", "words"), EXAMPLES)
def test_an_example_is_what_the_program_says(parser: str, text: str, kind: str, words: str) -> None:
    said = judged(replayer(text, parser))
    assert (said.kind, said.headline) == (kind, words)
