"""A replay as the event stream of OpenAI's Responses API.

Each part of the answer is an output item: reasoning (its text, as vLLM sends it: `reasoning_text`), a message with one
text, or a function call. Events and their fields: OpenAI API reference (responses, streaming); openai 3.57.0,
types/responses. The number of an event is its place in the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from parsers.vocabulary.trace import Trace
from parsers.wire.chunks import Envelope
from parsers.wire.parts import Move, Part, moves

Payload = dict[str, Any]
# Why an answer is not whole, by the finish reason.
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def responses_events(trace: Trace, envelope: Envelope, tokens: int) -> Iterator[tuple[int, Payload]]:
    """Every event with the number of its step."""
    for number, (step, name, fields) in enumerate(_events(trace, envelope, tokens)):
        yield step, {"type": name, "sequence_number": number, **fields}


def _events(trace: Trace, envelope: Envelope, tokens: int) -> Iterator[tuple[int, str, Payload]]:
    output: dict[int, Payload] = {}
    for name in ("created", "in_progress"):
        yield 1, f"response.{name}", {"response": _response(envelope, "in_progress", [])}
    last = 1
    for last, move, part, text in moves(trace):
        for name, fields in _OF_MOVE[move](part, text, envelope):
            yield last, name, {"output_index": part.index, **fields}
        if move is Move.ENDS:
            output[part.index] = _item(part, envelope, "completed")
    why = _INCOMPLETE.get(trace.finish_reason)
    status = "completed" if why is None else "incomplete"
    response = _response(envelope, status, [item for _, item in sorted(output.items())])
    response["usage"] = _usage(tokens)
    response["incomplete_details"] = None if why is None else {"reason": why}
    yield len(trace.columns.ends) or last, f"response.{status}", {"response": response}


def _begins(part: Part, _text: str, envelope: Envelope) -> Iterator[tuple[str, Payload]]:
    yield "response.output_item.added", {"item": _item(part, envelope, "in_progress")}
    if part.kind != "call":
        fields = {"item_id": _id(part, envelope), "content_index": 0, "part": _content(part, "")}
        yield "response.content_part.added", fields


def _grows(part: Part, text: str, envelope: Envelope) -> Iterator[tuple[str, Payload]]:
    fields: Payload = {"item_id": _id(part, envelope)}
    if part.kind != "call":
        fields["content_index"] = 0
    fields["delta"] = text
    if part.kind == "content":
        fields["logprobs"] = []
    yield f"response.{_NAMES[part.kind]}.delta", fields


def _ends(part: Part, _text: str, envelope: Envelope) -> Iterator[tuple[str, Payload]]:
    named: Payload = {"item_id": _id(part, envelope)}
    done = f"response.{_NAMES[part.kind]}.done"
    if part.kind == "call":
        yield done, {**named, "name": part.name, "arguments": part.text}
    else:
        logprobs: Payload = {"logprobs": []} if part.kind == "content" else {}
        yield done, {**named, "content_index": 0, "text": part.text, **logprobs}
        yield "response.content_part.done", {**named, "content_index": 0, "part": _content(part, part.text)}
    yield "response.output_item.done", {"item": _item(part, envelope, "completed")}


_NAMES = {"reasoning": "reasoning_text", "content": "output_text", "call": "function_call_arguments"}
_PREFIXES = {"reasoning": "rs", "content": "msg", "call": "fc"}
_OF_MOVE: dict[Move, Callable[[Part, str, Envelope], Iterator[tuple[str, Payload]]]] = {
    Move.BEGINS: _begins,
    Move.GROWS: _grows,
    Move.ENDS: _ends,
}


def _id(part: Part, envelope: Envelope) -> str:
    return f"{_PREFIXES[part.kind]}_{envelope.id.rpartition('-')[2]}_{part.index}"


def _item(part: Part, envelope: Envelope, status: str) -> Payload:
    item: Payload = {"id": _id(part, envelope), "type": _TYPES[part.kind], "status": status}
    if part.kind == "call":
        return {**item, "call_id": part.id, "name": part.name, "arguments": part.text if status == "completed" else ""}
    content = [_content(part, part.text)] if status == "completed" else []
    if part.kind == "content":
        return {**item, "role": "assistant", "content": content}
    return {**item, "summary": [], "content": content}


_TYPES = {"reasoning": "reasoning", "content": "message", "call": "function_call"}


def _content(part: Part, text: str) -> Payload:
    if part.kind == "content":
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "reasoning_text", "text": text}


def _response(envelope: Envelope, status: str, output: list[Payload]) -> Payload:
    return {
        "id": f"resp_{envelope.id.rpartition('-')[2]}",
        "object": "response",
        "created_at": envelope.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": envelope.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }


def _usage(tokens: int) -> Payload:
    return {
        "input_tokens": 0,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens,
    }
