"""Rows of somebody's suite as cases: JSON Lines or one list of objects, with a column for each part of a case.

A column is a key of the rows, or keys and numbers with dots between that lead to it. Those that nobody named are looked
for under their usual names in the first row, and said. Cells may hold JSON as text. What a row says that no case can
say is named with its line; the other rows are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from parsers.cases import jsontext
from parsers.cases.case import CaseError
from parsers.cases.io import dumps, load_case
from parsers.cases.made_tools import made_tools
from parsers.intake.evidence import ColumnTaken, Intake, NamedCases, Payload, Skipped, number, skipped_warnings
from parsers.intake.written_values import whole_value
from parsers.vocabulary.types import ToolCall, UsageError

_TAIL = 400  # characters of a prompt that are kept
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_SHOWN = 12
_NOT_THERE = object()
_MADE = "The row has no tools; these are made of the calls that it expects."


class RowError(Exception):
    """What a row says that no case can; the text says why."""


@dataclass(slots=True, frozen=True)
class _Column:
    """A part of a case: where it goes, the usual names of its column, and how a cell becomes it."""

    place: tuple[str, ...]
    usual: tuple[str, ...]
    read: Callable[[Any], Any]


def _word(cell: Any) -> str:
    if not isinstance(cell, str):
        raise RowError(f"a text is expected, not {type(cell).__name__}")
    return cell


def _named(cell: Any) -> str:
    return str(cell)


def _told(cell: Any) -> Any:
    """A cell, or what it says where it is JSON as text."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(("{", "[")):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _switch(cell: Any) -> bool:
    if not isinstance(cell, bool):
        raise RowError("true or false is expected")
    return cell


def _tools(cell: Any) -> list[Any]:
    found = _told(cell)
    return found if isinstance(found, list) else [found]


def _calls(cell: Any) -> list[Payload]:
    found = _told(cell)
    return [_call(_told(one)) for one in (found if isinstance(found, list) else [found])]


def _call(one: Any) -> Payload:
    """A call as `{"name", "arguments"}`, in a `function`, or as `{NAME: arguments}`."""
    inner = one["function"] if isinstance(one, dict) and isinstance(one.get("function"), dict) else one
    if not isinstance(inner, dict):
        raise RowError("a call is an object with a name and arguments")
    if isinstance(inner.get("name"), str):
        name: str = inner["name"]
        told: Any = next((inner[key] for key in _ARGUMENTS if key in inner), None)
    elif len(inner) == 1 and isinstance(next(iter(inner.values())), dict):
        ((name, told),) = inner.items()
    else:
        raise RowError("a call is an object with a name and arguments")
    arguments = _told({} if told is None else told)
    if isinstance(arguments, dict):
        return {"name": name, "arguments": arguments}
    return {"name": name, "raw": told if isinstance(told, str) else jsontext.line(told)}


COLUMNS: Mapping[str, _Column] = {
    "text": _Column(
        ("input", "text"),
        ("raw_output", "model_output", "completion", "output", "response", "generated_text", "generation", "result",
         "prediction", "text"),
        lambda cell: cell,
    ),
    "title": _Column(("title",), ("id", "name", "title", "case_id", "question_id", "test_id"), _named),
    "parser": _Column(("parser", "name"), ("parser",), _word),
    "tools": _Column(("tools",), ("tools", "functions", "function"), _tools),
    "tool_choice": _Column(("context", "tool_choice"), ("tool_choice",), _told),
    "model": _Column(("context", "model"), ("model", "model_id"), _word),
    "finish_reason": _Column(("context", "finish_reason"), ("finish_reason",), _word),
    "reasoning_open": _Column(("context", "reasoning_open"), ("reasoning_open",), _switch),
    "prompt_tail": _Column(("context", "prompt_tail"), (), lambda cell: _word(cell)[-_TAIL:]),
    "template_kwargs": _Column(("context", "template_kwargs"), ("chat_template_kwargs",), _told),
    "expect.content": _Column(("expect", "content"), ("expected_content",), _word),
    "expect.reasoning": _Column(("expect", "reasoning"), ("expected_reasoning",), _word),
    "expect.tool_calls": _Column(
        ("expect", "tool_calls"), ("expected_tool_calls", "expected_calls", "gold_tool_calls"), _calls
    ),
    "expect.finish_reason": _Column(("expect", "finish_reason"), ("expected_finish_reason",), _word),
}  # fmt: skip


def columns_of(words: Iterable[str]) -> dict[str, str]:
    """Columns that somebody named as KEY=PATH. Raises UsageError."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, path = word.partition("=")
        if not equals or not path or key not in COLUMNS:
            raise UsageError(f"{word!r}: give a column as KEY=PATH; KEY is one of {', '.join(COLUMNS)}")
        found[key] = path
    return found


def guessed_columns(rows: Iterable[Payload], named: Mapping[str, str]) -> dict[str, str]:
    """The columns that nobody named and that have a usual name in one of these rows."""
    keys = frozenset([key for row in rows for key in row])
    return {key: name for key, one in COLUMNS.items() if key not in named for name in one.usual[::-1] if name in keys}


def read_rows(text: str, named: Mapping[str, str]) -> Intake | None:
    """Read the cases of rows; None where there are no rows. `named` are the columns that somebody named."""
    rows = list(_rows(text))
    first = next((row for _, row in rows if isinstance(row, dict)), None)
    if first is None:
        return None
    guessed = guessed_columns([first], named)
    columns = {key: path for key in COLUMNS if (path := named.get(key, guessed.get(key, ""))) != ""}
    if "text" not in columns:
        keys = ", ".join([*first][:_SHOWN])
        advice = f"Say which column is the model's output, as text=NAME: the first row has {keys}."
        return Intake(kind="corpus", title=f"{number(len(rows), 'row')} without an output", advice=advice)
    return _intake(rows, columns, guessed)


def _rows(text: str) -> Iterator[tuple[int, Any]]:
    """The rows, each with its number: of its line, or among the items of a list."""
    listed = whole_value(text) if text.lstrip().startswith("[") else None
    if isinstance(listed, list):
        yield from enumerate(listed, 1)
        return
    for at, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield at, json.loads(line)
            except (ValueError, RecursionError):
                yield at, None


def _intake(rows: list[tuple[int, Any]], columns: Mapping[str, str], guessed: Mapping[str, str]) -> Intake:
    cases, skipped = NamedCases(), []
    for line, row in rows:
        try:
            data = case_of_row(row, columns)
            cases.add(str(data.setdefault("title", str(line))), dumps(load_case(data)), line)
        except (RowError, CaseError) as error:
            skipped.append(Skipped(line, str(error)))
    return Intake(
        kind="corpus",
        title=f"{number(len(cases), 'row')} of a suite",
        advice="Choose a case and replay it." if cases else "None of its rows can be read.",
        usable=bool(cases),
        cases=cases,
        why=("Each row has an output in one of its columns.",),
        columns=tuple([ColumnTaken(key, path, key in guessed) for key, path in columns.items()]),
        warnings=skipped_warnings(skipped, "Row"),
        skipped=tuple(skipped),
    )


def case_of_row(row: Any, columns: Mapping[str, str]) -> Payload:
    """The case that a row says, as decoded JSON. Raises RowError."""
    if not isinstance(row, dict):
        raise RowError("it is no JSON object")
    data: Payload = {"schema": 1, "parser": {"name": "auto"}, "input": {}, "source": {"kind": "suite_row"}}
    for key, path in columns.items():
        cell = _at(row, path)
        if cell is _NOT_THERE or cell is None:
            continue
        place = COLUMNS[key].place
        try:
            made = COLUMNS[key].read(cell)
        except RowError as error:
            raise RowError(f"{path}: {error}") from error
        within = data.setdefault(place[0], {}) if len(place) > 1 else data
        within[place[-1]] = made
    _settle_text(data, columns["text"])
    _settle_tools(data)
    return data


def _settle_tools(data: Payload) -> None:
    """The tools that the calls name which a row expects, where it has none: engines read no call without any."""
    expected = data.get("expect", {}).get("tool_calls", ())
    calls = [ToolCall(None, one["name"], jsontext.line(one.get("arguments", {}))) for one in expected]
    if "tools" not in data and (made := made_tools(calls)):
        data |= {"tools": [dict(one) for one in made], "notes": [_MADE]}


def _settle_text(data: Payload, path: str) -> None:
    """The output: a text, or deltas."""
    given = data["input"].pop("text", None)
    if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
        data["input"]["deltas"] = [{"text": one} for one in given]
    elif isinstance(given, str):
        data["input"]["text"] = given
    else:
        raise RowError(f"{path}: there is no text")


def _at(row: Payload, path: str) -> Any:
    """The cell that a path leads to."""
    if path in row:
        return row[path]
    found: Any = row
    for part in path.split("."):
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            return _NOT_THERE
    return found
