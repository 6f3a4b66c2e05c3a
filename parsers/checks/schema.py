"""Judges arguments by the JSON Schema of their tool, and says where in their text they break it.

The library `jsonschema-rs` judges, and is asked so that no schema and no arguments can do harm: nothing is fetched,
patterns run on an engine that is linear in the text, and what would take more than `BUDGET` steps, or is nested deeper
than `DEEP`, is left alone. What is not judged for such a reason is said.

One rule goes beyond the standard: a key that the schema does not list is a problem unless additionalProperties or
patternProperties allow it, because a tool will not know it. And `nullable` means what it means in OpenAPI 3.0.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jsonschema_rs import (
    Draft201909Validator,
    Draft202012Validator,
    FancyRegexOptions,
    RegexOptions,
    ValidationError,
)
from jsonschema_rs import ValidationErrorKind as Kind

from parsers.arguments.coerce import is_nullable
from parsers.checks.json_text import Member, Node, read_object
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.words import shortened

if TYPE_CHECKING:
    from jsonschema_rs import KeywordValidator

Validator = Draft201909Validator | Draft202012Validator
Path = tuple[str | int, ...]

BUDGET = 50_000  # steps: so often may schemas and values meet
DEEP = 100  # levels of a schema, and of a value
PATTERN_BYTES, PATTERNS_BYTES = 8_000_000, 16_000_000  # memory of a compiled pattern, and of all in a schema
REPAIRS = 20  # so many broken keywords are left out of a schema, to judge by the rest

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_WANTED = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "text with `{}` in it",
    "format": "the format {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
    "falseSchema": "nothing there",
}
_NAMES_SHOWN, _TEXT_SHOWN = 6, 40

# Where schemas stand inside a schema: by name, in a list or alone. Those of `_SAME` are about the value itself, the
# others about its members and items.
_BY_NAME = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_IN_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_SAME = ("not", "if", "then", "else")
_OF_MEMBERS = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_OF_ITEMS = ("items", "additionalItems", "contains", "unevaluatedItems")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ADDRESSES = ("$schema", "$id")  # references lead from the root here, in the newest drafts
_LISTED = "x-listed-keys"  # a keyword of ours: the only keys that an object may have
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_REPEATED = re.compile(r"\{\d+(,\d*)?\}")
_INDEX = re.compile(r"\+?[0-9]{1,25}")  # what the library makes a number of where it stands in a path
_TOO_LARGE = "too large"


class UnjudgedError(Exception):
    """A schema, or what it has to judge, is too large for bounded time, or nothing the library can take. The text of
    the error says what it is."""


@dataclass(slots=True, frozen=True)
class _Flaw:
    """Something about a schema itself: it is `broken`, or a part of it is not judged."""

    words: str
    broken: bool = True


@dataclass(slots=True)
class Problem:
    """One way in which a value breaks its schema.

    `at` is where the value, or the key it belongs to, begins in the text; `wanted` lists types for a wrong type.
    `keyword` is that of the schema.
    """

    path: Path
    at: int
    message: str
    expected: str | None = None
    actual: str | None = None
    wanted: tuple[str, ...] = ()
    keyword: str = ""


@dataclass(slots=True)
class Schema:
    """The schema of a tool's arguments, ready to judge by, and its flaws. Without a validator it judges nothing."""

    flaws: list[_Flaw] = field(default_factory=list)
    root: Any = None
    validator: Validator | None = None

    def problems(self, arguments: str, tool: str) -> list[Problem]:
        """Return what is wrong with a text that is one JSON object: the first problem of each path, in order of the
        text.

        `tool` is how the tool is called in sentences. Raises UnjudgedError where that cannot be found out.
        """
        report = _Report(arguments, tool)
        found = [problem for error in self.errors(arguments) for problem in report.problems(error)]
        first: dict[Path, Problem] = {}
        for problem in sorted(found, key=_by_place):
            first.setdefault(problem.path, problem)
        return list(first.values())

    def errors(self, arguments: str) -> list[ValidationError]:
        """Return what the library says of a text that is one JSON object. Raises UnjudgedError."""
        if self.validator is None:
            return []
        value = object_of(arguments)
        if value is None or _depth(value) > DEEP:
            raise UnjudgedError(_TOO_LARGE)
        if _has_unclear_keys(value):
            raise UnjudgedError("objects with an empty key, or with keys that read as the same number")
        _Work(self.root).count(self.root, value)
        try:
            return [*self.validator.iter_errors(value)]
        except UnicodeEncodeError as error:  # half a character
            raise UnjudgedError("text with half a character in it") from error


