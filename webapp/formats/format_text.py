"""A format as text: what is wrong with it, each finding with its line, the Format if it is one, and its layout.

Four stages, and the first that fails ends the check: the text is JSON, `extends` and `reasoning` can be written out,
the outcome is a Format, the Format passes the static check (`parsers.formats.lint`). Only a format without errors runs.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from json import JSONDecodeError
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from parsers.cases import jsontext
from parsers.cases.jsontext import JsonError
from parsers.formats.extends import FILE_KEYS, Expanded, Parents, expand
from parsers.formats.lint import LintFinding, in_file, lint
from parsers.formats.model import (
    CodecRef,
    Format,
    MarkerToken,
    ModelHint,
    Policy,
    Provenance,
    Row,
    Splits,
    State,
    builtin_sources,
)
from parsers.vocabulary.events import Severity
from parsers.vocabulary.types import FormatError

MOST_CHARACTERS = 200_000
_INSTANCE = re.compile(r"valid dictionary( or instance of \w+)?")
_PLAIN_WORDS = {
    "missing": "this key is required",
    "string_pattern_mismatch": "must be a name: a letter, then letters, digits and underscores",
    "string_too_short": "must have at least one character",
}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_Span = tuple[int, int]
_WIDTH = 120
# Where the layout puts each item on a line of its own, and where a list stays on one however long it is.
_TABLES = {(), ("terminals",), ("tokens",), ("states",), ("provenance",)}
_LINES = {("aliases",), ("policies",), ("end_tokens",), ("models",)}


@dataclass(slots=True, frozen=True)
class Place:
    """A stretch of a text that an editor selects: a scalar itself, of an object or array its key or opening bracket.

    `line` and `column` count from 1; `start` and `end` in UTF-16 units, as browsers count.
    """

    line: int
    column: int
    start: int
    end: int


@dataclass(slots=True, frozen=True)
class Noted:
    """One finding about the text of a format: what it is, where its pointer leads in the text, and what to do.

    `part` is the JSON pointer of the same thing in the format written out.
    """

    severity: Severity
    code: str
    pointer: str
    message: str
    place: Place
    part: str


@dataclass(slots=True)
class CheckedText:
    """A text, the format it spells (None: it spells none), and the findings, errors first.

    `data` is the JSON as typed; `expanded` is the same with `extends` and `reasoning` written out, as a case holds it.
    `runs` is the format, if nothing is so wrong with its text that it may not run.
    """

    text: str
    data: Any = None
    expanded: Expanded | None = None
    format: Format | None = None
    findings: list[Noted] = field(default_factory=list)
    runs: Format | None = None

    def note(self, found: Iterable[LintFinding]) -> None:
        """Add what replays of the format showed."""
        if self.expanded is not None:
            self.findings += [_noted(one, self.expanded, Places(self.text)) for one in found]
            self.findings.sort(key=lambda one: one.severity != "error")

    @property
    def written_out(self) -> Any:
        """The JSON as a case holds it; None where it cannot be written out."""
        if self.format is not None:
            return self.format.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return None if self.expanded is None else self.expanded.data


def check_text(text: str, parents: Parents | None = None, taken: Mapping[str, Format] | None = None) -> CheckedText:
    """Check the text of a format.

    `parents` gives the decoded file of a format that the text may extend: the built-in ones without it. `taken` are
    the parsers whose names others go by.
    """
    if len(text) > MOST_CHARACTERS:
        words = f"The text has {len(text):,} characters; a format may have {MOST_CHARACTERS:,}. Shorten it."
        return CheckedText(text, findings=[Noted("error", "too_long", "", words, Place(1, 1, 0, 0), "")])
    try:
        data = jsontext.read(text)
        jsontext.check(data)
    except JsonError as error:
        return CheckedText(text, findings=[_not_json(text, error)])
    places = Places(text)
    try:
        expanded = expand(data, parents or builtin_sources().get)
    except FormatError as error:
        return CheckedText(text, data, findings=[_not_expanded(error, places)])
    try:
        fmt = Format.model_validate(expanded.data)
    except ValidationError as error:
        return CheckedText(text, data, expanded, findings=[_invalid(one, expanded, places) for one in error.errors()])
    found = [_noted(one, expanded, places) for one in (*lint(fmt), *_taken(fmt, taken or {}))]
    runs = None if any(one.severity == "error" for one in found) else fmt
    return CheckedText(text, data, expanded, fmt, found, runs)


def _not_json(text: str, error: JsonError) -> Noted:
    where, pointer = _place_of_error(text, error), jsontext.pointer(error.path)
    if error.path:
        where = Places(text).at(pointer)
    message = error.message[:1].upper() + error.message[1:]
    if not text.strip():
        message = "There is no text yet: begin with a built-in format or the skeleton."
    return Noted("error", "not_json", pointer, message, where, "")


def _not_expanded(error: FormatError, places: Places) -> Noted:
    message = f"{error.message[:1].upper()}{error.message[1:]}."
    return Noted("error", "not_a_format", error.pointer, message, places.at(error.pointer), "")


def _noted(found: LintFinding, expanded: Expanded, places: Places) -> Noted:
    told = in_file(found, expanded)
    return Noted(told.severity, told.code, told.pointer, told.message, places.at(told.pointer), found.pointer)


def _invalid(error: ErrorDetails, expanded: Expanded, places: Places) -> Noted:
    path = tuple([part for part in error["loc"] if part != "[key]"])
    message = f"{_name(path)}: {_words(error)}."
    return _noted(LintFinding("not_a_format", "error", jsontext.pointer(path), message), expanded, places)


def _name(path: tuple[str | int, ...]) -> str:
    names = [str(part) for part in path if isinstance(part, str)]
    return names[-1] if names else "the whole"


def _words(error: ErrorDetails) -> str:
    """A validation error in the words of the person who typed the format."""
    if error["type"] == "extra_forbidden":
        return _unknown_key(error["loc"])
    if error["type"] in _PLAIN_WORDS:
        return _PLAIN_WORDS[error["type"]]
    message = error["msg"].replace("Input should be", "must be", 1).replace("valid tuple", "list")
    message = _INSTANCE.sub("JSON object", message)
    given = error["input"]
    return message if isinstance(given, dict | list) else f"{message}, not {jsontext.line(given)[:40]}"


def _unknown_key(path: tuple[str | int, ...]) -> str:
    model = _model_at(path[:-1])
    known = [field.alias or name for name, field in model.model_fields.items()]
    known += FILE_KEYS if model is Format else ()
    near = difflib.get_close_matches(str(path[-1]), known, n=1)
    advice = f"perhaps it is {near[0]}" if near else f"the keys here are {', '.join(known)}"
    return f"unknown key; {advice}"


def _model_at(path: tuple[str | int, ...]) -> type[BaseModel]:
    """The model whose keys may stand at this place of a format."""
    below: dict[str, type[BaseModel]] = {
        "policy": Policy, "models": ModelHint, "tokens": MarkerToken, "provenance": Provenance,
        "splits": Splits,
    }  # fmt: skip
    if path[:1] != ("states",):
        return below.get(str(path[0]), Format) if path else Format
    if len(path) > 2:
        return CodecRef if path[2] == "codec" else Row
    return State


def _taken(fmt: Format, taken: Mapping[str, Format]) -> list[LintFinding]:
    """A name that others go by is no error: a case brings its format along. In the formats folder it would be one."""
    names = {name: other for other in taken.values() for name in (other.name, *other.aliases) if other != fmt}
    clashes = [name for name in (fmt.name, *fmt.aliases) if name in names]
    if not clashes:
        return []
    words = (
        f"{' and '.join(clashes)} already name{'s' * (len(clashes) == 1)} the parser “{names[clashes[0]].title}”: "
        "a case brings this format along and runs it, but a formats folder takes it only under names of its own."
    )
    return [LintFinding("name_taken", "info", "/name" if fmt.name in clashes else "/aliases", words)]


# Where in the text each value stands


@dataclass(slots=True)
class _Open:
    """An object or array that is being read. `key`: the member whose value comes next; None before it."""

    path: tuple[str | int, ...]
    is_object: bool
    index: int = 0
    key: str | None = None
    key_span: _Span = (0, 0)
    seen: set[str] = field(default_factory=set)


class Places:
    """The places of a JSON text by pointer. `refused` is the first key given twice, or constant JSON does not have.

    The scan only counts brackets and strings, without recursion, so that it reads any text, JSON or not. Deeper than
    JSON of ours may be nested nothing has a place of its own: pointers to it would take the square of its depth.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.refused: _Span | None = None
        self._spans: dict[str, _Span] = {}
        self._stack: list[_Open] = []
        for match in _TOKEN.finditer(text):
            self._read(match[0], match.span())

    def at(self, where: str) -> Place:
        """The place of a pointer, or of the nearest value around it: a key that is missing has no place."""
        while where and where not in self._spans:
            where = where.rpartition("/")[0]
        return _place(self.text, self._spans.get(where, (0, 1)))

    def _read(self, mark: str, span: _Span) -> None:
        top = self._stack[-1] if self._stack else None
        if mark in "{[":
            path = self._value(top, span, container=True)
            self._stack.append(_Open(path, mark == "{"))
        elif mark in "}]":
            del self._stack[-1:]
        elif mark == "," and top is not None:
            top.index, top.key = top.index + 1, None
        elif top is not None and top.is_object and top.key is None and mark[0] == '"':
            self._key(top, mark, span)
        elif mark not in ":,":
            if mark in ("NaN", "Infinity", "-Infinity"):
                self.refused = self.refused or span
            self._value(top, span, container=False)

    def _key(self, top: _Open, mark: str, span: _Span) -> None:
        top.key, top.key_span = _decoded(mark), span
        if top.key in top.seen:
            self.refused = self.refused or span
        top.seen.add(top.key or "")

    def _value(self, top: _Open | None, span: _Span, *, container: bool) -> tuple[str | int, ...]:
        if top is None:
            path: tuple[str | int, ...] = ()
        elif len(top.path) > jsontext.MAX_DEPTH:
            return top.path
        elif top.is_object:
            path = (*top.path, top.key or "")
        else:
            path = (*top.path, top.index)
        shown = top.key_span if container and top is not None and top.is_object else span
        self._spans.setdefault(jsontext.pointer(path), shown)
        return path


