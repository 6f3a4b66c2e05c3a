"""A small JSON Schema judge that says where in the text a value breaks its schema.

Understood: type (one or a list), nullable, enum, const, properties, required, additionalProperties, items,
anyOf / oneOf (at least one must fit), allOf, and $ref to a place in the same schema. Anything else is not judged.
One rule goes beyond the standard: a key that the schema does not list is reported unless additionalProperties allows
it, because a tool will not know it. (Keywords: JSON Schema, draft 2020-12; nullable: OpenAPI 3.0.)

Listed values that are objects or lists are not compared. Every (schema, value) pair is judged once, and nesting
deeper than `_DEPTH` is not judged, so the work is linear in the arguments whatever the schema looks like.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsers.checks.json_tree import Node, read_object

Path = tuple[str | int, ...]

_DEPTH = 60
_TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "null": "null",
}
_NAMES_SHOWN = 6


@dataclass(slots=True)
class Problem:
    """One way in which a value breaks its schema. `{tool}` in the message stands for the tool's name.

    `at` is where the value, or the key it belongs to, begins in the text; `wanted` lists types for a wrong type.
    """

    path: Path
    at: int
    message: str
    expected: str | None = None
    actual: str | None = None
    wanted: tuple[str, ...] = ()


class Judge:
    """Judges the values of one text against one schema."""

    def __init__(self, schema: Mapping[str, Any], text: str) -> None:
        self._root = schema
        self._text = text
        self._known: dict[tuple[int, int, bool], list[Problem]] = {}
        self._keys: dict[int, list[str] | None] = {}

    def problems(self, root: Node) -> list[Problem]:
        """What is wrong with the value: the first problem of each path, in the order of the text."""
        return sorted(self._judge(self._root, root, (), root.start, 0, True), key=lambda problem: problem.at)

    def _judge(self, schema: Any, node: Node, path: Path, at: int, depth: int, closed: bool) -> list[Problem]:
        """Problems of one value; `closed` asks for keys that no schema lists. `at` is where its key stands."""
        if not isinstance(schema, Mapping) or depth > _DEPTH:
            return []
        key = (id(schema), node.start, closed)
        if key not in self._known:
            self._known[key] = []  # a schema that refers to itself ends here
            found = self._wrong_type(schema, node, path, at) or self._wrong_value(schema, node, path, at)
            if not found:
                found = self._inside(schema, node, path, depth, closed) + self._combined(schema, node, path, at, depth)
            self._known[key] = _first_per_path(found)
        return self._known[key]

    def _wrong_type(self, schema: Mapping[str, Any], node: Node, path: Path, at: int) -> list[Problem]:
        wanted = _types(schema)
        if not wanted or node.kind in wanted or (node.kind == "integer" and "number" in wanted):
            return []
        return [self._type_problem(node, path, at, wanted)]

    def _type_problem(self, node: Node, path: Path, at: int, wanted: tuple[str, ...]) -> Problem:
        words = " or ".join([_TYPES[name] for name in wanted])
        message = f"{where(path)} is {_TYPES[node.kind]}; {{tool}} wants {words}"
        return Problem(path, at, message, " or ".join(wanted), self._text[node.start : node.end], wanted)

    def _wrong_value(self, schema: Mapping[str, Any], node: Node, path: Path, at: int) -> list[Problem]:
        allowed = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
        if not allowed or any(_fits(node, value) for value in allowed):
            return []
        message = f"{where(path)} is not one of the values that {{tool}} allows"
        listed = ", ".join([json.dumps(value, ensure_ascii=False) for value in allowed if _is_scalar(value)])
        return [Problem(path, at, message, listed, self._text[node.start : node.end])]

    def _inside(self, schema: Mapping[str, Any], node: Node, path: Path, depth: int, closed: bool) -> list[Problem]:
        """Problems of the members and items of a value."""
        if node.kind == "array":
            items = schema.get("items")
            return [
                problem
                for index, item in enumerate(node.items)
                for problem in self._judge(items, item, (*path, index), item.start, depth + 1, True)
            ]
        return self._members(schema, node, path, depth, closed) if node.kind == "object" else []

    def _members(self, schema: Mapping[str, Any], node: Node, path: Path, depth: int, closed: bool) -> list[Problem]:
        listed = _mapping(schema.get("properties"))
        other = schema.get("additionalProperties")
        names = self._names(schema) if closed else (list(listed) if other is False else None)
        found = []
        for member in node.members:
            inner = (*path, member.key)
            if member.key in listed:
                found += self._judge(listed[member.key], member.value, inner, member.at, depth + 1, True)
            elif names is not None and member.key not in names:
                found.append(Problem(inner, member.at, _unlisted(path, member.key, names)))
            else:
                found += self._judge(other, member.value, inner, member.at, depth + 1, True)
        present = {member.key for member in node.members}
        missing = [name for name in _strings(schema.get("required")) if name not in present]
        return found + [
            Problem((*path, name), node.end - 1, f"{where((*path, name))} is missing; {{tool}} requires it")
            for name in missing
        ]

    def _names(self, schema: Mapping[str, Any]) -> list[str] | None:
        """The keys an object may have by this schema and all combined with it; None when any key may be."""
        if id(schema) not in self._keys:
            self._keys[id(schema)] = self._collect_names(schema)
        return self._keys[id(schema)]

    def _collect_names(self, schema: Mapping[str, Any]) -> list[str] | None:
        names: dict[str, None] = {}
        limited, seen, waiting = False, {id(schema)}, [schema]
        while waiting:
            part = waiting.pop(0)
            if part.get("additionalProperties") not in (None, False) or "patternProperties" in part:
                return None
            limited = limited or "properties" in part or "additionalProperties" in part
            names |= dict.fromkeys(_mapping(part.get("properties")))
            fresh = [inner for inner in self._parts(part) if id(inner) not in seen]
            seen |= {id(inner) for inner in fresh}
            waiting += fresh
        return list(names) if limited else None

    def _combined(self, schema: Mapping[str, Any], node: Node, path: Path, at: int, depth: int) -> list[Problem]:
        """Problems from allOf, $ref, anyOf and oneOf."""
        found = []
        for part in [*_list(schema.get("allOf")), *self._referred(schema)]:
            found += self._judge(part, node, path, at, depth + 1, False)
        for name in ("anyOf", "oneOf"):
            if _list(schema.get(name)):
                results = [self._judge(part, node, path, at, depth + 1, False) for part in schema[name]]
                found += self._best(results, node, path, at)
        return found

    def _best(self, results: list[list[Problem]], node: Node, path: Path, at: int) -> list[Problem]:
        """Nothing if any form fits; else the problems of the only form that has the right type, or one summary."""
        if not all(results):
            return []
        near = [problems for problems in results if not (problems[0].wanted and problems[0].path == path)]
        if not near:
            wanted = dict.fromkeys(name for problems in results for name in problems[0].wanted)
            return [self._type_problem(node, path, at, tuple(wanted))]
        if len(near) == 1:
            return near[0]
        message = f"{where(path)} fits none of the forms that {{tool}} allows"
        return [Problem(path, at, message, None, self._text[node.start : node.end])]

    def _parts(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Every schema that is combined with this one."""
        parts = [part for name in ("allOf", "anyOf", "oneOf") for part in _list(schema.get(name))]
        return [part for part in [*parts, *self._referred(schema)] if isinstance(part, Mapping)]

    def _referred(self, schema: Mapping[str, Any]) -> list[Any]:
        """The schema that $ref names, if it stands in the same document."""
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        found: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            found = _mapping(found).get(part.replace("~1", "/").replace("~0", "~"))
        return [found]


