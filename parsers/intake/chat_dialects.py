"""OpenAI Responses, Anthropic Messages, and parts cut out of chat answers, as the chat chunks that say the same.

One event becomes at most one chunk, so the deltas stay those that were sent. A part gets its answer back around it,
with no finish reason where it has none. Shapes: OpenAI API reference (Responses, streaming events), Anthropic API
reference (Messages, streaming); vLLM's `output_messages` carry token ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from parsers.intake.closing_events import unlike_deltas
from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame
from parsers.intake.message_blocks import MessageBlocks
from parsers.intake.written_values import ids_of, object_of, objects_of, word_of
from parsers.wire.chat_parts import ChatPart, chat_part_of
from parsers.wire.endings import ended_by
from parsers.wire.read import BLOCK_UNENDED, BLOCKS_APART

STOPS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
_TEXTS = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "content",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
}
_ENDS = frozenset(("response.completed", "response.incomplete", "response.done"))
_AROUND = _ENDS | {"response.created", "response.queued", "response.in_progress"}


@dataclass(slots=True)
class ChatState:
    """The response that is being read, and the index of the call that each item or block is."""

    name: str | None = None
    model: str | None = None
    calls: dict[Any, int] = field(default_factory=dict)
    inputs: dict[Any, Any] = field(default_factory=dict)
    """The arguments that blocks of Anthropic's began with, of those that no delta added any to."""

    def begin(self, value: Payload) -> None:
        """Begin a new response."""
        self.name, self.model = word_of(value.get("id")), word_of(value.get("model"))
        self.calls, self.inputs = {}, {}

    def chunk(self, said: Payload, finish: str | None = None, part: str = "delta", **more: Any) -> Payload:
        """Return a chat chunk with one delta, or a whole answer with a message."""
        kind = "chat.completion.chunk" if part == "delta" else "chat.completion"
        choice: Payload = {"index": 0, part: said, **more}
        if finish is not None or part == "delta":  # what says no reason in a whole answer has another name for it
            choice["finish_reason"] = finish
        given = {"id": self.name, "model": self.model}
        named = {key: value for key, value in given.items() if value is not None}
        return {**named, "object": kind, "choices": [choice]}

    def answer(self, parts: list[tuple[str, Any]], finish: str | None = None, **more: Any) -> Payload:
        """Return a whole answer with texts and calls in order."""
        message: Payload = {"role": "assistant", "content": None}
        for name, part in parts:
            if name == "tool_calls":
                message.setdefault(name, []).append(part)
            else:
                message[name] = (message.get(name) or "") + part
        return self.chunk(message, finish, "message", **more)

    def call_start(self, event: Payload, call_id: Any, name: Any) -> Payload:
        """Return a chunk with the first part of the event's call, its arguments yet to come."""
        return self.chunk({"tool_calls": [{"index": self._index(event), **whole_call(call_id, name, "")}]})

    def arguments(self, event: Payload, text: str) -> Payload:
        """Return a chunk with a part of the arguments of the event's call."""
        return self.chunk({"tool_calls": [{"index": self._index(event), "function": {"arguments": text}}]})

    def _index(self, event: Payload) -> int:
        """Return the index of the call that an item of a response, or a block of a message, is."""
        return self.calls.setdefault(_place(event), len(self.calls))


def _place(event: Payload) -> int | str | None:
    """Return which item of a response, or block of a message, an event is about."""
    item = event.get("output_index", event.get("item_id", event.get("index")))
    return item if isinstance(item, int | str) else None


def responses_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate events or answers of OpenAI's Responses to chat frames, but for those that say nothing.

    Frames that cannot be read stay. What the server says twice and not alike, the last one that can be read notes. Of a
    log that has nothing but the beginning and the end of a response, that end is the answer.
    """
    ends = [frame for frame in frames if frame.payload is not None and frame.payload.get("type") in _ENDS]
    if ends and all(frame.payload is None or frame.payload.get("type") in _AROUND for frame in frames):
        frames = [replace(one, payload=object_of((one.payload or {}).get("response"))) for one in ends]
    said = list(chat_frames(frames, _responses))
    apart = unlike_deltas([frame.payload for frame in frames if frame.payload is not None])
    last = next((at for at in reversed(range(len(said))) if said[at].payload is not None), None)
    if apart is not None and last is not None:
        said[last] = replace(said[last], payload=(said[last].payload or {}) | {apart.code: apart.words})
    return said


def anthropic_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate events or answers of Anthropic's Messages, as `responses_as_chat` does.

    Blocks that are numbered otherwise than clients count, or never end, are noted where that shows first.
    """
    blocks, told = MessageBlocks(), set[str]()

    def noted(state: ChatState, payload: Payload) -> Payload | None:
        blocks.add(payload)
        chunk = _anthropic(state, payload)
        if chunk is None:
            return None
        found = {BLOCKS_APART: blocks.apart, BLOCK_UNENDED: blocks.unended}
        new = {code: words for code, words in found.items() if words is not None and code not in told}
        told.update(new)
        return chunk | new

    return list(chat_frames(frames, noted))


