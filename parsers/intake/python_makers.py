"""Which functions of a file of Python make records, by their names, and where a statement asks for one of them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from parsers.intake.python_values import last_part


def makers_in(tree: ast.Module, kinds: Collection[str]) -> set[str]:
    """The names of what makes records when it is called: functions that name such a class or another such function,
    and what a name stands for that is given one of these and not what it returns."""
    named = {name: set(_words(body)) for name, body in _callables(tree)}
    found, new = set[str](), {*kinds}
    while new:
        new = {name for name, words in named.items() if name not in found and words & (found | {*kinds})}
        found |= new
    return found


def asks_for(node: ast.AST, names: Collection[str]) -> Iterator[ast.Name | ast.Attribute]:
    """Where a statement names one of these."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name | ast.Attribute) and last_part(one) in names:
            yield one


def calls_of(node: ast.AST, names: Collection[str]) -> list[ast.Call]:
    """The calls of these in a statement."""
    return [one for one in ast.walk(node) if isinstance(one, ast.Call) and last_part(one.func) in names]


def goes_round(node: ast.AST) -> bool:
    """Return whether what stands in a statement once may be asked for several times."""
    return any(isinstance(one, ast.For | ast.While | ast.comprehension) for one in ast.walk(node))


def _callables(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, ast.Module([*node.body], [])  # what stands around it is asked where it is made
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield from [(node.targets[0].id, one) for one in _kept(node.value)]


def _kept(value: ast.expr) -> list[ast.expr]:
    """What a name may be called as: a lambda, another name, a function with some of its arguments."""
    if isinstance(value, ast.Lambda | ast.Name):
        return [value]
    return [*value.args[:1]] if isinstance(value, ast.Call) and last_part(value.func) == "partial" else []


def _words(body: ast.AST) -> Iterator[str]:
    for one in ast.walk(body):
        if isinstance(one, ast.Name | ast.Attribute):
            yield last_part(one)
