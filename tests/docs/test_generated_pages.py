"""The generated pages of the documentation are current, and name everything there is."""

from __future__ import annotations

import pytest

from parsers.checks import CHECKS
from parsers.formats.model import builtin_formats
from webapp.documentation import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_every_format_and_policy_is_documented() -> None:
    page = PAGES["formats.md"]()
    for fmt in builtin_formats().values():
        assert f"## {fmt.name}: " in page
        assert all(f"`{policy}`" in page for policy in fmt.policies)


def test_every_check_is_documented() -> None:
    page = PAGES["checks.md"]()
    assert all(f"| `{name}` |" in page for name in CHECKS)
