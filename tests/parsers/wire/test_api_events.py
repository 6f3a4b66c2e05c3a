"""The event streams of other APIs, read by the libraries of these APIs: what a client holds after each event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from parsers.cases.io import load_case
from parsers.cases.run import CaseRun, api_stream, run_case
from parsers.vocabulary.events import CallArguments, CallEnd, CallId, CallName, ContentText, Event, ReasoningText
from parsers.wire.api_events import APIS, Api, ApiEvent, api_events, event_transcript
from parsers.wire.chunks import Envelope
from parsers.wire.held import Held, held

CALL = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
OUTPUTS = {
    "nothing": "",
    "words": "plain words, ünï\u2028code 🙂",
    "reasoning": "<think>Hm. ok</think>Hi",
    "calls": "<think>Hm.</think>Hi\n\n"
    + CALL % ("f", '{"a": "ü\\n", "b": [1, 2.5, true, {"c": null}]}')
    + CALL % ("g", "{}"),
    "text between calls": CALL % ("f", '{"a": -1.5e3}') + "and\n" + CALL % ("g", '{"q": "\\"}"}'),
    "cut off": "Hi" + (CALL % ("f", '{"a": "b", "c": "d'))[:-15],
}


def run(text: str, **more: Any) -> CaseRun:
    data = {"schema": 1, "parser": {"name": "qwen"}, "input": {"text": text}, "context": {"model": "org/model"}, **more}
    return run_case(load_case(data), compare=False)


def events_of(api: Api, made: CaseRun) -> list[ApiEvent]:
    envelope = Envelope.of(made.trace, made.context)
    return [*api_events(api, made.trace, envelope, len(made.pieces))]


def answering(text: str) -> httpx2.Client:
    """A server that streams this to everybody."""
    head = {"content-type": "text/event-stream"}
    return httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, headers=head, text=text)))


def with_openai(text: str) -> Iterator[tuple[list[dict[str, Any]], str | None]]:
    """The output items that openai's library has after each event."""
    import openai  # not for those who only collect the tests: it takes seconds

    client = openai.OpenAI(api_key="none", base_url="http://server/v1", http_client=answering(text))
    with client, client.responses.stream(model="m", input="x") as stream:
        for event in stream:
            kept = stream._state._ResponseStreamState__current_snapshot  # type: ignore[attr-defined]
            last = getattr(event, "response", kept)
            response = last if event.type == "response.completed" else kept
            yield [_item(one) for one in response.output], last.status


def _item(item: Any) -> dict[str, Any]:
    if item.type == "function_call":
        return {"type": item.type, "call_id": item.call_id, "name": item.name, "arguments": item.arguments}
    return {"type": item.type, "text": "".join([part.text for part in item.content or ()])}


def with_anthropic(text: str) -> Iterator[tuple[list[dict[str, Any]], str | None]]:
    """The content blocks that anthropic's library has after each event."""
    import anthropic

    client = anthropic.Anthropic(api_key="none", base_url="http://server", http_client=answering(text))
    said = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    with client, client.messages.stream(**said) as stream:  # type: ignore[arg-type]
        for event in stream:
            if event.type in RAW:
                message = stream.current_message_snapshot
                yield [_block(one) for one in message.content], message.stop_reason


RAW = ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
       "message_stop")  # fmt: skip


def _block(block: Any) -> dict[str, Any]:
    if block.type == "tool_use":
        return {"type": block.type, "id": block.id, "name": block.name, "input": block.input}
    return {"type": block.type, "text": block.text if block.type == "text" else block.thinking}


def check_responses(made: CaseRun) -> None:
    events = events_of("responses", made)
    seen = [*with_openai(event_transcript(events))]
    assert len(seen) == len(events)
    for number, (parts, status) in enumerate(seen, 1):
        ours = held("responses", events[:number])
        assert ours.parts == parts
        assert ours.stop == (status if status in ("completed", "incomplete") else None)


def check_messages(made: CaseRun) -> None:
    events = events_of("messages", made)
    seen = [*with_anthropic(event_transcript(events))]
    assert len(seen) == len(events)
    for number, (parts, reason) in enumerate(seen, 1):
        ours = held("messages", events[:number])
        assert (ours.parts, ours.stop, ours.broke) == (parts, reason, "")


CHECKS = {"responses": check_responses, "messages": check_messages}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.replays
def test_a_client_holds_at_each_event_what_is_said_here(name: str, api: Api) -> None:
    CHECKS[api](run(OUTPUTS[name]))


@pytest.mark.parametrize(
    ("cut", "status", "reason"),
    [({}, "completed", "end_turn"), ({"finish_reason": "length"}, "incomplete", "max_tokens")],
)
def test_the_end_says_why(cut: dict[str, str], status: str, reason: str) -> None:
    made = run("Hi", context=cut)
    assert held("responses", events_of("responses", made)).stop == status
    assert held("messages", events_of("messages", made)).stop == reason


def test_a_client_of_messages_breaks_on_input_that_is_no_json() -> None:
    block = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": "{a"}
    begins = ApiEvent(1, {"type": "content_block_start", "index": 0, "content_block": block})
    grows = ApiEvent(1, {"type": "content_block_delta", "index": 0, "delta": delta})
    assert held("messages", [begins, grows]) == Held([block], None, "the input of f is no JSON: a key must be a string")
    start = events_of("messages", run(""))[0]
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        list(with_anthropic(event_transcript([start, begins, grows])))


class _Trace:
    """A replay of these events, one a step."""

    def __init__(self, *events: Event) -> None:
        self._events = events
        self.finish_reason = "stop"
        self.columns = self
        self.ends = range(len(events))

    def events(self) -> Iterator[tuple[int, Event]]:
        yield from enumerate(self._events, 1)


def arguments(call: int, text: str) -> CallArguments:
    return CallArguments(0, 0, text, call=call)


def test_arguments_wait_for_the_name_and_calls_may_overlap() -> None:
    trace: Any = _Trace(
        arguments(0, "{"),
        CallId(0, 0, "x", call=0),
        CallName(0, 0, "f", call=0),
        CallName(0, 0, "f", call=0),
        CallName(0, 0, "g", call=1),
        arguments(0, '"a": 1}'),
        arguments(1, "{}"),
        CallEnd(0, 0, call=1),
        CallEnd(0, 0, call=1),
        ReasoningText(0, 0, "r"),
        ContentText(0, 0, ""),
        ContentText(0, 0, "c"),
        arguments(0, ""),
        arguments(2, "[]"),
        CallEnd(0, 0, call=0),
    )
    events = [*api_events("messages", trace, Envelope("chatcmpl-1", "m"), 3)]
    assert held("messages", events).parts == [
        {"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}},
        {"type": "tool_use", "id": "call_1", "name": "g", "input": {}},
        {"type": "thinking", "text": "r"},
        {"type": "text", "text": "c"},
        {"type": "tool_use", "id": "call_2", "name": "", "input": []},
    ]
    stops = [event.payload["index"] for event in events if event.name == "content_block_stop"]
    assert stops == [1, 2, 0, 3, 4]
    events = [*api_events("responses", trace, Envelope("chatcmpl-1", "m"), 3)]
    assert [event.payload["sequence_number"] for event in events] == [*range(len(events))]
    assert [event.step for event in events] == sorted([event.step for event in events])


@pytest.mark.parametrize("api", APIS)
def test_a_stream_is_the_same_each_time(api: Api) -> None:
    made = run(OUTPUTS["calls"])
    assert api_stream(made, api) == api_stream(made, api) == event_transcript(events_of(api, made))
