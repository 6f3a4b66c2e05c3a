"""A client of the wire: puts an answer together from its chunks as OpenAI's library does, and holds them to rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from parsers.vocabulary.types import Message, ToolCall


class Client:
    """What a client knows of one answer. Reads `reasoning` and `reasoning_content` alike."""

    def __init__(self) -> None:
        self.channels: dict[str, str] = {}
        self.calls: list[dict[str, str]] = []
        self.finish_reason: str | None = None
        self._heads: set[tuple[Any, ...]] = set()

    def read(self, payloads: Iterable[dict[str, Any]]) -> Message:
        """The message these chunks make. Fails where they break the rules of the wire."""
        for number, payload in enumerate(payloads):
            assert payload["object"] == "chat.completion.chunk"
            self._heads.add((payload["id"], payload["created"], payload["model"]))
            (choice,) = payload["choices"]
            assert self.finish_reason is None, "nothing may follow the finish_reason"
            delta = dict(choice["delta"])
            assert (delta.pop("role", None) == "assistant") == (number == 0)
            self._delta(delta)
            self.finish_reason = choice["finish_reason"]
        assert len(self._heads) == 1
        return self.message()

    def _delta(self, delta: dict[str, Any]) -> None:
        assert len(delta) <= 1, "one kind of news a chunk"
        for key, value in delta.items():
            if key == "tool_calls":
                (entry,) = value
                self.entry(entry)
            else:
                self.channels[key] = self.channels.get(key, "") + value

    def entry(self, entry: dict[str, Any]) -> None:
        """One entry of a delta's tool_calls."""
        index, function = entry["index"], entry["function"]
        if "name" in function:
            assert index == len(self.calls)
            assert (entry["type"], function["arguments"]) == ("function", "")
            self.calls.append({"id": entry["id"], "name": function["name"], "arguments": ""})
        else:
            assert entry.keys() == {"index", "function"}
            self.calls[index]["arguments"] += function["arguments"]

    def message(self) -> Message:
        """The message so far; every call counts as complete, because the wire does not say."""
        assert self.channels.keys() <= {"reasoning", "reasoning_content", "content"}
        reasoning = self.channels.get("reasoning") or self.channels.get("reasoning_content")
        calls = [ToolCall(call["id"], call["name"], call["arguments"]) for call in self.calls]
        return Message(reasoning or None, self.channels.get("content") or None, calls)


def seen(message: Message) -> Message:
    """The message as the wire can show it."""
    calls = [ToolCall(call.id, call.name, call.arguments) for call in message.tool_calls]
    return Message(message.reasoning, message.content, calls)
