"""Errors of the AI SDK that quote arguments: the call is replayed as the client got it."""

from __future__ import annotations

import pytest

from parsers.intake.recognise import recognise
from parsers.search.known_errors import known_errors

TOLD = "My agent stops here, with a local model behind it:\n\n"
BAD = "Invalid input for tool feed_cat: JSON parsing failed: Text: {}.\nError message: JSON Parse error: no brace"


def error(text: str) -> str:
    return BAD.replace("{}", text)


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        (f"{TOLD}{error('{gram: 3}')}", [("feed_cat", "{gram: 3}")]),
        (f"```\n{error('<gram>3')}\n```", [("feed_cat", "<gram>3")]),
        (f"{error('{')}\n{error('{')}\n{error('[')}", [("feed_cat", "{"), ("feed_cat", "[")]),
        (error("\n{\n1.5.\n}").replace("input for", "arguments\nfor"), [("feed_cat", "{\n1.5.\n}")]),
    ],
)
def test_the_arguments_that_an_error_quotes_are_those_of_the_call(body: str, calls: list[tuple[str, str]]) -> None:
    found = recognise(body.encode(), pasted=True)
    assert found.kind == "server_log"
    functions = [(one.stream or ())[0]["choices"][0]["message"]["tool_calls"][0]["function"] for one in found.outputs]
    assert [(one["name"], one["arguments"]) for one in functions] == calls
    assert len({output.label for output in found.outputs}) == len(calls)


def test_parts_of_a_stream_that_were_printed_are_read_although_an_error_among_them_quotes_the_call() -> None:
    body = (
        "{ type: 'tool-input-start', id: 'c', toolName: 'feed_cat', dynamic: false }\n"
        "{ type: 'tool-input-delta', id: 'c', delta: '{\"gram\"' }\n"
        "{ type: 'tool-input-end', id: 'c' }\n"
        "{\n  type: 'tool-call',\n  toolCallId: 'c',\n  toolName: 'feed_cat',\n  input: '{\"gram\"',\n"
        f"  error: InvalidToolInputError [AI_InvalidToolInputError]: {error('{}')}\n"
        "      at parse (ai/index.mjs:9:1) {\n    toolName: 'feed_cat'\n  }\n}\n"
        "{ type: 'finish', finishReason: 'tool-calls', totalUsage: [Object] }\n"
    )
    found = recognise(body.encode(), pasted=True)
    assert found.kind == "client_objects"
    assert "left_out" in [warn.code for warn in found.warnings]


@pytest.mark.parametrize(
    "body",
    [
        f"{error('x')}\nYou get this where the model writes XML.",
        f"<think>{error('x')}</think>",
        error("x").partition("\nError")[0],
        "Invalid input for tool f: no such file",
    ],
)
def test_what_a_model_says_of_such_an_error_is_its_own(body: str) -> None:
    assert recognise(body.encode(), pasted=True).kind == "raw_text"


def test_arguments_that_are_no_json_are_not_laid_to_a_server_that_nobody_named() -> None:
    words = "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1"
    assert [one.server for one in known_errors(words)] == ["llama.cpp"]
