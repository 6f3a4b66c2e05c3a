"""The field types of the case model: what a file may spell in more than one way, and how it is written back.

Inside the model a text is one string. A file may give it as a string or as a list of lines that are concatenated
with nothing between; it is written as a list of lines, so that a change of one line is a change of one line.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from parsers.types import UsageError


class CaseError(UsageError):
    """A case that cannot be used. `pointer` is the JSON pointer (RFC 6901) of the place, "" for the whole file."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(f"{pointer}: {message}" if pointer else message)
        self.message = message
        self.pointer = pointer


def lines(text: str) -> list[str]:
    """The text cut after each newline; one empty item for an empty text."""
    *ended, last = text.split("\n")
    cut = [f"{part}\n" for part in ended]
    return [*cut, last] if last or not cut else cut


def line_or_lines(text: str) -> str | list[str]:
    """A text as a string where it is one line, as a list of lines otherwise."""
    cut = lines(text)
    return cut[0] if len(cut) == 1 else cut


def _joined(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise PydanticCustomError("text_item", "item {index} of this text is not a string", {"index": index})
    return "".join(value)


def _empty_for_null(value: Any) -> Any:
    return "" if value is None else _joined(value)


def _expected(text: str | None) -> str | list[str] | None:
    return line_or_lines(text) if text else None


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _hex(value: str) -> str:
    try:
        return bytes.fromhex(value).hex()
    except ValueError:
        raise PydanticCustomError("hex", "bytes are written as pairs of hexadecimal digits") from None


def _tool(value: dict[str, Any]) -> dict[str, Any]:
    function = value["function"] if isinstance(value.get("function"), dict) else value
    if not isinstance(function.get("name"), str) or not function["name"]:
        raise PydanticCustomError(
            "tool_name", 'a tool needs a name: {{"type": "function", "function": {{"name": ...}}}} or {{"name": ...}}'
        )
    if not isinstance(function.get("parameters", {}), dict | None):
        raise PydanticCustomError("tool_parameters", "'parameters' of a tool must be a JSON Schema object")
    if not isinstance(function.get("strict"), bool | None):
        raise PydanticCustomError("tool_strict", "'strict' of a tool must be true or false")
    return value


_SPELLINGS = str | list[str]

Text = Annotated[str, BeforeValidator(_joined, json_schema_input_type=_SPELLINGS), PlainSerializer(lines)]
ShortText = Annotated[str, BeforeValidator(_joined, json_schema_input_type=_SPELLINGS), PlainSerializer(line_or_lines)]
ExpectedText = Annotated[
    str | None,
    BeforeValidator(_empty_for_null, json_schema_input_type=_SPELLINGS | None),
    PlainSerializer(_expected),
]
Notes = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=_SPELLINGS)]
Hex = Annotated[str, AfterValidator(_hex), Field(pattern="^([0-9A-Fa-f]{2})*$")]
Integer = Annotated[int, Field(strict=True)]
Natural = Annotated[int, Field(strict=True, ge=0)]
Switch = Annotated[bool, Field(strict=True)]
Word = Annotated[str, Field(min_length=1)]
ToolObject = Annotated[dict[str, Any], AfterValidator(_tool)]
CaseId = Annotated[str, Field(pattern="^[0-9a-hjkmnp-tv-z]{16}$")]
