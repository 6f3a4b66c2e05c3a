"""Calls of a parser that shows only its deltas, which the output does not have: sent twice, or made up.

The built-in parser says which calls there are. What it reads as text, reasoning or a call that is none may be a call to
another parser, so a call is only surplus where its name, or a word of its arguments, stands nowhere outside the calls.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from parsers.checks.subject import Subject
from parsers.compare.partners import partners, value_of
from parsers.compare.right_reading import read_events
from parsers.vocabulary.trace import Trace
from parsers.vocabulary.types import ToolCall

_WORD = re.compile(r"\w+")


class Surplus(NamedTuple):
    """The number of a call too many, and whether it says what a call of the output says."""

    number: int
    again: bool


def surplus_calls(subject: Subject) -> list[Surplus]:
    """The calls that a black box sends beyond those of the output, in order."""
    reference = subject.builtin.trace
    right = [] if reference is None else reference.message.tool_calls
    untold = subject.server.plays or subject.failed_at is not None or subject.allowed is not None
    if reference is None or untold or len(subject.calls) <= len(right):
        return []
    calls, own = [_bare(call) for call in subject.calls], [_bare(call) for call in right]
    known, said, outside = partners(calls, own), {value_of(call) for call in own}, _outside(reference)
    words, more, found = _words(outside), Counter[str](), list[Surplus]()
    for index, call in enumerate(calls):
        if index in known:
            continue
        more[call.name] += 1
        if outside.count(call.name) < more[call.name] or not _words(call.arguments) <= words:
            found.append(Surplus(index, value_of(call) in said))
    return found


def _bare(call: ToolCall) -> ToolCall:
    """The call without what models put before its name."""
    return replace(call, name=call.name.rpartition(".")[2])


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _outside(reference: Trace) -> str:
    """All of the output that stands in no call."""
    text, parts, at = reference.text, list[str](), 0
    for place in read_events((event for _, event in reference.events()), text).calls:
        parts.append(text[at : min(place.start, place.named)])
        at = max(at, place.end or len(text))
    return "\n".join([*parts, text[at:]])
