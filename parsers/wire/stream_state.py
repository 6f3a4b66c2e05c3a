"""What a server's tool parser hands back for a whole output: vLLM's result object and the OpenAI call inside it.

Field names are vLLM's (`ExtractedToolCallInformation`, `ToolCall`, `FunctionCall`); clients and other parsers' tests
are written against them, so no field is added. Arguments stay the exact text the parser sent: nothing is re-serialised.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from parsers.machine.output import call_id
from parsers.vocabulary import types
from parsers.vocabulary.types import Message


class _WireModel(BaseModel):
    """Base of the wire models: closed and immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FunctionCall(_WireModel):
    """The tool's name, and its arguments as JSON text."""

    name: str
    arguments: str


class ToolCall(_WireModel):
    """One finished tool call. `id` is None only where the parser behind it makes none."""

    id: str | None = None
    type: Literal["function"] = "function"
    function: FunctionCall

    @classmethod
    def of(cls, call: types.ToolCall) -> Self:
        """The wire form of a call of the assembled message."""
        return cls(id=call.id, function=FunctionCall(name=call.name, arguments=call.arguments))


class ExtractedToolCallInformation(_WireModel):
    """Says whether an output called tools, the calls, and the content around them (None where there is none)."""

    tools_called: bool
    tool_calls: list[ToolCall]
    content: str | None = None

    @classmethod
    def of(cls, message: Message) -> Self:
        """Return what a server's non-streaming path would extract from the same output."""
        calls = [ToolCall.of(call) for call in message.tool_calls]
        return cls(tools_called=bool(calls), tool_calls=calls, content=message.content)


# candle-vllm's `ToolCallStreamState`: several tool calls while they are streamed, as the deltas a client receives.
#
# A call is started, gets arguments piece by piece, and is completed. Nothing guards the order: arguments after the
# completion open the call again, a second completion is harmless. Calls live until clear(), completed or not.
#
# Three things differ from the original (commit abd99ef), where they were accidents: finalize() gives the calls in the
# order of their indices and not of a hash map, ids come from a seed, and `open_count` says what `active_count` does
# not: how many calls are not completed.


@dataclass(slots=True)
class FunctionDelta:
    """The function part of a delta; what is None is absent."""

    name: str | None = None
    arguments: str | None = None


@dataclass(slots=True)
class CallDelta:
    """One entry of a chunk's `tool_calls`; what is None is absent."""

    index: int
    id: str | None = None
    type: str | None = None
    function: FunctionDelta | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands in a chunk."""
        found: dict[str, Any] = {"index": self.index, "id": self.id, "type": self.type}
        if self.function is not None:
            found["function"] = _present({"name": self.function.name, "arguments": self.function.arguments})
        return _present(found)


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    arguments: list[str] = field(default_factory=list)
    completed: bool = False


class ToolCallStreamState:
    """The calls of one stream. `seed` decides their ids; after clear() indices restart, ids do not repeat."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._calls: list[_Call] = []
        self._made = 0

    def start_tool_call(self, name: str) -> tuple[int, CallDelta]:
        """Begin a call: its index, and the delta with id, type, name and empty arguments."""
        index = len(self._calls)
        call = _Call(call_id("call_hex12", "", self._seed, self._made, name), name)
        self._calls.append(call)
        self._made += 1
        return index, CallDelta(index, call.id, "function", FunctionDelta(name, ""))

    def add_arguments(self, index: int, arguments: str) -> CallDelta | None:
        """Append to a call's arguments: the delta holds the new fragment alone. None for an unknown index."""
        call = self._call(index)
        if call is None:
            return None
        call.arguments.append(arguments)
        call.completed = False
        return CallDelta(index, function=FunctionDelta(arguments=arguments))

    def complete_tool_call(self, index: int) -> CallDelta | None:
        """The call is whole: a delta without a function. None for an unknown index."""
        call = self._call(index)
        if call is None:
            return None
        call.completed = True
        return CallDelta(index)

    def finalize(self) -> list[ToolCall]:
        """The completed calls by index. Their arguments are what was added, valid JSON or not."""
        return [
            ToolCall(id=call.id, function=FunctionCall(name=call.name, arguments="".join(call.arguments)))
            for call in self._calls
            if call.completed
        ]

    def has_active_calls(self) -> bool:
        """Return whether any call was started since the last clear(), completed or not."""
        return bool(self._calls)

    def active_count(self) -> int:
        """Return how many calls were started since the last clear(), completed or not."""
        return len(self._calls)

    def open_count(self) -> int:
        """Return how many calls are not completed."""
        return sum(not call.completed for call in self._calls)

    def clear(self) -> None:
        """Forget all calls; the next one has index 0."""
        self._calls = []

    def _call(self, index: int) -> _Call | None:
        return self._calls[index] if 0 <= index < len(self._calls) else None
