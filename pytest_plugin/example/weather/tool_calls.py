"""Calls in the notation of Qwen, as they stream."""

from __future__ import annotations

import json
from typing import Any

START, END = "<tool_call>", "</tool_call>"


class ToolCalls:
    """One answer. It has a bug: a marker that comes in two deltas is taken for text."""

    def begin(self, request: dict[str, Any]) -> None:
        """Begin an answer to a request."""
        self.waiting = ""
        self.inside = False
        self.calls = 0

    def feed(self, text: str, ids: list[int]) -> dict[str, Any] | None:
        """Take a delta in; returns what is to be sent."""
        self.waiting += text
        content, calls = "", []
        while self.waiting:
            if self.inside:
                body, end, rest = self.waiting.partition(END)
                if not end:
                    break
                calls.append(self.called(json.loads(body)))
                self.waiting, self.inside = rest, False
            else:
                before, start, self.waiting = self.waiting.partition(START)
                content += before
                self.inside = bool(start)
        return {"content": content, "tool_calls": calls}

    def finish(self, reason: str | None) -> dict[str, Any] | None:
        """The end: what waits is text."""
        return {"content": self.waiting}

    def called(self, call: dict[str, Any]) -> dict[str, Any]:
        """A call as it is sent."""
        self.calls += 1
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        return {"index": self.calls - 1, "id": f"call_{self.calls}", "function": function}
