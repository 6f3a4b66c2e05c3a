"""candle-vllm's `ChunkCollector`: what a stream said besides its content, for a response that is sent in one piece.

Reasoning and tool call events are kept in order, as the chunks they came in, and become the response's top-level
`extensions`. Content is counted for logs only and never appears there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from parsers.vocabulary.events import CallArguments, CallEnd, CallId, CallName, ContentText, Event, ReasoningText
from parsers.vocabulary.trace import Trace
from parsers.wire.chunks import Envelope
from parsers.wire.stream_state import ToolCall


class ChunkCollector:
    """Collects chunks. Empty text is no chunk; the start and the end of a call always are. Ids are not checked."""

    def __init__(self) -> None:
        self.reasoning_chunks: list[str] = []
        self.tool_call_chunks: list[dict[str, str]] = []
        self.content_count = 0

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Everything a replay sent, in the chunks it was sent in."""
        collector = cls()
        ids: dict[int, str] = {}
        for _, event in trace.events():
            collector._collect(event, ids)
        return collector

    def _collect(self, event: Event, ids: dict[int, str]) -> None:
        if isinstance(event, ReasoningText):
            self.add_reasoning(event.text)
        elif isinstance(event, ContentText):
            self.add_content(event.text)
        elif isinstance(event, CallId):
            ids[event.call] = event.text
        elif isinstance(event, CallName):
            self.add_tool_call_start(ids.get(event.call), event.text)
        elif isinstance(event, CallArguments):
            self.add_tool_call_args(ids.get(event.call), event.text)
        elif isinstance(event, CallEnd):
            self.add_tool_call_end(ids.get(event.call))

    def add_reasoning(self, text: str) -> None:
        """A piece of reasoning."""
        if text:
            self.reasoning_chunks.append(text)

    def add_tool_call_start(self, call_id: str | None, name: str) -> None:
        """A call begins. An id that nobody knows is left out, here and below."""
        self._add("start", call_id, tool_name=name)

    def add_tool_call_args(self, call_id: str | None, arguments: str) -> None:
        """A piece of a call's arguments."""
        if arguments:
            self._add("args", call_id, delta=arguments)

    def add_tool_call_end(self, call_id: str | None) -> None:
        """A call ends."""
        self._add("end", call_id)

    def _add(self, kind: str, call_id: str | None, **more: str) -> None:
        named = {} if call_id is None else {"tool_call_id": call_id}
        self.tool_call_chunks.append({"type": kind, **named, **more})

    def add_content(self, text: str) -> None:
        """A piece of content: counted, not kept."""
        self.content_count += bool(text)

    @property
    def reasoning_count(self) -> int:
        """Return how many pieces of reasoning were collected."""
        return len(self.reasoning_chunks)

    @property
    def tool_call_event_count(self) -> int:
        """Return how many tool call events were collected."""
        return len(self.tool_call_chunks)

    def to_extensions(self) -> dict[str, Any]:
        """The response's `extensions`: a list is there only where it holds something."""
        found: dict[str, Any] = {}
        if self.reasoning_chunks:
            found["reasoning_chunks"] = list(self.reasoning_chunks)
        if self.tool_call_chunks:
            found["tool_call_chunks"] = list(self.tool_call_chunks)
        return found

    def is_empty(self) -> bool:
        """Return whether `extensions` would be empty; content does not count."""
        return not (self.reasoning_chunks or self.tool_call_chunks)

    def clear(self) -> None:
        """Forget everything, the count of content too."""
        self.reasoning_chunks, self.tool_call_chunks, self.content_count = [], [], 0


# A replay as the one `chat.completion` object of an answer that is not streamed.
#
# Shape: OpenAI API reference (chat completion object); the top-level `extensions` are candle-vllm's and are there only
# when they hold something. The finish_reason is `tool_calls` where there are calls, unless the output was cut off.


@dataclass(slots=True, frozen=True)
class Usage:
    """Tokens of the request and of the answer."""

    prompt_tokens: int
    completion_tokens: int

    def to_json(self) -> dict[str, int]:
        """As the answer holds it."""
        prompt, completion = self.prompt_tokens, self.completion_tokens
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def chat_completion(trace: Trace, envelope: Envelope, usage: Usage) -> dict[str, Any]:
    """The whole answer."""
    choice = {"index": 0, "message": _wire_message(trace, envelope), "finish_reason": trace.finish_reason}
    answer: dict[str, Any] = {
        "id": envelope.id,
        "object": "chat.completion",
        "created": envelope.created,
        "model": envelope.model,
        "choices": [choice],
        "usage": usage.to_json(),
    }
    collector = ChunkCollector.of(trace)
    if not collector.is_empty():
        answer["extensions"] = collector.to_extensions()
    return answer


def _wire_message(trace: Trace, envelope: Envelope) -> dict[str, Any]:
    """The message inside the answer: content may be null, reasoning and calls are there only where they exist."""
    found = trace.message
    message: dict[str, Any] = {"role": "assistant", "content": found.content}
    if found.reasoning is not None:
        message[envelope.dialect] = found.reasoning
    if found.tool_calls:
        message["tool_calls"] = [ToolCall.of(call).model_dump(exclude_none=True) for call in found.tool_calls]
    return message
