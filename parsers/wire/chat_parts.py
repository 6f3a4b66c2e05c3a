"""Parts that people cut out of chat answers, as `jq .choices[0].message` does: a choice, a message, a delta, a call.

A model writes calls as JSON too, so each shape asks for what only a server adds: the role `assistant`, a choice's place
or reason, a call's type or place around a `function` whose arguments are a string. (OpenAI API reference, chat
completions; vLLM 0.33 adds `tools_called` to what its parsers return.)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

_SAID = frozenset(("content", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call"))
_OF_MESSAGES = _SAID | {"role", "annotations", "audio", "name", "tools_called"}


class ChatPart(Enum):
    """A part of an answer, or of one of its chunks."""

    CHOICE = auto()
    MESSAGE = auto()
    DELTA = auto()
    CALL = auto()


def chat_part_of(value: Mapping[str, Any]) -> ChatPart | None:
    """Return which part of an answer an object surely is; None where a model may have written it."""
    if "choices" in value or value.get("type") not in (None, "function"):
        return None
    if _is_call(value):
        return ChatPart.CALL
    if _is_choice(value):
        return ChatPart.CHOICE
    if (value.get("role") == "assistant" or "tools_called" in value) and not _SAID.isdisjoint(value):
        return ChatPart.MESSAGE
    return ChatPart.DELTA if _is_delta(value) else None


def may_be_delta(value: Mapping[str, Any]) -> bool:
    """Return whether an object may be a delta, of those that stand among others."""
    return not _SAID.isdisjoint(value) and _OF_MESSAGES.issuperset(value)


def _is_call(value: Mapping[str, Any]) -> bool:
    function = value.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return False
    return value.get("type") == "function" or type(value.get("index")) is int


def _is_choice(value: Mapping[str, Any]) -> bool:
    said = value.get("message", value.get("delta"))
    if not isinstance(said, dict):
        return False
    placed = type(value.get("index")) is int or "finish_reason" in value
    return chat_part_of(said) is not None or (placed and _OF_MESSAGES.issuperset(said))


def _is_delta(value: Mapping[str, Any]) -> bool:
    if not _OF_MESSAGES.issuperset(value):
        return False
    calls, older = value.get("tool_calls"), value.get("function_call")
    if {"content", "reasoning_content", "tool_calls"} <= value.keys():
        return True
    if calls and isinstance(calls, list):
        return all(isinstance(call, dict) and _is_call(call) for call in calls)
    if isinstance(older, dict):
        return isinstance(older.get("arguments"), str)
    return "content" in value and not value.keys().isdisjoint(("tool_calls", "reasoning_content"))
