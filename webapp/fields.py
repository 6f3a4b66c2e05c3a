"""What a person may set of a case: one table for the form, the command line and the sides of a comparison.

The table is declared once, as the parts of the form: each attribute of a part is a field under its name in the form,
and its row says what kind of text it holds, where in a case that ends up (JSON pointer), which errors of the case are
told at it, and which option of the command line and which word of a comparison's side set the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

from parsers.cases import jsontext
from parsers.cases.engines import FALLBACK
from parsers.cases.jsontext import JsonError
from webapp.engines.response_template.about import NAME as RESPONSE_TEMPLATE
from webapp.engines.response_template.shape import extract
from webapp.switches import is_ticked

POLICY = "policy."  # what the names of the form's policies begin with
CHOICES = ("auto", "none", "required")
CHUNKINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "token": ("token by token", {"by": "token"}),
    "token-2": ("2 tokens", {"by": "token", "size": 2}),
    "token-3": ("3 tokens", {"by": "token", "size": 3}),
    "token-5": ("5 tokens", {"by": "token", "size": 5}),
    "token-10": ("10 tokens", {"by": "token", "size": 10}),
    "char": ("character by character", {"by": "char"}),
    "whole": ("whole, in one delta", {"by": "whole"}),
    "recorded": ("as recorded", {"by": "recorded"}),
    "random": ("random sizes", {"by": "random"}),
    "cuts": ("cut at …", {"by": "cuts"}),
}
EMPTY_TEMPLATE = "Paste a response_template, or a tokenizer_config.json that has one; or start from one of these."


def unix_lines(text: str) -> str:
    """`text` with LF line ends: browsers submit text areas with CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def template_data(text: str) -> Any:
    """The JSON of a response_template that was typed. Raises ValueError with one sentence."""
    return _json(text, "template is") if text.strip() else _refuse(EMPTY_TEMPLATE)


def template_text(template: Any) -> str:
    """A response_template as it stands in the form: one line for each part of a field."""
    return jsontext.pretty(template, lambda path: len(path) > 2 or path[:1] == ("defaults",)) if template else ""


def _refuse(sentence: str) -> Any:
    raise ValueError(sentence)


def _json(text: str, what: str) -> Any:
    try:
        return jsontext.read(text)
    except JsonError as error:
        raise ValueError(f"The {what} {error.message}") from error


def _number(text: str) -> int:
    good = text.isascii() and text.isdecimal() and len(text) < 10
    return int(text) if good else _refuse(f"{text!r} is not a whole number.")


def _tools(text: str) -> list[Any] | None:
    """A JSON array of tools, or one tool alone."""
    found = _json(text, "tools are") if text.strip() else None
    return found if found is None or isinstance(found, list) else [found]


def _object(text: str) -> dict[str, Any] | None:
    """A JSON object; None where nothing stands in it."""
    found = _json(text, "template arguments are") if text.strip() else {}
    return (found or None) if isinstance(found, dict) else _refuse("The template arguments are no JSON object.")


def _chunking(name: str) -> dict[str, Any]:
    return CHUNKINGS[name][1] if name in CHUNKINGS else _refuse(f"There is no chunking {name!r}.")


def _chunking_name(chunking: Mapping[str, Any]) -> str:
    """The name whose chunking this is, else one that cuts by the same."""
    by, wanted = chunking.get("by"), {key: chunking[key] for key in ("by", "size") if key in chunking}
    return next((name for name, (_, data) in CHUNKINGS.items() if data == wanted), by if by in CHUNKINGS else "token")


def _quoted(stop: str) -> str:
    """A stop string as a line: as it is, or as a JSON string where it would not stay whole."""
    plain = stop and stop == stop.strip() and stop.isprintable() and not stop.startswith('"')
    return stop if plain else json.dumps(stop)


def _unquoted(line: str) -> str:
    try:
        value = json.loads(line) if line.startswith('"') else line
    except ValueError:
        return line
    return value if isinstance(value, str) else line


_ESCAPED_BLANK = re.compile(r"\\[nrt]")


