"""The parts of a longer text that may be data: fenced code blocks, lines of an event stream, JSON with its own lines.

Fences: CommonMark 0.31, section 4.5; the indentation of the opening one is taken off every line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from parsers.intake.jsonread import value_at

MOST = 64  # each may be read in every way there is
TRIES = 16  # values that begin and do not end are given up after so many: each may cost the whole text
_BEGINS = re.compile(r"^[{\[]", re.MULTILINE)
_ENDS = re.compile(r"[ \t\r]*(?:\n|\Z)")
_EVENT = re.compile(r"^data:", re.MULTILINE)
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})([^`\r]*)\r?\Z")


@dataclass(slots=True, frozen=True)
class Block:
    """One part: where it stands, and its text without the indentation."""

    start: int
    end: int
    text: str


def parts(text: str) -> Iterator[list[Block]]:
    """What may be data, by kind: code blocks, an event stream, JSON. Only the first ones of many."""
    for kind in (code_blocks, event_lines, json_values):
        yield list(islice(kind(text), MOST))


def is_fence(line: str) -> bool:
    """Whether a code block begins or ends here."""
    return _FENCE.match(line) is not None


def code_blocks(text: str) -> Iterator[Block]:
    """The text between fences; the last one may lack its end."""
    opened: re.Match[str] | None = None
    lines: list[str] = []
    start = at = 0
    for line in text.split("\n") if "```" in text or "~~~" in text else ():
        fence = _FENCE.match(line)
        if opened is None:
            opened, lines, start = fence, [], at + len(line) + 1
        elif fence is not None and fence[2].startswith(opened[2]) and not fence[3].strip():
            yield Block(start, at, "\n".join(lines))
            opened = None
        else:
            lines.append(line.removeprefix(opened[1]))
        at += len(line) + 1
    if opened is not None:
        yield Block(min(start, len(text)), len(text), "\n".join(lines))


def event_lines(text: str) -> Iterator[Block]:
    """From the first line with an event's data to the last, where there are two."""
    first, last = _EVENT.search(text), text.rfind("\ndata:") + 1
    if first is not None and first.start() < last:
        end = text.find("\n", last)
        end = len(text) if end < 0 else end
        yield Block(first.start(), end, text[first.start() : end])


def json_values(text: str) -> Iterator[Block]:
    """The objects and arrays with lines of their own; those that follow one another are one part."""
    start = end = failed = 0
    for begin in _BEGINS.finditer(text):
        at = begin.start()
        if at < end or failed == TRIES:
            continue
        found = value_at(text, at)
        if found is None or not _ENDS.match(text, found[1]):
            failed += 1
            continue
        if text[end:at].strip():
            if end:
                yield Block(start, end, text[start:end])
            start = at
        end = found[1]
    if end:
        yield Block(start, end, text[start:end])
