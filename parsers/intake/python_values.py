"""Values of expressions in a file of Python, which is read as a tree and never run.

Strategy: constants, containers, operators, comprehensions, f-strings, names and calls of functions of the file give
what they say. A name from elsewhere is `Outside`: it may be handed on, and whatever asks for more of it raises
UnresolvedError. Work is counted, so a loop without an end ends. Nothing is guessed: what is not known has no value.
"""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from parsers.intake.python_functions import (
    FUNCTIONS,
    TYPES,
    UnresolvedError,
    called_method,
    formatted,
    many,
    plain,
    within,
)

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, others: one in others,
    ast.NotIn: lambda one, others: one not in others,
}
_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_CONVERSIONS: Mapping[int, Callable[[Any], Any]] = {
    -1: lambda value: value,
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}
KEEPING = frozenset({"functools.cache", "functools.lru_cache", "staticmethod"})  # a function under these is itself
_TAKES_A_FUNCTION = ("functools.partial", "dataclasses.replace", "dataclasses.field")
_COPY_NOTHING = (ast.Constant, ast.Name, ast.Attribute)
_PYTHON = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


def _work_of(value: Any) -> int:
    """What it costs to go through a value once, in expressions that are looked at."""
    return len(value) >> 6 if isinstance(value, str | bytes | list | dict | tuple | set) else 0


class Outside:
    """What a name stands for that the file does not tell; `why` says so."""

    def __init__(self, name: str, why: str = "") -> None:
        self.name = name
        self.why = why or f"{name} is of another file"

    def _refuse(self, *_: object) -> NoReturn:
        raise UnresolvedError(self.why)

    __bool__ = __eq__ = __hash__ = __str__ = __format__ = _refuse
    __len__ = __iter__ = __contains__ = _refuse


class Imported(Outside):
    """A name that an import gives, before somebody asks for it. `module`: where it stands, "" where it is one."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(f"{module}.{name}" if module else name)
        self.module, self.part = module, name


@dataclass(slots=True, eq=False)
class Record:
    """An object of a class that only has fields. `line`: where it is made; `under`: the key it was made for;
    `through`: the functions that were called on the way, the first of them first."""

    kind: str
    fields: dict[str, Any]
    line: int
    under: str = ""
    through: tuple[ast.FunctionDef, ...] = ()


@dataclass(slots=True, eq=False)
class Scope:
    """Names and their values; those of the functions and the file around it are `outer`."""

    names: dict[str, Any] = field(default_factory=dict)
    outer: Scope | None = None

    def get(self, name: str) -> Any:
        """The value of a name. Raises UnresolvedError."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        if name in TYPES:
            return TYPES[name]
        if name in FUNCTIONS:
            return Own(name)
        return Outside(name, f"{name} is not known in this file")


@dataclass(slots=True, eq=False)
class Own:
    """A function that is known here, by its name."""

    name: str


