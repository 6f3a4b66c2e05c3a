"""Payloads of the servers' native APIs: what each holds, and what is doubted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parsers.intake import Intake, recognise
from parsers.intake.api_families import FAMILIES, RawChunk
from parsers.intake.evidence import Warn
from parsers.vocabulary.types import Piece, Request

Payload = dict[str, Any]


def chunks(family: str, payload: Payload) -> list[RawChunk] | None:
    """What the family's reader makes of a payload."""
    read = next(row.read for row in FAMILIES if row.name == family)
    assert read is not None
    return read(payload)


def lines(payloads: list[Payload]) -> Intake:
    return recognise("\n".join(map(json.dumps, payloads)).encode(), pasted=False)


LLAMA: Payload = {"content": "a", "stop": True}
FINISHED: Payload = {"event": "request.finished", "obj": {"rid": "r"}, "out": {"text": "a"}}
NO_SPECIALS = Warn("specials_missing", "Special tokens are not in generated_text: /generate_stream keeps them.")
PARSED = Warn("parsed", "Ollama's own parser was at work: the text is what it left over, not the raw output.")
OLLAMA: Payload = {"model": "m", "created_at": "t", "done": False}
# family, payload, the chunk
READ: list[tuple[str, Payload, RawChunk]] = [
    (
        "OpenAI completions",
        {"id": "r", "choices": [{"text": "a", "index": 1, "stop_reason": 9, "finish_reason": "stop"}]},
        RawChunk("a", "r", 1, finish="stop", stop=9),
    ),
    (
        "vLLM token generation",
        {"request_id": "r", "choices": [{"token_ids": [1], "text": "a"}], "prompt_token_ids": [0]},
        RawChunk("a", "r", ids=(1,), prompt_ids=(0,)),
    ),
    (
        "llama.cpp /completion",
        {**LLAMA, "tokens": [1], "model": "m", "prompt": "p", "stop_type": "word", "stopping_word": "x"},
        RawChunk("a", ids=(1,), finish="stop", stop="x", last=True, prompt_text="p", asked=Request(model="m")),
    ),
    (
        "llama.cpp /completion",
        {**LLAMA, "stopped_limit": True, "tokens": []},
        RawChunk("a", finish="length", last=True),
    ),
    ("llama.cpp /completion", {"content": "", "stop": False, "tokens": []}, RawChunk("", ids=())),
    (
        "llama.cpp /completion",
        {**LLAMA, "completion_probabilities": [{"id": 3, "bytes": [97]}]},
        RawChunk("a", ids=(3,), pieces=(Piece("a", 3, b"a", recorded=True),), finish="stop", last=True),
    ),
    (
        "llama.cpp /completion",
        {**LLAMA, "completion_probabilities": [{"bytes": [97]}]},
        RawChunk("a", pieces=(Piece("a", None, b"a", recorded=True),), finish="stop", last=True),
    ),
    (
        "llama.cpp /completion",
        {**LLAMA, "completion_probabilities": [{"id": 3, "bytes": [300]}]},
        RawChunk("a", finish="stop", last=True),
    ),
    (
        "llama.cpp /completion",
        {**LLAMA, "completion_probabilities": [{"content": "a", "probs": []}]},
        RawChunk("a", finish="stop", last=True),
    ),
    (
        "SGLang /generate",
        {"text": "a", "meta_info": {"id": "r", "output_token_logprobs": [[-1, 7, "a"]], "finish_reason": "abort"}},
        RawChunk("a", "r", ids=(7,), pieces=(Piece("a", 7, b"a", recorded=True),), finish="abort"),
    ),
    (
        "SGLang /generate",
        {"text": "a", "meta_info": {"output_token_logprobs": [[-1, 7, None]]}},
        RawChunk("a", ids=(7,)),
    ),
    ("SGLang /generate", {"text": "a", "meta_info": {"output_token_logprobs": [[-1, 7]]}}, RawChunk("a", ids=(7,))),
    ("SGLang /generate", {"text": "a", "meta_info": {"output_token_logprobs": [[-1]]}}, RawChunk("a")),
    (
        "SGLang /generate",
        {"text": "\ufffd", "meta_info": {"output_token_logprobs": [[-1, 7, "\ufffd"]]}},
        RawChunk("\ufffd", ids=(7,)),
    ),
    ("SGLang /generate", {"output_ids": [7], "meta_info": {}, "index": 2}, RawChunk(None, index=2, ids=(7,))),
    (
        "SGLang request",
        {
            **FINISHED,
            "obj": {
                "rid": "r",
                "text": "p",
                "input_ids": [4],
                "sampling_params": {"stop": ["x"], "no_stop_trim": True},
            },
        },
        RawChunk("a", "r", last=True, prompt_text="p", prompt_ids=(4,), asked=Request(stop=("x",), include_stop=True)),
    ),
    (
        "SGLang request",
        {**FINISHED, "rid": "s", "obj": {"sampling_params": {"stop": "x"}}},
        RawChunk("a", "s", last=True, asked=Request(stop=("x",))),
    ),
    (
        "TGI /generate_stream",
        {
            "token": {"id": 1, "text": "a", "special": True},
            "generated_text": "a",
            "details": {"finish_reason": "eos_token"},
        },
        RawChunk("a", ids=(1,), pieces=(Piece("a", 1, b"a", "special", recorded=True),), finish="stop", last=True),
    ),
    ("TGI /generate_stream", {"token": {"id": 1, "text": "\ufffd"}}, RawChunk("\ufffd", ids=(1,))),
    (
        "TGI /generate",
        {"generated_text": "a", "details": {"tokens": [{"id": 1, "text": "a"}, {}]}},
        RawChunk("a", last=True, warnings=(NO_SPECIALS,)),
    ),
    ("Bedrock's Mistral", {"outputs": [{"text": "a", "stop_reason": "length"}]}, RawChunk("a", finish="length")),
    (
        "Ollama /api/generate",
        {**OLLAMA, "response": "a", "done": True, "done_reason": "length"},
        RawChunk("a", delta={"content": "a"}, finish="length", last=True, asked=Request(model="m")),
    ),
    (
        "Ollama /api/chat",
        {"message": {"content": "a", "thinking": "b"}},
        RawChunk(None, delta={"content": "a", "reasoning": "b"}, warnings=(PARSED,)),
    ),
]


