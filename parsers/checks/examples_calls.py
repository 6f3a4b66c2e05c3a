"""Examples for the checks on calls: in what order they come, and what their arguments are."""

from __future__ import annotations

from typing import Any

from parsers.checks.check import Subject
from parsers.checks.example import Example
from parsers.checks.script import Entry, scripted
from parsers.vocabulary.types import Context, MessageDelta, Tool, ToolCallDelta

_CALL: list[Entry] = [("name", "f"), ("arguments", '{"a": 1}'), ("end",)]
_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "zip": {"type": "string"}}}
_TOOLS = Context(tools=(Tool("f", _SCHEMA),))
_GOOD = Subject(scripted(_CALL, _CALL), _TOOLS)


def _sent(*parts: tuple[int, str | None, str | None, str | None], **fields: Any) -> Subject:
    """Two calls to f, sent in these parts instead."""
    deltas = {step: MessageDelta(tool_calls=[ToolCallDelta(*part)]) for step, part in enumerate(parts, 1)}
    return Subject(scripted(*([[*_CALL], [*_CALL]] + [[]] * (len(parts) - 2)), deltas=deltas), **fields)


def _arguments(*entries: Entry, end: str = "end") -> Subject:
    return Subject(scripted([("name", "f"), *entries, (end,)]), _TOOLS)


def _beside(entry: Entry) -> Subject:
    """A black box, and beside it what the built-in parser reads."""
    return Subject(scripted([("name", "f"), entry, ("end",)]), _TOOLS, black_box=True, reference=scripted(_CALL))


CALLS: tuple[Example, ...] = (
    Example(
        "name_once_before_arguments",
        _sent((0, "id-0", None, '{"a": 1}'), (0, None, "f", None), (1, "id-1", "f", '{"a": 1}')),
        "Arguments of call 0 (`f`) are sent before its name.",
        _GOOD,
    ),
    Example(
        "no_empty_delta",
        _sent((0, "id-0", "", None), (0, None, "f", '{"a": 1}'), (1, "id-1", "f", '{"a": 1}')),
        "The name of call 0 is sent empty.",
        _GOOD,
    ),
    Example(
        "known_tool",
        Subject(scripted([("name", "launch"), ("arguments", "{}"), ("end",)]), _TOOLS),
        "`launch` is not one of the declared tools.",
        _GOOD,
    ),
    Example(
        "index_dense",
        _sent((0, "id-0", "f", '{"a": 1}'), (2, "id-1", "f", '{"a": 1}')),
        "Call 2 begins where call 1 should.",
        _GOOD,
    ),
    Example(
        "id_once",
        _sent((0, "id-0", "f", '{"a":'), (0, "id-9", None, " 1}"), (1, "id-1", "f", '{"a": 1}')),
        "The id of call 0 is sent again.",
        _GOOD,
    ),
    Example(
        "calls_apart",
        _sent((0, "id-0", "f", '{"a":'), (1, "id-1", "f", '{"a": 1}'), (0, None, None, " 1}")),
        "Call 0 goes on after call 1 began.",
        _GOOD,
    ),
    Example(
        "arguments_json",
        _arguments(("arguments", '{"a": 1}}')),
        "The arguments of call 0 (`f`) are not one JSON object: character 8 cannot stand there.",
        _GOOD,
    ),
    Example(
        "arguments_prefix",
        _sent((0, "id-0", "f", '{"a": "1'), (0, None, None, '"}'), (1, "id-1", "f", '{"a": 1}')),
        "The streamed arguments of call 0 (`f`) leave the final text at character 6.",
        _GOOD,
    ),
    Example(
        "arguments_closed",
        _arguments(("arguments", '{"a": 1'), ("marker", "}")),
        "The arguments of call 0 (`f`) are left open, though the output ends the call.",
        _GOOD,
    ),
    Example(
        "arguments_schema",
        _arguments(("arguments", '{"a": "one"}')),
        "`a` is a string; `f` wants an integer.",
        _GOOD,
    ),
    Example(
        "strings_whole",
        _arguments(("marker", "zip="), ("arguments", "02134", '{"zip": 2134}')),
        "`zip` of call 0 (`f`) is declared a string and has become 2134.",
        _arguments(("marker", "zip="), ("arguments", "02134", '{"zip": "02134"}')),
    ),
    Example(
        "values_kept",
        _beside(("arguments", '{"a": 1}', '{"a": "1"}')),
        '`a` of call 0 (`f`) is 1 in the output and has become "1".',
        _beside(("arguments", '{"a": 1}')),
    ),
    Example(
        "deltas_build_message",
        _sent((0, "id-0", "f", '{"a": 1}'), (1, "id-1", "f", '{"a":')),
        "The deltas stop short at character 5 of the arguments of call 1 (`f`).",
        _GOOD,
    ),
)
