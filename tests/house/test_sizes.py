"""A file holds one idea, a function fits on a screen, and a line on half of one."""

from __future__ import annotations

import ast
from pathlib import Path

LINES_PER_FILE = 600
LINES_PER_FUNCTION = 60
CHARACTERS_PER_LINE = 120
PAGES = {"templates", "static/css", "static/js"}


def test_no_file_is_longer_than_600_lines(root: Path, measured: list[Path]) -> None:
    lengths = {path.as_posix(): len((root / path).read_text("utf-8").splitlines()) for path in measured}
    assert {path: n for path, n in lengths.items() if n > LINES_PER_FILE} == {}


def test_no_function_is_longer_than_60_lines(root: Path, measured: list[Path]) -> None:
    lengths = {
        f"{path.as_posix()}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in measured
        for node in ast.walk(ast.parse((root / path).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert lengths, "no function was measured"
    assert {name: n for name, n in lengths.items() if n > LINES_PER_FUNCTION} == {}


def test_no_line_of_a_page_is_longer_than_120_characters(root: Path, files: list[Path]) -> None:
    """Those of Python are counted by ruff. No linter counts those of templates, and prettier lets comments be."""
    pages = [path for path in files if path.parent.as_posix() in PAGES]
    assert {path.parent.as_posix() for path in pages} == PAGES
    lines = [
        f"{path.as_posix()}:{number}"
        for path in pages
        for number, line in enumerate((root / path).read_text("utf-8").splitlines(), 1)
        if len(line) > CHARACTERS_PER_LINE
    ]
    assert lines == []
