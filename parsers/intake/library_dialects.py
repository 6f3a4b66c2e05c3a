"""What libraries above the APIs send and keep, as the chat chunks and answers that say the same.

Vercel's AI SDK 4 to 6: the parts of `fullStream` and of a UI message stream. LangChain 1: messages as JSON, by
themselves or as `dumps` writes them, with the calls that it could not read. pydantic-ai 1 and 2: the events of a stream
of parts. LlamaIndex 0.14: responses, whose `raw` is what the server sent, where that is an answer of chat completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parsers.intake.chat_dialects import ChatState, chat_frames, whole_call
from parsers.intake.content_blocks import as_text, block_message, finish_of, first_of, said_in, sent_call
from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame
from parsers.intake.written_values import choices_of, object_of, objects_of, whole_value, word_of
from parsers.wire.read import EVENTS_MISSING, read_stream

_VERCEL_TEXTS = {"text-delta": "content", "reasoning-delta": "reasoning", "reasoning": "reasoning"}
_VERCEL_WORDS = ("text", "delta", "textDelta")
_VERCEL_STARTS = ("tool-input-start", "tool-call-streaming-start")
_VERCEL_PARTS = ("tool-input-delta", "tool-call-delta")
_VERCEL_WHOLE = ("tool-call", "tool-input-available", "tool-input-error")
_VERCEL = frozenset((
    *_VERCEL_TEXTS, *_VERCEL_STARTS, *_VERCEL_PARTS, *_VERCEL_WHOLE, "start", "start-step", "finish", "finish-step",
    "step-start", "step-finish", "text-start", "text-end", "reasoning-start", "reasoning-end", "tool-input-end",
    "stream-start", "response-metadata", "tool-error", "tool-result", "tool-output-error", "tool-output-available",
    "message-metadata", "raw", "abort",
))  # fmt: skip
_VERCEL_INPUTS = ("inputTextDelta", "delta", "argsTextDelta")
_VERCEL_ENDS = ("finish", "finish-message")
_CALL_IDS = ("toolCallId", "id")


def is_vercel(payload: Payload) -> bool:
    """Return whether an object is a part of a stream of Vercel's AI SDK."""
    kind = payload.get("type")
    if _is_result(payload) or (kind == "error" and isinstance(payload.get("errorText"), str)):
        return True
    if not isinstance(kind, str) or kind not in _VERCEL:
        return False
    if kind == "reasoning":
        return "textDelta" in payload
    told = {"id", "toolCallId", "textDelta", "finishReason", "request", "messageId"}
    return len(payload) == 1 or not told.isdisjoint(payload)


def _is_result(payload: Payload) -> bool:
    """Return whether an object is what `generateText` returns, or one of its steps."""
    calls = objects_of(payload.get("toolCalls"))
    return calls is not None and isinstance(payload.get("text"), str) and isinstance(payload.get("finishReason"), str)


def _result(state: ChatState, payload: Payload) -> Payload:
    thought = first_of(payload, ("reasoningText", "reasoning"))
    parts: list[tuple[str, Any]] = [("reasoning", thought)] if isinstance(thought, str) else []
    parts += said_in(objects_of(thought) or [])
    parts += [("content", payload["text"])] if payload["text"] else []
    parts += [("tool_calls", sent_call(call, at)) for at, call in enumerate(payload["toolCalls"])]
    return state.answer(parts, **finish_of(payload, ("finishReason",)))


