"""Ollama's chat: JSON Lines, in which a call comes whole."""

from __future__ import annotations

from typing import Any

from tests.clients.told import Told, pieces

_HEAD = {"model": "qwen3:8b", "created_at": "2025-11-28T10:00:00.123456Z"}
_END = {
    "done": True, "done_reason": "stop", "total_duration": 1, "load_duration": 1, "prompt_eval_count": 5,
    "prompt_eval_duration": 1, "eval_count": 34, "eval_duration": 1,
}  # fmt: skip


def answer(told: Told) -> dict[str, Any]:
    """The whole answer."""
    thinking = {"thinking": told.reasoning} if told.reasoning else {}
    calls = {"tool_calls": _calls(told)} if told.calls else {}
    return _line({"content": told.content, **thinking, **calls}, **_END)


def lines(told: Told) -> list[dict[str, Any]]:
    """The stream."""
    thought = [_line({"content": "", "thinking": part}, done=False) for part in pieces(told.reasoning)]
    said = [_line({"content": part}, done=False) for part in pieces(told.content)]
    called = [_line({"content": "", "tool_calls": [call]}, done=False) for call in _calls(told)]
    return [*thought, *said, *called, _line({"content": ""}, **_END)]


def _calls(told: Told) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "function": {"index": number, "name": one.name, "arguments": one.decoded}}
        for number, one in enumerate(told.calls)
    ]


def _line(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**_HEAD, "message": {"role": "assistant", **message}, **more}
