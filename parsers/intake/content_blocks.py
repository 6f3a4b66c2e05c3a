"""Blocks of a message: text, reasoning and calls, as every API that has them names their parts.

    Anthropic        {"type": "tool_use", "id", "name", "input"}        {"type": "thinking", "thinking"}
    Vercel AI SDK    {"type": "tool-call", "toolCallId", "toolName", "input"}   {"type": "tool-NAME", "toolCallId"}
    LangChain        {"type": "tool_call", "id", "name", "args"}        {"type": "reasoning", "reasoning"}
    pydantic-ai      {"part_kind": "tool-call", "tool_name", "args"}    {"part_kind": "thinking", "content"}
    LlamaIndex       {"block_type": "tool_call", "tool_name", "tool_kwargs"}   {"block_type": "text", "text"}
    OpenTelemetry    {"type": "tool_call", "id", "name", "arguments"}   {"type": "reasoning", "content"}
    Mistral          {"type": "thinking", "thinking": [{"type": "text", "text"}]}
    Gemini, Bedrock  {"functionCall": {"name", "args"}}   {"toolUse": {"name", "input"}}   {"text", "thought"}

Names are one table, so a further API is a further word in it. (Versions: anthropic 0.60, ai 5, langchain-core 1,
pydantic-ai 1, llama-index-core 0.14, OpenTelemetry GenAI semantic conventions 1.38, mistralai 1.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from parsers.intake.chat_dialects import STOPS, ChatState, chat_frames, whole_call
from parsers.intake.evidence import Payload
from parsers.intake.json_frames import Frame
from parsers.intake.written_values import object_of, objects_of, word_of
from parsers.wire.endings import ended_by

_KINDS = ("type", "block_type", "part_kind")
_TEXT = frozenset(("text", "output_text", "summary_text"))
_THOUGHT = frozenset(("thinking", "reasoning", "reasoning_text", "thought"))
_CALL = frozenset(("tool_use", "tool_call", "function_call", "invalid_tool_call", "dynamic_tool"))
_REFUSAL = "refusal"
_OTHER = frozenset((
    "redacted_thinking", "step_start", "source", "source_url", "file", "image", "image_url", "tool_error",
    "tool_result", "tool_return", "server_tool_use", "non_standard", _REFUSAL, "signature",
))  # fmt: skip
_WORDS = ("text", "content", "thinking", "reasoning", "output_text", "summary")
_NAMES = ("name", "toolName", "tool_name", "tool")
_IDS = ("id", "toolCallId", "call_id", "tool_call_id", "toolUseId", "tool_id")
_ARGUMENTS = ("input", "args", "arguments", "rawInput", "tool_kwargs")
_INSIDE = ("functionCall", "function_call", "toolUse", "toolInvocation")  # a block without a kind that holds its call
_OF_PART = frozenset(("text", "thought", "thoughtSignature", "thought_signature"))
_AWS_THOUGHT = "reasoningContent"
_SPEAKERS = frozenset(("assistant", "model", "ai"))
_LISTS = ("content", "parts", "blocks", "contents")
# What other APIs put beside the blocks of a message, and clients of theirs keep there: nothing of it may be lost.
_THOUGHT_BESIDE = ("reasoning_content", "reasoning", "tool_plan", "thinking", "thought")
_CALLS_BESIDE = ("tool_calls", "toolInvocations")
_KEPT = "additional_kwargs"  # of LangChain and LlamaIndex: what the provider sent
_REASONS = ("stop_reason", "finish_reason", "finishReason", "stopReason")
FINISHES = STOPS | {
    "tool-calls": "tool_calls", "tool_call": "tool_calls", "TOOL_CALL": "tool_calls", "COMPLETE": "stop",
    "MAX_TOKENS": "length", "STOP": "stop",
}  # fmt: skip


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return what stands under the first of the names that is there."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def _kind_of(block: Payload) -> str:
    kind = word_of(first_of(block, _KINDS)) or ""
    kind = kind.replace("-", "_")
    return "tool_call" if kind.startswith("tool_") and "toolCallId" in block and kind not in _OTHER else kind


def is_block(block: Payload) -> bool:
    """Return whether an object is surely a block: its kind is one, and it holds what such a block does."""
    kind = _kind_of(block)
    if any(isinstance(first_of(object_of(block.get(name)), _NAMES), str) for name in _INSIDE):
        return "role" not in block  # else it is a message, with a call of the old kind beside what it says
    if isinstance(block.get(_AWS_THOUGHT), dict):
        return True
    if kind in _CALL:
        known = isinstance(first_of(block, _IDS), str) or "part_kind" in block
        return known and (first_of(block, _ARGUMENTS) is not None or "state" in block)  # of a call that goes on
    if kind == "message":
        return block.get("role") in (None, "assistant") and objects_of(block.get("content")) is not None
    if kind in _TEXT or kind in _THOUGHT:
        return any(isinstance(block.get(name), str | list) for name in _WORDS)
    return kind in _OTHER


def blocks_of(payload: Payload) -> list[Payload] | None:
    """Return the blocks of a message, of which some are of kinds that are known; None where it has none."""
    for name in _LISTS:
        found = objects_of(payload.get(name))
        if found and any(is_block(one) or _is_part(one) for one in found):
            return found
    text, kept = payload.get("content"), object_of(payload.get(_KEPT)).get("tool_calls")
    beside = isinstance(text, str) and bool(objects_of(payload.get(_CALLS_BESIDE[1])) or objects_of(kept))
    return [{"type": "text", "text": text}] if beside else None


def in_one_message(payloads: list[Payload]) -> list[Payload]:
    """Return the message in which blocks stood that were taken out of it, of which some are nothing but a text; any
    other objects as they are."""
    bare = [one for one in payloads if _is_part(one) and not is_block(one)]
    blocks = bare and all(is_block(one) or _is_part(one) for one in payloads) and len(bare) < len(payloads)
    return [{"role": "assistant", "content": payloads}] if blocks else payloads


def _is_part(block: Payload) -> bool:
    """Return whether an object is a text of Gemini's or Bedrock's; Gemini's client has None for all else."""
    given = [name for name, value in block.items() if value is not None]
    return isinstance(block.get("text"), str) and _OF_PART.issuperset(given)


