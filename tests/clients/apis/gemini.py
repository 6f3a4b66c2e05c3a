"""Gemini's generateContent: parts of text, some of them thought, and calls whose arguments are objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.clients.told import Told, pieces

Part = dict[str, Any]


def answer(told: Told) -> dict[str, Any]:
    """The whole answer."""
    return _wrapped(_parts(told, lambda text: [text] if text else []), ended=True)


def chunks(told: Told) -> list[dict[str, Any]]:
    """The stream: a part a chunk."""
    parts = _parts(told, pieces)
    return [_wrapped([part], ended=number == len(parts)) for number, part in enumerate(parts, start=1)]


def _parts(told: Told, cut: Callable[[str], list[str]]) -> list[Part]:
    thought: list[Part] = [{"text": text, "thought": True} for text in cut(told.reasoning)]
    said: list[Part] = [{"text": text} for text in cut(told.content)]
    calls = [{"functionCall": {"id": one.id, "name": one.name, "args": one.decoded}} for one in told.calls]
    return [*thought, *said, *calls]


def _wrapped(parts: list[Part], *, ended: bool) -> dict[str, Any]:
    candidate = {
        "content": {"parts": parts, "role": "model"},
        "index": 0,
        **({"finishReason": "STOP"} if ended else {}),
    }
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 34, "totalTokenCount": 46}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash", "responseId": "r1"}
