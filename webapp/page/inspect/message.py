"""The result pane: the message, every character tagged with the step that sent it.

Because a message only ever grows, "the message at step N" is the whole message with everything later than N toned
down. So the pane is drawn once per window; stepping only moves the line between sent and not yet sent. Text sent
outside the window is folded into runs that say how much there is.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from parsers.vocabulary.types import Context
from webapp.glyphs import count, show_lines
from webapp.page.inspect.index import CallIndex, Channel, TraceIndex, Window

_TABLE_LIMIT = 100_000
_CALLS_SHOWN = 60
_FOLDED = 2_000


@dataclass(slots=True)
class Sent:
    """Text sent in one step, with the output [start, end) it came from. `folded` text is counted, not shown."""

    text: str
    role: str
    step: int
    start: int
    end: int
    kind: str = "copied"
    folded: str = ""

    @property
    def html(self) -> Markup:
        """The characters, invisible ones as glyphs."""
        return show_lines(self.text)


@dataclass(slots=True)
class Argument:
    """One member of the arguments: its value as it was sent, what the schema says of it, its place in the output."""

    key: str
    value: list[Sent]
    schema: str
    unknown: bool
    step: int
    start: int
    end: int

    @property
    def attributes(self) -> Markup:
        """Which part of the output selecting this member lights up."""
        return Markup(' data-select="{}-{}"').format(self.start, self.end)


@dataclass(slots=True)
class Call:
    """One tool call of the message."""

    number: int
    name: list[Sent]
    id: list[Sent]
    raw: list[Sent]
    arguments: list[Argument]
    begins: int
    ends: int
    complete: bool
    problem: str


@dataclass(slots=True)
class Difference:
    """One compared part of the message. `expected` None: the case does not say."""

    part: str
    expected: str
    actual: str
    same: bool


@dataclass(slots=True)
class Result:
    """Everything the result pane shows."""

    reasoning: list[Sent]
    content: list[Sent]
    calls: list[Call]
    calls_before: int
    calls_after: int
    finish: str
    last_step: int
    differences: list[Difference] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def result(index: TraceIndex, window: Window, context: Context, expect: dict[str, Any] | None) -> Result:
    """The result pane of `window`."""
    calls = sorted(index.calls.values(), key=lambda call: call.begins)
    low = bisect_left([call.ends or index.total for call in calls], window.first)
    high = max(low, bisect_right([call.begins for call in calls], window.last))
    low = max(low, high - _CALLS_SHOWN)
    return Result(
        reasoning=_clip(index.reasoning, window),
        content=_clip(index.content, window),
        calls=[_call(index, call, window, context) for call in calls[low:high]],
        calls_before=low,
        calls_after=len(calls) - high,
        finish=index.trace.finish_reason,
        last_step=index.total,
        differences=_differences(index, expect),
        rejected=[f"{call.name or 'a call'}: {call.reason.words}" for call in index.trace.rejected_calls],
    )


def _clip(channel: Channel, window: Window, start: int = 0, end: int | None = None) -> list[Sent]:
    """Characters [start, end) of `channel`: those sent inside the window as runs, the rest counted."""
    end = channel.length if end is None else end
    low = max(start, channel.offsets[bisect_left(channel.steps, window.first)])
    high = min(end, channel.offsets[bisect_right(channel.steps, window.last)])
    if low >= high:
        return folded(channel, start, end)
    return [*folded(channel, start, low), *sent(channel, low, high), *folded(channel, high, end)]


def sent(channel: Channel, low: int, high: int) -> Iterator[Sent]:
    """Characters [low, high) of a channel as runs. A very long one (all in one step) keeps its two ends."""
    at = bisect_right(channel.offsets, low) - 1
    while low < high and at < len(channel.stretches) and channel.offsets[at] < high:
        piece, base = channel.stretches[at], channel.offsets[at]
        left, right = max(low - base, 0), min(high - base, len(piece.text))
        copied = piece.kind == "copied"
        start, end = (piece.start + left, piece.start + right) if copied else (piece.start, piece.end)
        text = piece.text[left:right]
        if len(text) > _FOLDED:
            half = _FOLDED // 2
            text = f"{text[:half]} […{len(text) - _FOLDED:,} more…] {text[-half:]}"
        if text:
            yield Sent(text, channel.role, piece.step, start, end, piece.kind)
        at += 1


def folded(channel: Channel, start: int, end: int) -> list[Sent]:
    """Characters [start, end) of a channel as a run that is counted; nothing for none."""
    if start >= end:
        return []
    piece = channel.stretches[bisect_right(channel.offsets, start) - 1]
    words = f"{count(end - start, 'character')} from step {piece.step:,} on"
    return [Sent("", channel.role, piece.step, piece.start, piece.end, folded=words)]


def _call(index: TraceIndex, call: CallIndex, window: Window, context: Context) -> Call:
    text = call.arguments.text() if call.arguments.length <= _TABLE_LIMIT else ""
    name = call.name.text()
    return Call(
        number=call.number,
        name=_clip(call.name, window),
        id=_clip(call.id, window),
        raw=_clip(call.arguments, window),
        arguments=_arguments(call, text, name, window, context),
        begins=call.begins,
        ends=call.ends or index.total,
        complete=call.complete,
        problem=_problem(call, text),
    )


def _problem(call: CallIndex, text: str) -> str:
    """Why the arguments cannot be read as they stand; empty when they can."""
    if not text:
        return "too long to be split into members here" if call.arguments.length else "no arguments were sent"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not valid JSON: {error}" if isinstance(error, ValueError) else "nested too deeply to be read"
    return "" if isinstance(value, dict) else "valid JSON, but not an object"


def _arguments(call: CallIndex, text: str, name: str, window: Window, context: Context) -> list[Argument]:
    tool = context.tool(name)
    schema = dict(tool.parameters or {}) if tool else {}
    properties = schema.get("properties") if isinstance(schema.get("properties"), dict) else None
    rows = []
    for member in members(text):
        value = _clip(call.arguments, window, member.start, member.end)
        words, unknown = _schema_words(properties, member.key)
        at = max(0, bisect_right(call.arguments.offsets, member.start) - 1)
        first = call.arguments.stretches[min(at, len(call.arguments.stretches) - 1)]
        start = value[0].start if value else first.start
        rows.append(Argument(member.key, value, words, unknown, first.step, start, value[-1].end if value else start))
    return rows


def _schema_words(properties: dict[str, Any] | None, key: str) -> tuple[str, bool]:
    """What the tool's schema says of `key`, and whether it does not know it."""
    if properties is None:
        return "", False
    if key not in properties:
        return "not in schema", True
    kind = properties[key].get("type", "any") if isinstance(properties[key], dict) else "any"
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind), False


