"""A file of Python as a tree: which records it makes, where and of what.

Strategy: the statements of the file in their order, each by itself: what cannot be told is `Outside` from there on.
Then the body of every function, its parameters unknown, for records that are written out in a test. A function that is
called with known values is followed; nothing else is. Other files are read where the caller has their text.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsers.intake.evidence import Skipped
from parsers.intake.python_functions import FUNCTIONS, ITEMS, TYPES, UnresolvedError, plain
from parsers.intake.python_makers import asks_for, calls_of, goes_round, makers_in
from parsers.intake.python_statements import Statements
from parsers.intake.python_values import (
    Class,
    Function,
    Imported,
    Outside,
    Own,
    Partial,
    Record,
    Scope,
    known_function,
    last_part,
)

Modules = Callable[[str], str | None]
"""The text of a module by its dotted name, None where it is not there."""
LARGEST = 2_000_000  # characters of a file
DEEPEST = 30  # calls within calls
_STEPS = 200_000
_STEPS_A_CHARACTER = 100
_UNREACHED = "it is not known whether it is reached"
_KNOWN_MODULES = frozenset({"json", "functools", "dataclasses", "copy"})


@dataclass(slots=True)
class ReadModule:
    """The records of a file in their order, those that could not be read, and its tree."""

    records: list[Record]
    skipped: list[Skipped]
    tree: ast.Module


def parsed(text: str) -> ast.Module | None:
    """The tree of a file; None where it is no Python that can be read."""
    if len(text) > LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes in the strings of somebody's file
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read_module(
    text: str, kinds: Mapping[str, Sequence[str]], builders: Mapping[str, str], modules: Modules | None = None
) -> ReadModule | None:
    """Read the records of the classes `kinds` that a file makes; None where it is no Python.

    `kinds` has the fields of each class in order, for where it is imported; `builders` names functions that make them
    and the dict whose keys each is called with.
    """
    tree = parsed(text)
    if tree is None:
        return None
    own = {name: name for name in kinds}
    reader = _Reader(kinds, own | _aliases(tree, kinds), _STEPS + _STEPS_A_CHARACTER * len(text), modules)
    reader.read(tree, builders)
    return ReadModule(reader.records, sorted(reader.unread(tree)), tree)


def _aliases(tree: ast.Module, kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The other names that a file imports such classes under, and their own."""
    names = [name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names]
    return {name.asname: name.name for name in names if name.asname is not None and name.name in kinds}


