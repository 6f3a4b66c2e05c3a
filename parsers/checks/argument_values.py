"""Checks that arguments are the values that the output writes: strings to their end, and JSON with its keys and values.

A string that stands right after a quote in the output must go on to that quote, and a value that is declared a string
stays one. Where a built-in parser of the format is at hand, keys and values must be those that it reads, however they
are spelled. Where the output writes them in another way than it (as text between tags, or in Python's way), or the
declared schema turns them into other values, a value may be of another type if it says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from html import unescape
from typing import Any

from parsers.arguments.coerce import types_of
from parsers.checks.accounting import ROUNDED
from parsers.checks.check import Need, check
from parsers.checks.json_text import Node, is_whole_object, read_object, walk
from parsers.checks.schema import Path, misfits, where
from parsers.checks.subject import Subject
from parsers.compare.divergence import shared_prefix
from parsers.vocabulary.channels import Channel, ChannelText, call_words
from parsers.vocabulary.trace import Finding
from parsers.vocabulary.types import Span, ToolCall
from parsers.vocabulary.words import counted, quoted, shortened

_QUOTES = "\"'"
_PLACES = 20  # so many places where a string may stand are looked at
_FAILURES = 20  # so many strings, and so many arguments, are looked for in all of the output
_SHOWN = 40
_BESIDE = 12  # characters of a long string that are shown before the place where it parts from another
_PYTHON = {"null": "None", "true": "True", "false": "False"}
_NONE = re.compile(r"(?<![a-z])none(?![a-z])")
_MARKS = re.compile(r"[\s\"'\\]+")  # what writes a value in another way and says nothing


@check("Y2", "A string argument reads as the output writes it, to its end.", needs=(Need.RAW,))
def _strings_whole(subject: Subject) -> Iterator[Finding]:
    beside = dict(_read_beside(subject))
    for index, call in enumerate(subject.calls if subject.allowed is None else ()):
        if call.complete and is_whole_object(call.arguments):
            root = read_object(call.arguments)
            if call.arguments not in subject.trace.text and index not in beside:  # else values_kept says so
                yield from _cut_strings(subject, index, root)
            yield from _retyped_strings(subject, index, root, beside.get(index))


def _read_beside(subject: Subject) -> Iterator[tuple[int, ToolCall]]:
    """By number, the calls of a black box that the built-in parser reads whole, with its reading."""
    reference = subject.builtin.trace
    own = [] if reference is None or subject.server.plays else reference.message.tool_calls
    if [call.name for call in subject.calls] != [call.name for call in own]:
        return
    for index, right in enumerate(own):
        if right.complete and is_whole_object(right.arguments) and is_whole_object(subject.calls[index].arguments):
            yield index, right


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


def _retyped_strings(subject: Subject, index: int, root: Node, right: ToolCall | None) -> Iterator[Finding]:
    """Values that the schema wants as strings, that are something else, where the output does not write them so, nor
    does the built-in parser beside a black box read them so."""
    call = subject.calls[index]
    kinds = {} if right is None else {one.key: one.value.kind for one in read_object(right.arguments).members}
    for member in root.members:
        given = member.value.kind
        if given == kinds.get(member.key) or not _is_retyped(subject, call.name, (member.key,), member.value):
            continue
        spelling = call.arguments[member.value.start : member.value.end]
        # Behind its key and a colon or equals sign it stands where the output itself writes it, as JSON or Python does:
        # a list or an object begins there, however it is spelled.
        found = ("[", "{", "(") if given in ("array", "object") else (spelling[:40], _PYTHON.get(spelling))
        ways = "|".join([re.escape(way) for way in found if way])
        written = rf"""{re.escape(member.key)}["']?\s*[:=]\s*(?:{ways})"""
        if not re.search(written, subject.trace.text):
            yield _strings_whole.finding(
                f"`{member.key}` of {call_words(index, call.name)} is declared a string and has become {spelling}.",
                at=subject.arguments(index).place(member.value.start),
                expected=json.dumps(spelling),
                actual=spelling,
            )


def _is_retyped(subject: Subject, tool: str, path: Path, given: Node) -> bool:
    """Return whether an argument is no string where its schema allows but strings, and perhaps null, and it is not."""
    declared = subject.request.tool(tool)
    schema: Any = None if declared is None else declared.parameters
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if len(path) != 1 or not isinstance(properties, dict):
        return False
    allowed = types_of(properties.get(path[0])) or frozenset()
    return "string" in allowed <= {"string", "null"} and given.kind not in allowed


@check("Y4", "Arguments keep the keys and values that the output writes.", needs=(Need.RAW, Need.REFERENCE))
def _values_kept(subject: Subject) -> Iterator[Finding]:
    reference = subject.builtin.trace
    if reference is None or subject.allowed is not None:
        return
    text, position, failures = subject.trace.text, 0, 0
    for index, right in _read_beside(subject):
        start = text.find(right.arguments, position) if failures < _FAILURES else -1
        failures += start < 0
        position = max(position, start)
        call = subject.calls[index]
        if call.arguments != right.arguments:
            pair = _Pair(subject, call, right, start >= 0)
            yield from _changed_values(subject, index, pair, reference.channels[Channel(index, "arguments")])


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
    is_copied: bool
    """The output writes the arguments in JSON, letter by letter as the built-in parser reads them."""

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
        """Return whether the schema made this value, it only is of another type, or is no string any more."""
        if one.written is None or one.given is None:
            return False
        if one.written.kind == "string" and _is_retyped(self.subject, self.given.name, one.path, one.given):
            return True
        if one.path in self._misfits[0] and one.path not in self._misfits[1]:
            return True
        if not self.is_copied and {one.written.kind, one.given.kind} == {"array", "object"}:
            return not self._is_declared(one.path) and self._leaves_same(one.written, one.given)
        return not self.is_copied and self._says_same(one.written, one.given)

    def _is_declared(self, path: Path) -> bool:
        tool = self.subject.request.tool(self.given.name)
        schema: Any = None if tool is None else tool.parameters
        properties = schema.get("properties") if isinstance(schema, dict) else None
        return isinstance(properties, dict) and path[:1] != () and path[0] in properties

    def _leaves_same(self, written: Node, given: Node) -> bool:
        """Return whether a list and an object hold the same values: what tags inside a value are, a schema says."""
        return _leaves(written, self.written.arguments) == _leaves(given, self.given.arguments)

    def _says_same(self, written: Node, given: Node) -> bool:
        """Return whether two values say the same in other types, or with the characters of markup escaped or not."""
        old, new = _spelled(written, self.written.arguments), _spelled(given, self.given.arguments)
        if written.kind == given.kind:
            return written.kind == "string" and unescape(old) == unescape(new)
        return _plain(old) == _plain(new)

    @cached_property
    def _misfits(self) -> tuple[frozenset[Path], frozenset[Path]]:
        tool = self.subject.request.tool(self.given.name)
        schema = None if tool is None else tool.parameters
        return misfits(schema, self.written.arguments), misfits(schema, self.given.arguments)


def _spelled(node: Node, text: str) -> str:
    """A value as it is written, a string without its quotes and escapes."""
    return str(node.value) if node.kind == "string" else text[node.start : node.end]


def _leaves(root: Node, text: str) -> list[str]:
    """What a list or an object holds, in its order, without keys."""
    leaves = [node for node in walk(root) if node.kind not in ("array", "object")]
    return [_plain(_spelled(node, text)) for node in sorted(leaves, key=lambda node: node.start)]


def _plain(spelling: str) -> str:
    """A value as JSON, Python and text between tags write it alike."""
    return _NONE.sub("null", _MARKS.sub("", spelling).casefold())


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
        yield _values_kept.finding(
            f"{where(one.path)} of {call_words(index, pair.given.name)} {_change(one, old, new)}.",
            step=mine.place(end if one.given is None else one.given.start).step,
            span=None if one.written is None else _raw_span(places, pair.written.arguments, one, one.written),
            expected=old,
            actual=new,
            sort=_sort(one),
        )


def _sort(one: _Other) -> str:
    """What became of a value, in a word."""
    if one.written is None or one.given is None:
        return "added" if one.written is None else "missing"
    old, new = one.written.value, one.given.value
    cut = isinstance(old, str) and isinstance(new, str) and new and old.startswith(new)
    return "cut" if cut else "changed"


def _change(one: _Other, old: str | None, new: str | None) -> str:
    """What became of a value, as the end of a sentence."""
    if old is None or one.written is None:
        return "is not in the output"
    if new is None or one.given is None:
        return f"is {shortened(old, _SHOWN)} in the output and is missing"
    if one.written.kind == one.given.kind == "string":
        return _string_change(str(one.written.value), str(one.given.value), old, new)
    rounded = f": {ROUNDED}" if _is_rounded(old, new) else ""
    return f"is {shortened(old, _SHOWN)} in the output and has become {shortened(new, _SHOWN)}{rounded}"


def _string_change(old: str, new: str, written: str, given: str) -> str:
    if new and old.startswith(new):
        sizes = f"of {counted(len(old), 'character')} {'comes' if len(new) == 1 else 'come'} the first {len(new)}"
        return f"is cut: {sizes}, and {quoted(old[len(new) :])} is missing"
    start = max(0, shared_prefix(written, given) - _BESIDE)
    cut = start > 0 and max(len(written), len(given)) > _SHOWN  # they part where it would not be seen
    old, new = (f"…{text[start:]}" if cut else text for text in (written, given))
    return f"is {shortened(old, _SHOWN)} in the output and has become {shortened(new, _SHOWN)}"


def _raw_span(places: ChannelText, arguments: str, one: _Other, written: Node) -> Span | None:
    """Where a value stands in the output, with its key where it is missing; its quotes may not stand there."""
    start, last = written.start, written.end - 1
    if one.given is None and one.path and isinstance(one.path[-1], str):
        start = max(arguments.rfind(json.dumps(one.path[-1], ensure_ascii=False), 0, start), 0)
    first, end = (_nearest(places, (at, near)) for at, near in ((start, start + 1), (last, last - 1)))
    return None if first is None or end is None or end < first else Span(first, end + 1)


def _nearest(places: ChannelText, offsets: Iterable[int]) -> int | None:
    """The first of these characters' places in the output that is known."""
    found = [place.raw for place in map(places.place, offsets) if place.kind != "synthetic" and place.raw is not None]
    return found[0] if found else None
