"""Classes of client libraries whose objects people print, and what each says as JSON of the chat API.

openai-python 1 and 2 (ChatCompletionChunk, ChoiceDeltaToolCall, ChatCompletionMessage ...), LiteLLM 1 (ModelResponse,
ModelResponseStream), LangChain 1 (AIMessage, AIMessageChunk), vLLM 0.33 (DeltaMessage, DeltaToolCall, RequestOutput,
CompletionOutput) and SGLang 0.5 (StreamingParseResult, ToolCallItem).
"""

from __future__ import annotations

import json
from typing import Any

from parsers.intake.model import Payload

CHUNKS = ("ChatCompletionChunk", "ModelResponseStream")
ANSWERS = ("ChatCompletion", "ParsedChatCompletion", "ModelResponse")
CALLS = ("ChoiceDeltaToolCall", "DeltaToolCall", "ToolCallItem", "ChatCompletionDeltaToolCall")
DELTAS = ("ChoiceDelta", "DeltaMessage", "StreamingParseResult", "AIMessageChunk")
MESSAGES = ("ChatCompletionMessage", "ChatMessage", "AIMessage")
WHOLE_CALLS = ("ChatCompletionMessageToolCall", "ChatCompletionMessageFunctionToolCall", "ParsedFunctionToolCall")
RAW = ("RequestOutput", "CompletionOutput")
NAMES = (*CHUNKS, *ANSWERS, *CALLS, *DELTAS, *MESSAGES, *WHOLE_CALLS, *RAW)

_REASONING = ("reasoning_content", "reasoning")


def delta_of(name: str, fields: Payload) -> Payload:
    """The choice of a chunk that a delta's object says, without its index."""
    if name == "AIMessageChunk":
        calls = [_chunk_call(call) for call in _dicts(fields.get("tool_call_chunks"))]
        return _langchain("delta", fields, _own_calls(fields) or calls)
    if name == "StreamingParseResult":
        calls = [call_of(call) for call in _dicts(fields.get("calls"))]
        fields = {"content": fields.get("normal_text") or None, **({"tool_calls": calls} if calls else {})}
    return {"delta": fields, "finish_reason": None}


def message_of(name: str, fields: Payload) -> Payload:
    """The choice of an answer that a message's object says, without its index."""
    if name != "AIMessage":
        return {"message": fields, "finish_reason": None}
    calls = [_whole_call(call) for key in ("tool_calls", "invalid_tool_calls") for call in _dicts(fields.get(key))]
    return _langchain("message", fields, _own_calls(fields) or calls)


def rewrites(name: str, fields: Payload) -> bool:
    """Whether the arguments are objects only: LangChain keeps the text that a provider sent beside them, or not."""
    return name == "AIMessage" and bool(fields.get("tool_calls")) and not _own_calls(fields)


def call_of(call: Payload) -> Payload:
    """A call's delta; SGLang's ToolCallItem has its own names."""
    if "tool_index" not in call:
        return call
    function = {key: call[own] for key, own in (("name", "name"), ("arguments", "parameters")) if call.get(own)}
    return {"index": call["tool_index"], "function": function}


def _langchain(kind: str, fields: Payload, calls: list[Payload]) -> Payload:
    more, about = _dict(fields.get("additional_kwargs")), _dict(fields.get("response_metadata"))
    said: Payload = {"role": "assistant", "content": _text(fields.get("content"))}
    said |= {key: more[key] for key in _REASONING if isinstance(more.get(key), str)}
    if calls:
        said["tool_calls"] = calls
    return {kind: said, "finish_reason": about.get("finish_reason")}


def _own_calls(fields: Payload) -> list[Payload]:
    """The calls as the provider sent them, with the exact text of their arguments."""
    return _dicts(_dict(fields.get("additional_kwargs")).get("tool_calls"))


def _chunk_call(call: Payload) -> Payload:
    function = {key: call[own] for key, own in (("name", "name"), ("arguments", "args")) if call.get(own)}
    return {"index": call.get("index"), "id": call.get("id"), "function": function}


def _whole_call(call: Payload) -> Payload:
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call.get("id"), "type": "function", "function": {"name": call.get("name"), "arguments": text}}


def _text(content: Any) -> str | None:
    """The content: text, or the text parts of a list."""
    if isinstance(content, list):
        return "".join([part for one in content if isinstance(part := _part(one), str)]) or None
    return content if isinstance(content, str) and content else None


def _part(one: Any) -> Any:
    return one.get("text") if isinstance(one, dict) else one


def _dict(value: Any) -> Payload:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[Payload]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
