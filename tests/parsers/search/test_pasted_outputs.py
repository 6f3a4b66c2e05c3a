"""The output that a log, an error, a report or a conversation quotes is found; what is none is not offered."""

from __future__ import annotations

import json

import pytest

from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted
from parsers.search.pasted_outputs import quoted_in
from parsers.search.pasted_prompts import last_turn
from tests.parsers.search.test_pasted import LOG, TRACEBACK

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
HALF = CALL.replace("\n", "\\n")
FLAT = CALL.replace("\n", "")
VLLM = "ERROR 07-21 14:03:55 [hermes_tool_parser.py:88] Error in extracting tool call from response."
SERVED = "We use vLLM 0.9.1 with hermes, and when streaming tool_calls is empty."
CHAT = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
LLAMA = "<|start_header_id|>{}<|end_header_id|>\n\n{}<|eot_id|>"
HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>"

ERRORS = {
    "vLLM, on lines of its own": f"{VLLM}\n{CALL}\n{TRACEBACK}",
    "vLLM, spelled out": f"{VLLM}\n{TRACEBACK}model output: {json.dumps(CALL)[1:-1]}\n",
    "vLLM, half spelled out": f"{VLLM}\n{TRACEBACK}model output: {HALF}\n",
    "SGLang": f"[2025-06-11 09:00:00] Failed to parse JSON part: {FLAT}, JSON parse error: Extra data: line 1\n{LOG}",
    "llama.cpp": f"srv  operator(): got exception: Failed to parse input at pos 0: {CALL}\n",
    "LangChain": f"langchain_core.exceptions.OutputParserException: Could not parse LLM output: `{CALL}`\nSee x\n",
    "LangChain, bare": f"{TRACEBACK}langchain_core.exceptions.OutputParserException: Invalid json output: {CALL}",
    "pydantic": f"1 validation error for Call\n  Invalid JSON [type=x, input_value={CALL!r}, input_type=str]\n",
    "a sentence before a value": f"{TRACEBACK}ValueError: no tool call in {CALL!r}\n",
    "marks of JSON": f"{TRACEBACK}ValueError: no tool call in {json.dumps(CALL)}\n",
    "a value in a dict": f"{TRACEBACK}ValueError: bad output {{'text': {CALL!r}, 'tokens': 12}}\n",
    "a value of Python": f"{TRACEBACK}KeyError: {CALL!r}\n",
    "a value of JSON": f"openai.APIError: bad output {json.dumps(CALL)}\n",
}
REPORTS = {
    "a fence": f"{SERVED}\n\n```\n{CALL}\n```\n",
    "set in": f"{SERVED} Output:\n\n" + "".join([f"    {line}\n" for line in CALL.split("\n")]),
    "cited": f"{SERVED}\n\n" + "".join([f"> {line}\n" for line in CALL.split("\n")]),
    "French marks": f"{SERVED} « {CALL} » arrive.",
    "German marks": f"{SERVED} Also „{CALL}“ kommt an.",
    "Japanese marks": f"{SERVED} 「{CALL}」が出ます。",
    "code": f"{SERVED} It sends `{CALL}` as text.",
    "a log in a fence": f"{SERVED}\n\n```\n{VLLM} Model output: {CALL}\n```\n",
    "beside the name of a marker": f"{SERVED} No `<tool_call>` is read in\n\n```\n{CALL}\n```\n",
    "beside a log without one": f"{SERVED}\n\n```\n{VLLM}\n```\n\n```\n{CALL}\n```\n",
}


@pytest.mark.parametrize("text", ERRORS.values(), ids=ERRORS)
def test_what_an_error_quotes_is_found(text: str) -> None:
    found = look(text)
    assert found is not None
    assert found.surely
    assert quoted_in(text, found.kind) in (CALL, FLAT)


SAID = f"Sure.\n{CALL}"


