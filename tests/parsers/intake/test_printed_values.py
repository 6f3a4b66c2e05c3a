"""Printed objects of any client library are read by what they print, and never as calls in Python's notation."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.printed_values import read_printed_objects, read_printed_values

USE = "ToolUseBlock(id='t1', input={'city': 'Bern'}, name='f', type='tool_use')"
TEXT = "TextBlock(citations=None, text='Hm.', type='text')"
MESSAGE = (
    f"Message(id='m1', content=[{TEXT}, {USE}], model='m', role='assistant', stop_reason='tool_use', type='message')"
)
EVENTS = (
    "RawMessageStartEvent(message=Message(id='m1', content=[], role='assistant'), type='message_start')\n"
    "RawContentBlockDeltaEvent(delta=TextDelta(text='Hm.', type='text_delta'), index=0, type='content_block_delta')\n"
    "RawMessageDeltaEvent(delta=Delta(stop_reason='end_turn'), type='message_delta')\n"
)
CALL = "ResponseFunctionToolCall(arguments='{}', call_id='c1', name='f', type='function_call', id='i1')"
SAID = "ResponseOutputMessage(id='i2', content=[ResponseOutputText(text='Hm.', type='output_text')], type='message')"
RESPONSE = f"Response(id='r1', object='response', output=[{SAID}, {CALL}], status='completed')"
MISTRAL = (
    "ChatCompletionResponse(id='c1', object='chat.completion', choices=[ChatCompletionChoice(index=0, "
    "message=AssistantMessage(content='Hm.', role='assistant'), finish_reason='stop')])"
)


def said(text: str) -> tuple[list[Any], list[Any]]:
    """The messages and deltas of what was recognised, and their finish reasons."""
    found = recognise(text.encode(), pasted=True)
    assert (found.kind, found.usable) == ("client_objects", True)
    choices = [choice for output in found.outputs for chunk in output.stream or () for choice in chunk["choices"]]
    parts = [choice.get("message", choice.get("delta")) for choice in choices]
    return parts, [choice.get("finish_reason", "no place for one") for choice in choices]


@pytest.mark.parametrize(
    ("text", "content", "calls", "finish"),
    [
        (MESSAGE, "Hm.", ["f"], "tool_calls"),
        (f"message = {MESSAGE}", "Hm.", ["f"], "tool_calls"),
        (f"[{TEXT}, {USE}]", "Hm.", ["f"], "no place for one"),
        (USE, None, ["f"], "no place for one"),
        (RESPONSE, "Hm.", ["f"], "tool_calls"),
        (f"[{SAID}, {CALL}]", "Hm.", ["f"], "no place for one"),
        (CALL, None, ["f"], "no place for one"),
        (MISTRAL, "Hm.", [], "stop"),
    ],
)
def test_a_printed_answer_is_the_recording_it_was(
    text: str, content: str | None, calls: list[str], finish: str
) -> None:
    (message,), (reason,) = said(text)
    assert message.get("content") == content
    assert [call["function"]["name"] for call in message.get("tool_calls", ())] == calls
    assert reason == finish


def test_printed_events_are_a_stream() -> None:
    parts, reasons = said(EVENTS)
    assert parts == [{"role": "assistant"}, {"content": "Hm."}, {}]
    assert reasons[-1] == "stop"


@pytest.mark.parametrize("text", [USE, MESSAGE])
def test_arguments_that_are_printed_as_objects_are_said_to_be_rewritten(text: str) -> None:
    assert "arguments_rewritten" in [warn.code for warn in recognise(text.encode(), pasted=True).warnings]


@pytest.mark.parametrize(
    "text",
    [
        "[get_weather(city='Bern')]",
        "[GetWeather(city='Bern', unit='c')]",
        "[SendMessage(id='42', role='admin', content='Hi')]",
        "[create_event(title='Lunch', attendees=[Person(name='Kim')])]",
        "[CreateBlock(type='text', text='Hi')]",
        "Message(id='m1', content=[TextBlock(text=, type='text')], role='assistant')",
        "Response(object='response', status='completed', model='m')",
        "Hm.",
    ],
)
def test_what_no_api_sent_is_no_recording(text: str) -> None:
    assert read_printed_objects(text) is None


CHUNK = '{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hm."}}]}'


@pytest.mark.parametrize("row", ['{"city": "Bern"}', "[1, 2]"])
def test_rows_of_json_of_which_one_is_no_apis_are_a_models_words(row: str) -> None:
    assert read_printed_values(f"{CHUNK}\n{CHUNK}\n") is not None
    assert read_printed_values(f"{CHUNK}\n{row}\n") is None


BLOCKS = (
    '{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hm."}]}'
)
# Messages of blocks, one a line: what else stands between them says nothing.
SPOKEN = [
    BLOCKS,
    f'{BLOCKS}\n{{"role": "assistant", "content": null, "stop_reason": "end_turn"}}',
    "AIMessage(content=[{'type': 'text', 'text': 'Hm.'}, {'type': 'tool_use', 'id': 'c1', 'name': 'f', 'input': {}}], "
    "additional_kwargs={}, response_metadata={}, id='r', tool_calls=[])",
    "ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, "
    "blocks=[TextBlock(block_type='text', text='Hm.')])",
]


@pytest.mark.parametrize("text", SPOKEN)
def test_blocks_that_say_nothing_are_left_out(text: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.recording is not None
    [chunk] = found.recording.stream or ()
    assert chunk["choices"][0]["message"]["content"] == "Hm."


def test_an_object_that_cannot_be_read_beside_one_that_can_is_told() -> None:
    delta = "ChoiceDelta(content='Hi', role='assistant')"
    chunk = f"ChatCompletionChunk(id='a', choices=[Choice(delta={delta}, finish_reason=None, index=0)])\n"
    found = recognise(f"{chunk}ChatCompletionChunk(id=@@)\n".encode(), pasted=True)
    assert found.kind == "client_objects"
    assert "bad_object" in [warn.code for warn in found.warnings]


OF_CALL = "{ name: 'f', arguments: '{\"a\": 1}' }"
CALL = f"{{ index: 0, id: 'c', type: 'function', function: {OF_CALL} }}"
HOLLOW = CALL.replace(OF_CALL, "[Object]")
BLOCK = "{ type: 'tool_use', id: 'c', name: 'f', input: [Object] }"
GEMINI = (
    "GenerateContentResponse(candidates=[Candidate(content=Content(parts=[Part(text='Hm.'), Part("
    "function_call=FunctionCall(args=<... Max depth ...>, name=<... Max depth ...>))]), finish_reason='STOP')])"
)
# What console.log shows of an answer, and whether what it left out is of a call.
LEFT = [
    (f"{{\n  role: 'assistant',\n  content: null,\n  tool_calls: [ {CALL} ],\n  audio: [Object]\n}}", False),
    (f"{{\n  role: 'assistant',\n  content: null,\n  tool_calls: [ {HOLLOW} ]\n}}", True),
    ("{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [Array] } }", True),
    (f"{{ role: 'assistant', type: 'message', content: [ {BLOCK} ] }}", True),
    ("{ object: 'chat.completion', choices: [ { index: 0, message: [Object], finish_reason: 'stop' } ] }", True),
    (GEMINI, True),
    ("Part(function_call=FunctionCall(\n  args={<... 1 item at Max depth ...>},\n  name='f'\n))", True),
    ("Part(function_call=FunctionCall(\n  args=<dict len=6>,\n  name='f'\n))", True),
]


@pytest.mark.parametrize(("text", "lost"), LEFT)
def test_what_did_not_print_its_calls_is_no_recording_of_them(text: str, lost: bool) -> None:
    found = recognise(text.encode(), pasted=True)
    assert (found.kind, "left_out" in [warn.code for warn in found.warnings]) == ("client_objects", True)
    assert (found.recording is None, found.usable, "print it as JSON" in found.advice) == (lost, not lost, lost)


def test_chunks_that_were_not_printed_are_a_gap() -> None:
    chunk = "{ choices: [ { index: 0, delta: { content: 'Hm.' }, finish_reason: REASON } ] }"
    first, last = chunk.replace("REASON", "null"), chunk.replace("REASON", "'tool_calls'")
    found = recognise(f"[ {first}, ... 3 more items, {last} ]".encode(), pasted=True)
    assert [output.gaps for output in found.outputs] == [True]


UNSET = "Choice(index=0, message=Answer(role='assistant', content='Hm.', calls=Unset()), finish_reason='stop')"


def test_a_field_that_was_not_sent_is_not_there() -> None:
    found = recognise(UNSET.encode(), pasted=True)
    assert found.recording is not None
    [answer] = found.recording.stream or ()
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "Hm."}


def test_a_printed_object_that_breaks_off_is_told() -> None:
    found = recognise(f"{MESSAGE}\n{MESSAGE[:-30]}".encode(), pasted=True)
    assert "bad_object" in [warn.code for warn in found.warnings]


def test_the_events_of_a_server_in_those_of_an_agent_are_its_stream() -> None:
    event = (
        "RawResponsesStreamEvent(data=ResponseTextDeltaEvent(delta='{}', item_id='m', output_index=0, "
        "type='response.output_text.delta'), type='raw_response_event')\n"
    )
    found = read_printed_objects(
        event.format("Fed ") + "AgentUpdated(name='cat', type='agent_updated')\n" + event.format("it.")
    )
    assert found is not None
    deltas = [chunk["choices"][0]["delta"] for chunk in found.outputs[0].stream or ()]
    assert [delta["content"] for delta in deltas] == ["Fed ", "it."]


def test_the_end_of_an_object_before_the_first_whole_one_is_named() -> None:
    whole = "{ type: 'text-delta', id: '0', text: 'Fed' }\n{ type: 'text-end', id: '0' }\n"
    torn, plain = read_printed_values(f"elta', id: '0', text: 'I ' }}\n{whole}"), read_printed_values(whole)
    assert torn is not None
    assert plain is not None
    told = [[warn.code for warn in found.warnings] for found in (torn, plain)]
    assert told == [[*told[1], "bad_object"], told[1]]
