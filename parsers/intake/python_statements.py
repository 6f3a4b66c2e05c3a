"""Statements in a file of Python, which is read as a tree and never run: what they give to names.

Strategy: each by itself where much is unknown, all or none in a function that is followed. Loops and branches run where
what they ask for is known. A call that nobody takes the result of and that leaves the file is taken for a check: it
changes nothing.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from parsers.intake.python_functions import UnresolvedError, many
from parsers.intake.python_values import (
    KEEPING,
    Class,
    Expressions,
    Function,
    Imported,
    Outside,
    Own,
    Scope,
    known_function,
    last_part,
)


class _ReturnError(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _BreakError(Exception):
    """A loop ends."""


class _ContinueError(Exception):
    """A loop goes on."""


class Statements(Expressions):
    """Runs statements in a scope. Who calls functions and reads other files is not decided here."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self._statements: Mapping[type[ast.stmt], Callable[[Any, Scope], None]] = {
            ast.Assign: self._assign,
            ast.AnnAssign: self._assign_annotated,
            ast.AugAssign: self._add,
            ast.Expr: self._expression,
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.Return: self._return,
            ast.Break: self._leave,
            ast.Continue: self._leave,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: lambda node, scope: self._unknown([node.name], scope, "an async function"),
            ast.ClassDef: self._class,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Pass: lambda node, scope: None,
            ast.Assert: lambda node, scope: None,
        }

    def each(self, body: Iterable[ast.stmt], scope: Scope) -> Any:
        """Run statements, each by itself: what cannot be told is unknown from there on. Returns what they return."""
        for node in body:
            try:
                self._statement(node, scope)
            except UnresolvedError as error:
                self.missed(node, error)
                self._unknown(_given_by(node), scope, error.why)
            except _ReturnError as done:
                return done.value
            except (_BreakError, _ContinueError):
                break
        return None

    @abstractmethod
    def missed(self, node: ast.AST, error: UnresolvedError) -> None:
        """Hear that what a statement does is not known, for whoever names what is lost by it."""

    def _run(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        self.spend()
        done = self._statements.get(type(node))
        if done is None:
            raise UnresolvedError(f"a statement of this kind ({type(node).__name__}) is not read")
        done(node, scope)

    def _unknown(self, names: Iterable[str], scope: Scope, why: str) -> None:
        for name in names:
            scope.names[name] = Outside(name, why)

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        found = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, found, scope)

    def _assign_annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def _add(self, node: ast.AugAssign, scope: Scope) -> None:
        before = self.value(_as_value(node.target), scope)
        told = self.value(node.value, scope)
        if isinstance(node.op, ast.Add) and isinstance(before, list):
            before.extend(many(told))  # the same list, whatever else names it
            return
        self.assign(node.target, self.operated(node.op, before, told), scope)

    def _expression(self, node: ast.Expr, scope: Scope) -> None:
        try:
            self.value(node.value, scope)
        except UnresolvedError as error:
            if not isinstance(node.value, ast.Call) or not isinstance(node.value.func, ast.Name):
                raise
            self.missed(node, error)

    def _if(self, node: ast.If, scope: Scope) -> None:
        self._run(node.body if self.value(node.test, scope) else node.orelse, scope)

    def _for(self, node: ast.For, scope: Scope) -> None:
        for one in many(self.value(node.iter, scope)):
            self.assign(node.target, one, scope)
            if not self._round(node.body, scope):
                return
        self._run(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> None:
        while self.value(node.test, scope):
            if not self._round(node.body, scope):
                return
        self._run(node.orelse, scope)

    def _round(self, body: list[ast.stmt], scope: Scope) -> bool:
        """A round of a loop; returns whether there may be another."""
        try:
            self._run(body, scope)
        except _ContinueError:
            return True
        except _BreakError:
            return False
        return True

    def _return(self, node: ast.Return, scope: Scope) -> None:
        raise _ReturnError(None if node.value is None else self.value(node.value, scope))

    def _leave(self, node: ast.stmt, scope: Scope) -> None:
        raise _BreakError if isinstance(node, ast.Break) else _ContinueError

    def _function(self, node: ast.FunctionDef, scope: Scope) -> None:
        wrapped = False
        for one in node.decorator_list:
            try:
                found = self.value(one, scope)
            except UnresolvedError as error:
                self.missed(one, error)
                found = None  # its arguments may make records all the same
            own = known_function(found) if isinstance(found, Outside) else found
            wrapped = wrapped or not (isinstance(own, Own) and own.name in KEEPING)
        if wrapped:
            scope.names[node.name] = Outside(node.name, f"{node.name} is made by a decorator")
        else:
            scope.names[node.name] = Function(node, scope, self.defaults(node.args, scope))

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = Scope(outer=scope)
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
        self.each(node.body, inner)
        names = [one.target.id for one in fields if isinstance(one.target, ast.Name)]
        bases = [last_part(one) for one in node.bases]
        marks = [last_part(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
        own = any(isinstance(one, ast.FunctionDef) and one.name.startswith("__") for one in node.body)
        if own or not (bases in ([], ["NamedTuple"]) and (marks == ["dataclass"] or bases)):
            scope.names[node.name] = Outside(node.name, f"{node.name} is a class with more than fields")
            return
        defaults = {name: inner.names[name] for name in names if name in inner.names}
        scope.names[node.name] = Class(node.name, tuple(names), defaults)

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for one in node.names:
            first = one.name.partition(".")[0]
            scope.names[one.asname or first] = Imported("", one.name if one.asname else first)

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        of = "." * node.level + (node.module or "")
        for one in node.names:
            scope.names[one.asname or one.name] = Imported(of, one.name)

    def returned(self, node: ast.FunctionDef, scope: Scope) -> Any:
        """Run the body of a function; returns what it returns. Raises UnresolvedError."""
        try:
            self._run(node.body, scope)
        except _ReturnError as done:
            return done.value
        return None


def _as_value(target: ast.expr) -> ast.expr:
    """A name or an item that is given a value, as one that has one."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
    raise UnresolvedError("a value is given to what is not read")


def _given_by(node: ast.stmt) -> Iterator[str]:
    """The names that a statement, or one within it, gives a value to."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, ast.FunctionDef | ast.ClassDef):
            yield one.name
