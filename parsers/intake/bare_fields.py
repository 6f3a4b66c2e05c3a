"""LangChain's messages as print() shows them: their fields alone, name=value, with no class around them.

    content='Hi' additional_kwargs={} response_metadata={'finish_reason': 'stop'} id='run-1'

Each begins its line with its content and has `additional_kwargs`; other text may stand between them. A message is a
chunk where it has the parts of calls, or where another one has the same id. (LangChain 0.3 and 1: the str() of
AIMessage and AIMessageChunk, made by pydantic.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from parsers.intake.literals import Named, literal_at

_START = re.compile(r"^(?=content=['\"\[])", re.MULTILINE)
_FIELD = re.compile(r"[ \t]*+([a-z_]\w*+)=(?=\S)", re.ASCII)
_ALWAYS = "additional_kwargs"
_PARTS = "tool_call_chunks"


@dataclass(slots=True)
class Bare:
    """The messages as objects of their classes; whether the text ends inside the last one."""

    objects: list[Named]
    cut: bool


def bare_messages(text: str) -> Bare:
    """All messages, in the order printed."""
    if f" {_ALWAYS}=" not in text:
        return Bare([], False)
    read = list(_messages(text))
    found = [fields for fields, _ in read if _ALWAYS in fields]
    ids = Counter([fields["id"] for fields in found if isinstance(fields.get("id"), str)])
    made = []
    for fields in found:
        chunk = _PARTS in fields or ids.get(fields.get("id"), 0) > 1
        made.append(Named("AIMessageChunk" if chunk else "AIMessage", [], fields, called=True))
    return Bare(made, bool(read) and read[-1][1])


def _messages(text: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """The fields of each message, and whether the text ends inside them."""
    at = 0
    while mark := _START.search(text, at):
        at, fields, cut = mark.start(), {}, False
        while not cut and (name := _FIELD.match(text, at)):
            literal = literal_at(text, name.end())
            if literal is None:
                cut = text.find("\n", name.end()) < 0  # an open quote at the end of the paste
                break
            cut, at = not literal.whole, literal.end
            fields[name[1]] = literal.value
        at = max(at, mark.start() + 1)
        yield fields, cut
