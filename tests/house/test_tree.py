"""The top of the checkout stays as the design lists it."""

from __future__ import annotations

from pathlib import Path

FOLDERS = {".ci", "docs", "parsers", "requirements", "static", "templates", "tests", "webapp"}
FILES = {
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
}


def test_the_top_level_has_these_entries_and_no_others(files: list[Path]) -> None:
    assert {path.parts[0] for path in files} == FOLDERS | FILES


def test_tests_are_no_package_so_that_they_never_hide_ours(files: list[Path]) -> None:
    assert [path for path in files if path.parts[0] == "tests" and path.name == "__init__.py"] == []
