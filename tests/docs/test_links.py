"""Every link of the documentation to a file of the project leads there, down to the section."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from docs.generate import anchor

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")


@cache
def prose(page: Path) -> str:
    """The page without its blocks of code."""
    return re.sub(r"^(`{3,}).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(map(anchor, re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in sorted(set(LINK.findall(prose(page)))):
        path, _, section = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not section or section in anchors(target), link