@dataclass(slots=True, eq=False)
class Function:
    """A function of the file, or a lambda; `scope` is where it stands."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    defaults: dict[str, Any]


@dataclass(slots=True, eq=False)
class Class:
    """A class of the file with fields alone, in order; `defaults` are those of some."""

    name: str
    fields: tuple[str, ...]
    defaults: dict[str, Any]


@dataclass(slots=True, eq=False)
class Partial:
    """A function with some of its arguments."""

    function: Any
    given: list[Any]
    more: dict[str, Any]


def known_function(name: Outside) -> Own | Outside:
    """A name of the standard library, or of a class that is known, as a function of that name; else the name."""
    short = ".".join(name.name.split(".")[-2:])
    told = short in FUNCTIONS or short in KEEPING or short in _TAKES_A_FUNCTION
    return Own(short) if told else name


def last_part(node: ast.expr) -> str:
    """The last part of a name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class Expressions(ABC):
    """Gives values of expressions. `left`: how many of them may still be looked at."""

    def __init__(self, left: int) -> None:
        self.left = left
        self._readers: Mapping[type[ast.expr], Callable[[Any, Scope], Any]] = {
            ast.Constant: lambda node, _: node.value,
            ast.Name: self._name,
            ast.List: self._items,
            ast.Tuple: lambda node, scope: tuple(self._items(node, scope)),
            ast.Set: lambda node, scope: set(self._items(node, scope)),
            ast.Dict: self._dict,
            ast.BinOp: self._operated,
            ast.BoolOp: self._chosen,
            ast.UnaryOp: lambda node, scope: _SIGNS[type(node.op)](self.value(node.operand, scope)),
            ast.Compare: self._compared,
            ast.IfExp: self._either,
            ast.JoinedStr: self._formatted,
            ast.FormattedValue: self._part,
            ast.Subscript: lambda node, scope: self.value(node.value, scope)[self.value(node.slice, scope)],
            ast.Slice: self._slice,
            ast.Attribute: self._attribute,
            ast.Lambda: lambda node, scope: Function(node, scope, self.defaults(node.args, scope)),
            ast.ListComp: self._listed,
            ast.GeneratorExp: self._listed,
            ast.SetComp: lambda node, scope: set(self._listed(node, scope)),
            ast.DictComp: lambda node, scope: dict(self._pairs(node, scope)),
            ast.Call: self._call,
        }

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression. Raises UnresolvedError."""
        self.spend()
        reader = self._readers.get(type(node))
        if reader is None:
            raise UnresolvedError(f"an expression of this kind ({type(node).__name__}) is not read")
        try:
            found = within(reader(node, scope))
        except _PYTHON as error:
            raise UnresolvedError(f"{type(error).__name__}: {error}") from error
        if not isinstance(node, _COPY_NOTHING):
            self.spend(_work_of(found))
        return found

    def spend(self, cost: int = 1) -> None:
        """Count work that is done. Raises UnresolvedError where it is too much."""
        self.left -= cost
        if self.left < 0:
            raise UnresolvedError("the file asks for too much work")

    def defaults(self, given: ast.arguments, scope: Scope) -> dict[str, Any]:
        """The defaults of parameters by their names."""
        plain_ones = [*given.posonlyargs, *given.args]
        named = list(zip(plain_ones[len(plain_ones) - len(given.defaults) :], given.defaults, strict=True))
        named += [
            (one, told) for one, told in zip(given.kwonlyargs, given.kw_defaults, strict=True) if told is not None
        ]
        return {one.arg: self.value(told, scope) for one, told in named}

    @abstractmethod
    def imported(self, name: Imported) -> Any:
        """What an import gives, as far as the caller has the file."""

    @abstractmethod
    def called(self, function: Any, node: ast.Call, given: list[Any], more: dict[str, Any]) -> Any:
        """What a call of a function gives that is none of those that are known here. Raises UnresolvedError."""

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        found = scope.get(node.id)
        return self.imported(found) if isinstance(found, Imported) else found

    def _items(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> list[Any]:
        found: list[Any] = []
        missed: UnresolvedError | None = None
        for one in node.elts:  # all of them, whichever is not known: each may make a record
            try:
                found += (
                    many(self.value(one.value, scope)) if isinstance(one, ast.Starred) else [self.value(one, scope)]
                )
            except UnresolvedError as error:
                missed = missed or error
        if missed is not None:
            raise missed
        return found

    def _dict(self, node: ast.Dict, scope: Scope) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, one in zip(node.keys, node.values, strict=True):
            told = self.value(one, scope)
            if key is None:
                found.update(told)
            else:
                found[self.value(key, scope)] = told
        return found

    def _operated(self, node: ast.BinOp, scope: Scope) -> Any:
        return self.operated(node.op, self.value(node.left, scope), self.value(node.right, scope))

    def operated(self, sign: ast.operator, left: Any, right: Any) -> Any:
        """What an operator makes of two values. Raises UnresolvedError."""
        made = _OPERATORS.get(type(sign))
        if made is None:
            raise UnresolvedError(f"an operator of this kind ({type(sign).__name__}) is not read")
        for one, other in ((left, right), (right, left)):
            if isinstance(sign, ast.Mult) and isinstance(one, str | bytes | list | tuple) and isinstance(other, int):
                self.spend(len(one) * max(other, 0))
        if isinstance(sign, ast.Mod) and isinstance(left, str):
            return formatted(left, lambda: left % plain(right))
        return made(left, right)

    def _chosen(self, node: ast.BoolOp, scope: Scope) -> Any:
        found = None
        for one in node.values:
            found = self.value(one, scope)
            if bool(found) is isinstance(node.op, ast.Or):
                break
        return found

    def _compared(self, node: ast.Compare, scope: Scope) -> bool:
        left = self.value(node.left, scope)
        for sign, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other, scope)
            if not self._holds(sign, left, right):
                return False
            left = right
        return True

    def _holds(self, sign: ast.cmpop, left: Any, right: Any) -> bool:
        if isinstance(sign, ast.Is | ast.IsNot):
            outside = next((one for one in (left, right) if isinstance(one, Outside)), None)
            if outside is not None:
                raise UnresolvedError(outside.why)
            return (left is right) is isinstance(sign, ast.Is)
        for one in (left, right):
            if isinstance(one, list | dict | tuple | set):
                self.spend(len(plain(one)) >> 3)
            self.spend(_work_of(one))
        return bool(_COMPARED[type(sign)](left, right))

    def _either(self, node: ast.IfExp, scope: Scope) -> Any:
        return self.value(node.body if self.value(node.test, scope) else node.orelse, scope)

    def _formatted(self, node: ast.JoinedStr, scope: Scope) -> str:
        return "".join([str(self.value(one, scope)) for one in node.values])

    def _part(self, node: ast.FormattedValue, scope: Scope) -> str:
        found = plain(self.value(node.value, scope))
        told = _CONVERSIONS[node.conversion](found)
        pattern = self._formatted(node.format_spec, scope) if isinstance(node.format_spec, ast.JoinedStr) else ""
        return formatted(pattern, lambda: format(told, pattern))

    def _slice(self, node: ast.Slice, scope: Scope) -> slice:
        return slice(*[None if one is None else self.value(one, scope) for one in (node.lower, node.upper, node.step)])

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        owner = self.value(node.value, scope)
        if isinstance(owner, Record) and node.attr in owner.fields:
            return owner.fields[node.attr]
        if isinstance(owner, Scope) and node.attr in owner.names:
            found = owner.names[node.attr]
            return self.imported(found) if isinstance(found, Imported) else found
        if isinstance(owner, Outside):
            return Outside(f"{owner.name}.{node.attr}", owner.why)
        raise UnresolvedError(f"an attribute .{node.attr} is not known here")

    def _listed(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> list[Any]:
        return [self.value(node.elt, inner) for inner in self._loops(node.generators, Scope(outer=scope))]

    def _pairs(self, node: ast.DictComp, scope: Scope) -> Iterator[tuple[Any, Any]]:
        for inner in self._loops(node.generators, Scope(outer=scope)):
            yield self.value(node.key, inner), self.value(node.value, inner)

    def _loops(self, loops: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not loops:
            yield scope
            return
        first, *rest = loops
        for one in many(self.value(first.iter, scope)):
            self.assign(first.target, one, scope)
            if all(self.value(test, scope) for test in first.ifs):
                yield from self._loops(rest, scope)

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Give a value to a name, to several, or to an item. Raises UnresolvedError."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for one, part in zip(target.elts, many(value), strict=True):
                self.assign(one, part, scope)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value, scope)
            owner[self.value(target.slice, scope)] = value
        else:
            raise UnresolvedError("a value is given to what is not read")

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        owner = node.func
        if isinstance(owner, ast.Attribute):
            on = self.value(owner.value, scope)
            if not isinstance(on, Record | Scope | Outside):
                given, more = self.given(node, scope)
                self.spend(_work_of(on))
                return called_method(on, owner.attr, given, more)
        function = self.value(owner, scope)
        return self.called(function, node, *self.given(node, scope))

    def given(self, node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, by place and by name."""
        places: list[Any] = []
        for one in node.args:
            places += many(self.value(one.value, scope)) if isinstance(one, ast.Starred) else [self.value(one, scope)]
        names: dict[str, Any] = {}
        for more in node.keywords:
            told = self.value(more.value, scope)
            names.update({more.arg: told} if more.arg is not None else told)
        return places, names
