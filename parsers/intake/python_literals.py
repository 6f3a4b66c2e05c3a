"""What a test in Python says in literals: its constants, the values it is parametrised by, and arguments by keyword.

The file is read as a tree and never run; what is no literal is as if it were not there. Many samples of one file ask
for the same: what is looked for in all of it is looked for once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from parsers.intake.python_values import last_part

_NO_LITERAL = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)


class Literals:
    """The literals of a file, each kind found in one walk over its tree, where somebody asks for it."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._told: dict[str, Any] = {}

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The values of the names of the file that are literals."""
        return constants(self.tree)

    @cached_property
    def parametrized(self) -> dict[str, list[Any]]:
        """The values that the tests of the file are run with, by the name of their parameter."""
        found = dict[str, list[Any]]()
        for mark in _marks(self.tree):
            if last_part(mark.func) != "parametrize" or len(mark.args) < 2:
                continue
            name, given = mark.args[:2]
            values = self.constants.get(given.id) if isinstance(given, ast.Name) else next(_literal(given), None)
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and isinstance(values, list | tuple):
                found.setdefault(name.value, []).extend(values)
        return found

    @cached_property
    def called(self) -> set[str]:
        """The names that functions of the file call."""
        return {last_part(node.func) for node in _in_functions(self.tree) if isinstance(node, ast.Call)}

    def told(self, name: str) -> Any:
        """The first literal that a function of the file gives under a keyword or a key; None where there is none."""
        if name not in self._told:
            found = (value for node in _in_functions(self.tree) for value in _under(node, name))
            self._told[name] = next(found, None)
        return self._told[name]

    @cached_property
    def in_words(self) -> dict[str, str]:
        """What the file compares by its words, by the last name of it, with the sign that it puts between them."""
        return {name: sign for node in _in_functions(self.tree) for name, sign in words_of(node)}

    @cached_property
    def compared(self) -> tuple[tuple[ast.expr, Any], ...]:
        """What the file asserts to be equal to a literal, and that."""
        return tuple(_compared(self.tree))


def words_of(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The last name of a text and a sign, where an expression is its words with that between: " ".join(x.y.split())."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(sign)), attr="join"),
            args=[ast.Call(func=ast.Attribute(value=text, attr="split"), args=[])],
        ):
            yield last_part(text.values[0] if isinstance(text, ast.BoolOp) else text), sign  # x or ""


def constants(tree: ast.Module) -> dict[str, Any]:
    """The values of the names of a file that are literals."""
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            for value in _literal(node.value):
                found[node.targets[0].id] = value
    return found


def _compared(tree: ast.Module) -> Iterator[tuple[ast.expr, Any]]:
    for node in _in_functions(tree):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.comparators) == 1:
            for value in _literal(node.test.comparators[0]):
                yield node.test.left, value


def _marks(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from [one for one in node.decorator_list if isinstance(one, ast.Call)]


def _in_functions(tree: ast.Module) -> Iterator[ast.AST]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from ast.walk(node)


def _under(node: ast.AST, name: str) -> Iterator[Any]:
    if isinstance(node, ast.Call):
        for one in node.keywords:
            if one.arg == name:
                yield from _literal(one.value)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                yield from _literal(value)


def _literal(node: ast.expr) -> Iterator[Any]:
    """The value of a literal; nothing where it is none."""
    try:
        yield ast.literal_eval(node)
    except _NO_LITERAL:
        return
