"""The modules of the intake stand in the order that its docstring gives, and none imports one further down."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import parsers.intake

FOLDER = Path(parsers.intake.__file__).parent
ORDER = re.findall(r"^ {4}([a-z_]+) {2,}\S", parsers.intake.__doc__ or "", re.MULTILINE)


def test_the_docstring_names_every_module_once() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


@pytest.mark.replays
def test_modules_import_only_those_above_them() -> None:
    imports = [
        (name, str(node.module).removeprefix("parsers.intake."))
        for name in ORDER
        for node in ast.walk(ast.parse((FOLDER / f"{name}.py").read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("parsers.intake")
    ]
    assert imports
    assert [pair for pair in imports if ORDER.index(pair[1]) >= ORDER.index(pair[0])] == []