def _decoded(mark: str) -> str:
    """What a string of the text says; a string that is not JSON stands for itself."""
    try:
        return str(json.loads(mark))
    except JSONDecodeError:
        return mark


def _place(text: str, span: _Span) -> Place:
    start, end = span
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    first = _units(text[:start])
    return Place(line, column, first, first + _units(text[start:end]))


def _place_of_error(text: str, error: JsonError) -> Place:
    """The place where JSON text stopped being JSON, as far as the error or the text says."""
    cause = error.__cause__
    if isinstance(cause, JSONDecodeError):
        return _place(text, (cause.pos, cause.pos + 1))
    return _place(text, Places(text).refused or (0, 1))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# Layout


@cache
def skeleton() -> str:
    """The smallest format that reads calls: what a new one begins with."""
    return (resources.files("webapp.formats") / "skeleton.json").read_text(encoding="utf-8")


def laid_out(data: Any) -> str:
    """A format's JSON as text, laid out like the built-in files: one row on a line, the rest where a line holds it."""
    return _item(data, (), 0) + "\n"


def _item(value: Any, path: jsontext.Path, used: int) -> str:
    """A value, on several lines where its place or its length wants it. `used` columns stand before it on its line."""
    flat = jsontext.line(value)
    if not isinstance(value, dict | list | tuple) or not value or _is_line(path):
        return flat
    if path[:1] == ("states",) and len(path) == 2 and isinstance(value, dict):
        return _state(value, path, used)
    is_table = path in _TABLES or path[2:] == ("rows",)
    return flat if not is_table and used + len(flat) < _WIDTH else _opened(value, path)


