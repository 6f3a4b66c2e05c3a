"""A file holds one idea and a function fits on a screen."""

from __future__ import annotations

import ast
from pathlib import Path

LINES_PER_FILE = 600
LINES_PER_FUNCTION = 60


def test_no_file_is_longer_than_600_lines(root: Path, modules: list[Path]) -> None:
    lengths = {path.as_posix(): len((root / path).read_text("utf-8").splitlines()) for path in modules}
    assert {path: n for path, n in lengths.items() if n > LINES_PER_FILE} == {}


def test_no_function_is_longer_than_60_lines(root: Path, modules: list[Path]) -> None:
    lengths = {
        f"{path.as_posix()}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in modules
        for node in ast.walk(ast.parse((root / path).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert lengths, "no function was measured"
    assert {name: n for name, n in lengths.items() if n > LINES_PER_FUNCTION} == {}
