"""The page of a run is documented: every key of the key sheet, and every condition."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webapp.page.inspect.conditions import Names, completions
from webapp.page.inspect.live import LIVE_TOKENS
from webapp.page.inspect.source_lines import AROUND
from webapp.page.inspect.watch import MOST_PINS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "page.md").read_text("utf-8")
HELP = (ROOT / "templates" / "_help.html").read_text("utf-8")


def test_every_key_of_the_key_sheet_is_documented() -> None:
    rows = re.findall(r'^ +\(\((".*?"),?\), "', HELP, flags=re.MULTILINE)
    keys = [key for row in rows for key in re.findall(r'"([^"]+)"', row)]
    assert len(keys) > 20
    assert [key for key in keys if f"`{key}`" not in PAGE and key not in ("1 … 5", "?", "↓", "Enter")] == []


@pytest.mark.parametrize("words", [words for words, _ in completions(Names())])
def test_every_condition_is_documented(words: str) -> None:
    key, _, value = words.partition(":")
    assert f"`{words}`" in PAGE or (f"`{key}:" in PAGE and f"`{value}`" in PAGE)


def test_limits_are_as_documented() -> None:
    assert f"Above {LIVE_TOKENS:,} tokens live is off" in PAGE
    assert f"At most {MOST_PINS} steps are pinned" in PAGE
    assert f"those further than {AROUND} from any are left out" in PAGE
