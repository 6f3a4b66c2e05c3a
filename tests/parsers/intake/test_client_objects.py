"""Printed objects of client libraries become the chunks, the answer or the raw output that they show."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.intake.client_objects import read_client_objects
from parsers.intake.recognise import recognise
from parsers.vocabulary.types import Recording

CHOICE = "Choice(delta=ChoiceDelta(content='<think>'), finish_reason='stop', index=0)"
DELTA = "ChoiceDeltaToolCall(index=0, id='c', function=ChoiceDeltaToolCallFunction(arguments='{}', name='f'))"
WIRE = {"index": 0, "id": "c", "function": {"arguments": "{}", "name": "f"}}
FUNCTION = "Function(arguments='{}', name='f')"
CHUNK = (
    "ChatCompletionChunk(id='{}', choices=[Choice(delta=ChoiceDelta(content='{}'), finish_reason='stop', index=0)])\n"
)


def outputs(body: str) -> tuple[Recording, ...]:
    found = read_client_objects(body)
    return found.outputs if found else ()


def parts(recording: Recording) -> list[Any]:
    choices = [chunk["choices"][0] for chunk in recording.stream or ()]
    return [choice.get("delta", choice.get("message")) for choice in choices]


STREAMS: list[tuple[str, list[list[Any]], list[str]]] = [
    (DELTA, [[{"tool_calls": [WIRE]}]], []),
    (f"call: {DELTA}\n{DELTA}", [[{"tool_calls": [WIRE]}] * 2], []),
    (f"[{DELTA}, {DELTA}]", [[{"tool_calls": [WIRE, WIRE]}]], []),
    (f"[{DELTA}, None]\n[{DELTA}, {DELTA[:-9]}", [[{"tool_calls": [WIRE]}] * 2], ["broken_off"]),
    (f"{DELTA}\n{DELTA[:30]}", [[{"tool_calls": [WIRE]}]], ["broken_off"]),
    ("openai.types.ChoiceDelta(content='<think>')", [[{"content": "<think>"}]], []),
    (
        "DeltaMessage(role='assistant', content='\\ud83d')",
        [[{"role": "assistant", "content": "\ufffd"}]],
        ["lossy_text", "no_markers"],
    ),
    (CHUNK.format("x", "<think>") + CHUNK.format("y", "<think>"), [[{"content": "<think>"}]] * 2, []),
    (
        f"[ChatCompletionMessageToolCall(id='c', function={FUNCTION})]",
        [
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "function": {"arguments": "{}", "name": "f"}}],
                }
            ]
        ],
        [],
    ),
    (
        "ChatCompletion(choices=[Choice(finish_reason='stop', message=ChatCompletionMessage(content='<think>'))])",
        [[{"content": "<think>"}]],
        [],
    ),
    (
        "data=CompletionChunk(id='x', choices=[Choice(index=0, delta=DeltaMessage(role=Unset(), content='<think>', "
        "tool_calls=Unset()), finish_reason='stop')], object='chat.completion.chunk')",
        [[{"content": "<think>"}]],
        [],
    ),
    (
        "ToolCallItem(tool_index=1, name='f', parameters='')",
        [[{"tool_calls": [{"index": 1, "function": {"name": "f"}}]}]],
        [],
    ),
    (
        "ChoiceDelta(content=None, a={'k': [Kind(1, 2), x.y, <E.a: 'b'>, b'z']}, f=1.5)",
        [[{"content": None, "a": {"k": [2, "x.y", "b", "z"]}, "f": 1.5}]],
        [],
    ),
    ("ChoiceDelta(content=['a' ... 'b'])", [[{"content": [None]}]], []),
    (
        "AIMessage(content='', additional_kwargs={'tool_calls': [{'id': 'c', 'function': {'arguments': '{ }', "
        "'name': 'f'}}]}, response_metadata={'finish_reason': 'tool_calls'}, tool_calls=[{'name': 'f', 'args': {}}])",
        [
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "function": {"arguments": "{ }", "name": "f"}}],
                }
            ]
        ],
        [],
    ),
]


@pytest.mark.parametrize(("body", "streams", "warnings"), STREAMS)
def test_printed_chunks_and_answers_are_streams(body: str, streams: list[list[Any]], warnings: list[str]) -> None:
    found = read_client_objects(body)
    assert found is not None
    assert [parts(output) for output in found.outputs] == streams
    assert [warn.code for warn in found.warnings] == warnings
    assert {output.kind for output in found.outputs} == {"client_objects"}


def test_outputs_of_the_offline_engine_are_raw() -> None:
    first, second = outputs(
        "[RequestOutput(prompt='P', prompt_token_ids=[1], outputs=[CompletionOutput(index=0, text='a', "
        "token_ids=(5, 6), finish_reason=length, stop_reason=None), CompletionOutput(index=1, text='b', "
        "token_ids=array('l', [7]), finish_reason='stop', stop_reason=9), 3])]"
    )
    assert (first.text, first.ids, first.finish_reason, first.prompt_ids, first.prompt_text) == (
        "a",
        (5, 6),
        "length",
        (1,),
        "P",
    )
    assert (second.label, second.ids, second.stop_reason) == ("output 1", (7,), 9)
    (alone,) = outputs("CompletionOutput(index=0, text='a', token_ids=[1], stop_reason='</s>')")
    assert (alone.label, alone.text, alone.stop_reason) == ("", "a", "</s>")
    assert outputs("CompletionOutput(text=None)") == ()


def test_several_messages_are_several_outputs() -> None:
    found = outputs("ChatCompletionMessage(content='<think>')\nChatCompletionMessage(content='<tool_call>')")
    assert [(output.label, output.text) for output in found] == [("output 1", "<think>"), ("output 2", "<tool_call>")]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[get(city='x')]",
        "ChoiceDelta",
        "MyChoiceDelta(content='x')",
        "ChoiceDelta(!)",
        "RequestOutput(outputs=[])",
        "RequestOutput(outputs=5)",
        "            return DeltaMessage(content=delta_text)",
        "DeltaMessage(tool_calls=[DeltaToolCall(index=self.current_id, function=DeltaFunctionCall(name=name))])",
    ],
)
def test_other_text_is_not_taken(body: str) -> None:
    assert outputs(body) == ()


def test_a_chunk_without_choices_is_no_output() -> None:
    chunks = [f"ChatCompletionChunk(id='{name}', choices=[{choice}])" for name, choice in (("a", CHOICE), ("b", ""))]
    assert [output.text for output in outputs("\n".join(chunks))] == ["<think>"]


def test_objects_that_cannot_be_read_are_counted_and_then_given_up() -> None:
    found = read_client_objects(f"{DELTA}\n" + "ChoiceDelta(!)\n" * 50)
    assert found is not None
    assert "20 objects cannot be read" in found.warnings[0].words


@pytest.mark.parametrize(
    ("body", "server"),
    [
        (DELTA, None),
        ("DeltaMessage(content='x')", "vLLM"),
        ("ToolCallItem(tool_index=0)", "SGLang"),
        ("CompletionOutput(text='')", "vLLM"),
    ],
)
def test_the_server_is_known_by_its_own_names(body: str, server: str | None) -> None:
    found = read_client_objects(body)
    assert found is not None
    assert found.server == server


DELTA = (
    "ChoiceDelta(content=None, role={role}, tool_calls=[ChoiceDeltaToolCall(index=0, id={id}, function={function})])"
)


@pytest.mark.parametrize(
    ("role", "call", "function", "gaps"),
    [
        ("None", "None", "Function(arguments='{\"a', name=None)", True),
        ("'assistant'", "None", "Function(arguments='{\"a', name=None)", False),
        ("None", "'c'", "Function(arguments='{\"a', name=None)", False),
        ("None", "None", "Function(arguments='', name=None)", False),
        ("None", "None", "Function(arguments='{}', name='f')", False),
        ("None", "None", "None", False),
    ],
)
def test_a_stream_that_goes_on_with_a_call_begins_in_its_middle(
    role: str, call: str, function: str, *, gaps: bool
) -> None:
    body = DELTA.format(role=role, id=call, function=function)
    assert [output.gaps for output in outputs(body)] == [gaps]


@pytest.mark.parametrize(
    "body",
    [
        '{"tool_calls":[{"index":0,"function":{"arguments":"{\\"ci"}}]}',
        '{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"ci"}}]},"finish_reason":null}',
    ],
)
def test_one_delta_alone_that_goes_on_with_a_call_is_not_all_there_was(body: str) -> None:
    assert [output.gaps for output in recognise(body.encode(), pasted=True).outputs] == [True]


def test_ids_that_are_no_text_tell_no_messages_apart() -> None:
    assert len(outputs("content='a' additional_kwargs={} id=[1]\ncontent='b' additional_kwargs={} id=[1]")) == 2


def test_a_stream_of_langchain_that_begins_inside_a_call_lacks_chunks() -> None:
    part = "{{'name': None, 'args': '{}', 'id': None, 'index': 0, 'type': 'tool_call_chunk'}}"
    chunk = "AIMessageChunk(content='', id='lc_run--7', tool_call_chunks=[{}])\n"
    found = read_client_objects("".join([chunk.format(part.format(one)) for one in ('ms": ', "3}")]))
    assert found is not None
    assert [output.gaps for output in found.outputs] == [True]
