"""Check that string arguments are read as the output writes them.

A string is looked for in the output, escapes undone. Where it stands right after a quote, it must go on to that
quote: a parser that takes something inside a string for its end leaves the rest away. And a value that is declared a
string stays one. What has no place in the output at all is nothing_invented's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from parsers.checks.base import Subject, call_words, check, span_of
from parsers.checks.json_prefix import is_whole_object
from parsers.checks.json_tree import Node, read_object, walk
from parsers.trace import Finding

_QUOTES = "\"'"
_PLACES = 20  # so many places where a string may stand are looked at
_FAILURES = 20  # so many strings are looked for in all of the output


@check("strings_whole", "Y2", "A string argument reads as the output writes it, to its end.", needs=("raw",))
def strings_whole(subject: Subject) -> list[Finding]:
    """Errors for strings cut at something inside them, and for declared strings that became something else."""
    schemas = {tool.name: tool.parameters for tool in reversed(subject.context.tools)}
    findings: list[Finding] = []
    for index, call in enumerate(subject.trace.message.tool_calls):
        if call.complete and is_whole_object(call.arguments):
            root = read_object(call.arguments)
            if call.arguments not in subject.trace.text:
                findings += _cut(subject, index, root)
            findings += _retyped(subject, index, root, schemas.get(call.name))
    return findings


def _cut(subject: Subject, index: int, root: Node) -> Iterator[Finding]:
    text, arguments = subject.trace.text, subject.trace.message.tool_calls[index].arguments
    position, failures = 0, 0
    for node in sorted(walk(root), key=lambda node: node.start):
        raw = arguments[node.start + 1 : node.end - 1]
        if node.kind != "string" or not raw:
            continue
        at = text.find(raw, position)
        if at < 0 and failures < _FAILURES:
            failures += 1
            at = text.find(raw)
        if at < 0:
            continue
        position, rest = at + len(raw), _goes_on(text, raw, at) if failures < _FAILURES else ""
        if rest:
            failures += 1
            place = subject.arguments(index).place(node.start + 1)
            words = call_words(index, subject.trace.message.tool_calls[index].name)
            yield strings_whole.finding(
                f"A string of {words} ends early: in the output `{rest}` follows before its closing quote.",
                step=place.step,
                span=span_of(place, len(raw)),
                expected=raw + rest,
                actual=raw,
            )


def _goes_on(text: str, raw: str, at: int) -> str:
    """What follows a string inside its quotes; '' where any of its places ends with it, or it has too many."""
    first = ""
    for _ in range(_PLACES):
        if at < 0:
            return "" if any(f"{quote}{raw}{quote}" in text for quote in _QUOTES) else first
        quote, end = text[at - 1 : at], at + len(raw)
        if not quote or quote not in _QUOTES or text[at - 2 : at - 1] == "\\" or text[end : end + 1] in ("", quote):
            return ""
        closing = text.find(quote, end)
        if closing < 0 or "\n" in text[end:closing]:
            return ""
        first = first or text[end:closing]
        at = text.find(raw, at + 1)
    return ""


def _retyped(subject: Subject, index: int, root: Node, schema: Any) -> Iterator[Finding]:
    """Values whose schema is exactly string, that are something else, where the output does not write them so."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    arguments = subject.trace.message.tool_calls[index].arguments
    for member in root.members:
        declared = properties.get(member.key) if isinstance(properties, dict) else None
        if not isinstance(declared, dict) or declared.get("type") != "string" or member.value.kind == "string":
            continue
        spelling = arguments[member.value.start : member.value.end]
        if not written_so(subject.trace.text, member.key, spelling):
            place = subject.arguments(index).place(member.value.start)
            words = call_words(index, subject.trace.message.tool_calls[index].name)
            yield strings_whole.finding(
                f"`{member.key}` of {words} is declared a string and has become {spelling}.",
                step=place.step,
                span=span_of(place),
                expected=json.dumps(spelling),
                actual=spelling,
            )


def written_so(text: str, key: str, spelling: str) -> bool:
    """Whether the output itself writes this value as JSON or Python does: behind its key and a colon or equals sign."""
    separator = rf"""["']?\s*[:=]\s*{re.escape(spelling[:40])}"""
    return re.search(re.escape(key) + separator, text) is not None
