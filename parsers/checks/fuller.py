"""Which of two messages has more of an output read, where nobody lays the reading of its grammar beside them.

Which one is right nobody knows then. What is known: a call whose name the output has is lost in a message without it
that another chunking gives; and a marker that is declared, or that the parser consumes elsewhere, is left over where it
stands in a text. Linear in the output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from parsers.checks.json_text import is_whole_object
from parsers.checks.prose import consumed_tags
from parsers.compare.divergence import text_parting
from parsers.vocabulary.channels import message_texts
from parsers.vocabulary.types import Message, ToolCall

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"\s*[\"'(]?\w+[.,;:!?]?\s")  # its first word
_PLAIN = re.compile(r"[\w\s.,;:!?…。\uff01\uff1f'\"]+")


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


def has_more_prose(messages: Sequence[Message], text: str) -> bool:
    """Return whether messages part in how much they have of sentences: the longest content has text of the output more
    than the shortest, which is no name of a call and begins with a word of a sentence, or is the rest of a word or of
    the output; and all have parts of it. A marker that was left over does not begin so."""
    contents = sorted([message.content or "" for message in messages], key=len)
    at, more, _ = text_parting(contents[-1], contents[0])
    names = {call.name for message in messages for call in message.tool_calls if call.name}
    if not more or more not in text or any(name in more for name in names):
        return False
    is_rest = bool(more.strip()) and _PLAIN.fullmatch(more) is not None and _is_rest(contents[-1], at, more, text)
    told = is_rest or _SENTENCE.match(more) is not None
    return told and all(is_part(one, contents[-1]) for one in contents)


def _is_rest(content: str, at: int, more: str, text: str) -> bool:
    """Return whether what a content has more from `at` on is the rest of a word, or of the output."""
    return (at > 0 and content[at - 1 : at + 1].isalpha()) or text.rstrip().endswith(more.strip())


def is_part(text: str, whole: str) -> bool:
    """Return whether a text is another one, with some of it left out."""
    characters = iter(whole)
    return all(char in characters for char in text)


def _named(calls: Sequence[ToolCall], text: str) -> int:
    """How many calls there are, of each name that stands in the output no more than stand there as words, and of those
    that are alike no more than it has their arguments: one that is sent twice is no more, nor is a share of the call
    beside it."""
    beside = zip([None, *calls], calls, [*calls[1:], None], strict=False)
    alike = Counter([(one.name, one.arguments) for before, one, after in beside if not _is_share(one, before, after)])
    words = Counter(_WORD.findall(text)) if any(many > 1 for many in alike.values()) else Counter[str]()
    named = Counter[str]()
    for (name, arguments), many in alike.items():
        stands = [words[word] for word in _WORD.findall(arguments) if words[word]] if many > 1 else []
        named[name] += min([many, *stands])
    return sum([min(many, _stands(name, text) or many) if many > 1 else many for name, many in named.items()])


def _is_share(call: ToolCall, *beside: ToolCall | None) -> bool:
    """Return whether a call that is not whole is the beginning of one of those beside it."""
    others = [one for one in beside if one is not None and one.complete and one.name == call.name]
    return not call.complete and any(one.arguments.startswith(call.arguments) for one in others)


def _stands(name: str, text: str) -> int:
    """How often a name stands in the output as a word, or if it never does, at all."""
    return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text)) or text.count(name) if name else 0
