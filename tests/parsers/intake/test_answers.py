"""Answers inside other JSON: each with its request, and nothing else of what stands around it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.answers import read_har

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [TOOL]}
ANSWER = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"content": "<tool_call>"}, "finish_reason": "stop"}],
}


def entry(answer: Any = ANSWER, request: Any = None, **content: Any) -> dict[str, Any]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    sent = {} if request is None else {"postData": {"text": json.dumps(request)}}
    return {"request": sent, "response": {"content": {"text": text, **content}}}


def har(*entries: Any) -> str:
    return json.dumps({"log": {"entries": list(entries)}})


def test_the_request_of_an_answer_comes_with_it() -> None:
    found = recognise(har(entry("p {}"), entry(request=REQUEST)).encode(), pasted=True)
    assert found.why[0] == "It is a HAR file of 2 requests, 1 of them answered by a language model."
    [output] = found.outputs
    assert output.text == "<tool_call>"
    assert output.request is not None
    assert output.request.tools == (TOOL,)


def test_an_answer_in_base64_is_read() -> None:
    found = read_har(har(entry(base64.b64encode(json.dumps(ANSWER).encode()).decode(), encoding="base64")))
    assert found is not None
    assert found.outputs[0].text == "<tool_call>"


def test_several_answers_are_several_outputs() -> None:
    choices = [{"index": at, "message": {"content": "<tool_call>"}, "finish_reason": "stop"} for at in (0, 1)]
    two = {"object": "chat.completion", "choices": choices}
    found = recognise(har(entry(), entry(two)).encode(), pasted=True)
    assert found.title == "HAR file, 2 answers"
    assert [output.label for output in found.outputs] == ["answer 1", "answer 2, choice 1", "answer 2, choice 2"]
    assert [warn.code for warn in found.warnings].count("several") == 1
    assert "It holds 3 outputs" in found.message


@pytest.mark.parametrize(
    "entries",
    [
        (),
        ("text", {"response": {"content": {"size": 0}}}),
        (entry("p { color: red }"), entry("a", encoding="base64")),
        (entry({"object": "chat.completion", "choices": []}),),
    ],
    ids=["nothing", "no bodies", "other bodies", "an answer without a choice"],
)
def test_a_file_without_an_answer_says_so(entries: tuple[Any, ...]) -> None:
    found = recognise(har(*entries).encode(), pasted=True)
    assert (found.title, found.usable) == ("HAR file without a model's answer", False)
    assert "Save the network panel again with content" in found.message


@pytest.mark.parametrize("body", ["", '{"entries": []}', '{"log": {"entries": {}}}', 'He said "entries".'])
def test_other_json_and_text_is_no_har(body: str) -> None:
    assert read_har(body) is None


SAVED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
ANSWERED = {"choices": [{"message": {"content": "<think>"}, "finish_reason": "stop"}]}
STREAM = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("<think>", "b")]
# an object that holds an answer, the text of the output, the request's model
WRAPPED: list[tuple[dict[str, Any], str, str | None]] = [
    ({"request": SAVED, "response": ANSWERED}, "<think>", "m"),
    ({"kwargs": {"x": 1}, "input": SAVED, "output": ANSWERED}, "<think>", "m"),
    ({"url": "x", "chunks": STREAM}, "<think>b", None),
    ({"request": "x", "stream": "".join(f"data: {json.dumps(one)}\n\n" for one in STREAM)}, "<think>b", None),
    ({"events": "\n".join(map(json.dumps, STREAM))}, "<think>b", None),
]


@pytest.mark.parametrize(("value", "text", "model"), WRAPPED)
def test_a_request_saved_with_its_answer_is_taken_apart(value: dict[str, Any], text: str, model: str | None) -> None:
    found = recognise(json.dumps(value).encode(), pasted=False)
    assert found.recording is not None
    assert (found.recording.text, found.request and found.request.model) == (text, model)
    assert found.why[0].startswith("It stands in an object")


@pytest.mark.parametrize("value", [{"response": "words"}, {"response": {"a": 1}}, {"chunks": []}, {"output": [1]}])
def test_an_object_without_an_answer_is_output(value: dict[str, Any]) -> None:
    assert recognise(json.dumps(value).encode(), pasted=False).kind == "raw_text"


CHUNK = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "a"}}]}
# a payload, the server it is from
SIGNS = [
    ({"timings": {}}, "llama.cpp"),
    ({"system_fingerprint": "b6100-0a1b2c"}, "llama.cpp"),
    ({"system_fingerprint": "fp_ollama"}, "Ollama"),
    ({"system_fingerprint": "3.3.4-sha-1a2b3c"}, "TGI"),
    ({"nvext": {}}, "Dynamo"),
    ({"stats": {}}, "LM Studio"),
    ({"id": "0" * 32}, "SGLang"),
    ({"system_fingerprint": 5, "id": 7}, "any OpenAI-compatible server"),
]


@pytest.mark.parametrize(("more", "server"), SIGNS)
def test_the_server_is_told_by_what_only_it_sends(more: dict[str, Any], server: str) -> None:
    assert recognise(f"data: {json.dumps(CHUNK | more)}\n\n".encode(), pasted=True).captures[0].server == server


def flat(**more: str) -> dict[str, str]:
    said = {"message.role": "assistant", "message.content": "Hm."}
    return {f"llm.output_messages.0.{name}": value for name, value in (said | more).items()}


CALLED = {"id": "c1", "function.name": "f", "function.arguments": "{}"}
# attributes of a span, the calls of the message that they hold
SPANS: list[tuple[dict[str, Any], list[Any]]] = [
    (flat(), []),
    (
        {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "x"}
        | flat(**{f"message.tool_calls.0.tool_call.{name}": value for name, value in CALLED.items()}),
        [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
    ),
    ({"llm": "m"} | flat(), []),
]


@pytest.mark.parametrize(("attributes", "calls"), SPANS)
def test_attributes_with_dots_in_their_names_are_the_message_that_they_spell(
    attributes: dict[str, Any], calls: list[Any]
) -> None:
    found = recognise(json.dumps({"name": "span", "attributes": attributes}).encode(), pasted=True)
    assert found.recording is not None
    [chunk] = found.recording.stream or [{"choices": [{"message": {"content": found.recording.text}}]}]
    message = chunk["choices"][0]["message"]
    assert (message["content"], message.get("tool_calls", [])) == ("Hm.", calls)