def markers_in(line: str) -> list[str]:
    """The markers of one line: with commas between them, or a JSON list for those that have commas themselves.

    Raises ValueError where one seems to escape a blank, which only JSON does.
    """
    try:
        given = json.loads(line) if line.startswith("[") else None
    except ValueError:
        given = None
    if isinstance(given, list):
        return given
    markers = [part.strip() for part in line.split(",") if part.strip()]
    escaped = next((one for one in markers if _ESCAPED_BLANK.search(one)), None)
    if escaped is not None:
        words = f'{escaped} has a backslash: give a JSON list, ["{escaped}"] for a line break or tab,'
        raise ValueError(f"{words} {json.dumps([escaped])} for a backslash and a letter")
    return markers


def _line(markers: Sequence[str]) -> str:
    """The markers as one line that says them again."""
    line = ", ".join(markers)
    try:
        says_them = markers_in(line) == [*markers]
    except ValueError:
        says_them = False
    return line if says_them else json.dumps([*markers], ensure_ascii=False)


@dataclass(slots=True, frozen=True)
class _Kind:
    """A kind of field, by what it does with a text: here a word.

    `read` takes what was posted; `value` makes a case's value of what the field holds (None: it says nothing) or raises
    ValueError with a sentence; `shown` turns that round. `keeps`: whether the form gives a case's value back as it is.
    """

    read: Callable[[str], Any] = str.strip
    value: Callable[[Any], Any] = lambda held: held or None
    shown: Callable[[Any], Any] = lambda value: value
    keeps: Callable[[Any], bool] = lambda value: True


def _switch(on: Any = True) -> _Kind:
    """A box; `on` is what a case says where it is ticked."""
    return _Kind(is_ticked, lambda held: on if held else None, lambda value: value == on, lambda value: value == on)


WORD, HIDDEN = _Kind(), _Kind(str)
TEXT = _Kind(unix_lines, shown="".join, keeps=lambda value: "\r" not in "".join(value))
NUMBER = _Kind(value=lambda held: _number(held) if held else None, shown=lambda value: str(value or ""))
NUMBERS = _Kind(
    value=lambda held: [_number(part) for part in held.replace(",", " ").split()],
    shown=lambda value: ", ".join(map(str, value)),
)
TOOLS = _Kind(unix_lines, _tools, lambda value: jsontext.pretty(value, lambda path: False))
OBJECT = _Kind(value=_object, shown=lambda value: json.dumps(value, ensure_ascii=False))
TOOL_CHOICE = _Kind(
    value=lambda held: held if held in CHOICES else {"name": held},
    shown=lambda value: value["name"] if isinstance(value, dict) else value,
)
CHUNKING = _Kind(value=_chunking, shown=_chunking_name)
POLICIES = _Kind(shown=dict)
CONTRACT = _Kind(
    value=lambda held: _json(held, "contract is") if held.startswith("{") else held or None,
    shown=lambda value: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=list),
)
MARKERS = _Kind(value=lambda held: markers_in(held) or None, shown=_line)
STOP_STRINGS = _Kind(
    unix_lines,
    lambda held: [_unquoted(line) for line in held.split("\n") if line] or None,
    lambda value: "\n".join(map(_quoted, value)),
)
DECODE_POLICY = _Kind(value=lambda held: held if held != "exact" else None)
TEMPLATE = _Kind(unix_lines, lambda held: extract(template_data(held)), template_text)


@dataclass(slots=True, frozen=True)
class Row:
    """Holds what the table says of one field.

    `place` is its place in a case, written only where another field holds what `only` says; `errors` is the place whose
    errors are told at the field, its own unless something else is said. `label` is what a sentence calls it, `words`
    are those of a switch, off and on. `option` is its attribute among the options of the command line, `side` its word
    of a comparison's side. `filled` names the half of a recording that fills it: what was asked, or one answer. `part`
    is the part of the form that has it.
    """

    kind: _Kind
    place: str = ""
    blank: Any = ""
    errors: str | None = None
    only: tuple[str, str] | None = None
    label: str = ""
    words: tuple[str, str] = ("", "")
    option: str = ""
    side: str = ""
    filled: Literal["", "request", "answer"] = ""
    name: str = ""
    part: str = ""


