"""The generated pages of the documentation are current, and name everything there is."""

from __future__ import annotations

import re

import pytest

from docs.generate import DOCS, PAGES, cell, fenced
from parsers.checks import CHECKS
from parsers.formats.diagram import rows_table
from parsers.formats.model import Format, builtin_formats, builtin_sources

INDEX = PAGES["formats/README.md"]()
FOLDER = DOCS / "formats"
MOST_BYTES = 120_000  # of all pages about formats together


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_every_format_has_a_page_and_a_line_that_leads_to_it() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"README.md", *[f"{name}.md" for name in builtin_formats()]}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES
    links = dict(re.findall(r"^\| \[`(\w+)`\]\((.+?)\) \|", INDEX, flags=re.MULTILINE))
    assert links == {name: f"{name}.md" for name in builtin_formats()}


@pytest.mark.parametrize("fmt", builtin_formats().values(), ids=lambda fmt: fmt.name)
def test_a_page_says_what_a_format_is_and_where_its_rows_come_from(fmt: Format) -> None:
    page = PAGES[f"formats/{fmt.name}.md"]()
    seen = page.replace("\n", "⏎")
    named = [
        *fmt.terminals.values(),
        *fmt.aliases,
        *fmt.end_tokens,
        *fmt.policies,
        *fmt.models.id_contains,
        fmt.example,
    ]
    assert [text for text in named if text.replace("\n", "⏎") not in seen] == []
    assert all(cell(source.fact) in page for source in fmt.provenance)
    (line,) = re.findall(r"\*\*Rows:\*\* (.+)", page)
    count, states, *parts = [int(number) for number in re.findall(r"(\d+) (?:in|states|of|from)", line)]
    assert (count, states, sum(parts)) == (len(rows_table(fmt)), len(fmt.states), count)
    parent = builtin_sources()[fmt.name].get("extends")
    assert (f"It extends [`{parent}`]({parent}.md)." in page) == (parent is not None)


def test_the_readme_names_every_format_and_the_changelog_counts_them() -> None:
    formats = (DOCS.parent / "README.md").read_text("utf-8").partition("## Formats")[2].partition("\n## ")[0]
    assert [name for name in builtin_formats() if f"`{name}`" not in formats] == []
    assert f"- {len(builtin_formats())} formats" in (DOCS.parent / "CHANGELOG.md").read_text("utf-8")


def test_a_block_of_code_may_hold_fences() -> None:
    assert fenced("a\n```\nb", "text") == "````text\na\n```\nb\n````\n"


def test_every_check_is_documented() -> None:
    page = PAGES["checks.md"]()
    assert all(f"| [`{name}`](#{name}) |" in page and f"\n## {name}\n" in page for name in CHECKS)
