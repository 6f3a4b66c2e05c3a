"""Events of an answer that is streamed by another API than OpenAI's chat completions, and the stream they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from parsers.vocabulary.trace import Trace
from parsers.wire.chunks import Envelope, one_line
from parsers.wire.messages_events import messages_events
from parsers.wire.responses_events import responses_events

Api = Literal["responses", "messages"]
APIS: tuple[Api, ...] = ("responses", "messages")


@dataclass(slots=True, frozen=True)
class ApiEvent:
    """One event, and the step of the replay that sent it. Its name is the `type` of its payload."""

    step: int
    payload: dict[str, Any]

    @property
    def name(self) -> str:
        """What kind of event it is."""
        name: str = self.payload["type"]
        return name

    @property
    def text(self) -> str:
        """The event as it travels, without the line end behind it."""
        return f"event: {self.name}\ndata: {one_line(self.payload)}\n"


def api_events(api: Api, trace: Trace, envelope: Envelope, tokens: int) -> Iterator[ApiEvent]:
    """The answer of a replay as this API streams it. `tokens` are those of the output."""
    make = responses_events if api == "responses" else messages_events
    return (ApiEvent(step, payload) for step, payload in make(trace, envelope, tokens))


def event_transcript(found: Iterable[ApiEvent]) -> str:
    """The event stream."""
    return "".join([f"{event.text}\n" for event in found])
