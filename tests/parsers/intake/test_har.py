"""A HAR file is the answers of a language model in it, each with its request; nothing else of it is kept."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.har import read_har

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
