"""A format as somebody types it: what is wrong with the text, each finding with its line, and the Format if it is one.

Three stages, and the first that fails ends the check: the text is JSON, the JSON is a Format, the Format passes the
static check (`parsers.formats.lint`). Only a format without errors may run.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from parsers.cases import jsontext
from parsers.cases.jsontext import JsonError
from parsers.formats.lint import LintFinding, lint
from parsers.formats.model import CodecRef, Format, MarkerToken, ModelHint, Policy, Provenance, Row, State
from parsers.vocabulary.events import Severity
from webapp.formats.places import Place, Places, place_of_error

MOST_CHARACTERS = 200_000
INSTANCE = re.compile(r"valid dictionary( or instance of \w+)?")
PLAIN_WORDS = {
    "missing": "this key is required",
    "string_pattern_mismatch": "must be a name: a letter, then letters, digits and underscores",
    "string_too_short": "must have at least one character",
}


@dataclass(slots=True, frozen=True)
class Noted:
    """One finding about the text of a format: what it is, where its pointer leads, and what to do."""

    severity: Severity
    code: str
    pointer: str
    message: str
    place: Place


@dataclass(slots=True)
class Checked:
    """A text, the format it spells (None: it spells none), and the findings, errors first."""

    text: str
    data: Any
    format: Format | None
    findings: list[Noted]

    @property
    def runs(self) -> Format | None:
        """The format, if nothing is so wrong with it that it may not run."""
        return None if any(found.severity == "error" for found in self.findings) else self.format


def checked(text: str, taken: Mapping[str, Format] | None = None) -> Checked:
    """Check the text of a format. `taken` are the parsers whose names others go by."""
    if len(text) > MOST_CHARACTERS:
        words = f"The text has {len(text):,} characters; a format may have {MOST_CHARACTERS:,}. Shorten it."
        return Checked(text, None, None, [Noted("error", "too_long", "", words, Place(1, 1, 0, 0))])
    try:
        data = jsontext.read(text)
        jsontext.check(data)
    except JsonError as error:
        return Checked(text, None, None, [_not_json(text, error)])
    places = Places(text)
    try:
        fmt = Format.model_validate(data)
    except ValidationError as error:
        return Checked(text, data, None, [_invalid(one, places) for one in error.errors()])
    found = [*lint(fmt), *_taken(fmt, taken or {})]
    return Checked(text, data, fmt, [_noted(one, places) for one in found])


def _not_json(text: str, error: JsonError) -> Noted:
    where, pointer = place_of_error(text, error), jsontext.pointer(error.path)
    if error.path:
        where = Places(text).at(pointer)
    message = error.message[:1].upper() + error.message[1:]
    if not text.strip():
        message = "There is no text yet: begin with a built-in format or the skeleton."
    return Noted("error", "not_json", pointer, message, where)


def _noted(found: LintFinding, places: Places) -> Noted:
    return Noted(found.severity, found.code, found.pointer, found.message, places.at(found.pointer))


def _invalid(error: ErrorDetails, places: Places) -> Noted:
    path = tuple([part for part in error["loc"] if part != "[key]"])
    pointer = jsontext.pointer(path)
    message = words(error)
    return Noted("error", "not_a_format", pointer, f"{_name(path)}: {message}.", places.at(pointer))


def _name(path: tuple[str | int, ...]) -> str:
    names = [str(part) for part in path if isinstance(part, str)]
    return names[-1] if names else "the whole"


def words(error: ErrorDetails) -> str:
    """What a validation error says to the person who typed the format."""
    if error["type"] == "extra_forbidden":
        return _unknown_key(error["loc"])
    if error["type"] in PLAIN_WORDS:
        return PLAIN_WORDS[error["type"]]
    message = error["msg"].replace("Input should be", "must be", 1).replace("valid tuple", "list")
    message = INSTANCE.sub("JSON object", message)
    given = error["input"]
    return message if isinstance(given, dict | list) else f"{message}, not {jsontext.line(given)[:40]}"


def _unknown_key(path: tuple[str | int, ...]) -> str:
    known = [field.alias or name for name, field in model_at(path[:-1]).model_fields.items()]
    near = difflib.get_close_matches(str(path[-1]), known, n=1)
    advice = f"perhaps it is {near[0]}" if near else f"the keys here are {', '.join(known)}"
    return f"unknown key; {advice}"


def model_at(path: tuple[str | int, ...]) -> type[BaseModel]:
    """The model whose keys may stand at this place of a format."""
    below: dict[str, type[BaseModel]] = {
        "policy": Policy, "models": ModelHint, "tokens": MarkerToken, "provenance": Provenance,
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
