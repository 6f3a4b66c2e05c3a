"""Tells in little time that nothing can be wrong with an output: what most outputs of a corpus are.

The checks say what is wrong; they take ten times as long as a replay does. An output is plain where all that they could
find is ruled out by quicker means: nothing was rejected, dropped or remarked on, every character has its place, no text
has anything like a marker in it, every call is whole and fits its schema, and there is an answer. What is not plain is
given to the checks, so a doubt costs time and changes no report.

Invariant, held by a test over written and broken outputs: of a plain output no check finds an error or a warning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from parsers.checks.check import any_of
from parsers.checks.leaks import CONTROL, is_marker, unmistakable_markers
from parsers.checks.schema import Schema, schema_of
from parsers.formats.model import Format
from parsers.machine.program import literals
from parsers.vocabulary.events import Diagnostic, Dropped, Event
from parsers.vocabulary.trace import RejectedCall
from parsers.vocabulary.types import Context, Message, ToolCall

_DAMAGED = re.compile("[\ufffd\ud800-\udfff]")
_TAG = re.compile(r"<[|｜/!?a-zA-Z]|\[/?[A-Z_]{3,}|[|｜]>")


@dataclass(slots=True, frozen=True)
class Read:
    """What a parser made of an output in one piece."""

    message: Message
    events: Sequence[Event]
    rejected: Sequence[RejectedCall]


class Plain:
    """Knows the markers of a format and the tools of a request."""

    def __init__(self, fmt: Format, context: Context) -> None:
        self._context = context
        self._markers, self._beginnings = _markers_of(fmt)
        self._schemas: dict[str, Schema | None] = {
            tool.name: None if tool.parameters is None else schema_of(tool.parameters)
            for tool in reversed(context.tools)
        }
        self._judges = not any(schema is not None and schema.flaws for schema in self._schemas.values())

    def holds(self, text: str, read: Read) -> bool:
        """Return whether an output and what was read of it leave nothing to find."""
        message = read.message
        return (
            self._judges
            and not read.rejected
            and self._is_answer(message)
            and _DAMAGED.search(text) is None
            and _covers(read.events, len(text))
            and all(map(self._is_clean, (message.reasoning, message.content)))
            and all(map(self._is_sound, message.tool_calls))
            and len({call.id for call in message.tool_calls}) == len(message.tool_calls)
        )

    def _is_answer(self, message: Message) -> bool:
        context, calls = self._context, message.tool_calls
        if context.finish_reason == "length" or (context.finish_reason == "tool_calls" and not calls):
            return False
        if context.tool_choice != "auto" and not (context.tool_choice == "required" and calls):
            return False
        return bool(calls or (message.content or "").strip())

    def _is_clean(self, text: str | None) -> bool:
        """Return whether no marker stands in a text, and none may begin at its end."""
        if not text:
            return True
        return _TAG.search(text) is None and self._markers.search(text) is None and not self._may_begin(text)

    def _may_begin(self, text: str) -> bool:
        return text.rstrip().endswith(self._beginnings)

    def _is_sound(self, call: ToolCall) -> bool:
        if not call.complete or (self._schemas and call.name not in self._schemas):
            return False
        if self._markers.search(call.arguments) is not None:
            return False
        value = _object(call.arguments)
        schema = self._schemas.get(call.name)
        return value is not None and (schema is None or _fits(schema, value))


def _fits(schema: Schema, value: Mapping[str, Any]) -> bool:
    """Return whether an object fits a schema, as far as that can be told."""
    try:
        return schema.validator is None or schema.validator.is_valid(value)
    except ValueError:
        return False


def _object(text: str) -> Mapping[str, Any] | None:
    """The object that a text is, None for what is none or not plainly one."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse(word: str) -> None:
    raise ValueError(word)


def _covers(events: Sequence[Event], size: int) -> bool:
    """Return whether every character of the output went to some place, and nothing was remarked on."""
    spans = []
    for event in events:
        if isinstance(event, Diagnostic | Dropped):
            return False
        if event.owner is not None:
            spans.append((event.start, event.end))
    at = 0
    for start, end in sorted(spans):
        if start > at:
            return False
        at = max(at, end)
    return at == size


@lru_cache(maxsize=256)
def _markers_by_name(texts: tuple[str, ...]) -> tuple[re.Pattern[str], tuple[str, ...]]:
    marks = {text.strip() for text in (*texts, *unmistakable_markers(), *CONTROL) if is_marker(text.strip())}
    beginnings = {text[:size] for text in marks for size in range(1, len(text)) if not text[:size].isalnum()}
    return any_of(marks), tuple(sorted(beginnings))


def _markers_of(fmt: Format) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern for the markers of a format and of all others, and what these may begin with."""
    told = (*literals(fmt), *fmt.terminals.values(), *fmt.tokens, *fmt.end_tokens)
    return _markers_by_name(tuple(sorted(set(told))))
