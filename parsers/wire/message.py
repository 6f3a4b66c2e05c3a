"""candle-vllm's `ChunkCollector`: what a stream said besides its content, for a response that is sent in one piece.

Reasoning and tool call events are kept in order, as the chunks they came in, and become the response's top-level
`extensions`. Content is counted for logs only and never appears there.
"""

from __future__ import annotations

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

    def to_extensions(self) -> dict[str, Any]:
        """The response's `extensions`: a list is there only where it holds something."""
        lists: dict[str, list[Any]] = {
            "reasoning_chunks": self.reasoning_chunks,
            "tool_call_chunks": self.tool_call_chunks,
        }
        return {name: list(found) for name, found in lists.items() if found}

    def is_empty(self) -> bool:
        """Whether `extensions` would be empty; content does not count."""
        return not self.to_extensions()

    def clear(self) -> None:
        """Forget everything, the count of content too."""
        self.reasoning_chunks, self.tool_call_chunks, self.content_count = [], [], 0


# A replay as the one `chat.completion` object of an answer that is not streamed.
#
# Shape: OpenAI API reference (chat completion object); the top-level `extensions` are candle-vllm's and are there only
# when they hold something. The finish_reason is `tool_calls` where there are calls, unless the output was cut off.


def chat_completion(trace: Trace, envelope: Envelope, *, prompt_tokens: int, tokens: int) -> dict[str, Any]:
    """The whole answer, of `tokens`: content may be null, reasoning and calls are there only where they exist."""
    found = trace.message
    message: dict[str, Any] = {"role": "assistant", "content": found.content}
    if found.reasoning is not None:
        message[envelope.dialect] = found.reasoning
    if found.tool_calls:
        message["tool_calls"] = [ToolCall.of(call).model_dump(exclude_none=True) for call in found.tool_calls]
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens, "total_tokens": prompt_tokens + tokens}
    answer = envelope.around("chat.completion", {"message": message, "finish_reason": trace.finish_reason})
    extensions = ChunkCollector.of(trace).to_extensions()
    return {**answer, "usage": usage, **({"extensions": extensions} if extensions else {})}
