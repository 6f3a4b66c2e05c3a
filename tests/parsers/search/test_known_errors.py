"""Errors of servers, APIs and clients around tool calls are known when they come alone, and never taken for output."""

from __future__ import annotations

import json

import pytest

from parsers.search.known_errors import is_known_alone, known_errors
from parsers.search.pasted import look
from parsers.search.pasted_kinds import Pasted

# What is said, a word of what it means, and whether the request was refused.
ERRORS = [
    ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "vLLM", True),
    ("Error in extracting tool call from response.", "vLLM", False),
    ("Hermes 2 Pro Tool parser could not locate tool call start/end tokens in the tokenizer!", "family", True),
    ("KeyError: 'invalid tool call parser: qwen9 (chose from { hermes, mistral })'", "list", True),
    ("As of transformers v4.44, default chat template is no longer allowed", "chat template", True),
    ('HarmonyError: unexpected tokens remaining in message header: Some("to=functions.look-up")', "header", False),
    ("This model's maximum context length is 4096 tokens. However, 5000 were asked for.", "fit", True),
    ("The provided JSON schema contains features not supported by xgrammar.", "grammar", True),
    ('Failed to parse JSON part: {"name": ', "SGLang", False),
    ("Tool Call Parser Not Given!", "parser", True),
    ("Model attempted to call undefined function: look_up", "SGLang", False),
    ("tools param requires --jinja flag", "--jinja", True),
    ("Cannot use tools with stream", "stream", True),
    ("Unexpected empty grammar stack after accepting piece: <", "grammar", False),
    ("Invalid diff: now finding less tool calls!", "took back", False),
    ("JSON schema conversion failed: Unrecognized schema: {}", "grammar", True),
    ("Assistant response prefill is incompatible with enable_thinking.", "last message", True),
    ("the request exceeds the available context size, try increasing it", "fit", True),
    ("registry.ollama.ai/library/gemma3:4b does not support tools", "template", True),
    ("error parsing tool call: unexpected end of JSON input", "Ollama", False),
    ("json: cannot unmarshal string into Go struct field .messages.tool_calls.function.arguments", "object", True),
    ("Failed to parse tool call: Unexpected end of content.", "LM Studio", False),
    ("Invalid 'messages' in payload. Please check the structure.", "LM Studio", True),
    ("An assistant message with 'tool_calls' must be followed by tool messages", "result", True),
    ("Invalid parameter: messages with role 'tool' must be a response to a preceeding message", "result", True),
    ("Invalid schema for function 'look_up': array schema missing items.", "definition", True),
    ("No tool output found for function call call_1.", "result", True),
    ("Invalid 'messages[2].tool_calls[0].function.name': string does not match pattern.", "name", True),
    ("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice", True),
    ("messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1", "tool_result", True),
    ("messages.2: `tool_use` ids were found without `tool_result` blocks immediately after", "tool_result", True),
    ("Requests which include `tool_use` or `tool_result` blocks must define tools", "declares no tools", True),
    ("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", "sent back", True),
    ("MALFORMED_FUNCTION_CALL", "Gemini", False),
    ("finishReason: UNEXPECTED_TOOL_CALL", "Gemini", False),
    ("Please ensure that the number of function response parts is equal to the number of calls", "match", True),
    ("Function call is missing a thought_signature in functionCall parts.", "sent back", True),
    ("Failed to call a function. Please adjust your prompt. See 'failed_generation'.", "Groq", False),
    ("Tool call validation failed: attempted to call tool 'x' which was not in request.tools", "Groq", False),
    ("Not the same number of function calls and responses", "match", True),
    ("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "Mistral", True),
    ("ValidationException: The toolConfig field must be defined when using toolUse blocks.", "declares no", True),
    ("jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant", "template", True),
    ("AI_NoSuchToolError: Model tried to call unavailable tool 'x'.", "mangled", False),
    ("openai.LengthFinishReasonError: the length limit was reached", "cut", False),
]


@pytest.mark.parametrize(("text", "word", "refused"), ERRORS)
def test_an_error_alone_is_known_and_surely_no_output(text: str, word: str, refused: bool) -> None:
    found = look(text)
    assert found is not None
    assert (found.kind, found.surely) == (Pasted.ERROR, True)
    error = next(known_errors(text))
    assert word in error.meaning
    assert error.refused == refused


@pytest.mark.parametrize("text", [ERRORS[11][0], ERRORS[18][0]])
@pytest.mark.parametrize("shape", [{"error": ""}, {"message": "", "type": "invalid_request_error"}])
def test_the_object_of_an_error_is_known_without_what_stands_around_it(text: str, shape: dict[str, str]) -> None:
    key = next(iter(shape))
    found = look(json.dumps(shape | {key: text}))
    assert found is not None
    assert (found.kind, found.surely) == (Pasted.SERVER_ERROR, True)


SAID = [
    "I hit a JSONDecodeError while I read the file. Let me try another one.",
    "The error `tools param requires --jinja flag` means that llama-server lacks an option.",
    "tools param requires --jinja flag\n\nYou can start the server with --jinja.",
    "tools param requires --jinja flag\n\nIt came up again after the restart of the machine.",
    "You asked what it says: MALFORMED_FUNCTION_CALL",
    "<tool_call>\n{}\n</tool_call> MALFORMED_FUNCTION_CALL",
    "a" * 201 + ": MALFORMED_FUNCTION_CALL",
    "MALFORMED_FUNCTION_CALL\n" * 13,
    "MALFORMED_FUNCTION_CALL" + " " * 3_000,
    "The server said to all of us: MALFORMED_FUNCTION_CALL",
    "nothing is wrong",
]


@pytest.mark.parametrize("text", SAID)
def test_what_somebody_says_of_an_error_is_no_error(text: str) -> None:
    assert not is_known_alone(text)
