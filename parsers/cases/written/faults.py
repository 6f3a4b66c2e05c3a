"""Faults planted into an output that was drawn: what models and their servers really do wrong.

Each is planted where it belongs, by what the built-in parser makes of the unbroken output: a call is cut off inside its
arguments, a marker that ends a call is left out. A fault that an output has no place for is not planted in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from parsers.cases.engines import choose
from parsers.cases.run import replayer_of
from parsers.cases.written.generated import Drawn
from parsers.replays.chunking import WHOLE
from parsers.vocabulary.trace import Ownership
from parsers.vocabulary.types import Owner, Piece


@dataclass(slots=True, frozen=True)
class Broken:
    """An output with a fault, and what of its request or its end belongs to that. None: as the output was drawn."""

    text: str
    finish_reason: str | None = None
    tool_choice: str | None = None


@dataclass(slots=True, frozen=True)
class Fault:
    """Something that goes wrong: what it is in words, and how it is planted."""

    name: str
    words: str
    plant: Callable[[Random, Drawn], Broken | None]


def _said_otherwise(drawn: Drawn, place: int, name: str | None = None, arguments: Mapping[str, Any] | None = None) -> str:
    """The output where one call is another one."""
    calls = list(drawn.said.calls)
    old = calls[place]
    calls[place] = replace(old, name=name or old.name, arguments=old.arguments if arguments is None else {**arguments})
    return drawn.dialect.write(replace(drawn.said, calls=calls))


def _parts(drawn: Drawn, *owners: Owner) -> list[Ownership]:
    """The runs of the output that go to one of these owners."""
    case = drawn.case
    replayer = replayer_of(case, choose(case), (Piece(case.text()),))
    return [part for part in replayer.trace(WHOLE).partition if part.owner in owners]


def _unknown_tool(draw: Random, drawn: Drawn) -> Broken | None:
    if not drawn.said.calls:
        return None
    place = draw.randrange(len(drawn.said.calls))
    return Broken(_said_otherwise(drawn, place, name=f"{drawn.said.calls[place].name}_v2"))


def _schemas(drawn: Drawn) -> dict[str, Mapping[str, Any]]:
    return {tool.name: tool.parameters or {} for tool in drawn.case.to_context().tools}


def _wrong_type(draw: Random, drawn: Drawn) -> Broken | None:
    """Words where a whole number is declared: no server can make a number of them."""
    schemas = _schemas(drawn)
    places = [
        (place, key)
        for place, call in enumerate(drawn.said.calls)
        for key in call.arguments
        if schemas[call.name].get("properties", {}).get(key, {}).get("type") in ("integer", "number")
    ]
    if not places:
        return None
    place, key = draw.choice(places)
    return Broken(_said_otherwise(drawn, place, arguments={**drawn.said.calls[place].arguments, key: "a few"}))


def _missing_key(draw: Random, drawn: Drawn) -> Broken | None:
    schemas = _schemas(drawn)
    places = [
        (place, key)
        for place, call in enumerate(drawn.said.calls)
        for key in call.arguments
        if key in schemas[call.name].get("required", ())
    ]
    if not places:
        return None
    place, key = draw.choice(places)
    left = {name: value for name, value in drawn.said.calls[place].arguments.items() if name != key}
    return Broken(_said_otherwise(drawn, place, arguments=left))


def _undeclared_key(draw: Random, drawn: Drawn) -> Broken | None:
    schemas = _schemas(drawn)
    places = [place for place, call in enumerate(drawn.said.calls) if schemas[call.name].get("properties")]
    if not places:
        return None
    place = draw.choice(places)
    return Broken(_said_otherwise(drawn, place, arguments={**drawn.said.calls[place].arguments, "verbosity": "high"}))


def _cut_in_arguments(draw: Random, drawn: Drawn) -> Broken | None:
    """The model stops inside the arguments, as if it were done."""
    parts = [part for part in _parts(drawn, "arguments") if part.end - part.start > 6]
    if not parts:
        return None
    part = parts[-1]
    return Broken(drawn.case.text()[: draw.randrange(part.start + 3, part.end - 2)], "stop")


def _cut_in_marker(draw: Random, drawn: Drawn) -> Broken | None:
    """The output ends inside the marker behind the last call."""
    last = [part for part in _parts(drawn, "marker", "arguments") if part.owner == "marker"][-1:]
    if not last or not drawn.said.calls or last[0].end - last[0].start < 4:
        return None
    return Broken(drawn.case.text()[: last[0].end - 2].rstrip(), "stop")


def _unclosed_reasoning(draw: Random, drawn: Drawn) -> Broken | None:
    """The marker that ends the reasoning is never written, and nothing behind it."""
    parts = _parts(drawn, "reasoning")
    return Broken(drawn.case.text()[: parts[-1].end], "stop") if parts else None


def _lost_closer(draw: Random, drawn: Drawn) -> Broken | None:
    """The last marker is left out."""
    markers = [part for part in _parts(drawn, "marker") if part.end - part.start > 2]
    if not markers or not drawn.said.calls:
        return None
    text, part = drawn.case.text(), markers[-1]
    return Broken(text[: part.start] + text[part.end :])


def _doubled_closer(draw: Random, drawn: Drawn) -> Broken | None:
    """The last marker is written twice."""
    markers = [part for part in _parts(drawn, "marker") if part.end - part.start > 2]
    if not markers or not drawn.said.calls:
        return None
    text, part = drawn.case.text(), markers[-1]
    return Broken(text[: part.end] + text[part.start : part.end].strip() + text[part.end :])


def _broken_json(draw: Random, drawn: Drawn) -> Broken | None:
    """The last brace of the arguments is left out."""
    parts = [part for part in _parts(drawn, "arguments") if drawn.case.text()[part.end - 1] == "}"]
    if not parts or drawn.dialect.values != "json":
        return None
    text, part = drawn.case.text(), draw.choice(parts)
    return Broken(text[: part.end - 1] + text[part.end :])


def _trailing_comma(draw: Random, drawn: Drawn) -> Broken | None:
    parts = [part for part in _parts(drawn, "arguments") if drawn.case.text()[part.end - 1] == "}"]
    if not parts or drawn.dialect.values != "json":
        return None
    text, part = drawn.case.text(), draw.choice(parts)
    return Broken(f"{text[: part.end - 1]},{text[part.end - 1 :]}")


def _raw_line_break(draw: Random, drawn: Drawn) -> Broken | None:
    """A line break inside a JSON string, not escaped."""
    text = drawn.case.text()
    if drawn.dialect.values != "json":
        return None
    places = [
        at
        for part in _parts(drawn, "arguments")
        for at in range(part.start + 1, part.end - 1)
        if text[at] == " " and text[at - 1].isalpha() and text[at + 1].isalpha()
    ]
    if not places:
        return None
    at = draw.choice(places)
    return Broken(f"{text[:at]}\n{text[at + 1 :]}")


def _turn_token(draw: Random, drawn: Drawn) -> Broken | None:
    """A token that ends a turn stands in the content, as text."""
    parts = _parts(drawn, "content")
    if not parts or not drawn.fmt.end_tokens:
        return None
    text, part = drawn.case.text(), draw.choice(parts)
    return Broken(f"{text[: part.start]}<|im_end|>{text[part.start :]}")


def _damaged_letter(draw: Random, drawn: Drawn) -> Broken | None:
    """A character that was not decoded whole."""
    parts = [part for part in _parts(drawn, "content", "reasoning") if part.end - part.start > 4]
    if not parts:
        return None
    text, part = drawn.case.text(), draw.choice(parts)
    at = draw.randrange(part.start + 1, part.end - 1)
    return Broken(f"{text[:at]}�{text[at:]}")


def _other_format(draw: Random, drawn: Drawn) -> Broken | None:
    """A call as another format writes it stands in the content."""
    parts = _parts(drawn, "content")
    if not parts:
        return None
    text, part = drawn.case.text(), parts[-1]
    call = '[TOOL_CALLS][{"name": "search", "arguments": {}}]'
    return Broken(f"{text[: part.end]} {call}{text[part.end :]}")


def _no_call(draw: Random, drawn: Drawn) -> Broken | None:
    """The request demands a call, and the model says something instead."""
    return None if drawn.said.calls else Broken(drawn.case.text(), tool_choice="required")


def _nothing(draw: Random, drawn: Drawn) -> Broken | None:
    """The model ends at once."""
    return Broken("", "stop")


def _white_space(draw: Random, drawn: Drawn) -> Broken | None:
    return Broken("\n\n", "stop")


def _opener_only(draw: Random, drawn: Drawn) -> Broken | None:
    """A call is begun, and prose follows instead of it."""
    names = _parts(drawn, "name")
    if not names:
        return None
    text, part = drawn.case.text(), names[-1]
    return Broken(f"{text[: part.start]}", "stop")


FAULTS: Mapping[str, Fault] = {
    name: Fault(name, "", plant)
    for name, plant in {
        "unknown_tool": _unknown_tool, "wrong_type": _wrong_type, "missing_key": _missing_key, "undeclared_key": _undeclared_key,
        "cut_in_arguments": _cut_in_arguments, "cut_in_marker": _cut_in_marker, "unclosed_reasoning": _unclosed_reasoning,
        "lost_closer": _lost_closer, "doubled_closer": _doubled_closer, "broken_json": _broken_json, "trailing_comma": _trailing_comma,
        "raw_line_break": _raw_line_break, "turn_token": _turn_token, "damaged_letter": _damaged_letter, "other_format": _other_format,
        "no_call": _no_call, "nothing": _nothing, "white_space": _white_space, "opener_only": _opener_only,
    }.items()
}