def parts_as_chat(frames: list[Frame]) -> list[Frame]:
    """Return the chunks, or the whole answers, that the parts of answers stood in; frames that cannot be read stay.

    Whole calls that follow one another stood in one message.
    """
    if any(frame.payload is not None and _is_step(frame.payload) for frame in frames):
        return [_around(frame, "delta") for frame in frames]
    parted = groupby(frames, lambda frame: frame.payload is not None and chat_part_of(frame.payload) is ChatPart.CALL)
    groups = [(are_calls, list(group)) for are_calls, group in parted]
    whole = [[_message_of(group)] if are_calls else group for are_calls, group in groups]
    return [_around(frame, "message") for group in whole for frame in group]


def _message_of(calls: list[Frame]) -> Frame:
    said = {"role": "assistant", "content": None, "tool_calls": [frame.payload for frame in calls]}
    return replace(calls[0], payload=said)


def _around(frame: Frame, kind: str) -> Frame:
    """Return the chunk or the answer that a part stood in; `kind` is the choice's key, delta or message."""
    if frame.payload is None:
        return frame
    part = chat_part_of(frame.payload)
    said = {"tool_calls": [frame.payload]} if part is ChatPart.CALL else frame.payload
    return replace(frame, payload=_as_sent(said if part is ChatPart.CHOICE else {"index": 0, kind: said}))


def _is_step(payload: Payload) -> bool:
    """Return whether a part is one step of a stream: a delta, or a call with the place that only chunks give it. One
    place for several calls is what a class of mistralai's prints by default."""
    part = chat_part_of(payload)
    calls = [payload] if part is ChatPart.CALL else objects_of(payload.get("tool_calls")) or []
    places = [call["index"] for call in calls if type(call.get("index")) is int]
    placed = bool(places) and len({*places}) == len(places)
    return placed or (part in (ChatPart.DELTA, None) and not calls)


def _as_sent(choice: Payload) -> Payload:
    """Return the chunk or the answer of a choice, with the arguments of its calls as text."""
    kind = "delta" if "delta" in choice else "message"
    said = object_of(choice.get(kind))
    calls, thought = objects_of(said.get("tool_calls")), word_of(said.get("thinking"))  # Ollama's reasoning
    said = {**said, "tool_calls": list(map(with_text, calls, range(len(calls))))} if calls else said
    choice = {**choice, kind: {"reasoning": thought, **said} if thought else said}
    return {"object": "chat.completion" + (".chunk" if kind == "delta" else ""), "choices": [choice]}


def with_text(call: Payload, place: int) -> Payload:
    """Return a call as OpenAI's API sends it; Ollama gives it neither an id nor arguments as text."""
    function = object_of(call.get("function"))
    given = function.get("arguments")
    if not isinstance(given, dict):
        return call
    text = json.dumps(given, ensure_ascii=False)
    return {"id": f"call_{place}", **call, "function": {**function, "arguments": text}}


def chat_frames(frames: list[Frame], chat_payload: Callable[[ChatState, Payload], Payload | None]) -> Iterator[Frame]:
    """Translate frames one by one, but for those that say nothing; those that cannot be read stay."""
    state = ChatState()
    for frame in frames:
        payload = frame.payload if frame.payload is None else chat_payload(state, frame.payload)
        if payload is not None or frame.payload is None:
            yield replace(frame, payload=payload)


def _responses(state: ChatState, payload: Payload) -> Payload | None:
    if payload.get("object") == "response" or (isinstance(payload.get("output"), list) and "type" not in payload):
        return _whole_response(state, payload)
    kind, delta = payload.get("type"), payload.get("delta")
    if kind == "response.created":
        state.begin(object_of(payload.get("response")))
        return state.chunk({"role": "assistant"})
    if kind in _TEXTS and isinstance(delta, str):
        return state.chunk({_TEXTS[str(kind)]: delta})
    if kind == "response.output_item.added":
        item = object_of(payload.get("item"))
        call = item.get("type") == "function_call"
        return state.call_start(payload, item.get("call_id", item.get("id")), item.get("name")) if call else None
    if kind == "response.function_call_arguments.delta" and isinstance(delta, str):
        return state.arguments(payload, delta)
    if kind in _ENDS:
        response = object_of(payload.get("response"))
        more: Payload = {"response_token_ids": ids} if (ids := _message_ids(response)) else {}
        response = {"status": str(kind).rpartition(".")[2], **response}
        more |= ended_by("status", response["status"])
        return state.chunk({}, _finish(response, bool(state.calls)), **more) | _usage(response)
    failed = object_of(payload.get("response")) if kind == "response.failed" else payload
    return payload | {"error": failed["error"]} if failed.get("error") else None


