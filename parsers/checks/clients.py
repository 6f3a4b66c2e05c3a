"""Three ways in which clients put the deltas of a call together, and what they get.

by index: the OpenAI libraries; parts with one index are one call. by id: clients that keep calls by their id, and give
a part without an id to the call before. every chunk: clients that take no part without an id and a name; they break
on every stream that sends arguments in pieces, as the OpenAI API does, so they alone are no finding.

A recorded stream may hold what some of them cannot read at all (`parsers.wire.read` notes it): a part without an index
stops the first, arguments that are no text stop all of them, and a call outside `tool_calls` or `function` is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from parsers.trace import Step, Trace
from parsers.types import ToolCallDelta

_STOPS = {"no_index": "index", "odd_index": "index", "arguments_object": "all"}
_UNSEEN = frozenset(("function_call", "flat_call"))


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

    @property
    def words(self) -> str:
        """The client as the beginning of a sentence."""
        return f"{self.client[0].upper()}{self.client[1:]}"


def clients(trace: Trace) -> list[ClientResult]:
    """What each client makes of the deltas of a trace."""
    return [read(trace) for read in _CLIENTS]


def parts(trace: Trace) -> Iterator[tuple[int, ToolCallDelta]]:
    """Every call's share of every delta, with its step."""
    for step in trace.steps:
        if step.delta is not None:
            yield from ((step.index, part) for part in step.delta.tool_calls)


def _result(client: str, calls: dict[int, ClientCall] | dict[str, ClientCall], stop: _Stop) -> ClientResult:
    made = [("".join(call.name), "".join(call.arguments)) for call in calls.values()]
    return ClientResult(client, made, stop.words, stop.step)


@dataclass(slots=True)
class _Stop:
    """Where a client met the first thing it cannot take."""

    words: str = ""
    step: int | None = None

    def at(self, step: int, words: str) -> None:
        if not self.words:
            self.words, self.step = words, step


def _readable(trace: Trace, stop: _Stop, *, by_index: bool = False) -> Iterator[tuple[int, ToolCallDelta]]:
    """The parts that a client can read, until it meets one that stops it."""
    for step in trace.steps:
        stopped = _stopped(step, by_index=by_index)
        if stopped:
            stop.at(step.index, stopped)
            return
        codes = {told.code: told.message for told in step.diagnostics}
        if unseen := next((codes[code] for code in codes if code in _UNSEEN), ""):
            stop.at(step.index, unseen.rstrip("."))
        elif step.delta is not None:
            yield from ((step.index, part) for part in step.delta.tool_calls)


def _stopped(step: Step, *, by_index: bool) -> str:
    told = (one for one in step.diagnostics if _STOPS.get(one.code) == "all" or (by_index and one.code in _STOPS))
    return next((one.message.rstrip(".") for one in told), "")


def _by_index(trace: Trace) -> ClientResult:
    calls: dict[int, ClientCall] = {}
    stop = _Stop()
    for _, part in _readable(trace, stop, by_index=True):
        calls.setdefault(part.index, ClientCall()).add(part)
    return _result("a client that adds up by index (the OpenAI libraries)", dict(sorted(calls.items())), stop)


def _by_id(trace: Trace) -> ClientResult:
    calls: dict[str, ClientCall] = {}
    latest, stop = "", _Stop()
    for step, part in _readable(trace, stop):
        latest = part.id or latest
        if not latest:
            stop.at(step, f"call {part.index} begins without an id")
        calls.setdefault(latest, ClientCall()).add(part)
    return _result("a client that keeps calls by their id", calls, stop)


def _every_chunk(trace: Trace) -> ClientResult:
    calls: dict[int, ClientCall] = {}
    stop = _Stop()
    for step, part in _readable(trace, stop):
        if part.id and part.name:
            calls.setdefault(part.index, ClientCall()).add(part)
        else:
            stop.at(step, f"a part of call {part.index} has no {'name' if part.id else 'id'}")
    return _result("a client that wants id and name in every chunk", calls, stop)


_CLIENTS: tuple[Callable[[Trace], ClientResult], ...] = (_by_index, _by_id, _every_chunk)
EVERY_CHUNK = 2  # the number of the client whose breaking alone is no finding
