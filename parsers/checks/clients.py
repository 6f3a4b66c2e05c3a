"""Three ways in which clients put the deltas of a call together, and what they get.

by index: the OpenAI libraries; parts with one index are one call. by id: clients that keep calls by their id, and give
a part without an id to the call before. every chunk: clients that take no part without an id and a name; they break
on every stream that sends arguments in pieces, as the OpenAI API does, so they alone are no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from parsers.trace import Trace
from parsers.types import ToolCallDelta


@dataclass(slots=True)
class ClientCall:
    """A call as a client holds it: pieces of its id, its name and its arguments."""

    id: str = ""
    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def add(self, part: ToolCallDelta) -> None:
        """Take a part of the call in."""
        self.id = self.id or part.id or ""
        self.name += [part.name] if part.name else []
        self.arguments += [part.arguments] if part.arguments else []


@dataclass(slots=True)
class ClientResult:
    """What a client makes of a stream: its calls as (name, arguments), and what it could not take, if anything."""

    client: str
    calls: list[tuple[str, str]]
    broke: str = ""
    step: int | None = None


def clients(trace: Trace) -> list[ClientResult]:
    """What each client makes of the deltas of a trace."""
    return [read(trace) for read in _CLIENTS]


def parts(trace: Trace) -> Iterator[tuple[int, ToolCallDelta]]:
    """Every call's share of every delta, with its step."""
    for step in trace.steps:
        if step.delta is not None:
            yield from ((step.index, part) for part in step.delta.tool_calls)


def _result(client: str, calls: dict[int, ClientCall] | dict[str, ClientCall]) -> ClientResult:
    return ClientResult(client, [("".join(call.name), "".join(call.arguments)) for call in calls.values()])


def _by_index(trace: Trace) -> ClientResult:
    calls: dict[int, ClientCall] = {}
    for _, part in parts(trace):
        calls.setdefault(part.index, ClientCall()).add(part)
    return _result("a client that adds up by index (the OpenAI libraries)", dict(sorted(calls.items())))


def _by_id(trace: Trace) -> ClientResult:
    calls: dict[str, ClientCall] = {}
    latest, broke, at = "", "", None
    for step, part in parts(trace):
        latest = part.id or latest
        if not latest and not broke:
            broke, at = f"call {part.index} begins without an id", step
        calls.setdefault(latest, ClientCall()).add(part)
    found = _result("a client that keeps calls by their id", calls)
    found.broke, found.step = broke, at
    return found


def _every_chunk(trace: Trace) -> ClientResult:
    calls: dict[int, ClientCall] = {}
    broke, at = "", None
    for step, part in parts(trace):
        if part.id and part.name:
            calls.setdefault(part.index, ClientCall()).add(part)
        elif not broke:
            broke, at = f"a part of call {part.index} has no {'name' if part.id else 'id'}", step
    found = _result("a client that wants id and name in every chunk", calls)
    found.broke, found.step = broke, at
    return found


_CLIENTS: tuple[Callable[[Trace], ClientResult], ...] = (_by_index, _by_id, _every_chunk)
EVERY_CHUNK = 2  # the number of the client whose breaking alone is no finding
