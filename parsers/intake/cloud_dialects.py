"""Bedrock's Converse and Gemini's generateContent, as the chat chunks and answers that say the same.

Both send the arguments of a whole call as an object; Bedrock streams them as text. Shapes: Amazon Bedrock API reference
(Converse, ConverseStream), Gemini API reference (GenerateContentResponse).
"""

from __future__ import annotations

import json
import re
from typing import Any

from parsers.intake.chat_dialects import ChatState, chat_frames, stopped, whole_call
from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame
from parsers.intake.written_values import object_of, objects_of, word_of
from parsers.wire.endings import ended_by

BEDROCK_EVENTS = frozenset(
    ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")
)
# Why an answer ends without the call that the model wrote: the server could not read it, or let none through.
_GEMINI_FAILURES = frozenset(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"))
_SNAKE = re.compile("[A-Z]")
_GEMINI_STOPS = {"STOP": "stop", "MAX_TOKENS": "length"}


def is_bedrock(payload: Payload) -> bool:
    """Return whether a payload is an answer of Converse, or an event of its stream."""
    whole = isinstance(object_of(object_of(payload.get("output")).get("message")).get("content"), list)
    return (whole and "stopReason" in payload) or any(isinstance(payload.get(one), dict) for one in BEDROCK_EVENTS)


def is_gemini(payload: Payload) -> bool:
    """Return whether a payload is an answer of Gemini, or a part of its stream."""
    candidates = objects_of(payload.get("candidates")) or ()
    return any("finishReason" in one or "parts" in object_of(one.get("content")) for one in candidates)


def _gemini_value(value: Payload, name: str) -> Any:
    """A field by its name in JSON, or by the one that Python's client gives it."""
    return value.get(name, value.get(_SNAKE.sub(lambda found: f"_{found[0].lower()}", name)))


def bedrock_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate answers or events of Bedrock's Converse to chat frames, but for those that say nothing."""
    return list(chat_frames(frames, _bedrock))


def gemini_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate answers of Gemini to chat frames; several are the chunks of a stream, which may end in a failure."""
    said = list(chat_frames(frames, _gemini if len(frames) == 1 else _gemini_chunk))
    return [*said, *chat_frames(frames, _gemini_failure)]


def _bedrock(state: ChatState, payload: Payload) -> Payload | None:
    if "output" in payload:
        return _whole_converse(state, payload)
    if "messageStart" in payload:
        state.begin({})
        return state.chunk({"role": "assistant"})
    if "messageStop" in payload:
        return state.chunk({}, **stopped(object_of(payload["messageStop"]), "stopReason"))
    event = object_of(payload.get("contentBlockStart") or payload.get("contentBlockDelta"))
    place: Payload = {"index": event.get("contentBlockIndex")}
    use, delta = object_of(object_of(event.get("start")).get("toolUse")), object_of(event.get("delta"))
    if use:
        return state.call_start(place, use.get("toolUseId"), use.get("name"))
    text, thought = delta.get("text"), object_of(delta.get("reasoningContent")).get("text")
    arguments = object_of(delta.get("toolUse")).get("input")
    if isinstance(arguments, str):
        return state.arguments(place, arguments)
    said = {"content": text, "reasoning": thought}
    found = {name: value for name, value in said.items() if isinstance(value, str)}
    return state.chunk(found) if found else None


def _whole_converse(state: ChatState, payload: Payload) -> Payload:
    parts: list[tuple[str, Any]] = []
    for block in objects_of(object_of(object_of(payload["output"]).get("message")).get("content")) or []:
        use = object_of(block.get("toolUse"))
        thought = object_of(object_of(block.get("reasoningContent")).get("reasoningText")).get("text")
        if use:
            parts.append(("tool_calls", whole_call(use.get("toolUseId"), use.get("name"), _text(use.get("input")))))
        said = {"content": block.get("text"), "reasoning": thought}
        parts += [(name, value) for name, value in said.items() if isinstance(value, str)]
    return state.answer(parts, **stopped(payload, "stopReason"))


def _gemini(state: ChatState, payload: Payload) -> Payload:
    state.begin(_named(payload))
    parts, ended = _gemini_parts(state, payload)
    return state.answer(parts, **ended)


def _gemini_chunk(state: ChatState, payload: Payload) -> Payload:
    state.name, state.model = _named(payload).values()
    parts, ended = _gemini_parts(state, payload)
    said = object_of(object_of(state.answer(parts)["choices"][0])["message"])
    first = len(state.calls) - len(said.get("tool_calls", ()))
    for number, call in enumerate(said.get("tool_calls", ())):
        call["index"] = first + number
    return state.chunk({key: value for key, value in said.items() if value is not None}, **ended)


def _gemini_failure(state: ChatState, payload: Payload) -> Payload | None:
    """The error that an answer without its call ends with."""
    first = next(iter(objects_of(payload.get("candidates")) or ()), {})
    reason = word_of(_gemini_value(first, "finishReason"))
    if reason not in _GEMINI_FAILURES:
        return None
    return {"error": {"type": reason, "message": word_of(_gemini_value(first, "finishMessage")) or reason}}


def _named(payload: Payload) -> Payload:
    return {
        key: word_of(_gemini_value(payload, name)) for key, name in (("id", "responseId"), ("model", "modelVersion"))
    }


def _gemini_parts(state: ChatState, payload: Payload) -> tuple[list[tuple[str, Any]], Payload]:
    """What the first candidate says, in order, and why it ends; a call that came before is a reason, too."""
    parts: list[tuple[str, Any]] = []
    first = next(iter(objects_of(payload.get("candidates")) or ()), {})
    for part in objects_of(object_of(first.get("content")).get("parts")) or []:
        call, text = object_of(_gemini_value(part, "functionCall")), part.get("text")
        if call:
            number = state.calls.setdefault(len(state.calls), len(state.calls))
            call_id = word_of(call.get("id")) or f"call_{number}"
            parts.append(("tool_calls", whole_call(call_id, call.get("name"), _text(call.get("args") or {}))))
        elif isinstance(text, str):
            parts.append(("reasoning" if part.get("thought") is True else "content", text))
    reason = word_of(_gemini_value(first, "finishReason"))
    finish = _GEMINI_STOPS.get(str(reason).rpartition(".")[2], reason)
    finish = "tool_calls" if finish == "stop" and state.calls else finish
    return parts, {"finish": finish, **ended_by("finishReason", reason)}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
