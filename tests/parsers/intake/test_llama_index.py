"""LlamaIndex's responses: what was sent counts, where it is beside them and was not changed since."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import recognise
from parsers.intake.library_dialects import is_llama_index
from tests.parsers.intake.recorded_files import message

CHUNK = "chat.completion.chunk"


def response(text: str, arguments: str = "", *, delta: str | None = "x", raw: Any = None) -> dict[str, Any]:
    call = {"block_type": "tool_call", "tool_call_id": "c", "tool_name": "f", "tool_kwargs": arguments}
    blocks = [{"block_type": "text", "text": text}, *([call] if arguments else [])]
    return {
        "message": {"role": "assistant", "additional_kwargs": {}, "blocks": blocks},
        "raw": raw, "delta": delta, "logprobs": None, "additional_kwargs": {},
    }  # fmt: skip


def sent(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "r", "object": CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def part(arguments: str, name: str | None = None) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "id": "c", "function": {"name": name, "arguments": arguments}}]}


GOOD = [
    response("Hi", raw=sent(content="Hi")),
    response("Hi", "{", raw=sent(**part("{", "f"))),
    response("Hi", "{}", raw=sent("tool_calls", **part("}"))),
]
# Printed late: what followed stands in the chunk of the first part, too.
LATE = [GOOD[0], response("Hi", "{}", raw=sent(**part("{}", "f"))), GOOD[2]]
OTHERS = [response("H", raw={"type": "delta"}), response("Hi", "{}", raw={"type": "delta"})]


def as_python(one: dict[str, Any]) -> str:
    blocks = ", ".join(
        [f"{'ToolCallBlock' if 'tool_name' in b else 'TextBlock'}({fields(b)})" for b in one["message"]["blocks"]]
    )
    said = f"ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={{}}, blocks=[{blocks}])"
    return f"ChatResponse(message={said}, raw={one['raw']!r}, delta={one['delta']!r}, logprobs=None)"


def fields(block: dict[str, Any]) -> str:
    return ", ".join([f"{key}={value!r}" for key, value in block.items()])


@pytest.mark.parametrize("written", [json.dumps, as_python], ids=["json", "printed"])
@pytest.mark.parametrize(
    ("responses", "finish", "chunks"), [(GOOD, "tool_calls", 3), (LATE, "tool_calls", 1), (OTHERS, None, 1)],
    ids=["as they came", "late", "of another API"],
)  # fmt: skip
def test_a_stream_says_everything_once(responses: list[Any], finish: str | None, chunks: int, written: Any) -> None:
    found = recognise("\n".join(map(written, responses)).encode(), pasted=True)
    (output,) = found.outputs
    said = message(output)
    assert (said.content, said.names, said.arguments) == ("Hi", ("f",), "{}")
    assert (output.finish_reason, len(output.stream or ())) == (finish, chunks)


def test_blocks_of_an_unknown_kind_take_nothing_from_what_was_sent() -> None:
    odd = {"role": "assistant", "additional_kwargs": {}, "blocks": [{"block_type": "odd"}]}
    text = "\n".join([json.dumps(response("", raw=sent(content=part)) | {"message": odd}) for part in ("H", "i")])
    assert [message(output).content for output in recognise(text.encode(), pasted=True).outputs] == ["Hi"]


def test_answers_one_after_the_other_are_outputs_of_their_own() -> None:
    answers = [response("One", delta=None), response("Two", delta=None)]
    found = recognise("\n".join(map(as_python, answers)).encode(), pasted=True)
    assert [message(output).content for output in found.outputs] == ["One", "Two"]


def test_what_a_person_asked_is_no_output() -> None:
    asked = "ChatMessage(role=<MessageRole.USER: 'user'>, additional_kwargs={}, blocks=[TextBlock(text='Hello?')])"
    found = recognise(f"{asked}\n{as_python(response('Hi', delta=None))}".encode(), pasted=True)
    assert [message(output).content for output in found.outputs] == ["Hi"]


def test_a_response_of_ollama_is_none_of_llama_index() -> None:
    assert not is_llama_index({"message": {"role": "assistant", "content": "Hi"}, "raw": None, "delta": None})


CONVERSATION = [
    {"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hi"}, {"role": "tool", "content": "3"},
]  # fmt: skip


@pytest.mark.parametrize("text", [repr(CONVERSATION), "\n".join(map(json.dumps, CONVERSATION))], ids=["list", "lines"])
def test_of_a_conversation_the_turn_of_the_assistant_is_the_output(text: str) -> None:
    assert [message(output).content for output in recognise(text.encode(), pasted=True).outputs] == ["Hi"]


def test_of_a_conversation_without_an_assistant_there_is_no_answer() -> None:
    text = repr([{"role": "user", "content": "hi"}, {"role": "system", "content": "Be kind."}])
    assert recognise(text.encode(), pasted=True).kind == "raw_text"