def vercel_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate parts of a stream of Vercel's AI SDK; those that say nothing are left out.

    A stream of UI messages may end without a reason: then its chunks have no place for one.
    """
    said = list(chat_frames(frames, _vercel))
    if (
        said
        and said[-1].payload is not None
        and _lost_parts([one.payload for one in frames if one.payload is not None])
    ):
        said[-1] = replace(said[-1], payload=said[-1].payload | {EVENTS_MISSING: _LOST})
    ends = [one.payload for one in frames if one.payload is not None and one.payload.get("type") in _VERCEL_ENDS]
    if ends and all(finish_of(end, ("finishReason",))["finish"] is None for end in ends):
        for choice in [choice for frame in said for choice in choices_of(frame.payload or {}) or []]:
            choice.pop("finish_reason", None)
    return said


_LOST = "The parts of a call do not give the name and the input that it had: some of them were not recorded."


def _lost_parts(payloads: Sequence[Payload]) -> bool:
    """Return whether parts of a call are not there: its beginning, its name, or what its whole input has in it."""
    parts: dict[Any, list[str]] = {}
    for payload in payloads:
        kind, call = payload.get("type"), word_of(first_of(payload, _CALL_IDS))
        whole = first_of(payload, ("input", "args")) if kind in _VERCEL_WHOLE and call in parts else None
        lost = kind in _VERCEL_STARTS and not payload.get("toolName")
        if lost or (isinstance(whole, dict) and whole_value("".join(parts[call])) != whole):
            return True
        if kind in _VERCEL_STARTS:
            parts[call] = []
        elif kind in _VERCEL_PARTS and call in parts:
            parts[call].append(str(first_of(payload, _VERCEL_INPUTS)))
        elif kind in _VERCEL_PARTS:
            return True
    return False


def _vercel(state: ChatState, payload: Payload) -> Payload | None:
    if _is_result(payload):
        return _result(state, payload)
    kind = str(payload.get("type"))
    words, call_id = first_of(payload, _VERCEL_WORDS), word_of(first_of(payload, _CALL_IDS))
    place: Payload = {"item_id": call_id}
    if kind in _VERCEL_TEXTS and isinstance(words, str):
        return state.chunk({_VERCEL_TEXTS[kind]: words})
    if kind in _VERCEL_STARTS:
        return state.call_start(place, call_id, payload.get("toolName"))
    if kind in _VERCEL_PARTS:
        part = first_of(payload, _VERCEL_INPUTS)
        return state.arguments(place, part) if isinstance(part, str) else None
    if kind in _VERCEL_WHOLE and call_id not in state.calls:
        arguments = as_text(first_of(payload, ("input", "args")) or {})
        call = whole_call(call_id, payload.get("toolName"), arguments)
        index = state.calls.setdefault(call_id, len(state.calls))
        return state.chunk({"tool_calls": [{"index": index, **call}]})
    if kind in _VERCEL_ENDS:
        return state.chunk({}, **finish_of(payload, ("finishReason",)))
    if kind == "error" and "errorText" in payload:
        return {"error": {"type": "error", "message": payload["errorText"]}}
    return payload if kind == "error" else None


_AI = frozenset(("ai", "AIMessage", "AIMessageChunk"))
_BESIDE = ("reasoning_content", "reasoning", "refusal", "function_call")


def is_langchain(payload: Payload) -> bool:
    """Return whether an object is a message of LangChain, as JSON or as `dumps` writes it."""
    if payload.get("lc") == 1:
        return isinstance(payload.get("kwargs"), dict) and str((payload.get("id") or [""])[-1:]).find("AIMessage") >= 0
    kept = "additional_kwargs" in payload or "response_metadata" in payload or "invalid_tool_calls" in payload
    return kept and payload.get("type") in _AI and "content" in payload


def langchain_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate messages of LangChain to chat answers; several with one id, or with parts of calls, are chunks."""
    return list(chat_frames(frames, _langchain))


def _langchain(state: ChatState, payload: Payload) -> Payload:
    fields = object_of(payload.get("kwargs")) if payload.get("lc") == 1 else payload
    kind, choice = langchain_choice(fields, state.calls, chunk=fields.get("type") == "AIMessageChunk")
    about = object_of(fields.get("response_metadata"))
    state.name, state.model = word_of(fields.get("id")), word_of(about.get("model_name"))
    more = {"finish_reason": choice["finish_reason"]} if "finish_reason" in choice else {}
    return state.chunk(choice[kind], more.get("finish_reason"), kind)


def langchain_choice(fields: Payload, places: dict[Any, int], *, chunk: bool) -> tuple[str, Payload]:
    """Return the choice that a message of LangChain stood in, and the key of what it says there.

    Calls that stand among blocks are numbered as those are; `places` are the numbers that they have among calls.
    """
    kind, parts = ("delta", "tool_call_chunks") if chunk else ("message", "tool_calls")
    more, about = object_of(fields.get("additional_kwargs")), object_of(fields.get("response_metadata"))
    said: Payload = {"content": None} if chunk else {"role": "assistant", "content": None}
    content = fields.get("content")
    blocks = [{"text": one} if isinstance(one, str) else one for one in content] if isinstance(content, list) else []
    inside = list(said_in(objects_of(blocks) or []))
    for name, part in inside:
        if name != "tool_calls":
            said[name] = (said.get(name) or "") + part
    said["content"] = word_of(content) or said["content"]
    said |= {key: more[key] for key in _BESIDE if more.get(key)}
    calls = objects_of(more.get("tool_calls")) or [_call(one, chunk) for one in _kept_calls(fields, parts)]
    for call in calls if blocks and chunk else ():
        call["index"] = places.setdefault(call.get("index"), len(places))
    calls = calls or [part for name, part in inside if name == "tool_calls" and not chunk]
    if calls:
        said["tool_calls"] = calls
    told = chunk or "finish_reason" in about  # other providers have other names for it
    return kind, {kind: said, **({"finish_reason": about.get("finish_reason")} if told else {})}