def is_block_message(payload: Payload) -> bool:
    """Return whether an object is a message, or a step, that says what it says in blocks."""
    speaks = word_of(payload.get("role")) in _SPEAKERS or payload.get("kind") == "response"
    return (speaks or first_of(payload, _REASONS) is not None) and blocks_of(payload) is not None


def as_text(value: Any) -> str:
    """Return arguments as text: as they were written, or as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def said_in(blocks: Sequence[Payload]) -> Iterator[tuple[str, Any]]:
    """Yield what blocks say, in order, by the field of a chat message that it belongs to."""
    for number, block in enumerate(blocks):
        kind = _kind_of(block)
        inner = next((block[name] for name in _INSIDE if isinstance(block.get(name), dict)), None)
        if kind in _CALL or inner is not None:
            call = block if inner is None else inner
            arguments = first_of(call, _ARGUMENTS)
            name = word_of(first_of(call, _NAMES)) or kind.removeprefix("tool_")
            name = name if first_of(call, _NAMES) else str(block.get("type")).removeprefix("tool-")
            call_id = first_of(call, _IDS) or f"call_{number}"  # Gemini has none
            yield "tool_calls", whole_call(call_id, name, as_text({} if arguments is None else arguments))
        elif kind == "message":
            yield from said_in(objects_of(block.get("content")) or [])
        elif isinstance(block.get(_AWS_THOUGHT), dict):
            yield "reasoning", joined_text(object_of(block[_AWS_THOUGHT].get("reasoningText")))
        elif kind in _THOUGHT or block.get("thought") is True:
            yield "reasoning", joined_text(block)
        elif kind in _TEXT or not kind:
            yield "content", joined_text(block)
        elif kind == _REFUSAL:
            yield "content", str(block.get(_REFUSAL, ""))


def joined_text(block: Payload) -> str:
    """Return the text of a block, whichever name it has there; that of a list of texts is joined."""
    found = first_of(block, _WORDS)
    parts = found if isinstance(found, list) else [found]
    texts = [one if isinstance(one, str) else object_of(one).get("text") for one in parts]
    return "".join([one for one in texts if isinstance(one, str)])


def finish_of(payload: Payload, fields: Sequence[str] = _REASONS) -> Payload:
    """Return why a message ended, by the first of these fields that says so, as the end that a chat chunk has."""
    field = next((one for one in fields if payload.get(one) is not None), "")
    reason = word_of(payload.get(field))
    return {"finish": None if reason is None else FINISHES.get(reason, reason), **ended_by(field, reason)}


def blocks_as_chat(frames: list[Frame]) -> list[Frame]:
    """Translate messages of blocks to chat answers; blocks alone that follow one another are one message."""
    payloads = [frame.payload for frame in frames if frame.payload is not None]
    if payloads and all(map(is_block, payloads)):
        state = ChatState()
        return [Frame(frames[0].line, state.answer(list(said_in(payloads))))]
    return list(chat_frames(frames, block_message))


def block_message(state: ChatState, payload: Payload) -> Payload | None:
    """Return the chat answer that says what a message of blocks does; None where it has none."""
    blocks = blocks_of(payload)
    if blocks is None:
        return None
    state.begin({"model": payload.get("model", payload.get("model_name"))})
    answer = state.answer([*said_beside(payload, blocks), *said_in(blocks)], **finish_of(payload))
    older = payload.get("function_call")
    if isinstance(older, dict):
        answer["choices"][0]["message"]["function_call"] = older
    return answer


def said_beside(payload: Payload, blocks: Sequence[Payload]) -> Iterator[tuple[str, Any]]:
    """Yield what a message says beside its blocks, as far as the blocks do not say it too."""
    inside, places = list(said_in(blocks)), (payload, object_of(payload.get(_KEPT)))
    if not any(name == "reasoning" for name, _ in inside):
        thoughts = [word_of(place.get(name)) for place in places for name in _THOUGHT_BESIDE]
        yield from [("reasoning", text) for text in thoughts if text][:1]
    if not any(name == "content" for name, _ in inside):
        yield from [("content", text) for text in [word_of(payload.get(_REFUSAL))] if text]
    if any(name == "tool_calls" for name, _ in inside):
        return
    for place in places:
        calls = objects_of(first_of(place, _CALLS_BESIDE)) or []
        yield from [("tool_calls", sent_call(call, number)) for number, call in enumerate(calls)]
        if calls:
            return


def sent_call(call: Payload, number: int) -> Payload:
    """Return a call beside blocks or a text as OpenAI's API sends it, whichever library's names it has."""
    function = call.get("function")
    if not isinstance(function, dict):
        return object_of(next(said_in([{"id": f"call_{number}", **call, "type": "tool_call"}]))[1])
    arguments = function.get("arguments")
    given = as_text(arguments) if isinstance(arguments, dict) else arguments
    return {"id": f"call_{number}", **call, "function": {**function, "arguments": given}}
