"""A message as a client sees it, in one line: its texts and calls, and what it lacks of the right one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from parsers.vocabulary.types import Message, ToolCall
from webapp.glyphs import shorten

_LONGEST = 60  # characters of one part, where nothing else is said


@dataclass(frozen=True, slots=True)
class Told:
    """One part in its role; `lost` is one that the right message has and this one has not; `wrong` is another one than
    there."""

    role: str
    text: str
    lost: bool = False
    wrong: bool = False


def told(message: Message, right: Message | None = None, *, longest: int = _LONGEST) -> list[Told]:
    """The parts of a message in the order of reading; beside the right one also those that it lacks. Of each at most
    `longest` characters are shown."""
    meant = right or message
    texts = [("reasoning", message.reasoning, meant.reasoning), ("content", message.content, meant.content)]
    parts = [part for role, here, there in texts for part in _part(role, here or "", there or "", longest)]
    pairs = zip_longest(message.tool_calls, meant.tool_calls)
    return [*parts, *[part for pair in pairs for part in _call(*pair, longest)]]


def _part(role: str, here: str, there: str, longest: int) -> Iterator[Told]:
    if here or there:
        yield Told(role, shorten(here or there, longest), lost=not here, wrong=bool(here) and here != there)


def _call(here: ToolCall | None, there: ToolCall | None, longest: int) -> Iterator[Told]:
    ours, right = [(one.name or "", one.arguments) if one is not None else ("", "") for one in (here, there)]
    yield from _part("name", ours[0], right[0], longest)
    yield from _part("arguments", ours[1], right[1], longest)
