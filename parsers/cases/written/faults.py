"""Faults planted into an output that was drawn: what models really do wrong.

Each is planted where it belongs, by what was said and what the built-in parser makes of the unbroken output: a key of a
call is left out, an output ends inside a marker. An output that has no place for a fault is None for it. Each fault is
a signature of its own in a sweep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from parsers.cases.engines import choose
from parsers.cases.run import replayer_of
from parsers.cases.written.generated import Drawn
from parsers.machine.program import literals
from parsers.replays.chunking import WHOLE
from parsers.vocabulary.trace import Ownership
from parsers.vocabulary.types import Owner, Piece


@dataclass(slots=True, frozen=True)
class Broken:
    """An output with a fault, and what of its request or its end belongs to that. None: as the output was drawn.
    `tool_choice` may be the name of a tool."""

    text: str
    finish_reason: str | None = None
    tool_choice: str | None = None


@dataclass(slots=True, frozen=True)
class Fault:
    """Something that goes wrong: what it is, and how it is planted."""

    words: str
    plant: Callable[[Random, Drawn], Broken | None]


def _said_otherwise(drawn: Drawn, place: int, **changed: Any) -> Broken:
    """The output where one call is another one."""
    calls = list(drawn.said.calls)
    calls[place] = replace(calls[place], **changed)
    return Broken(drawn.dialect.write(replace(drawn.said, calls=calls)))


def _parts(drawn: Drawn, *owners: Owner) -> list[Ownership]:
    """The runs of the output that go to one of these owners."""
    case = drawn.case
    replayer = replayer_of(case, choose(case), (Piece(case.text()),))
    return [part for part in replayer.trace(WHOLE).partition if part.owner in owners]


def _arguments_with(
    draw: Random, drawn: Drawn, fits: Callable[[Mapping[str, Any], str], bool], value: object = None
) -> Broken | None:
    """One argument that `fits`, given the schema of its tool and its key, has another value; None: it is left out."""
    schemas = {tool.name: tool.parameters or {} for tool in drawn.case.to_context().tools}
    calls = drawn.said.calls
    places = [(at, key) for at, call in enumerate(calls) for key in call.arguments if fits(schemas[call.name], key)]
    if not places:
        return None
    place, key = draw.choice(places)
    kept = {name: old for name, old in calls[place].arguments.items() if name != key}
    return _said_otherwise(drawn, place, arguments=kept if value is None else {**calls[place].arguments, key: value})


def _declared(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = schema.get("properties", {}).get(key)
    return found if isinstance(found, Mapping) else {}


def _unknown_tool(draw: Random, drawn: Drawn) -> Broken | None:
    if not drawn.said.calls:
        return None
    place = draw.randrange(len(drawn.said.calls))
    return _said_otherwise(drawn, place, name=f"{drawn.said.calls[place].name}_v2")


def _wrong_type(draw: Random, drawn: Drawn) -> Broken | None:
    """Words, of which no server can make a number."""
    return _arguments_with(
        draw, drawn, lambda schema, key: _declared(schema, key).get("type") in ("integer", "number"), "a few"
    )


def _missing_key(draw: Random, drawn: Drawn) -> Broken | None:
    return _arguments_with(draw, drawn, lambda schema, key: key in schema.get("required", ()))


def _wrong_choice(draw: Random, drawn: Drawn) -> Broken | None:
    return _arguments_with(draw, drawn, lambda schema, key: "enum" in _declared(schema, key), "as usual")


def _undeclared_key(draw: Random, drawn: Drawn) -> Broken | None:
    places = [place for place, call in enumerate(drawn.said.calls) if call.arguments]
    if not places:
        return None
    place = draw.choice(places)
    return _said_otherwise(drawn, place, arguments={**drawn.said.calls[place].arguments, "verbosity": "high"})


def _unclosed_reasoning(draw: Random, drawn: Drawn) -> Broken | None:
    """All that follows the reasoning is missing, and the marker that ends it."""
    parts = _parts(drawn, "reasoning")
    return Broken(drawn.case.text()[: parts[-1].end], "stop") if parts else None


def _json_places(drawn: Drawn, pattern: str) -> list[tuple[int, int]]:
    """Where a pattern stands in arguments that are JSON. Where the name follows them, no call may be left of one whose
    arguments are none: that is another matter."""
    text = drawn.case.text()
    named = _parts(drawn, "arguments", "name") if drawn.dialect.values == "json" else []
    parts = [part for part in named if part.owner == "arguments"] if named and named[0].owner == "name" else []
    return [found.span() for part in parts for found in re.compile(pattern).finditer(text, part.start, part.end)]


def _in_json(draw: Random, drawn: Drawn, pattern: str, instead: str) -> Broken | None:
    """One place of the arguments that a pattern finds is written in another way."""
    places = _json_places(drawn, pattern)
    if not places:
        return None
    start, end = draw.choice(places)
    text = drawn.case.text()
    return Broken(f"{text[:start]}{instead}{text[end:]}")


def _trailing_comma(draw: Random, drawn: Drawn) -> Broken | None:
    return _in_json(draw, drawn, r'(?<=[\w"])\s*\}$|(?<=\w")\}(?=\s*\}?$)', ",}")


def _raw_line_break(draw: Random, drawn: Drawn) -> Broken | None:
    return _in_json(draw, drawn, r"(?<=[a-z]) (?=[a-z])", "\n")


def _missing_comma(draw: Random, drawn: Drawn) -> Broken | None:
    return _in_json(draw, drawn, r'(?<=[\d"]),(?=\s*"\w+"\s*:)', " ")


def _turn_token(draw: Random, drawn: Drawn) -> Broken | None:
    """The text of a token that ends a turn of other models stands in the content."""
    parts, ours = _parts(drawn, "content")[:1], {*literals(drawn.fmt), *drawn.fmt.tokens}
    token = next((one for one in ("<|eot_id|>", "<|endoftext|>") if one not in ours), None)
    if not parts or token is None:
        return None
    text, start = drawn.case.text(), parts[0].start
    return Broken(f"{text[:start]}{token}{text[start:]}")


def _no_call(draw: Random, drawn: Drawn) -> Broken | None:
    return None if drawn.said.calls else Broken(drawn.case.text(), "stop", "required")


def _other_call(draw: Random, drawn: Drawn) -> Broken | None:
    called = {call.name for call in drawn.said.calls}
    others = [tool.name for tool in drawn.case.to_context().tools if tool.name not in called]
    return Broken(drawn.case.text(), None, draw.choice(others)) if called and others else None


FAULTS: Mapping[str, Fault] = {
    "unknown_tool": Fault("a call of a tool that is not declared", _unknown_tool),
    "wrong_type": Fault("words where the schema wants a number", _wrong_type),
    "missing_key": Fault("a required argument is left out", _missing_key),
    "undeclared_key": Fault("an argument that the schema does not list", _undeclared_key),
    "wrong_choice": Fault("a value that is none of those listed", _wrong_choice),
    "unclosed_reasoning": Fault("reasoning that never ends, and no answer", _unclosed_reasoning),
    "trailing_comma": Fault("a comma before the closing brace of the arguments", _trailing_comma),
    "missing_comma": Fault("no comma between two arguments", _missing_comma),
    "raw_line_break": Fault("a line break in a JSON string that is not escaped", _raw_line_break),
    "turn_token": Fault("a token that ends a turn stands in the content as text", _turn_token),
    "no_call": Fault("text where the request demands a call", _no_call),
    "other_call": Fault("a call where the request demands one of another tool", _other_call),
}


def truncated(draw: Random, drawn: Drawn) -> Broken | None:
    """The output where the limit of length cut it off, somewhere behind its beginning."""
    text = drawn.case.text()
    return Broken(text[: draw.randrange(1, len(text))], "length") if len(text) > 1 else None
