"""The top of the checkout stays as the design lists it."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDERS = {".ci", "docs", "parsers", "pytest_plugin", "requirements", "static", "templates", "tests", "webapp"}
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


@pytest.mark.parametrize("package", ["parsers", "webapp"])
def test_the_tests_of_a_room_stand_in_a_folder_of_its_name(root: Path, modules: list[Path], package: str) -> None:
    rooms = {path.parts[1] for path in modules if path.parts[0] == package and len(path.parts) > 2}
    folders = {path.name for path in (root / "tests" / package).iterdir() if any(path.glob("**/test_*.py"))}
    assert rooms - folders == set()
    assert folders - rooms <= {"properties"}
