"""A replay as OpenAI `chat.completion.chunk` objects and as the event stream a client reads.

What one step sends becomes one chunk for each kind of news, in the order reasoning, content, calls:

reasoning   delta {"reasoning": ...}, or "reasoning_content" in the other dialect
content     delta {"content": ...}
start       delta {"tool_calls": [{index, id, type, function: {name, arguments: ""}}]}
args        delta {"tool_calls": [{index, function: {arguments}}]}; only the new fragment
end         delta {} with the finish_reason; the last chunk, once

The first chunk's delta also holds the role. The end of a single call is no chunk: clients learn it from the next call
or from the finish_reason; the event log shows it. Shapes: OpenAI API reference (chat, streaming). Reasoning is
`reasoning` for vLLM and candle-vllm, `reasoning_content` for SGLang (0.5.23), vllm.rs and older vLLM. vllm.rs is an
exception to this scheme: it sends all calls whole, in one chunk just before the end.

Nothing here asks a clock or a random source: what stands around the deltas comes with the Envelope.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from parsers.vocabulary.trace import Step, Trace
from parsers.vocabulary.types import Context, ToolCallDelta
from parsers.wire.stream_state import CallDelta, FunctionDelta

Dialect = Literal["reasoning", "reasoning_content"]
DONE = "data: [DONE]\n\n"
# Some readers take these for line ends, and UTF-8 has no lone surrogates.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(slots=True, frozen=True)
class Envelope:
    """Holds what every chunk of an answer repeats, and the name its reasoning goes by."""

    id: str
    model: str
    created: int = 0
    dialect: Dialect = "reasoning"

    @classmethod
    def of(cls, trace: Trace, context: Context, dialect: Dialect = "reasoning") -> Self:
        """The same for the same output: an id that follows from the text, the request's model or else the parser."""
        digest = hashlib.sha256(trace.text.encode("utf-8", "surrogatepass")).hexdigest()
        return cls(f"chatcmpl-{digest[:24]}", context.model or trace.parser, dialect=dialect)


@dataclass(slots=True)
class Chunk:
    """One chunk, and the step of the replay that sent it."""

    step: int
    payload: dict[str, Any]

    @property
    def text(self) -> str:
        """The payload as JSON on one line."""
        return one_line(self.payload)


def one_line(payload: Any) -> str:
    """JSON on one line, as servers send it."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def chunks(trace: Trace, envelope: Envelope) -> Iterator[Chunk]:
    """All chunks of a replay, in order. Linear in the output."""
    opened = False
    for step in trace.steps:
        for chunk in step_chunks(step, envelope, first=not opened):
            opened = True
            yield chunk
    yield from closing_chunks(trace, envelope, opened=opened)


def step_chunks(step: Step, envelope: Envelope, *, first: bool) -> Iterator[Chunk]:
    """The chunks of one step; `first`: nothing was sent before it."""
    for delta in _deltas(step, envelope.dialect):
        yield _chunk(step.index, envelope, {"role": "assistant", **delta} if first else delta)
        first = False


def closing_chunks(trace: Trace, envelope: Envelope, *, opened: bool) -> Iterator[Chunk]:
    """The last chunk. An answer that said nothing at all (`opened` false) still begins with the role."""
    last = len(trace.steps)
    if not opened:
        yield _chunk(last, envelope, {"role": "assistant", "content": ""})
    yield _chunk(last, envelope, {}, trace.finish_reason)


def recorded_chunks(stream: Sequence[dict[str, Any]], first: int = 1, last: int | None = None) -> Iterator[Chunk]:
    """The chunks of a server as they were recorded, from `first` to `last`; step i of the replay sends chunk i."""
    yield from (Chunk(number, payload) for number, payload in enumerate(stream[first - 1 : last], start=first))


def transcript(found: Iterable[Chunk]) -> Iterator[str]:
    """The event stream of these chunks, event by event, with the sentinel that ends it."""
    for chunk in found:
        yield f"data: {chunk.text}\n\n"
    yield DONE


def _deltas(step: Step, dialect: Dialect) -> Iterator[dict[str, Any]]:
    delta = step.delta
    if delta is None:
        return
    if delta.reasoning is not None:
        yield {dialect: delta.reasoning}
    if delta.content is not None:
        yield {"content": delta.content}
    for call in delta.tool_calls:
        for part in _call_parts(call):
            yield {"tool_calls": [part.to_json()]}


def _call_parts(call: ToolCallDelta) -> Iterator[CallDelta]:
    if call.id is not None or call.name is not None:
        yield CallDelta(call.index, call.id, "function", FunctionDelta(call.name, ""))
    if call.arguments:
        yield CallDelta(call.index, function=FunctionDelta(arguments=call.arguments))


def _chunk(step: int, envelope: Envelope, delta: dict[str, Any], finish_reason: str | None = None) -> Chunk:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    payload = {
        "id": envelope.id,
        "object": "chat.completion.chunk",
        "created": envelope.created,
        "model": envelope.model,
        "choices": [choice],
    }
    return Chunk(step, payload)
