"""What is kept of an outcome beside its digest: what the message said, in which order, and what ran the parser.

It is JSON text. What earlier versions wrote is the message alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from parsers.cases.message_events import MessageEvent
from parsers.vocabulary.types import Message, ToolCall

MOST_KEPT = 200_000  # characters of a message that is written, and of its order
SHOWN = 12  # parts of an order
_WORDS = {"text": "content", "tool_call": "call"}
Shape = tuple[tuple[str, int], ...]  # the kind of each part of a message in order, and how many characters its text has


@dataclass(slots=True, frozen=True)
class WrittenOutcome:
    """What is kept; None where it was too long, or nobody wrote it down. `engine`: the name and version of an entered
    engine, else empty."""

    message: Message | None = None
    shape: Shape | None = None
    engine: str = ""


def shape_of(events: Sequence[MessageEvent]) -> Shape:
    """The order of what a message says. A call has no length: its arguments say all of it."""
    return tuple([(one.kind, 0 if one.kind == "tool_call" else len(one.text)) for one in events])


def shape_words(shape: Shape) -> str:
    """An order for people: content (5), call, content (2)."""
    words = [_WORDS.get(kind, kind) + f" ({many:,})" * bool(many) for kind, many in shape[:SHOWN]]
    more = len(shape) - SHOWN
    return ", ".join(words) + f" and {more:,} more" * (more > 0) or "nothing"


def dumped(outcome: WrittenOutcome) -> str | None:
    """It as JSON text of ASCII, in which halves of characters are escapes; None where nothing is left to be kept."""
    shape = None if outcome.shape is None else [list(part) for part in outcome.shape]
    parts = {
        **(outcome.message.to_json() if outcome.message is not None and _fits(outcome.message.to_json()) else {}),
        **({"order": shape} if _fits(shape) and shape is not None else {}),
        **({"engine": outcome.engine} if outcome.engine else {}),
    }
    return json.dumps(parts, separators=(",", ":")) if parts else None


def loaded(text: str) -> WrittenOutcome:
    """What was written."""
    data = json.loads(text)
    message = None
    if "tool_calls" in data:
        message = Message(data["reasoning"], data["content"], [ToolCall(**call) for call in data["tool_calls"]])
    order = data.get("order")
    shape = None if order is None else tuple([(kind, many) for kind, many in order])
    return WrittenOutcome(message, shape, data.get("engine", ""))


def _fits(part: object) -> bool:
    return len(json.dumps(part, separators=(",", ":"))) <= MOST_KEPT
