"""What a message says in order: reasoning, text and calls as they came, which a message itself does not keep.

Text of one kind that nothing else stands between is one event. A call stands where it was begun, whatever came before
it was complete. Of parts that came in one delta of a foreign parser nobody knows the order (`stated_order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from parsers.cases.stated_order import OF_CALLS, Wanted, as_stated
from parsers.vocabulary.events import CallArguments, CallName, ContentText, Event, ReasoningText
from parsers.vocabulary.trace import Trace

EventKind = Literal["reasoning", "text", "tool_call"]


@dataclass(slots=True)
class MessageEvent:
    """One of these: `text` is that of reasoning or content, or the arguments of a call, `name` that of a call."""

    kind: EventKind
    text: str = ""
    name: str = ""

    @property
    def words(self) -> str:
        """It as text: a call by its name and arguments."""
        return f"{self.name} {self.text}" if self.kind == "tool_call" else self.text


def events_of(trace: Trace, wanted: Wanted = (), *, soft: bool = False) -> list[MessageEvent]:
    """What the message of a replay says, in order; in the order that is `wanted`, where the deltas do not state it.
    `soft`: white space does not count."""
    return in_order(as_stated(trace.columns.event_runs(ReasoningText, ContentText, *OF_CALLS), wanted, soft=soft))


def counted(parts: Wanted, *, soft: bool) -> list[tuple[int, str]]:
    """The parts that count, each by the place of the first one that it is made of, with its text: neighbours of one
    kind are one text. `soft`: white space does not count, so that text of nothing else is none, and what stands on
    both of its sides are neighbours."""
    found: list[tuple[int, list[str]]] = []
    for at, (kind, text) in enumerate(parts):
        is_call = kind == "tool_call"
        if not is_call and (not text.strip() if soft else not text):
            continue
        if not is_call and found and parts[found[-1][0]][0] == kind:
            found[-1][1].append(text)
        else:
            found.append((at, [text]))
    return [(at, "".join(texts)) for at, texts in found]


def counted_events(events: Sequence[MessageEvent], *, soft: bool) -> list[MessageEvent]:
    """The same of the parts of a message."""
    return [replace(events[at], text=text) for at, text in counted([(one.kind, one.text) for one in events], soft=soft)]


def in_order(events: Iterable[Event]) -> list[MessageEvent]:
    """The events of a message, of those of a parser."""
    found: list[MessageEvent] = []
    texts: list[list[str]] = []  # of each
    calls: dict[int, int] = {}  # the place of each
    for event in events:
        if isinstance(event, OF_CALLS):
            if event.call not in calls:
                calls[event.call] = len(found)
                found.append(MessageEvent("tool_call"))
                texts.append([])
            if isinstance(event, CallName):
                found[calls[event.call]].name = event.text
            elif isinstance(event, CallArguments):
                texts[calls[event.call]].append(event.text)
        elif isinstance(event, ContentText | ReasoningText) and event.text:
            kind: EventKind = "text" if isinstance(event, ContentText) else "reasoning"
            if not found or found[-1].kind != kind:
                found.append(MessageEvent(kind))
                texts.append([])
            texts[-1].append(event.text)
    for one, parts in zip(found, texts, strict=True):
        one.text = "".join(parts)
    return found