def _field(kind: _Kind, place: str = "", blank: Any = "", **row: Any) -> Any:
    """An attribute of a part, with its row; `blank` is what it holds while nobody has filled it."""
    metadata = {"row": Row(kind, place, blank, **row)}
    return (
        field(default_factory=dict, metadata=metadata) if kind is POLICIES else field(default=blank, metadata=metadata)
    )


@dataclass(slots=True)
class OutputFields:
    """The text under study, what makes tokens of it, how it is to be taken, and which of several outputs is meant."""

    text: str = _field(TEXT, "/input/text", errors="/input", label="Model output")
    tokenizer: str = _field(
        WORD, "/tokenizer/name", "embedded", errors="/tokenizer", label="Tokenizer", option="tokenizer"
    )
    output: str = _field(WORD)
    take_as: str = _field(WORD)
    layers: str = _field(WORD)


@dataclass(slots=True)
class ParserFields:
    """Who reads it. A template is read by the parser of its name, which has neither wrapper nor policies."""

    parser: str = _field(WORD, "/parser/name", "auto", errors="/parser", label="Parser", option="parser", side="parser")
    wrapper: bool = _field(_switch(FALLBACK), "/parser/engine", False, errors="/parser/options")
    template: str = _field(TEMPLATE, "/parser/options/template", only=("parser", RESPONSE_TEMPLATE))
    contract: str = _field(CONTRACT, "/contract", label="Contract", option="contract")
    markers: str = _field(MARKERS, "/parser/markers", label="Markers", option="markers")
    policies: dict[str, str] = field(
        default_factory=dict, metadata={"row": Row(POLICIES, "/parser/policy", option="policy", side="policy")}
    )


@dataclass(slots=True)
class RequestFields:
    """Holds what was asked of the server, and why it stopped."""

    tools: str = _field(TOOLS, "/tools", label="Tools", option="tools", filled="request")
    tool_choice: str = _field(
        TOOL_CHOICE, "/context/tool_choice", "auto", label="Tool choice", option="tool_choice", filled="request"
    )
    reasoning_open: bool = _field(
        _switch(), "/context/reasoning_open", False, label="Starts in", words=("content", "reasoning"), side="start",
        filled="request",
    )  # fmt: skip
    finish_reason: str = _field(
        WORD,
        "/context/finish_reason",
        errors="/context",
        label="Finish reason",
        option="finish_reason",
        filled="answer",
    )
    model: str = _field(WORD, "/context/model", label="Model id", option="model_id", filled="request")
    model_type: str = _field(WORD, "/context/model_type", label="Model type", option="model_type")
    template_kwargs: str = _field(OBJECT, "/context/template_kwargs", label="Template arguments", filled="request")
    prompt_tail: str = _field(TEXT, "/context/prompt_tail", label="End of the prompt", filled="request")


@dataclass(slots=True)
class ChunkingFields:
    """Says how the output is cut into deltas."""

    chunking: str = _field(
        CHUNKING,
        "/replay/0",
        "token",
        errors="/replay",
        label="Chunking",
        option="chunk",
        side="chunk",
        filled="answer",
    )
    cuts: str = _field(NUMBERS, "/replay/0/cuts", errors="", only=("chunking", "cuts"), option="cuts")
    seed: str = _field(NUMBER, "/replay/0/seed", errors="", only=("chunking", "random"))
    holdback: str = _field(NUMBER, "/replay/0/holdback_chars", errors="", option="holdback")
    text_delay: str = _field(NUMBER, "/replay/0/text_delay", errors="", option="text_delay")


@dataclass(slots=True)
class DecodeFields:
    """The detokenizer: where it stops, what it leaves out, and which policy it follows."""

    stop: str = _field(STOP_STRINGS, "/decode/stop", label="Stop strings", filled="answer")
    skip_special: bool = _field(
        _switch(), "/decode/skip_special_tokens", False, label="Special tokens", words=("kept", "skipped"),
        filled="answer",
    )  # fmt: skip
    include_stop: bool = _field(
        _switch(), "/decode/include_stop", False, label="Stop string", words=("cut off", "kept"), filled="answer"
    )
    decode_policy: str = _field(DECODE_POLICY, "/decode/policy", "exact", errors="/decode", side="decode")
    drop_eos: bool = _field(_switch(), "/decode/drop_eos", False)