def misfits(schema: object, arguments: str) -> frozenset[Path]:
    """Where a text, which must be one valid JSON object, breaks a schema; nowhere if that is no schema."""
    if not isinstance(schema, Mapping):
        return frozenset()
    return frozenset([problem.path for problem in Judge(schema, arguments).problems(read_object(arguments))])


def where(path: Path) -> str:
    """A path as people write it: `filter.items[2]`."""
    text = "".join([f"[{part}]" if isinstance(part, int) else f".{part}" for part in path])
    return f"`{text.removeprefix('.')}`" if path else "The value"


def _first_per_path(problems: list[Problem]) -> list[Problem]:
    """Combined schemas repeat each other; doubling at every level would grow without bound."""
    first: dict[Path, Problem] = {}
    for problem in problems:
        first.setdefault(problem.path, problem)
    return list(first.values())


def _unlisted(path: Path, key: str, names: list[str]) -> str:
    owner = where(path) if path else "{tool}"
    shown = [f"`{name}`" for name in names]
    if not shown:
        return f"{where((*path, key))} is not a property of {owner}, which has none"
    if len(shown) > _NAMES_SHOWN:
        shown = [*shown[:_NAMES_SHOWN], f"{len(shown) - _NAMES_SHOWN} more"]
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    return f"{where((*path, key))} is not a property of {owner}, which has {listed}"


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The declared types; () when none, or one that JSON Schema does not have, is declared."""
    declared = schema.get("type")
    names = [declared] if isinstance(declared, str) else _list(declared)
    if not names or not all(isinstance(name, str) and name in _TYPES for name in names):
        return ()
    return (*names, "null") if schema.get("nullable") is True else tuple(names)


def _fits(node: Node, value: Any) -> bool:
    """Whether a scalar equals a listed value (1 equals 1.0, not true); containers are not compared."""
    if node.kind in ("object", "array"):
        return not _is_scalar(value)
    return isinstance(node.value, bool) == isinstance(value, bool) and node.value == value


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: Any) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]
