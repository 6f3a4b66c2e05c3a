"""What is watched: what is held, the arguments so far and the lengths of the message, after every step of the window
and after every step that somebody pinned.

A row is what stood there after a step; two of them under each other are before and after. Only the ends of texts are
drawn, so that a row costs the same wherever in a long output it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parsers.vocabulary.trace import Step
from webapp.page.inspect.index import CallIndex, Channel, TraceIndex
from webapp.page.inspect.window import Window

_TEXT = 48  # characters of the end of a text
MOST_PINS = 30
# What is true of a call of which nothing was sent, by the state of its life.
_UNSENT = {
    "MENTIONED": "nothing sent yet, it may still be reasoning",
    "TENTATIVE": "not sent yet, it may still be text",
    "NAMED": "not sent yet, it is judged when it is whole",
    "AS_TEXT": "to an unknown tool, it goes out as text",
    "DROPPED": "to an unknown tool, it reaches nobody",
    "SKIPPED": "rejected, it reaches nobody",
    "FAILED": "rejected, nothing after it reaches anybody",
}


@dataclass(slots=True, frozen=True)
class Tail:
    """The end of a text, and how long it is."""

    text: str
    length: int

    @property
    def clipped(self) -> bool:
        """Return whether there is more before it."""
        return self.length > len(self.text)


@dataclass(slots=True, frozen=True)
class Watched:
    """What stands after a step; 0 is before the first. `changed` names what the step changed.

    `call` is the one that was sent last, with its `arguments`; where one that is not sent stands open, `unsent` says
    what may become of it, and there are no arguments.
    """

    step: int
    title: str
    state: str
    held: Tail
    call: str
    unsent: str
    arguments: Tail
    content: int
    reasoning: int
    changed: frozenset[str]


@dataclass(slots=True, frozen=True)
class Watch:
    """A row for each step of the window and the one before it, and one for each pinned step."""

    rows: list[Watched]
    pinned: list[Watched]


def read_pins(text: str) -> tuple[int, ...]:
    """The steps of an address, each once and in order; what is no number of a step is left out."""
    found = {int(word) for word in text.split(",") if word.isascii() and word.isdecimal() and len(word) < 10}
    return tuple(sorted(found - {0})[:MOST_PINS])


def toggled(pins: Iterable[int], step: int) -> str:
    """The pins as an address has them, with `step` or without it; with no more than there may be."""
    before = {*pins}
    after = before ^ {step}
    return ",".join(map(str, sorted(after if len(after) <= MOST_PINS else before)))


def watch(index: TraceIndex, window: Window, pins: Sequence[int]) -> Watch:
    """What is watched in the window, and at the pins."""
    return Watch(
        rows=[watched(index, number) for number in range(window.first - 1, window.last + 1)],
        pinned=[watched(index, number) for number in pins if number <= index.total],
    )


def watched(index: TraceIndex, number: int) -> Watched:
    """What stands after the step counted `number`."""
    step = index.step(number) if number else None
    unsent = _unsent(step)
    call = None if unsent else _call(index, number)
    begun = "" if call is None else f"call {call.number}"
    return Watched(
        step=number,
        title="end" if step is not None and step.end else f"{number:,}",
        state=step.state if step is not None else "",
        held=_held(index, step),
        call=begun + (f", {_stands(step)}" if begun and _stands(step) else ""),
        unsent=unsent,
        arguments=_tail(call.arguments, call.arguments.length_at(number)) if call is not None else Tail("", 0),
        content=index.content.length_at(number),
        reasoning=index.reasoning.length_at(number),
        changed=_changed(index, number, call),
    )


def _stands(step: Step | None) -> str:
    return "" if step is None or step.view.call_state is None else step.view.call_state.lower().replace("_", " ")


def _unsent(step: Step | None) -> str:
    """What is true of the call that stands open, where nothing of it was sent; '' where there is none."""
    words = _UNSENT.get(step.view.call_state or "") if step is not None else None
    if step is None or words is None:
        return ""
    return f"{'a call' if step.view.call is None else f'call {step.view.call}'}: {words}"


def _call(index: TraceIndex, number: int) -> CallIndex | None:
    """The call that began last."""
    at = bisect_right(index.call_begins, number)
    return index.calls[index.call_numbers[at - 1]] if at else None


def _held(index: TraceIndex, step: Step | None) -> Tail:
    text = "" if step is None else index.trace.held_text(step)
    return Tail(text[-_TEXT:], len(text))


def _tail(channel: Channel, length: int) -> Tail:
    return Tail(channel.text[max(0, length - _TEXT) : length], length)


def _changed(index: TraceIndex, number: int, call: CallIndex | None) -> frozenset[str]:
    if not number:
        return frozenset()
    now, before = index.step(number), index.step(number - 1) if number > 1 else None
    grown = {"content": index.content, "reasoning": index.reasoning}
    grown |= {"arguments": call.arguments} if call is not None else {}
    named = {name for name, text in grown.items() if text.length_at(number) > text.length_at(number - 1)}
    named |= {"state"} if before is not None and now.state != before.state else set()
    named |= {"held"} if now.holds != (before.holds if before is not None else ()) else set()
    other = call is not _call(index, number - 1) or _unsent(now) != _unsent(before)
    return frozenset(named | ({"call"} if other else set()))