def _is_line(path: jsontext.Path) -> bool:
    """Say whether a list or object at this place stays on one line however long it is, as every row does."""
    if path[:1] == ("states",):
        return path[2:3] == ("rows",) and len(path) == 4
    return path[:1] in _LINES or (len(path) == 2 and path[:1] in _TABLES)


def _state(state: dict[str, Any], path: jsontext.Path, used: int) -> str:
    """A state with its rows last; where the rest of it is short, it stands on one line as the head of the rows."""
    head = {key: item for key, item in state.items() if key != "rows"}
    rows, line = state.get("rows"), jsontext.line(head)
    if not isinstance(rows, list | tuple) or not rows:
        return line if used + len(line) < _WIDTH else _opened(state, path)
    if used + len(line) + len(', "rows": [') >= _WIDTH:
        return _opened({**head, "rows": rows}, path)
    indent = "  " * (len(path) + 1)
    body = f",\n{indent}".join([jsontext.line(row) for row in rows])
    return f'{line[:-1]}{", " if head else ""}"rows": [\n{indent}{body}\n{indent[2:]}]}}'


def _opened(value: dict[str, Any] | list[Any] | tuple[Any, ...], path: jsontext.Path) -> str:
    indent = "  " * (len(path) + 1)
    if isinstance(value, dict):
        names = {key: f"{jsontext.atom(key)}: " for key in value}
        items = [names[key] + _item(item, (*path, key), len(indent + names[key])) for key, item in value.items()]
    else:
        items = [_item(item, (*path, index), len(indent)) for index, item in enumerate(value)]
    opener, closer = "{}" if isinstance(value, dict) else "[]"
    return f"{opener}\n{indent}" + f",\n{indent}".join(items) + f"\n{indent[2:]}{closer}"