def _finish(response: Payload, calls: bool) -> str:
    if response.get("status") == "incomplete":
        reason = word_of(object_of(response.get("incomplete_details")).get("reason"))
        return "length" if reason in (None, "max_output_tokens", "max_tokens") else reason
    return "tool_calls" if calls else "stop"


def _usage(value: Payload) -> Payload:
    used = object_of(value.get("usage")).get("output_tokens")
    return {"usage": {"completion_tokens": used}} if type(used) is int else {}


def _message_ids(response: Payload) -> list[int]:
    """Return vLLM's token ids: those of all output messages, if each has its own."""
    parts = [ids_of(one.get("tokens")) for one in objects_of(response.get("output_messages")) or []]
    return [one for part in parts for one in part or ()] if None not in parts else []


def _whole_response(state: ChatState, payload: Payload) -> Payload:
    state.begin(payload)
    parts: list[tuple[str, Any]] = []
    for item in objects_of(payload.get("output")) or []:
        texts = [*(objects_of(item.get("summary")) or []), *(objects_of(item.get("content")) or [])]
        if item.get("type") == "function_call":
            parts.append(("tool_calls", whole_call(item.get("call_id"), item.get("name"), item.get("arguments"))))
        elif item.get("type") in ("reasoning", "message"):
            text = "".join([word_of(part.get("text", part.get("refusal"))) or "" for part in texts])
            parts.append(("reasoning" if item["type"] == "reasoning" else "content", text))
    finish = _finish(payload, "tool_calls" in dict(parts))
    more: Payload = {"token_ids": ids} if (ids := _message_ids(payload)) else {}
    more |= ended_by("status", payload.get("status"))
    failed = {"error": payload["error"]} if payload.get("error") else {}
    return state.answer(parts, finish, **more) | _usage(payload) | failed


def _anthropic(state: ChatState, payload: Payload) -> Payload | None:
    kind, delta = payload.get("type"), object_of(payload.get("delta"))
    if kind == "message":
        return _whole_message(state, payload)
    if kind == "message_start":
        state.begin(object_of(payload.get("message")))
        return state.chunk({"role": "assistant"})
    if kind == "content_block_start":
        block = object_of(payload.get("content_block"))
        if block.get("type") != "tool_use":
            return None
        state.inputs[_place(payload)] = block.get("input") or {}
        return state.call_start(payload, block.get("id"), block.get("name"))
    if kind == "content_block_delta":
        for key, name in (("text", "content"), ("thinking", "reasoning")):
            if isinstance(delta.get(key), str):
                return state.chunk({name: delta[key]})
        more = delta.get("partial_json")
        if more:
            state.inputs.pop(_place(payload), None)
        return state.arguments(payload, more) if isinstance(more, str) else None
    if kind == "content_block_stop" and _place(payload) in state.inputs:  # clients keep what it began with
        return state.arguments(payload, json.dumps(state.inputs.pop(_place(payload)), ensure_ascii=False))
    if kind == "message_delta":
        return state.chunk({}, **stopped(delta, "stop_reason")) | _usage(payload)
    return payload if kind == "error" else None


def _whole_message(state: ChatState, payload: Payload) -> Payload:
    state.begin(payload)
    parts: list[tuple[str, Any]] = []
    for block in objects_of(payload.get("content")) or []:
        kind = block.get("type")
        if kind == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            parts.append(("tool_calls", whole_call(block.get("id"), block.get("name"), arguments)))
        elif kind in ("text", "thinking"):
            parts.append(("content" if kind == "text" else "reasoning", str(block.get(kind, ""))))
    return state.answer(parts, **stopped(payload, "stop_reason")) | _usage(payload)


def stopped(said: Payload, field: str) -> Payload:
    """Return why an answer ended, by a field whose words are Anthropic's, as the end that a chat chunk has."""
    reason = word_of(said.get(field))
    return {"finish": None if reason is None else STOPS.get(reason, reason), **ended_by(field, reason)}


def whole_call(call_id: Any, name: Any, arguments: Any) -> Payload:
    """Return a call as a chat answer has it."""
    return {"id": word_of(call_id), "type": "function", "function": {"name": name, "arguments": arguments}}
