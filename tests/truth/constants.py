"""Texts that a source file gives names to, such as markers: what a test imports of a parser beside the parser."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def constants_of(path: Path) -> dict[str, str]:
    """The texts by name; none where there is no such file."""
    body = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
    named = [(node.targets[0], node.value) for node in body if isinstance(node, ast.Assign)]
    return {
        target.id: value.value
        for target, value in named
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str)
    }
