"""What a client holds after each event of a stream, as the library of that API adds the events up.

=========  ==========================================================================================================
responses  `client.responses.stream` of openai 3.57.0: texts and arguments grow with their deltas. Deltas of reasoning
           are passed on and not added up: the item is empty until the response is completed
messages   `client.messages.stream` of anthropic 2.14.0: thinking and texts grow; the input of a tool is parsed anew
           with every delta, as far as it has come, and input that cannot become JSON ends the stream with an error
=========  ==========================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from parsers.wire.api_events import Api, ApiEvent
from parsers.wire.partial_json import partial_json

_TEXTS = {"text_delta": "text", "thinking_delta": "thinking"}


@dataclass(slots=True)
class Held:
    """The output items or content blocks that a client has, why it stopped, and with what it broke."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    stop: str | None = None
    broke: str = ""


def held(api: Api, events: Iterable[ApiEvent]) -> Held:
    """What a client holds after these events, the first of a stream. Linear in their texts."""
    holder = _Responses() if api == "responses" else _Messages()
    for event in events:
        holder.take(event.payload)
    return holder.held()


class _Responses:
    def __init__(self) -> None:
        self._items: dict[int, dict[str, Any]] = {}
        self._said: dict[int, list[str]] = {}
        self._stop: str | None = None

    def take(self, payload: dict[str, Any]) -> None:
        kind, index = payload["type"], payload.get("output_index", -1)
        if kind == "response.output_item.added":
            self._items[index] = payload["item"]
        elif kind in ("response.output_text.delta", "response.function_call_arguments.delta"):
            self._said.setdefault(index, []).append(payload["delta"])
        elif kind in ("response.completed", "response.incomplete"):
            response = payload["response"]
            self._stop = response["status"]
            if kind == "response.completed":
                self._items, self._said = dict(enumerate(response["output"])), {}

    def held(self) -> Held:
        return Held([self._part(index, item) for index, item in self._items.items()], self._stop)

    def _part(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        said = "".join(self._said.get(index, ()))
        if item["type"] == "function_call":
            named = {key: item[key] for key in ("type", "call_id", "name")}
            return {**named, "arguments": item["arguments"] + said}
        return {"type": item["type"], "text": "".join([part["text"] for part in item["content"]]) + said}


class _Messages:
    def __init__(self) -> None:
        self._blocks: list[dict[str, Any]] = []
        self._said: list[list[str]] = []
        self._stop: str | None = None

    def take(self, payload: dict[str, Any]) -> None:
        if payload["type"] == "content_block_start":
            self._blocks.append(payload["content_block"])
            self._said.append([])
        elif payload["type"] == "content_block_delta":
            delta = payload["delta"]
            self._said[payload["index"]].append(delta[_TEXTS.get(delta["type"], "partial_json")])
        elif payload["type"] == "message_delta":
            self._stop = payload["delta"]["stop_reason"]

    def held(self) -> Held:
        found = Held(stop=self._stop)
        for block, said in zip(self._blocks, self._said, strict=True):
            text = "".join(said)
            if block["type"] != "tool_use":
                found.parts.append({"type": block["type"], "text": text})
                continue
            part = {key: block[key] for key in ("type", "id", "name", "input")}
            try:
                part["input"] = partial_json(text) if text else block["input"]
            except ValueError as error:
                found.broke = found.broke or f"the input of {block['name']} is no JSON: {error}"
            found.parts.append(part)
        return found
