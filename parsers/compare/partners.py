"""Which call of one message stands for which of another one: calls are told apart by what they say. O(n)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence

from parsers.compare.divergence import as_json_value
from parsers.vocabulary.types import ToolCall


def partners(calls: Sequence[ToolCall], others: Sequence[ToolCall]) -> dict[int, int]:
    """Which of the others stands for a call, by their places: one that is equal before one that has the same value, and
    that before one of the same name."""
    found: dict[int, int] = {}
    keys: tuple[Callable[[ToolCall], Hashable], ...] = (_as_written, value_of, _name)
    for key in keys:
        taken, left = {*found.values()}, defaultdict[Hashable, deque[int]](deque)
        for place, other in enumerate(others):
            if place not in taken:
                left[key(other)].append(place)
        for index, call in enumerate(calls):
            if index not in found and (places := left.get(key(call))):
                found[index] = places.popleft()
    return found


def value_of(call: ToolCall) -> tuple[str, str]:
    """What a call says, however its arguments are spelled: its name, and their value."""
    return call.name, as_json_value(call.arguments)


def _as_written(call: ToolCall) -> tuple[str, str]:
    return call.name, call.arguments


def _name(call: ToolCall) -> str:
    return call.name