class _Reader(Statements):
    """`kinds` has the fields of each class, `named` the class by each name that a file calls it by."""

    def __init__(
        self, kinds: Mapping[str, Sequence[str]], named: Mapping[str, str], left: int, modules: Modules | None
    ) -> None:
        super().__init__(left)
        self.kinds, self.named = kinds, named
        self.records: list[Record] = []
        self._modules, self._known_modules = modules, dict[str, Scope | Outside]()
        self._asked: dict[str, Any] = {}  # names of imports, and what they give
        self._under, self._through = "", list[ast.FunctionDef | ast.Lambda]()
        self._done: set[int] = set()  # places of calls that made a record
        self._why: dict[int, dict[str, None]] = {}  # places of those that did not, and why
        self._why_alone: dict[int, str] = {}  # the same in bodies of functions, whose parameters are not known
        self._alone, self._keys = False, set[str]()
        self._unbuilt: list[Skipped] = []
        self._makers = set[str]()  # functions that make records
        self._reached: set[int] = set()  # places of calls of these that made some
        self._lost: dict[tuple[int, str], Skipped] = {}  # what asks for some that are not known
        self._lost_alone: dict[int, Skipped] = {}  # the same in bodies of functions
        self._notes = self._within = 0  # how much was said, and how many records are being made

    def read(self, tree: ast.Module, builders: Mapping[str, str]) -> None:
        """Read all of a file."""
        top = Scope()
        self._makers |= makers_in(tree, self.named)
        self.each(tree.body, top)
        for name, keys in builders.items():
            self._build(top.names.get(name), top.names.get(keys))
        self._alone, self._keys = True, set(map(_key_of, self.records))
        for node, scope in self._bodies(tree.body, top):
            inner = Scope(outer=scope)
            for parameter in _parameters(node.args):
                inner.names[parameter] = Outside(parameter, f"{parameter} is a parameter of {node.name}")
            made = len(self.records)
            self._through.append(node)
            self._only(made, self.each(node.body, inner))
            self._through.pop()
            self._keys |= set(map(_key_of, self.records[made:]))

    def unread(self, tree: ast.Module) -> Iterator[Skipped]:
        """The calls of a file that should have made a record and did not."""
        yield from self._unbuilt
        yield from self._lost.values()
        yield from [one for place, one in self._lost_alone.items() if place not in self._reached | self._done]
        yield from self._unreached(tree)
        for node in calls_of(tree, self.named):
            told = self._why.get(id(node), {})
            if not told and id(node) not in self._done:
                told = {self._why_alone.get(id(node), _UNREACHED): None}
            yield from [Skipped(node.lineno, why) for why in told]

    def _unreached(self, tree: ast.Module) -> Iterator[Skipped]:
        """The calls of what makes records of which nothing is told. What a record is made of is told with it."""
        named = {*self._lost_alone, *[place for place, _ in self._lost], *self._reached}
        lines = {one.line for one in self._lost.values()}  # of statements, which name what is in them
        for record in calls_of(tree, self.named):
            named |= {id(call) for call in calls_of(record, self._makers)}
        for call in calls_of(tree, self._makers):
            if id(call) not in named and call.lineno not in lines:
                yield Skipped(call.lineno, _UNREACHED)

    def _build(self, builder: Any, keys: Any) -> None:
        for key in keys if isinstance(builder, Function) and isinstance(keys, dict) else ():
            self._under = str(key)
            try:
                self._follow(builder, [key], {})
            except UnresolvedError as error:
                self._unbuilt.append(Skipped(builder.node.lineno, f"{key}: {error.why}"))
        self._under = ""

    def _note(self, node: ast.Call, why: str) -> None:
        """Say why a call makes no record."""
        self._notes += 1
        if self._alone:
            self._why_alone.setdefault(id(node), why)
        else:
            self._why.setdefault(id(node), {})[why] = None

    def missed(self, node: ast.AST, error: UnresolvedError) -> None:
        """Name what a statement loses that makes records, where no call of it is named for that."""
        own = calls_of(node, self.named)
        untold = any(id(one) not in self._done for one in own)  # which is told of each that is not reached
        if error.told or untold or isinstance(node, ast.FunctionDef | ast.ClassDef):
            return
        if self._alone or isinstance(node, ast.expr):  # a decorator: what it is given is often a record, and no more
            for call in [*own, *calls_of(node, self._makers)]:
                self._lost_alone.setdefault(id(call), Skipped(call.lineno, error.why))
            return
        made = {id(call.func) for call in calls_of(node, {*self.named, *self._makers}) if self._is_made(call)}
        named = [one for one in asks_for(node, {*self.named, *self._makers}) if goes_round(node) or id(one) not in made]
        for one in named[:1]:
            self._lose(one, error.why)

    def _is_made(self, call: ast.Call) -> bool:
        return id(call) in self._reached or id(call) in self._done

    def _lose(self, node: ast.expr, why: str) -> None:
        """Say that what stands here makes no records, and why."""
        if self._alone:
            self._lost_alone.setdefault(id(node), Skipped(node.lineno, why))
        else:
            self._lost.setdefault((id(node), why), Skipped(node.lineno, why))

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        """A call; where the file itself calls what makes records and it makes none, that is said."""
        notes, made = self._notes, len(self.records)
        try:
            found = super()._call(node, scope)
        except UnresolvedError as error:
            if not error.told and self._is_outermost() and self._makes_records(node, scope):
                self._lose(node, error.why)
                error.told = True
            raise
        if last_part(node.func) in self._makers:
            if not (self._alone and self._notes > notes and len(self.records) == made):
                self._reached.add(id(node))
            elif self._is_outermost():
                self._lose(node, "what it is called with is not known")
        return found

    def _is_outermost(self) -> bool:
        """Return whether a call is of the file, or of a body that is read by itself, and of no argument of a record."""
        return not self._within and len(self._through) == (1 if self._alone else 0)

    def _makes_records(self, node: ast.Call, scope: Scope) -> bool:
        """Return whether a call is of what makes records."""
        name = last_part(node.func)
        if name != "replace" or name in self._makers:
            return name in self._makers
        try:
            told = self.value(node.func, scope)
        except UnresolvedError:  # a method of a text
            return False
        found = known_function(told) if isinstance(told, Outside) else told
        return isinstance(found, Own) and found.name == "dataclasses.replace"

    def _bodies(self, body: Iterable[ast.stmt], scope: Scope) -> Iterator[tuple[ast.FunctionDef, Scope]]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                yield node, scope
            elif isinstance(node, ast.ClassDef):
                yield from self._bodies(node.body, scope)

    # Other files.

    def imported(self, name: Imported) -> Any:
        """What an import gives: a module, a name of one, or a function that is known here."""
        if name.name in self._asked:
            return self._asked[name.name]
        self._asked[name.name] = known = known_function(Outside(name.name))
        if isinstance(known, Outside) and name.name.partition(".")[0] not in _KNOWN_MODULES:
            whole, part = self._module(name.name), self._module(name.module)
            found = (
                whole if isinstance(whole, Scope) or not isinstance(part, Scope) else part.names.get(name.part, known)
            )
            self._asked[name.name] = self.imported(found) if isinstance(found, Imported) else found
        return self._asked[name.name]

    def _module(self, name: str) -> Scope | Outside:
        """The names of a module whose text is known."""
        if name not in self._known_modules:
            self._known_modules[name] = Outside(name)
            text = self._modules(name) if self._modules is not None and name else None
            tree = parsed(text) if text is not None else None
            if tree is not None:
                self.left += _STEPS
                self._known_modules[name] = inner = Scope()
                self._makers |= makers_in(tree, self.named)
                made, self.records = self.records, []  # those are of that file
                self.each(tree.body, inner)
                self.records = made
        return self._known_modules[name]

    # Calls.

    def called(self, function: Any, node: ast.Call, given: list[Any], more: dict[str, Any]) -> Any:
        """What a call gives: a record, or what the function returns. A record that cannot be told is Outside."""
        kind = self._kind_of(function, node)
        if kind is not None and isinstance(function, Class | Outside):
            return self._made(kind, function, node, given, more)
        if isinstance(function, Outside):
            function = known_function(function)
        if isinstance(function, Own):
            return self._own(function.name, given, more)
        if isinstance(function, Class):
            return _record(function, node.lineno, given, more)
        if isinstance(function, Partial):
            return self.called(function.function, node, [*function.given, *given], {**function.more, **more})
        if isinstance(function, Function):
            return self._follow(function, given, more)
        if isinstance(function, type) and function in TYPES.values():
            return FUNCTIONS[function.__name__](*given, **more)
        raise UnresolvedError(function.why if isinstance(function, Outside) else "what is called is not known")

    def _kind_of(self, function: Any, node: ast.Call) -> str | None:
        """The class of the record that a call makes: by how it is called, or by what has another name here."""
        own = function.name.rpartition(".")[2] if isinstance(function, Class | Outside) else ""
        return self.named.get(last_part(node.func)) or (own if own in self.kinds else None)

    def given(self, node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call; those of a record are Outside where they cannot be told."""
        if last_part(node.func) not in self.named:
            return super().given(node, scope)
        self._within += 1
        try:
            return super().given(node, scope)
        except UnresolvedError as error:
            self._note(node, error.why)
            return [], {"": Outside("", error.why)}
        finally:
            self._within -= 1

    def _made(
        self, kind: str, function: Class | Outside, node: ast.Call, given: list[Any], more: dict[str, Any]
    ) -> Any:
        known = function if isinstance(function, Class) else Class(kind, tuple(self.kinds[kind]), {})
        try:
            record = _record(known, node.lineno, given, more)
            unknown = next((one for one in record.fields.values() if isinstance(one, Outside)), None)
            if unknown is not None:
                raise UnresolvedError(unknown.why)
            plain(record.fields)
        except UnresolvedError as error:
            self._note(node, error.why)
            return Outside(kind, error.why)
        record.under, record.through = self._under, self._passed()
        self._done.add(id(node))
        self._keep(record)
        return record

    def _keep(self, record: Record) -> None:
        """Take a record; one that a function makes again in its body alone is not taken again."""
        if self._alone and _key_of(record) in self._keys:
            return
        self.records.append(record)

    def _own(self, name: str, given: list[Any], more: dict[str, Any]) -> Any:
        if name == "functools.partial":
            return Partial(given[0], given[1:], more)
        if name == "dataclasses.replace":
            return self._replaced(given[0], more)
        if name == "dataclasses.field":
            return self._default(**more)
        found = FUNCTIONS.get(name)
        if found is None:
            raise UnresolvedError(f"{name} is of another file")
        return found(*given, **more)

    def _default(self, default: Any = None, default_factory: Any = None, **_: Any) -> Any:
        if default_factory is None:
            return default
        return Partial(default_factory, [], {})

    def _replaced(self, record: Any, more: dict[str, Any]) -> Any:
        if not isinstance(record, Record):
            raise UnresolvedError(record.why if isinstance(record, Outside) else "what is replaced is no record")
        made = Record(record.kind, plain({**record.fields, **more}), record.line, self._under, self._passed())
        if record.kind in self.kinds:
            self._keep(made)
        return made

    def _follow(self, function: Function, given: list[Any], more: dict[str, Any]) -> Any:
        """What a function of the file returns. Of the records that it makes only those that it returns count, where it
        returns some."""
        scope = Scope(_bound(function, given, more), function.scope)
        if len(self._through) >= DEEPEST:
            raise UnresolvedError("functions call each other too deeply")
        self._through.append(function.node)
        made = len(self.records)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body, scope)
            found = self.returned(function.node, scope)
        finally:
            self._through.pop()
        self._only(made, found)
        return found

    def _passed(self) -> tuple[ast.FunctionDef, ...]:
        """The functions that are being followed."""
        return tuple([one for one in self._through if isinstance(one, ast.FunctionDef)])

    def _only(self, made: int, returned: Any) -> None:
        """Of the records since `made` those count that were returned, where some were."""
        found = _records_in(returned)
        if found:
            self.records[made:] = [one for one in self.records[made:] if id(one) in found]


def _key_of(record: Record) -> str:
    """What tells a record from others."""
    return f"{record.line} {record.fields!r}"


def _parameters(given: ast.arguments) -> Iterator[str]:
    for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if one is not None:
            yield one.arg


def _bound(function: Function, given: list[Any], more: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a call by their names. Raises UnresolvedError."""
    told = function.node.args
    names = [one.arg for one in (*told.posonlyargs, *told.args)]
    keys = [*names, *[one.arg for one in told.kwonlyargs]]
    found = {**function.defaults, **dict(zip(names, given, strict=False))}
    if told.vararg is not None:
        found[told.vararg.arg] = tuple(given[len(names) :])
    elif len(given) > len(names):
        raise UnresolvedError("a call gives more than its function takes")
    found |= {key: one for key, one in more.items() if key in keys}
    rest = {key: one for key, one in more.items() if key not in keys}
    if told.kwarg is not None:
        found[told.kwarg.arg] = rest
    elif rest:
        raise UnresolvedError("a call gives more than its function takes")
    missing = next((key for key in keys if key not in found), None)
    if missing is not None:
        raise UnresolvedError(f"a call leaves out {missing}")
    return found


def _record(kind: Class, line: int, given: list[Any], more: dict[str, Any]) -> Record:
    """A record of some arguments. Raises UnresolvedError."""
    unknown = more.get("")
    if isinstance(unknown, Outside):
        raise UnresolvedError(unknown.why)
    wrong = next((key for key in more if key not in kind.fields), None)
    if wrong is not None or len(given) > len(kind.fields):
        raise UnresolvedError(f"{kind.name} has no field {wrong}" if wrong else f"{kind.name} has fewer fields")
    defaults = {key: _fresh(one) for key, one in kind.defaults.items()}
    return Record(kind.name, {**defaults, **dict(zip(kind.fields, given, strict=False)), **more}, line)


def _fresh(default: Any) -> Any:
    """The default of a field, made anew where it is made by a function."""
    if not isinstance(default, Partial):
        return default
    made = default.function
    return made() if isinstance(made, type) else Outside("a default", "a default is made by a function")


def _records_in(value: Any) -> set[int]:
    """The places of the records that a value is or holds."""
    stack, found, left = [value], set[int](), ITEMS
    while stack and left > 0:
        one, left = stack.pop(), left - 1
        if isinstance(one, Record):
            found.add(id(one))
        elif isinstance(one, list | tuple):
            stack += one
        elif isinstance(one, dict):
            stack += one.values()
    return found