def _kept_calls(fields: Payload, name: str) -> list[Payload]:
    more = [] if name == "tool_call_chunks" else objects_of(fields.get("invalid_tool_calls")) or []
    return [*(objects_of(fields.get(name)) or []), *more]


def _call(call: Payload, chunk: bool) -> Payload:
    if not chunk:
        return whole_call(call.get("id"), call.get("name"), as_text(call.get("args")))
    function = {key: call[own] for key, own in (("name", "name"), ("arguments", "args")) if call.get(own)}
    return {"index": call.get("index"), "id": call.get("id"), "function": function}


_PYDANTIC_EVENTS = ("part_start", "part_delta", "part_end", "final_result")


def is_pydantic_ai(payload: Payload) -> bool:
    """Return whether an object is an event of pydantic-ai's stream of the parts of a response."""
    return payload.get("event_kind") in _PYDANTIC_EVENTS


def pydantic_ai_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate events of pydantic-ai; the end of a part says again what came before it."""
    return list(chat_frames(frames, _pydantic_ai))


def _pydantic_ai(state: ChatState, payload: Payload) -> Payload | None:
    place = {"index": payload.get("index")}
    part = object_of(payload.get("part") if payload["event_kind"] == "part_start" else None)
    if isinstance(part.get("tool_name"), str):
        begun = state.call_start(place, part.get("tool_call_id"), part["tool_name"])
        given = part.get("args")
        begun["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = "" if given is None else as_text(given)
        return begun
    delta = object_of(payload.get("delta"))
    if delta.get("args_delta") is not None:
        return state.arguments(place, as_text(delta["args_delta"]))
    words = word_of(part.get("content", delta.get("content_delta")))
    kind = word_of(part.get("part_kind", delta.get("part_delta_kind")))
    return state.chunk({"reasoning" if kind == "thinking" else "content": words}) if words else None


def is_llama_index(payload: Payload) -> bool:
    """Return whether an object is a response of LlamaIndex: a message of blocks, and what it was made of."""
    return {"raw", "delta", "additional_kwargs"} <= payload.keys() and "blocks" in object_of(payload.get("message"))


def llama_index_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate responses of LlamaIndex to chat chunks and answers."""
    responses = [frame.payload for frame in frames if frame.payload is not None]
    if _ends_in_all(responses):
        return [replace(frames[-1], payload=_message(responses[-1]))]
    return list(chat_frames(frames, lambda _, fields: fields["raw"] if _is_sent(fields) else _message(fields)))


def _ends_in_all(responses: list[Payload]) -> bool:
    """Return whether the last response of a stream says it all, and those before it something else than was sent:
    nothing that was sent is beside them, or it was printed late. LlamaIndex puts the parts of a call together in the
    chunk of the first."""
    if len(responses) < 2 or responses[-1].get("delta") is None:
        return False
    sent = [fields["raw"] for fields in responses if _is_sent(fields)]
    return not sent or _arguments(sent) != _arguments([_message(responses[-1]) or {}])


def _message(fields: Payload) -> Payload | None:
    """Return what the message of a response says, and why it ended, where that is beside it."""
    said = block_message(ChatState(), object_of(fields.get("message")))
    for choice in objects_of(object_of(fields.get("raw")).get("choices")) or []:
        if said is not None:
            said["choices"][0]["finish_reason"] = choice.get("finish_reason")
    return said


def _arguments(payloads: list[Payload]) -> str:
    calls = [call for chunk in read_stream(payloads) if chunk.delta is not None for call in chunk.delta.tool_calls]
    return "".join([call.arguments or "" for call in calls])


def _is_sent(fields: Payload) -> bool:
    return object_of(fields.get("raw")).get("object") in ("chat.completion.chunk", "chat.completion")
