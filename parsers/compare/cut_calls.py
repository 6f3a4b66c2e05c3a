"""How far a call goes that the output cuts off: what of it a parser may have sent, or have made of it by closing it.

The streamed text is a beginning of JSON. Closed, it is a JSON object that holds every member that is whole; of the one
that is cut off as much as came, its words ended, null, or nothing. vLLM 0.33.0 and SGLang 0.5.23 send {} where nothing
can be said of the arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from parsers.arguments.json_value import CLOSERS, JsonScanner
from parsers.vocabulary.json_values import object_of
from parsers.vocabulary.types import ToolCall

_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_BLANKS = (" ", "\\n", "\\t", "\\r")
_WORDS = ("true", "false", "null")


def is_streamed_part(cut: ToolCall, other: ToolCall, raw: str = "") -> bool:
    """Return whether the other call has the name and a part of the arguments that were streamed, or goes on in what
    stands in the output (`raw`, the text of the call)."""
    ours, theirs = cut.arguments, other.arguments
    goes_on = theirs.startswith(ours) and theirs[len(ours) :] in raw
    return other.name == cut.name and (ours.startswith(theirs) or goes_on)


def is_closed_form(cut: ToolCall, other: ToolCall, raw: str = "") -> bool:
    """Return whether the other call is the cut one, closed. A value that waited for its end stands in `raw`."""
    found = object_of(other.arguments)
    if other.name != cut.name or found is None:
        return False
    spell = _without_tail if raw[-1:].isspace() else str  # white space at the end may belong to a value, or to its tag
    wanted, forms = spell(json.dumps(found)), [spell(as_json(form)) for form in _closed(cut.arguments)]
    return not found or wanted in forms or _adds(cut, found, raw)


def _without_tail(text: str) -> str:
    """JSON without the white space at the end of the string that it ends with."""
    size = len(text.rstrip("}]"))
    end = size - 1
    while text.startswith('"', size - 1) and text.endswith(_BLANKS, 0, end):
        end -= 1 if text[end - 1] == " " else 2
    return text[:end] + text[size - 1 :]


def _adds(cut: ToolCall, found: dict[str, Any], raw: str) -> bool:
    """Return whether these are the members that are whole, and one more whose key and value stand in the output."""
    whole = object_of(_streamed(cut.arguments).closed_whole)
    *_, last = found
    value = found[last]
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if whole is None or last in whole or last not in raw or said.strip() not in raw:
        return False
    return json.dumps(whole | {last: value}) == json.dumps(found)


def as_json(text: str) -> str:
    """A JSON object in one spelling; other text as it is."""
    found = object_of(text)
    return text if found is None else json.dumps(found)


@dataclass(frozen=True, slots=True)
class _Streamed:
    """A beginning of JSON. `whole`: up to the last member that is whole, in the innermost bracket and in the outermost
    one; `closers`: what closes all brackets. `in_string`: a string value is open; `at_value`: nothing stands behind a
    colon."""

    text: str
    whole: tuple[str, str]
    closers: str
    in_string: bool
    at_value: bool

    @property
    def closed_whole(self) -> str:
        """All members that are whole, closed."""
        return self.whole[0] + self.closers


def _closed(text: str) -> Iterator[str]:
    """The texts that a beginning of JSON may be closed to."""
    found = _streamed(text)
    yield found.closed_whole
    yield found.whole[1] + "}"
    if found.in_string:
        yield f'{text}"{found.closers}'
        yield _HALF_ESCAPE.sub("", text) + f'"{found.closers}'
        return
    yield text + found.closers
    begun = text[len(text.rstrip(ascii_lowercase)) :]
    words = [word for word in _WORDS if begun and word.startswith(begun)] or ["null"] * found.at_value
    for word in words:
        yield text + word[len(begun) :] + found.closers


def _streamed(text: str) -> _Streamed:
    """Look through a beginning of JSON, once."""
    scan, at = JsonScanner(strict=False), 0
    ends: list[int] = []  # for each open bracket: where the last member in it that is whole ends
    before = ""
    while at < len(text):
        unit, stop = scan.step(text, at, len(text), final=True)
        if unit == "open":
            ends.append(stop)
        elif unit == "close":
            ends[-2:] = [stop] if len(ends) > 1 else []
        elif ends and (unit == "comma" or (unit == "quote" and not (scan.in_string or scan.is_key))):
            ends[-1] = at if unit == "comma" else stop
        before, at = before if unit == "ws" else unit, stop
    closers = "".join([CLOSERS[one] for one in reversed(scan.stack)])
    whole = (text[: ends[-1]], text[: ends[0]]) if ends else (text, text)
    return _Streamed(text, whole, closers, scan.in_string and not scan.is_key, before == "colon")
