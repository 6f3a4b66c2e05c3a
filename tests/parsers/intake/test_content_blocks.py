"""A message of blocks says all that it holds: its blocks, and what stands beside them under other APIs' names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from tests.parsers.intake.recorded_files import Story, message

CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TEXT = [{"type": "text", "text": "Well."}]
THOUGHT = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, *TEXT]
CALLED = Story("", "Well.", ("f",), "{}")
ALL = Story("Hm.", "Well.", ("f",), "{}")


def said(content: Any, **beside: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **beside}


def choice(part: dict[str, Any], key: str = "message") -> dict[str, Any]:
    kind = "chat.completion" + (".chunk" if key == "delta" else "")
    return {"id": "c", "object": kind, "choices": [{"index": 0, key: part, "finish_reason": "tool_calls"}]}


INVOCATION = {"toolCallId": "a", "toolName": "f", "args": {}, "state": "call"}
SHAPES: list[tuple[Any, Story]] = [
    (said(TEXT, tool_calls=[CALL]), CALLED),
    (choice(said(TEXT, tool_calls=[CALL])), CALLED),
    ([{"role": "user", "content": "Go."}, said(TEXT, tool_calls=[CALL])], CALLED),
    (said(TEXT, function_call={"name": "f", "arguments": "{}"}), CALLED),
    (said("Well.", function_call={"name": "f", "arguments": "{}"}), CALLED),
    (said(TEXT, tool_calls=[{"id": "a", "function": {"name": "f", "arguments": {}}}]), CALLED),
    (said(TEXT, additional_kwargs={"tool_calls": [CALL]}), CALLED),
    (said("Well.", additional_kwargs={"tool_calls": [CALL], "reasoning_content": "Hm."}), ALL),
    (said("Well.", thinking="Hm.", tool_calls=[{"function": {"name": "f", "arguments": {}}}]), ALL),
    (choice(said([*TEXT, {"type": "tool_use", "id": "a", "name": "f", "input": {}}])), CALLED),
    (said(TEXT, toolInvocations=[{"toolCallId": "a", "toolName": "f", "args": {}, "state": "call"}]), CALLED),
    (said([*TEXT, {"type": "tool_use", "id": "a", "name": "f", "input": {}}], tool_calls=[CALL]), CALLED),
    (said(TEXT, tool_plan="Hm.", tool_calls=[CALL]), ALL),
    (said(TEXT, reasoning="Hm.", tool_calls=[CALL]), ALL),
    (said(TEXT, reasoning_content="Hm.", reasoning="Hm.", tool_calls=[CALL]), ALL),
    (said(THOUGHT, reasoning_content="Hm.", tool_calls=[CALL]), ALL),
    (choice(said(THOUGHT, tool_calls=[CALL])), ALL),
    (
        {"type": "ai", "content": THOUGHT, "additional_kwargs": {},
         "tool_calls": [{"id": "a", "name": "f", "args": {}}]},
        ALL,
    ),
    (
        {"type": "ai", "content": [*THOUGHT, {"type": "tool_use", "id": "a", "name": "f", "input": {}}],
         "additional_kwargs": {}},
        ALL,
    ),
    (said([{"type": "refusal", "refusal": "No."}]), Story("", "No.")),
    (said([{"type": "thinking", "thinking": "Hm."}], refusal="No."), Story("Hm.", "No.")),
    ({"type": "ai", "content": "", "additional_kwargs": {"refusal": "No."}}, Story("", "No.")),
    (said([{"type": "image_url", "image_url": {"url": "x"}}, *TEXT], tool_calls=[CALL]), CALLED),
    (said([*TEXT, {"type": "of_the_future", "data": "x"}], tool_calls=[CALL]), CALLED),
    (
        {
            "role": "model",
            "parts": [{"text": "Well."}, {"inlineData": {}}, {"functionCall": {"id": "a", "name": "f", "args": {}}}],
        },
        CALLED,
    ),
    (said("Well.", toolInvocations=[{"toolCallId": "a", "toolName": "f", "args": {}, "state": "result"}]), CALLED),
    (said("Well.", parts=[*TEXT, {"type": "tool-invocation", "toolInvocation": INVOCATION}]), CALLED),
    (said(None, parts=[*TEXT, {"type": "tool-f", "toolCallId": "a", "state": "input-streaming"}]), CALLED),
    ({"text": "Well.", "reasoningText": "Hm.", "toolCalls": [INVOCATION], "finishReason": "tool-calls"}, ALL),
    (
        {"text": "", "reasoning": [{"type": "reasoning", "text": "Hm."}], "toolCalls": [], "finishReason": "stop"},
        Story("Hm."),
    ),
    ([{"text": "Well."}, {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}], CALLED),
    (
        {
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "Well.",
            "gen_ai.completion.0.tool_calls.0.id": "a",
            "gen_ai.completion.0.tool_calls.0.name": "f",
            "gen_ai.completion.0.tool_calls.0.arguments": "{}",
        },
        CALLED,
    ),
]  # fmt: skip


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize(("shape", "story"), SHAPES)
def test_a_message_says_all_that_it_holds(shape: Any, story: Story, python: bool) -> None:
    found = recognise((repr(shape) if python else json.dumps(shape)).encode(), pasted=True)
    assert found.recording is not None
    assert message(found.recording) == story


def test_thoughts_among_the_parts_of_a_streams_content_are_reasoning() -> None:
    deltas: list[dict[str, Any]] = [{"content": one} for one in ("", THOUGHT[:1], THOUGHT[:1], "Well.")]
    text = "".join([f"data: {json.dumps(choice(one, 'delta'))}\n\n" for one in deltas])
    found = recognise(text.encode(), pasted=True)
    assert found.recording is not None
    assert message(found.recording) == Story("Hm.Hm.", "Well.")


MISTRAL = (
    "AssistantMessage(content=[ThinkChunk(thinking=[TextChunk(text='Hm.', type='text')], type='thinking', "
    "closed=None), TextChunk(text='Well.', type='text')], tool_calls=[ToolCall(function=FunctionCall(name='f', "
    "arguments='{}'), id='a', type=None, index=0)], prefix=False, role='assistant')"
)
COHERE = (
    "AssistantMessageResponse(role='assistant', tool_calls=[ToolCallV2(id='a', type='function', "
    "function=ToolCallV2Function(name='f', arguments='{}'))], tool_plan=None, content=["
    "ThinkingAssistantMessageResponseContentItem(type='thinking', thinking='Hm.'), "
    "TextAssistantMessageResponseContentItem(type='text', text='Well.')], citations=None)"
)


GEMINI = "Content(parts=[Part(text='Hm.', thought=True), Part(text='Well.'), {}], role='model')"
PYDANTIC = "ModelResponse(parts=[ThinkingPart(content='Hm.'), TextPart(content='Well.'), {}], model_name='m')"
OF_PYDANTIC = "ToolCallPart(tool_name='f', args='{}', tool_call_id='a')"
ASKED = "ModelRequest(parts=[UserPromptPart(content='Go.', timestamp=datetime.datetime(2026, 1, 5))])"
EVENTS = """\
PartStartEvent(index=0, part=ThinkingPart(content='H'))
PartDeltaEvent(index=0, delta=ThinkingPartDelta(content_delta='m.'))
PartStartEvent(index=1, part=TextPart(content=''))
FinalResultEvent(tool_name=None, tool_call_id=None)
PartDeltaEvent(index=1, delta=TextPartDelta(content_delta='Well.'))
PartStartEvent(index=2, part=ToolCallPart(tool_name='f', tool_call_id='a'))
PartDeltaEvent(index=2, delta=ToolCallPartDelta(args_delta='{}', tool_call_id='a'))
"""
WHOLE_CALL = "PartStartEvent(index=0, part=ToolCallPart(tool_name='f', args='{}', tool_call_id='a'))\n"
PRINTED: list[tuple[str, Story]] = [
    (MISTRAL, ALL),
    (COHERE, ALL),
    (PYDANTIC.replace("{}", OF_PYDANTIC, 1), ALL),
    (f"[{ASKED}, {PYDANTIC.replace('{}', OF_PYDANTIC, 1)}, {ASKED}]", ALL),
    (EVENTS, ALL),
    (WHOLE_CALL + EVENTS.replace("index=", "index=1"), Story("Hm.", "Well.", ("f", "f"), "{}{}")),
    ("Function(arguments='{}', name='f')", Story("", "", ("f",), "{}")),
    (
        "ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, content='Well.', tool_calls=[ChatMessageToolCall("
        "function=ChatMessageToolCallFunction(name='f', arguments={}, description=None), id='a', type='function')])",
        CALLED,
    ),
    (
        "[ToolCallItem(agent=Agent(name='A'), raw_item=ResponseFunctionToolCall(arguments='{}', call_id='c', name='f', "
        "type='function_call'), type='tool_call_item')]",
        Story("", "", ("f",), "{}"),
    ),
]


@pytest.mark.parametrize(("text", "story"), PRINTED)
def test_what_libraries_print_is_the_message_it_shows(text: str, story: Story) -> None:
    found = recognise(text.encode(), pasted=True)
    assert (found.kind, found.usable) == ("client_objects", True)
    assert found.recording is not None
    assert message(found.recording) == story


OF_GEMINI = "FunctionCall(args={'a': 1}, name='f')"
NONE = {"function_call": None, "thought": None, "text": None}
DUMPED = {
    "role": "model",
    "parts": [
        NONE | {"text": "Hm.", "thought": True, "thought_signature": "x"},
        NONE | {"text": "Well."},
        NONE | {"function_call": {"id": None, "name": "f", "args": {"a": 1}}},
    ],
}


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (GEMINI.replace("{}", f"Part(function_call={OF_GEMINI})"), True),
        (repr(DUMPED), True),
        (json.dumps(DUMPED), True),
        (OF_GEMINI, False),
        (f"[{OF_GEMINI}]", False),
    ],
)
def test_parts_of_gemini_are_a_message_and_no_call_of_their_class(text: str, whole: bool) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.recording is not None
    assert message(found.recording) == Story("Hm." * whole, "Well." * whole, ("f",), '{"a": 1}')


def of_langchain(block: dict[str, Any], **part: Any) -> str:
    chunks = [{"index": block["index"], **part}] if part else []
    return f"AIMessageChunk(content=[{block!r}], additional_kwargs={{}}, id='r', tool_call_chunks={chunks!r})\n"


def test_calls_among_langchains_blocks_are_numbered_as_calls() -> None:
    text = of_langchain({"type": "text", "text": "Well.", "index": 0})
    text += of_langchain({"type": "tool_use", "id": "a", "index": 1}, id="a", name="f", args="{")
    text += of_langchain({"type": "input_json_delta", "partial_json": "}", "index": 1}, args="}")
    found = recognise(text.encode(), pasted=True)
    assert found.recording is not None
    deltas = [chunk["choices"][0]["delta"] for chunk in found.recording.stream or ()]
    assert [call["index"] for delta in deltas for call in delta.get("tool_calls", ())] == [0, 0]


def test_calls_of_custom_tools_are_said_to_be_left_out() -> None:
    custom = {"type": "custom_tool_call", "call_id": "b", "name": "sh", "input": "ls"}
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    found = recognise(json.dumps({"object": "response", "output": [call, custom]}).encode(), pasted=True)
    assert [warn.code for warn in found.warnings if "custom tools" in warn.words] == ["other_chunk"]


@pytest.mark.parametrize("text", [MISTRAL, COHERE])
def test_a_printed_message_says_all_that_it_holds(text: str) -> None:
    found = recognise(text.encode(), pasted=True)
    assert found.recording is not None
    assert message(found.recording) == ALL
    assert "arguments_rewritten" not in [warn.code for warn in found.warnings]


GENAI = (
    'Part(\n  text="""Say:\n"\\d" \\"""\n<tool_call>\n{"name": "f", "arguments": {"a": "\\"b\\""}}\n</tool_call>"""\n)'
)


def test_three_quotes_in_a_printed_object_hold_the_text_as_it_is() -> None:
    found = recognise(GENAI.replace('\\"""', '\\"\\"\\"').encode(), pasted=True)
    assert found.recording is not None
    assert found.recording.text == (
        'Say:\n"\\d" """\n<tool_call>\n{"name": "f", "arguments": {"a": "\\"b\\""}}\n</tool_call>'
    )


def test_parts_without_ids_get_one_each() -> None:
    part = "Part(function_call=FunctionCall(args={'a': 1}, name='f'))"
    found = recognise(f"[{part}, {part}]".encode(), pasted=True)
    assert found.recording is not None
    [chunk] = found.recording.stream or ()
    assert [call["id"] for call in chunk["choices"][0]["message"]["tool_calls"]] == ["call_0", "call_1"]