@pytest.mark.parametrize(
    "error", [f"no call in {SAID!r}", f"no call in {json.dumps(SAID)}", f"bad {{'text': {SAID!r}, 'tokens': 12}}"]
)
def test_of_a_quoted_value_the_words_before_its_markup_are_there_and_its_marks_are_not(error: str) -> None:
    assert quoted_in(f"{TRACEBACK}ValueError: {error}\n", Pasted.TRACEBACK) == SAID


@pytest.mark.parametrize("text", REPORTS.values(), ids=REPORTS)
def test_what_a_report_quotes_is_found(text: str) -> None:
    found = look(text)
    assert found is not None
    assert (found.kind, found.surely) == (Pasted.REPORT, True)
    assert quoted_in(text, found.kind) == CALL


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{VLLM}\n{TRACEBACK}", Pasted.TRACEBACK),
        (f"{LOG}INFO 07-21 14:03:56 [logger.py:1] Received request 1: prompt: {CALL!r}, params: x\n", Pasted.LOG),
        (
            "1 validation error for Call\n  x [type=y, input_value='<tool_call>{\"name\": ...}}</tool_call>']",
            Pasted.ERROR,
        ),
        (f"{SERVED} No `<tool_call>` is read.", Pasted.REPORT),
        (f"{SERVED} It says «Bern».", Pasted.REPORT),
        (CHAT, Pasted.PROMPT),
        (CALL, Pasted.OPTIONS),
    ],
)
def test_what_quotes_no_output_offers_none(text: str, kind: Pasted) -> None:
    assert quoted_in(text, kind) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{CHAT}{CALL}<|im_end|>\n", CALL),
        (f"{CHAT}{CALL}<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n", CALL),
        (f"{CHAT}One.<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\nTwo.", "Two."),
        ("<|begin_of_text|>" + LLAMA.format("user", "Hi") + LLAMA.format("assistant", "Ho"), "Ho"),
        (f"<|start|>user<|message|>Hi<|end|><|start|>assistant{HARMONY}", HARMONY),
        ("<s>[INST]Hi[/INST] Ho</s>", " Ho"),
        ("<｜begin▁of▁sentence｜>Be brief.<｜User｜>Hi<｜Assistant｜>Ho<｜end▁of▁sentence｜>", "Ho"),
        ("<|user|>\nHi<|assistant|>\nHo", "Ho"),
    ],
)
def test_the_last_turn_of_a_conversation_is_its_output(text: str, words: str) -> None:
    turn = last_turn(text)
    assert turn is not None
    assert turn.words == words
    assert text.startswith(f"{turn.prompt}{words}")
    assert quoted_in(text, Pasted.CONVERSATION) == words


@pytest.mark.parametrize(
    "text",
    [
        CHAT,
        f"{CHAT}<think>\n",
        f"{CHAT}<think>\n\n</think>\n\n",
        f"Hi<|im_end|>\n{CHAT}",
        f"<|im_start|>assistant\nHi<|im_end|>\n{CHAT}Ho",
        "<|channel|>final<|message|>Hi",
        "[INST]Hi[/INST]",
        "<|system|> and <|odd|> are headers",
        "no header",
    ],
)
def test_what_has_no_turn_of_the_assistant_is_no_conversation(text: str) -> None:
    assert last_turn(text) is None


WRAPPED = 'bad: {"failed_gene\nration": "feed{\\"grams\\": 3, \n\\"cat\\": 1}"}'


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (f"{SERVED}\n\n```\n{WRAPPED}\n```\n", 'feed{"grams": 3, "cat": 1}'),
        (f"{SERVED}\n\n{FLAT}\n\nNothing comes.\n", FLAT),
        (f"{SERVED}\n\n```\nHere is how:\n\n```json\n{CALL[12:-13]}\n```\n", CALL[12:-13]),
        (f"{SERVED} It writes `<parameter=...>1</parameter>` each time.", None),
        (f"{SERVED} It writes `<tool_call>...</tool_call>` each time.", None),
    ],
)
def test_of_a_report_what_is_wrapped_bare_or_nested_is_found_and_what_is_left_out_is_not(
    text: str, quote: str | None
) -> None:
    assert quoted_in(text, Pasted.REPORT) == quote
