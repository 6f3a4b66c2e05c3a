"""The generated pages of the documentation are current, and name everything there is."""

from __future__ import annotations

import re

import pytest

from parsers.checks import CHECKS
from parsers.formats.model import Format, builtin_formats
from webapp.documentation import DOCS, PAGES, anchor, cell, fenced, formats_page

FORMATS = formats_page()


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_every_format_and_policy_is_documented() -> None:
    for fmt in builtin_formats().values():
        assert f"## {fmt.name}: " in FORMATS
        assert all(f"`{policy}`" in FORMATS for policy in fmt.policies)


def test_every_format_stands_in_the_overview_and_its_link_leads_to_its_section() -> None:
    sections = {anchor(line) for line in re.findall(r"^## (.+)$", FORMATS, flags=re.MULTILINE)}
    links = dict(re.findall(r"^\| \[`(\w+)`\]\(#(.+?)\) \|", FORMATS, flags=re.MULTILINE))
    assert links.keys() == builtin_formats().keys()
    assert set(links.values()) <= sections


@pytest.mark.parametrize("fmt", builtin_formats().values(), ids=lambda fmt: fmt.name)
def test_a_format_is_documented_with_all_its_parts(fmt: Format) -> None:
    section = FORMATS.partition(f"\n## {fmt.name}: ")[2].partition("\n## ")[0]
    seen = section.replace("\n", "⏎").replace("\\|", "|")
    named = [*fmt.states, *fmt.terminals, *fmt.terminals.values(), *fmt.aliases, *fmt.end_tokens, fmt.example]
    assert [text for text in named if text.replace("\n", "⏎") not in seen] == []
    rows = re.findall(r"^\| (r\d+) \|", section, flags=re.MULTILINE)
    assert len(rows) == sum(len(state.rows) for state in fmt.states.values())
    assert [row for row in rows if f" : {row} " not in section] == []
    assert all(cell(source.fact) in section for source in fmt.provenance)


def test_the_readme_names_every_format_and_the_changelog_counts_them() -> None:
    formats = (DOCS.parent / "README.md").read_text("utf-8").partition("## Formats")[2].partition("\n## ")[0]
    assert [name for name in builtin_formats() if f"`{name}`" not in formats] == []
    assert f"- {len(builtin_formats())} formats" in (DOCS.parent / "CHANGELOG.md").read_text("utf-8")


def test_a_block_of_code_may_hold_fences() -> None:
    assert fenced("a\n```\nb", "text") == "````text\na\n```\nb\n````\n"


def test_every_check_is_documented() -> None:
    page = PAGES["checks.md"]()
    assert all(f"| [`{name}`](#{name}) |" in page and f"\n## {name}\n" in page for name in CHECKS)
