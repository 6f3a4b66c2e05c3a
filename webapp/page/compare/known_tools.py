"""What two replays differ in only because tools are not declared.

Without a schema each parser guesses the types of arguments, and some take nothing for a call whose tool they do not
know. Whether that explains a difference is tried and not guessed: whoever knows no tools is replayed with those of the
other side, or, where nobody knows any, with tools made from the calls of both. One replay more for each, linear in the
output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from parsers.cases.jsontext import halves_spelled
from parsers.compare.divergence import Rules, same_message
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall

Tools = tuple[Mapping[str, Any], ...]  # as a request has them
_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


@dataclass(slots=True, frozen=True)
class Teller:
    """One side: its tools, what it made of the output, and how to have it replayed with other tools; None where what it
    sent is recorded. `ends`: it is known why its message ended, be it that the server did not say."""

    tools: Tools
    trace: Trace
    replay: Callable[[Tools], Trace] | None
    ends: bool = True


def explained_by_tools(one: Teller, other: Teller, rules: Rules) -> bool:
    """Return whether two messages are the same once both sides know the same tools. False where both know some, where
    neither has a call, and where nothing can be replayed."""
    if one.tools and other.tools:
        return False
    tools = one.tools or other.tools or made_tools([*one.trace.message.tool_calls, *other.trace.message.tool_calls])
    able = [side.replay is not None and not side.tools for side in (one, other)]
    if not tools or not any(able):
        return False
    a, b = [_told(side, tools) for side in (one, other)]
    ended = a.finish_reason == b.finish_reason or not (one.ends and other.ends)
    return not a.failure and not b.failure and ended and same_message(a.message, b.message, rules)


def _told(side: Teller, tools: Tools) -> Trace:
    return side.trace if side.tools or side.replay is None else side.replay(tools)


def made_tools(calls: Iterable[ToolCall]) -> Tools:
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