@dataclass(slots=True)
class RuleFields:
    """Holds which chunkings are compared, and what counts as another message then."""

    json_arguments: bool = _field(_switch("json"), "/compare/arguments", False)
    soft_whitespace: bool = _field(_switch("soft"), "/compare/whitespace", False)
    calls_by_index: bool = _field(_switch("index"), "/compare/calls", False)
    honest_only: bool = _field(_switch("honest"), "/compare/cuts", False, option="honest_only")


@dataclass(slots=True)
class CarriedFields:
    """The case that a form was filled from, carried (`base`) or named (`source`), and the one it is a copy of."""

    base: str = _field(HIDDEN)
    source: str = _field(HIDDEN)
    parent: str = _field(HIDDEN, "/parent", errors="")


PARTS: dict[str, type] = {
    "output": OutputFields,
    "parser": ParserFields,
    "request": RequestFields,
    "cutting": ChunkingFields,
    "decode": DecodeFields,
    "rules": RuleFields,
    "carried": CarriedFields,
}
FIELDS: dict[str, Row] = {
    one.name: replace(one.metadata["row"], name=one.name, part=name)
    for name, part in PARTS.items()
    for one in fields(part)
}
FORMAT = Row(WORD, "/parser/format", option="format_file", name="format")  # no field of the form: an option alone
Part = TypeVar("Part")


def read_part(part: type[Part], posted: Mapping[str, str]) -> Part:
    """A part of the form as it was posted; what was left empty is blank."""
    policies = {key.removeprefix(POLICY): value for key, value in posted.items() if key.startswith(POLICY) and value}
    rows = [FIELDS[one.name] for one in fields(part)]  # type: ignore[arg-type]
    typed = {row.name: row.kind.read(posted.get(row.name, "")) or row.blank for row in rows}
    return part(**typed | ({"policies": policies} if "policies" in typed else {}))


def shown_part(part: type[Part], data: Mapping[str, Any]) -> Part:
    """A part of the form that says what the case `data` (decoded JSON) says."""
    values = {one.name: shown_value(FIELDS[one.name], data) for one in fields(part)}  # type: ignore[arg-type]
    return part(**{name: value for name, value in values.items() if value is not None})


def shown_value(row: Row, data: Mapping[str, Any]) -> Any:
    """Return what a field holds that says what the case `data` says; None where that says nothing."""
    found: Any = data if row.place else None
    for key in row.place.split("/")[1:]:
        found = found.get(key) if isinstance(found, dict) else found[int(key)] if found else None
    return None if found is None else row.kind.shown(found)


def is_said(data: Any, place: str = "") -> bool:
    """Return whether the fields of the form say all that the case `data` says, and in the same way."""
    row = next((row for row in FIELDS.values() if row.place == place and place), None)
    if row is not None or not isinstance(data, dict | list | tuple):
        return row is not None and row.kind.keeps(data)
    items = data.items() if isinstance(data, dict) else enumerate(data)
    return all(is_said(value, f"{place}/{key}") for key, value in items)


def field_at(pointer: str) -> str:
    """The field of the form at which an error at `pointer` of a case is told."""
    places = {row.place if row.errors is None else row.errors: row.name for row in FIELDS.values()}
    return next(
        (places[place] for place in sorted(places, reverse=True) if place and pointer.startswith(place)), "text"
    )


def options_at(pointer: str) -> list[Row]:
    """The rows whose option may have written the place `pointer` of a case, the most special one first."""
    rows = [row for row in (*FIELDS.values(), FORMAT) if row.option and pointer.startswith(row.place)]
    return sorted(rows, key=lambda row: row.place, reverse=True)


def side_at(pointer: str) -> str:
    """The word of a comparison's side that may have written the place `pointer` of a case, or something beside it."""
    room = f"{pointer}/".split("/")[1]
    near = [row for row in FIELDS.values() if row.side and row.place.split("/")[1] == room]
    return next((row.side for row in near if pointer.startswith(row.place)), near[0].side if near else "")
