"""Rows of somebody's suite as cases: JSON Lines or one list of objects, with a column for each part of a case.

A column is a key of the rows, or keys and numbers with dots between that lead to it. Those that nobody named are looked
for under their usual names, of what is expected in all rows, else in the first, and said. Cells may hold JSON as text.
What a row says that no case can say is named with its line, and so is a row that lacks all of what was named to be
expected: its case would hold without being tested. The other rows are read. A column that no row has is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from parsers.cases import jsontext
from parsers.cases.case import CaseError
from parsers.cases.io import dumps, load_case
from parsers.cases.jsontext import JsonError, each_key_once, skip
from parsers.cases.made_tools import made_tools
from parsers.intake.evidence import ColumnTaken, Intake, NamedCases, Payload, Skipped, Warn, number, skipped_warnings
from parsers.intake.written_values import whole_value
from parsers.vocabulary.types import ToolCall, UsageError

_TAIL = 400  # characters of a prompt that are kept
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_SHOWN = 12
_NOT_THERE = object()
_EXPECTED = "expect."
_ONCE, _ANY = json.JSONDecoder(object_pairs_hook=each_key_once), json.JSONDecoder()
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
        return _ONCE.decode(cell)
    except JsonError as error:
        raise RowError(error.message) from error
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
    objects = [row for _, row in rows if isinstance(row, dict)]
    if not objects:
        return None
    first = objects[0]
    expected = {key: name for key, name in guessed_columns(objects, named).items() if key.startswith(_EXPECTED)}
    guessed = {**guessed_columns([first], named), **expected}
    columns = {key: path for key in COLUMNS if (path := named.get(key, guessed.get(key, ""))) != ""}
    if "text" not in columns:
        keys = ", ".join([*first][:_SHOWN])
        advice = f"Say which column is the model's output, as text=NAME: the first row has {keys}."
        return Intake(kind="corpus", title=f"{number(len(rows), 'row')} without an output", advice=advice)
    for key, path in named.items():
        if key != "text" and all(_at(row, path) is _NOT_THERE for row in objects):
            words = ", ".join([*_paths(first)][:_SHOWN])
            advice = f"No row has {path}, which {key} was to be taken from: the first row has {words}."
            return Intake(kind="corpus", title=f"{number(len(rows), 'row')} without a column", advice=advice)
    return _intake(rows, columns, guessed)


def _paths(row: Payload) -> Iterator[str]:
    """The paths to the cells of a row, as columns are named."""
    for key, cell in row.items():
        yield from [f"{key}.{inner}" for inner in cell] if isinstance(cell, dict) and cell else [key]


def _rows(text: str) -> Iterator[tuple[int, Any]]:
    """The rows, each with its number: of its line, or among the items of a list. What is none is why, or None."""
    listed = whole_value(text) if text.lstrip().startswith("[") else None
    if isinstance(listed, list):
        yield from enumerate(_items(text) if listed else (), 1)
        return
    for at, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield at, _ONCE.decode(line)
            except JsonError as error:
                yield at, RowError(error.message)
            except (ValueError, RecursionError):
                yield at, None


def _items(text: str) -> Iterator[Any]:
    """The items of a list that is all of a text and has some."""
    at, sign = skip(text, 0), "["
    while text.startswith(sign, at):
        at, sign = skip(text, at, sign), ","
        try:
            row, at = _ONCE.raw_decode(text, at)
        except (JsonError, RecursionError) as error:
            row, at = RowError(str(error)), _ANY.raw_decode(text, at)[1]
        at = skip(text, at)
        yield row


def _intake(rows: list[tuple[int, Any]], columns: Mapping[str, str], guessed: Mapping[str, str]) -> Intake:
    cases, skipped = NamedCases(), []
    expected = [path for key, path in columns.items() if key.startswith(_EXPECTED)]
    must_expect = any(key.startswith(_EXPECTED) and key not in guessed for key in columns)
    for line, row in rows:
        try:
            data = case_of_row(row, columns)
            if must_expect and all(_at(row, path) is _NOT_THERE for path in expected):
                raise RowError(f"it has no {' and no '.join(expected)}, so that nothing is expected of it")
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
        warnings=(*skipped_warnings(skipped, "Row"), *_lacking(rows, columns, guessed)),
        skipped=tuple(skipped),
    )


def _lacking(rows: list[tuple[int, Any]], columns: Mapping[str, str], guessed: Mapping[str, str]) -> Iterator[Warn]:
    """A warning for each column that was named, or says what is expected, and that some rows lack."""
    for key, path in columns.items():
        lines = [line for line, row in rows if isinstance(row, dict) and _at(row, path) is _NOT_THERE]
        if lines and (key not in guessed or key.startswith(_EXPECTED)):
            shown = ", ".join([f"{line:,}" for line in lines[:_SHOWN]])
            more = f" and {len(lines) - _SHOWN:,} more" if len(lines) > _SHOWN else ""
            words = f"{number(len(lines), 'row')} without {path} ({key}): {shown}{more}."
            yield Warn("column_lacking", words)


def case_of_row(row: Any, columns: Mapping[str, str]) -> Payload:
    """The case that a row says, as decoded JSON. Raises RowError."""
    if isinstance(row, RowError):
        raise row
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
    """The cell that a path leads to. What is null has none inside, and says so: that is no cell that is not there."""
    if path in row:
        return row[path]
    found: Any = row
    for part in path.split("."):
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        elif found is None:
            return None
        else:
            return _NOT_THERE
    return found
