"""Cohere's chat, as the chat chunks and answers that say the same.

Version 2 sends messages of blocks and the text of arguments; version 1 sends text beside calls whose parameters are
objects, and its stream ends with all of it again. Shapes: Cohere API reference (Chat, Chat with Streaming, v2 and v1).
"""

from __future__ import annotations

from typing import Any

from parsers.intake.chat_dialects import ChatState, chat_frames, whole_call
from parsers.intake.content_blocks import as_text, finish_of, joined_text, said_in
from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame
from parsers.intake.written_values import object_of, objects_of, word_of

_COHERE = frozenset((
    "message-start", "message-end", "content-start", "content-delta", "content-end", "tool-plan-delta",
    "tool-call-start", "tool-call-delta", "tool-call-end", "citation-start", "citation-end",
))  # fmt: skip


def is_cohere(payload: Payload) -> bool:
    """Return whether an object is an answer of Cohere's chat, or an event of its stream."""
    if payload.get("type") in _COHERE and ("delta" in payload or "index" in payload or "id" in payload):
        return True
    message = object_of(payload.get("message"))
    said = isinstance(message.get("content"), list) or "tool_plan" in message or "tool_calls" in message
    return said and message.get("role") == "assistant" and str(payload.get("finish_reason")).isupper()


def cohere_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate answers or events of Cohere's chat; its plan of what tools to call is reasoning."""
    return list(chat_frames(frames, _cohere))


def _cohere(state: ChatState, payload: Payload) -> Payload | None:
    if "message" in payload:
        return _whole_cohere(state, payload)
    kind, delta = payload.get("type"), object_of(payload.get("delta"))
    said, place = object_of(delta.get("message")), {"index": payload.get("index")}
    if kind == "message-start":
        state.begin(payload)
        return state.chunk({"role": "assistant"})
    if kind == "tool-plan-delta":
        return state.chunk({"reasoning": str(said.get("tool_plan", ""))})
    if kind == "content-delta":
        block = object_of(said.get("content"))
        name = "reasoning" if "thinking" in block else "content"
        return state.chunk({name: joined_text(block)})
    if kind in ("tool-call-start", "tool-call-delta"):
        call = object_of(said.get("tool_calls"))
        function = object_of(call.get("function"))
        if kind == "tool-call-start":
            return state.call_start(place, call.get("id"), function.get("name"))
        return state.arguments(place, str(function.get("arguments", "")))
    if kind == "message-end":
        return state.chunk({}, **finish_of(delta, ("finish_reason",)))
    return None


def _whole_cohere(state: ChatState, payload: Payload) -> Payload:
    message = object_of(payload.get("message"))
    state.begin(payload)
    parts: list[tuple[str, Any]] = [("reasoning", message["tool_plan"])] if word_of(message.get("tool_plan")) else []
    parts += said_in(objects_of(message.get("content")) or [])
    parts += [("tool_calls", call) for call in objects_of(message.get("tool_calls")) or []]
    return state.answer(parts, **finish_of(payload, ("finish_reason",)))


_V1_EVENTS = frozenset((
    "stream-start", "text-generation", "tool-calls-chunk", "tool-calls-generation", "stream-end", "search-results",
    "search-queries-generation", "citation-generation", "debug",
))  # fmt: skip


def is_cohere_v1(payload: Payload) -> bool:
    """Return whether an object is an answer of version 1 of Cohere's chat, or an event of its stream."""
    if payload.get("event_type") in _V1_EVENTS and "is_finished" in payload:
        return True
    ended = isinstance(payload.get("finish_reason"), str) and isinstance(payload.get("generation_id"), str)
    return ended and isinstance(payload.get("text"), str)


def cohere_v1_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate answers or events of version 1; what its last events say again is left out."""
    return list(chat_frames(frames, _v1))


def _v1(state: ChatState, payload: Payload) -> Payload | None:
    kind, words = payload.get("event_type"), word_of(payload.get("text"))
    if kind is None:
        parts: list[tuple[str, Any]] = [("content", words)] if words else []
        return state.answer([*parts, *[("tool_calls", call) for call in _v1_calls(payload)]], **_v1_end(payload))
    if kind == "stream-start":
        state.begin({"id": payload.get("generation_id")})
        return state.chunk({"role": "assistant"})
    if kind == "tool-calls-chunk" and isinstance(payload.get("tool_call_delta"), dict):
        return _v1_call_part(state, payload["tool_call_delta"])
    if kind == "tool-calls-generation":
        calls = [] if state.calls else _v1_calls(payload)
        state.calls |= {at: at for at in range(len(calls))}
        return state.chunk({"tool_calls": [{"index": at, **call} for at, call in enumerate(calls)]}) if calls else None
    if kind == "stream-end":
        return state.chunk({}, **_v1_end({"finish_reason": payload.get("finish_reason"), "tool_calls": state.calls}))
    return state.chunk({"content": words}) if words else None


def _v1_call_part(state: ChatState, part: Payload) -> Payload:
    place, name = {"index": part.get("index")}, word_of(part.get("name"))
    if name:
        return state.call_start(place, _v1_id(len(state.calls)), name)
    return state.arguments(place, str(part.get("parameters") or ""))


def _v1_calls(payload: Payload) -> list[Payload]:
    calls = objects_of(payload.get("tool_calls")) or []
    given = [(call.get("name"), as_text(call.get("parameters") or {})) for call in calls]
    return [whole_call(_v1_id(at), name, arguments) for at, (name, arguments) in enumerate(given)]


def _v1_id(index: int) -> str:
    """The id of a call: version 1 gives none."""
    return f"call_{index}"


def _v1_end(payload: Payload) -> Payload:
    """Why an answer ended; version 1 has no word of its own for calls."""
    ended = finish_of(payload, ("finish_reason",))
    return ended | ({"finish": "tool_calls"} if payload.get("tool_calls") and ended["finish"] == "stop" else {})