def schema_of(parameters: Mapping[str, Any]) -> Schema:
    """Return what a request declares for a tool, ready to judge by. The last few dozen of a process are kept."""
    try:
        return _compiled(json.dumps(parameters))
    except RecursionError:
        return Schema([_Flaw("it is too large", broken=False)])


def misfits(parameters: object, arguments: str) -> frozenset[Path]:
    """Return where a text, which must be one valid JSON object, breaks a schema; nowhere where that cannot be
    judged."""
    if not isinstance(parameters, Mapping):
        return frozenset()
    try:
        return frozenset([problem.path for problem in schema_of(parameters).problems(arguments, "")])
    except UnjudgedError:
        return frozenset()


def where(path: Path) -> str:
    """A path as people write it: `filter.items[2]`."""
    text = "".join([f"[{part}]" if isinstance(part, int) else f".{part}" for part in path])
    return f"`{text.removeprefix('.')}`" if path else "The value"


# How a schema is made ready: a copy without what cannot be judged, with our own rule in it.


@lru_cache(maxsize=64)
def _compiled(text: str) -> Schema:
    schema = Schema()
    copy = _Copy(json.loads(text), schema.flaws)
    try:
        schema.root = copy.whole()
    except UnjudgedError:
        schema.flaws.append(_Flaw("it is too large", broken=False))
        return schema
    patterns = RegexOptions(size_limit=min(PATTERN_BYTES, PATTERNS_BYTES // (copy.patterns or 1)))
    for _ in range(REPAIRS):
        try:
            schema.validator = _validator(schema.root, patterns, newest=copy.newest)
            return schema
        except ValidationError as error:
            schema.flaws.append(_flaw(error))
            if not leave_out(schema.root, error.instance_path):
                return schema
    return schema


def _validator(schema: Any, patterns: RegexOptions | FancyRegexOptions, *, newest: bool = False) -> Validator:
    """Older drafts, and tools that name none, mostly mean what 2019-09 has; `prefixItems` came with the newest."""
    make = Draft202012Validator if newest else Draft201909Validator
    keywords: dict[str, type[KeywordValidator]] = {_LISTED: _ListedKeys}
    return make(schema, validate_formats=True, pattern_options=patterns, keywords=keywords, offline=True)


def _flaw(error: ValidationError) -> _Flaw:
    place = where(tuple(error.instance_path))
    given = shortened(json.dumps(error.instance, ensure_ascii=False), _TEXT_SHOWN)
    if isinstance(error.kind, Kind.Format):
        small = {"pattern": _REPEATED.sub("{1}", str(error.instance))}
        with suppress(ValidationError):
            _validator(small, RegexOptions(size_limit=PATTERN_BYTES))
            return _Flaw(f"{place}, since {given} is too large", broken=False)
        with suppress(ValidationError):  # a regular expression, but not one that an engine without backtracking knows
            _validator(small, FancyRegexOptions(size_limit=PATTERN_BYTES))
            return _Flaw(f"{place}, since matching {given} could take for ever", broken=False)
    return _Flaw(f"{place} cannot be {given}" if error.instance_path else "a reference in it leads nowhere")


def leave_out(schema: Any, path: Sequence[str | int]) -> bool:
    """Take what stands at a path out of a schema, so that the rest can judge. False where nothing stands there."""
    try:
        for part in path[:-1]:
            schema = schema[part if isinstance(schema, list) else _key(schema, part)]
        del schema[path[-1] if isinstance(schema, list) else _key(schema, path[-1])]
    except (IndexError, KeyError, TypeError):
        return False
    return True


def _key(keys: Collection[str], part: str | int) -> str:
    """The key that the library means in a path: what reads as a number, it makes one."""
    if isinstance(part, str) or str(part) in keys:
        return str(part)
    return next((key for key in keys if key.lstrip("+0") == str(part or "")), str(part))


@dataclass(slots=True)
class _Copy:
    root: Any
    flaws: list[_Flaw]
    left: int = BUDGET
    patterns: int = 0
    newest: bool = False  # it has a keyword that only the newest draft has

    def whole(self) -> Any:
        """The copy. Raises UnjudgedError where the schema is too deep or too large."""
        return self._schema(self.root, (), closed=True)

    def _schema(self, given: Any, path: Path, *, closed: bool) -> Any:
        """A copy of one schema. `closed`: it says all about its value, so that what it does not list is unknown."""
        self.left -= 1
        if len(path) > DEEP or self.left < 0:
            raise UnjudgedError(_TOO_LARGE)
        if not isinstance(given, dict):
            return given
        self.patterns += len(_mapping(given.get("patternProperties"))) + ("pattern" in given)
        self.newest = self.newest or isinstance(given.get("prefixItems"), list)
        given = _with_bounds(given)
        out = {key: self._part(key, value, (*path, key)) for key, value in given.items() if self._is_judged(key, value)}
        if is_nullable(given) and isinstance(given.get("type"), str | list):
            types = [given["type"]] if isinstance(given["type"], str) else given["type"]
            out["type"] = [*[name for name in types if name != "null"], "null"]
        if given.get("additionalProperties") is False and "patternProperties" not in given:
            del out["additionalProperties"]
            return out | {_LISTED: list(_mapping(given.get("properties")))}
        names = self._names(given) if closed else None
        return out if names is None else out | {_LISTED: names}

    def _part(self, key: str, value: Any, path: Path) -> Any:
        """Return what stands behind a keyword, with copies of the schemas in it."""
        if key in _BY_NAME and isinstance(value, dict):
            closed = key in ("properties", "patternProperties")
            return {name: self._schema(one, (*path, name), closed=closed) for name, one in value.items()}
        if isinstance(value, list) and key in (*_IN_LIST, "items"):
            closed = key in ("items", "prefixItems")
            return [self._schema(one, (*path, at), closed=closed) for at, one in enumerate(value)]
        if key in (*_SAME, *_OF_MEMBERS, *_OF_ITEMS):
            return self._schema(value, path, closed=key not in _SAME)
        return value

    def _is_judged(self, key: str, value: object) -> bool:
        """Return whether a keyword is looked at. Of references only those are that lead to a place in this schema."""
        if key not in _REFERENCES or (key == "$ref" and f"{value}/".startswith("#/")):
            return key not in _ADDRESSES
        target = shortened(json.dumps(value), _TEXT_SHOWN)
        self.flaws.append(_Flaw(f"`{key}`, since {target} is not looked up", broken=False))
        return False

    def _names(self, schema: dict[str, Any]) -> list[str] | None:
        """The keys an object may have by this schema and all combined with it; None when any key may be."""
        names: dict[str, None] = {}
        limited, seen, waiting = False, {id(schema)}, [schema]
        while waiting:
            part = waiting.pop(0)
            if part.get("additionalProperties") not in (None, False) or "patternProperties" in part:
                return None
            limited = limited or "properties" in part or "additionalProperties" in part
            names |= dict.fromkeys(_mapping(part.get("properties")))
            fresh = [one for one in _same(part, self.root) if isinstance(one, dict) and id(one) not in seen]
            seen |= {id(one) for one in fresh}
            waiting += fresh
        return list(names) if limited else None


def _with_bounds(given: dict[str, Any]) -> dict[str, Any]:
    """A schema whose exclusive bounds are numbers. In OpenAPI 3.0 and draft 4 they are flags beside the bounds."""
    flags = {key: plain for key, plain in _EXCLUSIVE.items() if isinstance(given.get(key), bool) and plain in given}
    if not flags:
        return given
    moved = {plain: key for key, plain in flags.items() if given[key]}
    return {moved.get(key, key): value for key, value in given.items() if key not in flags}


def _same(schema: dict[str, Any], root: Any) -> Iterator[Any]:
    """Every schema that is about the same value as this one."""
    for name in ("allOf", "anyOf", "oneOf"):
        yield from _list(schema.get(name))
    yield from (schema[name] for name in _SAME if name in schema)
    yield from _mapping(schema.get("dependentSchemas")).values()
    if "$ref" in schema:
        yield _target(root, str(schema["$ref"]))


def _target(root: Any, reference: str) -> Any:
    for part in unquote(reference).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        listed = isinstance(root, list) and name.isdecimal() and int(name) < len(root)
        root = root[int(name)] if listed else _mapping(root).get(name)
    return root


class _ListedKeys:
    """Our keyword. Its error holds JSON for `_Report`: the odd keys, the first listed ones, and how many are listed."""

    def __init__(self, _schema: object, names: list[str], _path: object) -> None:
        self._names = dict.fromkeys(names)

    def validate(self, value: object) -> None:
        """Refuse an object with keys that are not listed."""
        odd = [key for key in value if key not in self._names] if isinstance(value, dict) else []
        if odd:
            raise ValueError(json.dumps([odd, list(self._names)[:_NAMES_SHOWN], len(self._names)]))


# What judging takes, and what the library says of a value.


@dataclass(slots=True)
class _Work:
    """Counts how often schemas meet values before they do, so that what would take too long is not begun."""

    root: Any
    known: dict[tuple[int, int], int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)

    def count(self, schema: Any, value: Any, depth: int = 0) -> int:
        """The steps that judging a value takes at most. Raises UnjudgedError beyond BUDGET."""
        key = id(schema), id(value)
        if key not in self.known:
            if depth > DEEP:
                raise UnjudgedError(_TOO_LARGE)
            self.known[key] = 0  # a schema that means itself ends here
            total = 1 + (self._size(value) >> 4)  # every answer holds the value that it is about
            if isinstance(schema, dict):
                total *= _answers(schema, value)
                for part, inner in self._parts(schema, value):
                    if total > BUDGET:
                        break
                    total += self.count(part, inner, depth + 1)
            if total > BUDGET:
                raise UnjudgedError(_TOO_LARGE)
            self.known[key] = total
        return self.known[key]

    def _size(self, value: Any) -> int:
        if not isinstance(value, dict | list):
            return len(value) >> 5 if isinstance(value, str) else 0
        if id(value) not in self.sizes:
            inner = value.values() if isinstance(value, dict) else value
            self.sizes[id(value)] = len(value) + sum([self._size(one) for one in inner])
        return self.sizes[id(value)]

    def _parts(self, schema: dict[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
        """Every schema that is asked about the value, or about a member or item of it, with that."""
        yield from ((one, value) for one in _same(schema, self.root))
        if isinstance(value, dict):
            properties = _mapping(schema.get("properties"))
            yield from ((properties[key], inner) for key, inner in value.items() if key in properties)
            every = [*_mapping(schema.get("patternProperties")).values(), *[schema.get(name) for name in _OF_MEMBERS]]
            yield from ((one, inner) for inner in value.values() for one in every if one is not None)
        elif isinstance(value, list):
            places = [schema.get(name) for name in ("prefixItems", *_OF_ITEMS)]
            every = [one for place in places for one in (place if isinstance(place, list) else [place])]
            yield from ((one, inner) for inner in value for one in every if one is not None)


def _answers(schema: dict[str, Any], value: Any) -> int:
    """Return how many answers a schema may give about a value itself; a long list to compare with counts as some."""
    named = [schema.get("required"), *_mapping(schema.get("dependentRequired")).values()]
    keys = len(value) if isinstance(value, dict) and "propertyNames" in schema else 0
    return 1 + sum([len(_list(names)) for names in named]) + keys + (len(_list(schema.get("enum"))) >> 5)


class _Report:
    def __init__(self, text: str, tool: str) -> None:
        self._text = text
        self._tool = tool
        self._root = read_object(text)
        self._members: dict[int, dict[str, Member]] = {}

    def problems(self, error: ValidationError) -> list[Problem]:
        """Return what one answer says; several problems where it is about several keys, or the forms of a value."""
        path, node, at = self._place(error.instance_path)
        match error.kind:
            case Kind.Custom(message=listed):
                keys, names, many = json.loads(listed)
                return [self._unlisted(node, path, key, _listed_words(names, many)) for key in keys]
            case Kind.AdditionalProperties(unexpected=keys) | Kind.UnevaluatedProperties(unexpected=keys):
                return [self._unlisted(node, path, key, "") for key in keys]
            case Kind.Required(property=name):
                inner = (*path, name)
                message = f"{where(inner)} is missing; {self._tool} requires it"
                return [Problem(inner, node.end - 1, message, keyword="required")]
            case Kind.AnyOf(context=forms) | Kind.OneOfNotValid(context=forms):
                found = [[one for error in errors for one in self.problems(error)] for errors in forms]
                return self._nearest([sorted(form, key=_by_place) for form in found], node, path, at)
            case Kind.Type(types=types):
                return [self._wrong_type(node, path, at, types)]
        return [self._wrong_value(error.kind, node, path, at)]

    def _nearest(self, forms: list[list[Problem]], node: Node, path: Path, at: int) -> list[Problem]:
        typed = [[one for one in form if one.wanted and one.path == path] for form in forms]
        near = [form for form, wrong in zip(forms, typed, strict=True) if not wrong]
        if not near:
            return [self._wrong_type(node, path, at, [name for wrong in typed for name in wrong[0].wanted])]
        if len(near) == 1:
            return near[0]
        message = f"{where(path)} fits none of the forms that {self._tool} allows"
        return [Problem(path, at, message, None, self._written(node), keyword="anyOf")]

    def _unlisted(self, node: Node, path: Path, key: str, listed: str) -> Problem:
        owner, inner = where(path) if path else self._tool, (*path, key)
        message = f"{where(inner)} is not a property of {owner}{listed}"
        return Problem(inner, self._members_of(node)[key].at, message, keyword="properties")

    def _wrong_type(self, node: Node, path: Path, at: int, types: Sequence[str]) -> Problem:
        wanted = tuple([name for name in _TYPES if name in types])
        words = " or ".join([_TYPES[name] for name in wanted])
        message = f"{where(path)} is {_TYPES[node.kind]}; {self._tool} wants {words}"
        return Problem(path, at, message, " or ".join(wanted), self._written(node), wanted, "type")

    def _wrong_value(self, kind: Kind, node: Node, path: Path, at: int) -> Problem:
        expected: str | None = None
        if isinstance(kind, Kind.Enum | Kind.Constant):
            values = kind.options if isinstance(kind, Kind.Enum) else [kind.expected_value]
            scalars = [value for value in values if not isinstance(value, dict | list)]
            expected = ", ".join([json.dumps(value, ensure_ascii=False) for value in scalars])
            message = f"{where(path)} is not one of the values that {self._tool} allows"
        elif kind.name in _WANTED:
            expected = _WANTED[kind.name].format(kind.value)
            message = f"{where(path)} is {shortened(self._written(node), _TEXT_SHOWN)}; {self._tool} wants {expected}"
        else:
            message = f"{where(path)} is not what {self._tool} wants by `{kind.name}`"
        return Problem(path, at, message, expected, self._written(node), keyword=kind.name)

    def _written(self, node: Node) -> str:
        return self._text[node.start : node.end]

    def _place(self, given: Sequence[str | int]) -> tuple[Path, Node, int]:
        """A path, the value there, and where it or its key begins."""
        path: Path = ()
        node, at = self._root, self._root.start
        for part in given:
            if node.kind == "array":
                path, node = (*path, part), node.items[int(part)]
                at = node.start
            else:
                members = self._members_of(node)
                key = _key(members, part)
                path, node, at = (*path, key), members[key].value, members[key].at
        return path, node, at

    def _members_of(self, node: Node) -> Mapping[str, Member]:
        """The members of an object by key. Of a key that is given twice the last counts."""
        if id(node) not in self._members:
            self._members[id(node)] = {member.key: member for member in node.members}
        return self._members[id(node)]


def _listed_words(names: list[str], many: int) -> str:
    shown = [f"`{name}`" for name in names] + [f"{many - len(names)} more"] * (many > len(names))
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
    return f", which has {listed or 'none'}"


def _by_place(problem: Problem) -> tuple[int, bool]:
    return problem.at, not problem.wanted


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def _has_unclear_keys(value: Any) -> bool:
    """Return whether an object in it has keys that the library's paths do not tell apart."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            numbers = Counter([int(key) for key in one if _INDEX.fullmatch(key)])
            if "" in one or any(many > 1 for many in numbers.values()):
                return True
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return False


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
