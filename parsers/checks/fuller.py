"""Which of two messages has more of an output read, where nobody lays the reading of its grammar beside them.

Which one is right nobody knows then. What is known: a call whose name the output has is lost in a message without it
that another chunking gives; and a marker that is declared, or that the parser consumes elsewhere, is left over where it
stands in a text. Linear in the output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from parsers.checks.json_text import is_whole_object
from parsers.checks.prose import consumed_tags
from parsers.vocabulary.channels import message_texts
from parsers.vocabulary.types import Message, ToolCall


class Kept(NamedTuple):
    """How much of an output a message has read; more is fuller. Calls count as often as the output has their names, if
    it has them; `left` counts markers in its texts, and `beyond` the other calls, both below 0."""

    whole: int
    calls: int
    left: int
    beyond: int


def markers_of(text: str, declared: Iterable[str], messages: Iterable[Message]) -> tuple[str, ...]:
    """The markers that may be left over: those that are declared, else the tags that any of the messages lacks."""
    found = (tag for message in messages for tag in consumed_tags(text, message_texts(message).values()))
    return tuple(dict.fromkeys(declared)) or tuple(dict.fromkeys(found))


def kept(message: Message, text: str, markers: Sequence[str]) -> Kept:
    """How much of an output a message has read."""
    said = [message.content or "", message.reasoning or ""]
    whole = [call for call in message.tool_calls if call.complete and is_whole_object(call.arguments)]
    left = sum([one.count(marker) for one in said for marker in markers])
    named = _named(message.tool_calls, text)
    return Kept(_named(whole, text), named, -left, named - len(message.tool_calls))


def is_less(one: Message, other: Message, text: str, declared: Sequence[str]) -> bool:
    """Return whether a message lacks a call that another one has, or has declared markers left that the other has not:
    that is a fault, whatever the grammar is."""
    return kept(one, text, declared)[:-1] < kept(other, text, declared)[:-1]


def _named(calls: Sequence[ToolCall], text: str) -> int:
    """How many calls there are, of each name that stands in the output no more than stand there: one that is sent twice
    is no more."""
    return sum([min(many, text.count(name) or many) for name, many in Counter([one.name for one in calls]).items()])