@pytest.mark.parametrize(("family", "payload", "chunk"), READ)
def test_a_payload_holds_what_its_api_sends(family: str, payload: Payload, chunk: RawChunk) -> None:
    assert chunks(family, payload) == [chunk]


OTHERS: list[tuple[str, Payload]] = [
    ("Bedrock's Mistral", {"outputs": [{"text": "a"}]}),
    ("OpenAI completions", {}),
    ("OpenAI completions", {"choices": [{"text": 1}]}),
    ("vLLM token generation", {"choices": [{}]}),
    ("vLLM token generation", {"choices": 1}),
    ("llama.cpp /completion", {"content": "a"}),
    ("llama.cpp /completion", {"stop": True}),
    ("SGLang /generate", {"text": 1}),
    ("SGLang request", {"event": "request.finished"}),
    ("SGLang request", {**FINISHED, "out": {}}),
    ("TGI /generate_stream", {"token": {"id": -1, "text": "a"}}),
    ("TGI /generate", {}),
    ("Ollama /api/generate", {}),
    ("Ollama /api/chat", {"message": {}}),
    ("Ollama /api/chat", {"message": {"content": 1}}),
]


@pytest.mark.parametrize(("family", "payload"), OTHERS)
def test_another_payload_holds_nothing(family: str, payload: Payload) -> None:
    assert not chunks(family, payload)


def test_what_a_mistral_model_of_bedrock_wrote_is_the_raw_output() -> None:
    found = recognise(b'{"outputs": [{"text": "[TOOL_CALLS] []", "stop_reason": "stop"}]}', pasted=True).recording
    assert found is not None
    assert (found.text, found.finish_reason) == ("[TOOL_CALLS] []", "stop")


def test_the_start_of_a_request_holds_no_output() -> None:
    assert chunks("SGLang request", {"event": "request.received", "obj": {}}) == []


def test_calls_of_ollama_keep_their_own_index_and_id() -> None:
    call = {"id": "x", "function": {"index": 3, "name": "f", "arguments": "{"}}
    said = [{**OLLAMA, "message": {"tool_calls": [call, {}]}}, {**OLLAMA, "message": {"content": "a"}}]
    found = lines(said)
    assert found.recording is not None
    first, second = found.recording.stream or ()
    assert [(c["index"], c["id"], c["function"]) for c in first["choices"][0]["delta"]["tool_calls"]] == [
        (3, "x", {"name": "f", "arguments": "{"}), (4, "call_4", {"name": "", "arguments": "{}"}),
    ]  # fmt: skip
    assert second["choices"][0]["delta"] == {"content": "a"}


def test_content_of_an_ollama_chat_without_calls_is_a_stream_and_perhaps_raw() -> None:
    found = lines(
        [{**OLLAMA, "message": {"content": "<think>"}}, {**OLLAMA, "message": {"content": "a"}, "done": True}]
    )
    assert found.recording is not None
    assert found.recording.text == "<think>a"
    assert len(found.recording.stream or ()) == 2
    assert [fact.certainty for fact in found.facts if fact.about == "text"] == ["assumed"]


@pytest.mark.parametrize("content", ["It is done.", "It is done.\n</tool_call>", "Write `<tool_call>` for it."])
def test_content_of_an_ollama_chat_that_shows_no_lack_of_a_parser_is_the_servers(content: str) -> None:
    found = lines([{**OLLAMA, "message": {"content": content}, "done": True}])
    assert found.recording is not None
    assert (found.recording.text, found.recording.deltas) == (None, None)
    assert [chunk["choices"][0]["delta"] for chunk in found.recording.stream or ()] == [{"content": content}]
    assert "perhaps" not in found.message


def test_tokens_that_repeat_each_other_are_taken_once() -> None:
    def so_far(count: int) -> Payload:
        logged = [[-1, at, letter] for at, letter in enumerate("abc"[:count])]
        return {"text": "abc"[:count], "meta_info": {"id": "r", "output_token_logprobs": logged}}

    found = recognise("".join(f"data: {json.dumps(so_far(n))}\n" for n in (1, 2, 3)).encode(), pasted=False)
    assert found.recording is not None
    assert [piece.text for piece in found.recording.pieces or ()] == ["a", "b", "c"]
    assert (found.recording.ids, found.recording.counts) == ((0, 1, 2), (1, 1, 1))


def test_an_answer_that_repeats_its_prompt_is_no_request() -> None:
    answer = {**LLAMA, "tokens": [1], "model": "m", "prompt": "p", "generation_settings": {}}
    found = lines([answer])
    assert found.recording is not None
    assert (found.kind, found.recording.text, found.recording.prompt_text) == ("json_response", "a", "p")


def test_a_request_that_kept_special_tokens_leaves_no_doubt() -> None:
    out = {
        "event": "request.finished",
        "obj": {"sampling_params": {"skip_special_tokens": False}},
        "out": {"text": "a"},
    }
    found = lines([out])
    assert [fact.certainty for fact in found.facts if fact.about == "text"] == ["exact"]
