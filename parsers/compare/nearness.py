"""How far a message is from the right reading of its output: which of two replays lost more.

A contract may let white space differ, so it never counts here. O(n).
"""

from __future__ import annotations

from parsers.compare.divergence import shared_prefix
from parsers.compare.partners import value_of
from parsers.vocabulary.types import Message

Distance = tuple[int, int]


def distance(right: Message, given: Message) -> Distance:
    """The calls that are missing, too many or others, then the characters of text that are; less is nearer."""
    calls, own = given.tool_calls, right.tool_calls
    pairs = zip(calls, own, strict=False)
    other = abs(len(calls) - len(own)) + sum([value_of(one) != value_of(wanted) for one, wanted in pairs])
    texts = ((given.content, right.content), (given.reasoning, right.reasoning))
    return other, sum([_apart(_squeezed(one), _squeezed(wanted)) for one, wanted in texts])


def _squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def _apart(one: str, other: str) -> int:
    """How many characters stand between the common start and the common end of two texts, in the longer one."""
    start = shared_prefix(one, other)
    one, other = one[start:], other[start:]
    return max(len(one), len(other)) - shared_prefix(one[::-1], other[::-1])
