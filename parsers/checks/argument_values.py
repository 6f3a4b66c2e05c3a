"""Checks that arguments are the values that the output writes: strings to their end, and JSON with its keys and values.

A string that stands right after a quote in the output must go on to that quote, and a value that is declared a string
stays one. Where a format writes arguments as JSON, and the built-in parser finds them letter by letter in the output,
keys and values must be the same. What the declared schema turns into another value is schema_changes'.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from parsers.checks.accounting import ROUNDED
from parsers.checks.check import Need, check
from parsers.checks.json_text import Node, is_whole_object, read_object, walk
from parsers.checks.schema import Path, misfits, where
from parsers.checks.subject import Subject
from parsers.vocabulary.channels import Channel, ChannelText, call_words
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import ToolCall
from parsers.vocabulary.words import shortened

_QUOTES = "\"'"
_PLACES = 20  # so many places where a string may stand are looked at
_FAILURES = 20  # so many strings, and so many arguments, are looked for in all of the output
_SHOWN = 40


@check("Y2", "A string argument reads as the output writes it, to its end.", needs=(Need.RAW,))
def _strings_whole(subject: Subject) -> Iterator[Finding]:
    for index, call in enumerate(subject.calls):
        if call.complete and is_whole_object(call.arguments):
            root = read_object(call.arguments)
            if call.arguments not in subject.trace.text:
                yield from _cut_strings(subject, index, root)
            yield from _retyped_strings(subject, index, root)


def _cut_strings(subject: Subject, index: int, root: Node) -> Iterator[Finding]:
    text, call = subject.trace.text, subject.calls[index]
    position, failures = 0, 0
    for node in sorted(walk(root), key=lambda node: node.start):
        raw = call.arguments[node.start + 1 : node.end - 1]
        if node.kind != "string" or not raw:
            continue
        start = text.find(raw, position)
        if start < 0 and failures < _FAILURES:
            failures += 1
            start = text.find(raw)
        if start < 0:
            continue
        position, rest = start + len(raw), _goes_on(text, raw, start) if failures < _FAILURES else ""
        if rest:
            failures += 1
            words = f"A string of {call_words(index, call.name)} ends early"
            yield _strings_whole.finding(
                f"{words}: in the output `{rest}` follows before its closing quote.",
                at=subject.arguments(index).place(node.start + 1),
                length=len(raw),
                expected=raw + rest,
                actual=raw,
            )


def _goes_on(text: str, raw: str, start: int) -> str:
    """Return what follows a string inside its quotes; '' where any of its places ends with it, or it has too many."""
    first = ""
    for _ in range(_PLACES):
        if start < 0:
            return "" if any(f"{quote}{raw}{quote}" in text for quote in _QUOTES) else first
        quote, end = text[start - 1 : start], start + len(raw)
        inside = quote and quote in _QUOTES and text[start - 2 : start - 1] != "\\"
        if not inside or text[end : end + 1] in ("", quote):
            return ""
        closing = text.find(quote, end)
        if closing < 0 or "\n" in text[end:closing]:
            return ""
        first = first or text[end:closing]
        start = text.find(raw, start + 1)
    return ""


def _retyped_strings(subject: Subject, index: int, root: Node) -> Iterator[Finding]:
    """Values whose schema is exactly string, that are something else, where the output does not write them so."""
    call = subject.calls[index]
    for member in root.members:
        if member.value.kind == "string" or _declared_type(subject, call.name, (member.key,)) != "string":
            continue
        spelling = call.arguments[member.value.start : member.value.end]
        # Behind its key and a colon or equals sign it stands where the output itself writes it, as JSON or Python does.
        written = rf"""{re.escape(member.key)}["']?\s*[:=]\s*{re.escape(spelling[:40])}"""
        if not re.search(written, subject.trace.text):
            yield _strings_whole.finding(
                f"`{member.key}` of {call_words(index, call.name)} is declared a string and has become {spelling}.",
                at=subject.arguments(index).place(member.value.start),
                expected=json.dumps(spelling),
                actual=spelling,
            )


def _declared_type(subject: Subject, tool: str, path: Path) -> Any:
    declared = subject.request.tool(tool)
    schema: Any = None if declared is None else declared.parameters
    for part in ("properties", path[0], "type") if len(path) == 1 else ():
        schema = schema.get(part) if isinstance(schema, dict) else None
    return schema if len(path) == 1 else None


@check("Y4", "Arguments that the output writes as JSON keep their keys and values.", needs=(Need.RAW, Need.REFERENCE))
def _values_kept(subject: Subject) -> Iterator[Finding]:
    reference = subject.builtin.trace
    if reference is None or [call.name for call in subject.calls] != [c.name for c in reference.message.tool_calls]:
        return
    for index, (call, written) in enumerate(_written_calls(subject, reference.message.tool_calls)):
        if written is not None and call.arguments != written.arguments and is_whole_object(call.arguments):
            places = reference.channels[Channel(index, "arguments")]
            yield from _changed_values(subject, index, _Pair(subject, call, written), places)


def _written_calls(subject: Subject, own: list[ToolCall]) -> Iterator[tuple[ToolCall, ToolCall | None]]:
    """Each call with its built-in reading, where that has its arguments from the output letter by letter."""
    text, position, failures = subject.trace.text, 0, 0
    for call, right in zip(subject.calls, own, strict=True):
        whole = right.complete and failures < _FAILURES and is_whole_object(right.arguments)
        start = text.find(right.arguments, position) if whole else -1
        failures += whole and start < 0
        position = max(position, start)
        yield call, right if start >= 0 else None


@dataclass(slots=True, frozen=True)
class _Other:
    path: Path
    written: Node | None
    given: Node | None


@dataclass
class _Pair:
    subject: Subject
    given: ToolCall
    written: ToolCall

    def differences(self) -> Iterator[_Other]:
        """Yield where the values differ, in the order of the output; one for all that is inside a value."""
        waiting: list[_Other] = [_Other((), read_object(self.written.arguments), read_object(self.given.arguments))]
        while waiting:
            one = waiting.pop()
            if one.written is None or one.given is None or self._scalars_differ(one.written, one.given):
                if not self._is_told_elsewhere(one):
                    yield one
                continue
            waiting += reversed(_inside(one.path, one.written, one.given))

    def _scalars_differ(self, written: Node, given: Node) -> bool:
        return _scalar(written, self.written.arguments) != _scalar(given, self.given.arguments)

    def _is_told_elsewhere(self, one: _Other) -> bool:
        """Return whether the schema made this value, or a string ends early or is none any more."""
        if one.written is None or one.given is None:
            return False
        if one.written.kind == "string":
            early = one.given.kind == "string" and str(one.written.value).startswith(str(one.given.value) or "\0")
            retyped = one.given.kind != "string" and _declared_type(self.subject, self.given.name, one.path) == "string"
            if early or retyped:
                return True
        return one.path in self._misfits[0] and one.path not in self._misfits[1]

    @cached_property
    def _misfits(self) -> tuple[frozenset[Path], frozenset[Path]]:
        tool = self.subject.request.tool(self.given.name)
        schema = None if tool is None else tool.parameters
        return misfits(schema, self.written.arguments), misfits(schema, self.given.arguments)


def _scalar(node: Node, text: str) -> tuple[str, object]:
    """Return what two values must share to be the same, members and items apart: 1 and 1.0 are, true and 1 are not.

    Numbers are compared by all of their digits, however many a double has.
    """
    if node.kind not in ("integer", "number"):
        return node.kind, node.value
    spelling = text[node.start : node.end]
    try:
        return "number", Decimal(spelling)
    except InvalidOperation:  # an exponent beyond all numbers
        return "number", spelling


def _is_rounded(old: str, new: str) -> bool:
    """Return whether two spellings of numbers are the same double."""
    try:
        return float(old) == float(new)
    except ValueError:
        return False


def _inside(path: Path, written: Node, given: Node) -> list[_Other]:
    """The members or items of two values, side by side. Of a key that is there twice the last counts."""
    if written.kind == "array":
        longest = max(len(written.items), len(given.items))
        a, b = ([*node.items, *[None] * (longest - len(node.items))] for node in (written, given))
        return [_Other((*path, at), a[at], b[at]) for at in range(longest)]
    old = {member.key: member.value for member in written.members}
    new = {member.key: member.value for member in given.members}
    return [_Other((*path, key), old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]


def _changed_values(subject: Subject, index: int, pair: _Pair, places: ChannelText) -> Iterator[Finding]:
    mine, end = subject.arguments(index), len(pair.given.arguments) - 1
    for one in pair.differences():
        old = None if one.written is None else pair.written.arguments[one.written.start : one.written.end]
        new = None if one.given is None else pair.given.arguments[one.given.start : one.given.end]
        change = "is not in the output"
        if old is not None:
            change = "is missing" if new is None else f"has become {shortened(new, _SHOWN)}"
            change = f"is {shortened(old, _SHOWN)} in the output and {change}"
        rounded = old is not None and new is not None and _is_rounded(old, new)
        yield _values_kept.finding(
            f"{where(one.path)} of {call_words(index, pair.given.name)} {change}{f': {ROUNDED}' if rounded else ''}.",
            step=mine.place(end if one.given is None else one.given.start).step,
            span=None if one.written is None else places.place(one.written.start).span(len(old or "")),
            expected=old,
            actual=new,
        )
