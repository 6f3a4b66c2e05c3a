"""Six stories that a server tells through any API: one in which all is well, and five of what goes wrong."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class ToldCall(NamedTuple):
    """A tool call as the server sends it: its index among the calls, its arguments as JSON text, or meant to be."""

    place: int
    id: str
    name: str
    arguments: str

    @property
    def decoded(self) -> Any:
        """The arguments for an API that sends objects: where they are none, what a server would have made of them."""
        try:
            return json.loads(self.arguments)
        except ValueError:
            return json.loads(CALL)


class Told(NamedTuple):
    """What the model thought, said and called, and why it ended, in the words of chat completions."""

    reasoning: str = ""
    content: str = ""
    calls: tuple[ToldCall, ...] = ()
    finish: str = "stop"


CALL = '{"city": "Paris", "unit": "c"}'
RAW = f'<tool_call>\n{{"name": "get_weather", "arguments": {CALL}}}\n</tool_call>'
PIECE = 7  # characters of a delta


def called(*calls: ToldCall, reasoning: str = "", content: str = "") -> Told:
    """A story that ends with calls."""
    return Told(reasoning, content, calls, "tool_calls")


def weather(arguments: str) -> ToldCall:
    """The call that all stories have, with these arguments."""
    return ToldCall(0, "call_a1", "get_weather", arguments)


TOLD = {
    "good": called(weather(CALL), reasoning="The user asks for weather.", content="I'll look it up."),
    "leak": Told(content=RAW),
    "brace": called(weather(CALL[:-1])),
    "dup": called(weather(CALL + CALL)),
    "idx": called(weather(CALL), ToldCall(0, "call_b2", "get_time", '{"zone": "CET"}')),
    "think": Told(content='Let me think.\n</think>\n\nIt is "sunny" in Zürich 🌦.'),
}


def pieces(text: str) -> list[str]:
    """A text as deltas."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
