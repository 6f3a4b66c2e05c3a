"""Tools that nobody declared, made from the calls that name them: without a schema each parser guesses the types of
arguments, and some take nothing for a call whose tool they do not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parsers.cases.jsontext import halves_spelled
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.types import ToolCall

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def made_tools(calls: Iterable[ToolCall]) -> tuple[Mapping[str, Any], ...]:
    """The tools that calls name, with the types that the values of their arguments have. Of a text and another type the
    other one counts: the text is how it is written. A name with half of a surrogate pair is left out: no request can
    declare it."""
    found: dict[str, dict[str, set[str]]] = {}
    for call in calls:
        if call.name and _can_be_sent(call.name):
            known = found.setdefault(call.name, {})
            for key, kind in _kinds(call.arguments):
                known.setdefault(key, set()).add(kind)
    return tuple([_tool(name, keys) for name, keys in found.items()])


def _kinds(arguments: str) -> Iterator[tuple[str, str]]:
    for key, value in (object_of(arguments) or {}).items():
        kind = next((name for one, name in _TYPES if isinstance(value, one)), None)
        if kind is not None and _can_be_sent(key):
            yield key, kind


def _can_be_sent(name: str) -> bool:
    return halves_spelled(name) == name


def _tool(name: str, keys: Mapping[str, set[str]]) -> Mapping[str, Any]:
    properties = {key: {"type": _one_of(kinds)} for key, kinds in keys.items()}
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _one_of(kinds: set[str]) -> str:
    """The type of an argument; a number where whole ones came too."""
    others = sorted(kinds - {"string"} - ({"integer"} if "number" in kinds else set()))
    return others[0] if others else "string"
