"""How far a message is from the right reading of its output: which of two replays lost more.

A contract may let white space differ, so it never counts here. O(n).
"""

from __future__ import annotations

from parsers.compare.divergence import text_parting
from parsers.compare.partners import value_of
from parsers.vocabulary.types import Message

Distance = tuple[int, int, int]


def distance(right: Message, given: Message) -> Distance:
    """The calls that are missing, too many or others; then the characters of text that are missing, and those that are
    too many, as of markup that nobody was asked to read. Less is nearer."""
    calls, own = given.tool_calls, right.tool_calls
    pairs = zip(calls, own, strict=False)
    other = abs(len(calls) - len(own)) + sum([value_of(one) != value_of(wanted) for one, wanted in pairs])
    texts = ((given.content, right.content), (given.reasoning, right.reasoning))
    apart = [_apart(_squeezed(one), _squeezed(wanted)) for one, wanted in texts]
    return other, sum([lost for lost, _ in apart]), sum([more for _, more in apart])


def _squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def _apart(given: str, right: str) -> tuple[int, int]:
    """How many characters of the right text and of the given one stand between their common start and end."""
    _, more, lost = text_parting(given, right)
    return len(lost), len(more)