def _differences(index: TraceIndex, expect: dict[str, Any] | None) -> list[Difference]:
    """Expected against actual, part by part; only the parts the case speaks about."""
    expect, message = expect or {}, index.trace.message
    found = [
        _difference(part, _text(expect[part]), actual or "")
        for part, actual in (("reasoning", message.reasoning), ("content", message.content))
        if part in expect
    ]
    if expect.get("finish_reason") is not None:
        found.append(_difference("finish", expect["finish_reason"], index.trace.finish_reason))
    if (wanted := expect.get("tool_calls")) is not None:
        actual_calls = [_call_words(call.name, call.arguments) for call in message.tool_calls]
        expected = [_call_words(item["name"], _text(item.get("raw")) or item.get("arguments")) for item in wanted]
        pairs = zip_longest(expected, actual_calls, fillvalue="")
        found += [_difference(f"call {number}", *pair) for number, pair in enumerate(pairs)]
    return found


def _text(given: str | list[str] | None) -> str:
    """A text as a case file has it: one of several lines is a list of them."""
    return given or "" if isinstance(given, str | None) else "".join(given)


def _difference(part: str, expected: str, actual: str) -> Difference:
    return Difference(part, expected[:_FOLDED], actual[:_FOLDED], expected == actual)


def _call_words(name: str, arguments: Any) -> str:
    """A call on one line, its arguments in one spelling, so that equal calls compare equal."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return f"{name} {arguments}"
    return f"{name} {json.dumps(value, ensure_ascii=False, sort_keys=True)}"


# Finds the top-level members of an object in a call's argument text, finished or cut off, with their places.
#
# Not a validator: it only has to say where each key and value stands, so that the page can show them one by one and
# point at the output they came from. String-aware, one pass, never raises.

_NEXT = re.compile(r'["{}\[\],:]')
_STRING_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*("|$)', re.DOTALL)


@dataclass(slots=True)
class Member:
    """A key and the place [start, end) of its value in the argument text."""

    key: str
    start: int
    end: int


def members(text: str) -> list[Member]:
    """The members of the outermost object of `text`; nothing when it is not an object."""
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + 1] != "{":
        return []
    found: list[Member] = []
    key, value, depth, at = "", -1, 0, begin
    last_string = ""
    while match := _NEXT.search(text, at):
        char, at = match[0], match.end()
        if char == '"':
            closed = _STRING_END.match(text, at)
            at = closed.end() if closed else len(text)
            last_string = text[match.start() : at]
        elif char in "{[":
            depth += 1
        elif char == ":" and depth == 1 and value < 0:
            key, value = _spelled(last_string), at
        elif (char == "," and depth == 1) or char in "}]":
            depth -= char in "}]"
            if value >= 0 and depth == (1 if char == "," else 0):
                found.append(_member(text, key, value, match.start()))
                value = -1
            if depth == 0:
                return found
    if value >= 0:
        found.append(_member(text, key, value, len(text)))
    return found


def _member(text: str, key: str, start: int, end: int) -> Member:
    part = text[start:end]
    return Member(key, start + len(part) - len(part.lstrip()), start + len(part.rstrip()))


def _spelled(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal
